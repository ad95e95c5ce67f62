"""Which trait an attribute means: by an alias, or by the key of a trait. See core/docs/contract.md, "Attributes"."""

from collections.abc import Iterator

import pytest
from sqlalchemy import event

from tests.contexts import AUTHOR, ON_BOTH, SCORER, STRANGER, export_of, new_handle
from tests.operations import author
from traitbench.contract.attributes import Attribute, AttributePut
from traitbench.contract.bundles import Bundle
from traitbench.contract.traits import TraitInput
from traitbench.errors import (
    AttributeNotFound,
    InvalidHandle,
    ModelArchived,
    ModelNotFound,
    ModelNotTrained,
    NamespaceForbidden,
    UnresolvedAttribute,
    ValidationFailed,
    VersionNotFound,
)
from traitbench.names import pin
from traitbench.operations import attributes, bundles, models, rules, training, versions
from traitbench.operations.access import Caller
from traitbench.operations.context import Context
from traitbench.store import attributes as stored
from traitbench.store.database import writing

pytestmark = ON_BOTH

EVERYWHERE = Caller("key_everywhere", "authoring", frozenset({"local", "elsewhere", "demo"}))


@pytest.fixture(scope="package")
def work(context: Context) -> Bundle:
    """A trained model with one trait, `work-mood`, whose key in capitals is the attribute WORK_MOOD."""
    handle = author.new_model(context, TraitInput(name="Mood at work", key="work-mood"))
    texts = [("how kind", 1.0), ("I love it", 1.0), ("be gone", 0.0), ("go away", 0.0)]
    author.add_samples(context, handle, texts, trait="work-mood")
    author.train(context, handle)
    bundle = export_of(context, AUTHOR, handle)
    models.delete(context, AUTHOR, handle)
    return bundle


@pytest.fixture
def made(context: Context, work: Bundle) -> Iterator["Made"]:
    """Makes models with that trait, and archives them afterwards: no later test finds their trait."""
    made = Made(context, work)
    yield made
    made.archive()


class Made:
    def __init__(self, context: Context, bundle: Bundle) -> None:
        self.context, self.bundle, self.handles = context, bundle, list[str]()

    def in_(self, namespace: str) -> str:
        handle = new_handle().replace("local", namespace)
        self.handles.append(bundles.import_(self.context, EVERYWHERE, self.bundle, handle=handle).handle)
        return handle

    def archive(self) -> None:
        for handle in self.handles:
            models.delete(self.context, EVERYWHERE, handle)


def _alias(context: Context, name: str, handle: str, trait: str = "work-mood", *, namespace: str = "local") -> None:
    with writing(context.engine) as connection:
        stored.put(connection, namespace, name, handle=handle, trait=trait, by="me", now=rules.now())


def _asked(context: Context, name: str = "WORK_MOOD", caller: Caller = SCORER) -> tuple[str, str]:
    return attributes.resolve(context, caller, name)


def _refused(context: Context, name: str = "WORK_MOOD", caller: Caller = SCORER) -> UnresolvedAttribute:
    with pytest.raises(UnresolvedAttribute) as refused:
        attributes.resolve(context, caller, name)
    assert (refused.value.status, refused.value.details["attribute"]) == (400, name[:64])
    return refused.value


def test_without_an_alias_an_attribute_is_the_trait_whose_key_in_capitals_it_is(context: Context, made: Made) -> None:
    handle = made.in_("local")
    assert _asked(context) == (handle, "work-mood")
    for name in (
        "work-mood",
        "WORK-MOOD",
        "WORK MOOD",
        "Work_Mood",
        "WORK_MOO",
        "",
        "\ud800",
        "ＷＯＲＫ_ＭＯＯＤ",
        "A" * 999,
    ):
        assert _refused(context, name).details["reason"] == "unknown"
    assert _refused(context, caller=STRANGER).details["reason"] == "unknown"


def test_models_of_the_key_come_before_public_ones(context: Context, made: Made) -> None:
    public = made.in_("demo")
    assert (_asked(context), _asked(context, caller=STRANGER)) == ((public, "work-mood"), (public, "work-mood"))
    own = made.in_("local")
    assert (_asked(context), _asked(context, caller=STRANGER)) == ((own, "work-mood"), (public, "work-mood"))


def test_several_traits_are_named_until_an_alias_says_which(context: Context, made: Made) -> None:
    one, other = sorted([made.in_("local"), made.in_("local")])
    refused = _refused(context)
    assert refused.details["reason"] == "several"
    assert refused.details["meanings"] == [{"handle": each, "trait": "work-mood"} for each in (one, other)]
    assert f"work-mood of {one}, work-mood of {other}" in refused.message
    _alias(context, "WORK_MOOD", other)
    assert _asked(context) == (other, "work-mood")
    _alias(context, "WORK_MOOD", one)
    assert _asked(context) == (one, "work-mood")
    _remove(context, "WORK_MOOD")
    assert _refused(context).details["reason"] == "several"


def test_aliases_of_two_namespaces_are_several_only_if_they_differ(context: Context, made: Made) -> None:
    one, other = made.in_("local"), made.in_("elsewhere")
    _alias(context, "MOOD", one)
    _alias(context, "MOOD", one, namespace="elsewhere")
    assert _asked(context, "MOOD", EVERYWHERE) == (one, "work-mood")
    _alias(context, "MOOD", other, namespace="elsewhere")
    assert _refused(context, "MOOD", EVERYWHERE).details["reason"] == "several"
    assert _asked(context, "MOOD", SCORER) == (one, "work-mood")
    _remove(context, "MOOD")


def test_a_trait_of_the_key_comes_before_an_alias_of_a_public_namespace(context: Context, made: Made) -> None:
    own, public = made.in_("local"), made.in_("demo")
    _alias(context, "WORK_MOOD", pin(public, "v1"), namespace="demo")
    assert _asked(context) == (own, "work-mood")
    assert _asked(context, caller=STRANGER) == (pin(public, "v1"), "work-mood")
    _remove(context, "WORK_MOOD", namespace="demo")


def test_forks_drafts_and_archived_models_are_never_meant_and_a_busy_one_still_is(context: Context, made: Made) -> None:
    handle = made.in_("local")
    copy = author.fork(context, handle).handle
    assert _asked(context) == (handle, "work-mood")
    author.train(context, copy)
    made.handles.append(copy)
    assert _asked(context) == (handle, "work-mood")
    author.new_model(context, TraitInput(name="Mood", key="WORK_mood"))
    assert _asked(context) == (handle, "work-mood")
    training.start(context, AUTHOR, handle, author.REFIT)
    assert (author.get(context, handle).state, _asked(context)) == ("busy", (handle, "work-mood"))
    models.delete(context, AUTHOR, handle)
    assert _refused(context).details["reason"] == "unknown"
    models.restore(context, AUTHOR, handle)
    assert _asked(context) == (handle, "work-mood")


def test_an_alias_whose_model_version_or_trait_is_gone_says_so_and_holds_again_when_it_is_back(
    context: Context, made: Made
) -> None:
    handle = made.in_("local")
    versions.tag(context, AUTHOR, handle, "live")
    _alias(context, "MOOD", pin(handle, "live"))
    assert _asked(context, "MOOD") == (pin(handle, "live"), "work-mood")

    def reason() -> tuple[str, str]:
        refused = _refused(context, "MOOD")
        assert handle in refused.message
        return refused.details["reason"], refused.details["code"]

    versions.untag(context, AUTHOR, handle, "live")
    assert reason() == ("gone", "version_not_found")
    versions.tag(context, AUTHOR, handle, "live")
    models.delete(context, AUTHOR, handle)
    assert reason() == ("gone", "model_archived")
    models.restore(context, AUTHOR, handle)
    assert _asked(context, "MOOD") == (pin(handle, "live"), "work-mood")
    _alias(context, "MOOD", handle, "mood")
    assert reason() == ("gone", "validation_failed")
    _alias(context, "MOOD", author.new_model(context))
    assert _refused(context, "MOOD").details["code"] == "model_not_trained"
    _remove(context, "MOOD")


def test_an_alias_to_a_model_that_the_key_cannot_read_does_not_say_whether_it_exists(
    context: Context, made: Made
) -> None:
    _alias(context, "MOOD", made.in_("elsewhere"))
    there = _refused(context, "MOOD")
    _alias(context, "MOOD", new_handle().replace("local", "elsewhere"))
    missing = _refused(context, "MOOD")
    assert (there.details["code"], missing.details["code"]) == ("model_not_found", "model_not_found")
    assert len(there.message) == len(missing.message)
    _remove(context, "MOOD")


# ---- aliases ---------------------------------------------------------------------------------------------------------


def _put(context: Context, name: str, handle: str, trait: str = "work-mood", namespace: str = "local") -> Attribute:
    return attributes.put(context, AUTHOR, namespace, name, AttributePut(handle=handle, trait=trait))


def test_an_alias_is_set_moved_listed_and_removed_and_its_removal_is_undone_by_what_it_returns(
    context: Context, made: Made
) -> None:
    handle = made.in_("local")
    first = _put(context, "TOXICITY", handle, "Mood at work")
    assert first.model_dump(exclude={"set_at"}) == {
        **{"name": "TOXICITY", "handle": handle, "trait": "work-mood", "by": AUTHOR.key_id},
    }
    moved = _put(context, "TOXICITY", pin(handle, "v1"))
    assert (moved.handle, attributes.get(context, AUTHOR, "local", "TOXICITY")) == (pin(handle, "v1"), moved)
    insult = _put(context, "INSULT", handle)
    page = attributes.list_attributes(context, AUTHOR, "local", limit=1)
    rest = attributes.list_attributes(context, AUTHOR, "local", limit=1, cursor=page.next_cursor)
    assert [*page.items, *rest.items] == [insult, moved]
    removed = attributes.delete(context, AUTHOR, "local", "TOXICITY")
    assert removed == moved
    with pytest.raises(AttributeNotFound):
        attributes.get(context, AUTHOR, "local", "TOXICITY")
    with pytest.raises(AttributeNotFound):
        attributes.delete(context, AUTHOR, "local", "TOXICITY")
    again = _put(context, "TOXICITY", removed.handle, removed.trait)
    assert again.model_dump(exclude={"set_at"}) == moved.model_dump(exclude={"set_at"})
    for name in ("TOXICITY", "INSULT"):
        _remove(context, name)


def test_an_alias_needs_a_name_a_version_that_scores_and_one_of_its_traits(context: Context, made: Made) -> None:
    handle, foreign, draft = made.in_("local"), made.in_("elsewhere"), author.new_model(context)
    archived = made.in_("local")
    models.delete(context, AUTHOR, archived)
    for name in ("toxicity", "1A", "_A", "A-B", "A B", "Ä", "A" * 65, "A\n", "", "\ud800"):
        with pytest.raises(ValidationFailed) as refused:
            _put(context, name, handle)
        assert refused.value.details["errors"][0]["loc"] == ["name"]
    with pytest.raises(ValidationFailed) as refused:
        _put(context, "MOOD", handle, "anger")
    assert refused.value.details["errors"][0]["loc"] == ["trait"]
    assert refused.value.details["known_traits"] == [{"key": "work-mood", "name": "Mood at work"}]
    for of, refusal in (
        ("No Handle", InvalidHandle),
        (foreign, ModelNotFound),
        ("local.missing", ModelNotFound),
        (pin(handle, "v2"), VersionNotFound),
        (pin(handle, "live"), VersionNotFound),
        (draft, ModelNotTrained),
        (archived, ModelArchived),
    ):
        with pytest.raises(refusal):
            _put(context, "MOOD", of)
    assert attributes.list_attributes(context, AUTHOR, "local").items == []
    public = made.in_("demo")
    assert _put(context, "A" * 64, public).handle == public
    _remove(context, "A" * 64)


def test_aliases_belong_to_the_keys_of_a_namespace(context: Context, made: Made) -> None:
    public = made.in_("demo")
    attributes.put(context, EVERYWHERE, "demo", "MOOD", AttributePut(handle=public, trait="work-mood"))
    assert attributes.get(context, EVERYWHERE, "demo", "MOOD").by == EVERYWHERE.key_id
    for caller in (SCORER, STRANGER):
        assert attributes.get(context, caller, "demo", "MOOD").by is None
        assert [each.by for each in attributes.list_attributes(context, caller, "demo").items] == [None]
    for namespace in ("demo", "elsewhere", "No Namespace"):
        with pytest.raises(NamespaceForbidden):
            _put(context, "MOOD", public, namespace=namespace)
        with pytest.raises(NamespaceForbidden):
            attributes.delete(context, AUTHOR, namespace, "MOOD")
    for namespace in ("elsewhere", "missing", "No Namespace"):
        with pytest.raises(NamespaceForbidden):
            attributes.list_attributes(context, AUTHOR, namespace)
        with pytest.raises(NamespaceForbidden):
            attributes.get(context, AUTHOR, namespace, "MOOD")
    _remove(context, "MOOD", namespace="demo")


def test_a_second_comment_asks_sqlite_nothing_and_postgresql_little(context: Context, made: Made) -> None:
    _alias(context, "MOOD", made.in_("local"))
    statements = list[str]()
    event.listen(context.engine, "before_cursor_execute", lambda *given: statements.append(given[2]))
    first = _asked(context, "MOOD")
    assert statements
    statements.clear()
    assert _asked(context, "MOOD") == first
    reads = [each for each in statements if each.lstrip().startswith("SELECT")]
    assert len(reads) == {"sqlite": 0, "postgresql": 3}[context.engine.dialect.name]
    _remove(context, "MOOD")


def _remove(context: Context, name: str, *, namespace: str = "local") -> None:
    with writing(context.engine) as connection:
        stored.remove(connection, namespace, name)
