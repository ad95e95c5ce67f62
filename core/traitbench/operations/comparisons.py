"""Compare two versions: on the same test samples, by what changed between them, and on texts.

The test samples are those of both models that exist today, with equal trait, text and quality. A text that either
version was trained with is no test of it and is left out. Texts are scored as in a batch: in slots of the scheduler,
with cached vectors, and once for both versions if they have the same encoder. No text is stored or logged.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from traitbench.comparison.versions import (
    RecordedChanges,
    Scored,
    TestSet,
    VersionSide,
    choose_tests,
    common_traits,
    score_pairs,
)
from traitbench.comparison.versions import compare as compare_sides
from traitbench.contract import operations
from traitbench.contract.comparisons import (
    MOST_EXPLAINED,
    ComparedText,
    SampleChanges,
    VersionsCompareRequest,
    VersionsComparison,
)
from traitbench.contract.texts import is_url
from traitbench.encoders.scheduler import SCHEDULER, WIDTH
from traitbench.errors import TraitbenchError, Unavailable, ValidationFailed
from traitbench.operations import access, rules, serving
from traitbench.operations.access import Caller
from traitbench.operations.batches import ahead_of, check_content, error_of
from traitbench.operations.context import Context
from traitbench.operations.encoding import BatchEncoding
from traitbench.operations.moved import Movers
from traitbench.operations.pipeline import Pipeline
from traitbench.operations.serving import Served
from traitbench.operations.versions import resolve
from traitbench.scoring.snapshot import FULL
from traitbench.store import samples, version_samples, versions
from traitbench.store.database import reading
from traitbench.store.samples import Label
from traitbench.store.version_samples import Records


def compare(context: Context, caller: Caller, body: VersionsCompareRequest) -> VersionsComparison:
    """The comparison of two versions. Errors name the side, `a` or `b`, in their details."""
    if body.explain and not 1 <= len(body.texts or ()) <= MOST_EXPLAINED:
        message = f"an explanation needs 1 to {MOST_EXPLAINED} texts"
        raise rules.invalid([rules.problem(["texts"], "too_many_explained", message)], thing="The comparison")
    names = {}
    for side in ("a", "b"):
        with _naming(side):
            names[side] = str(access.permit(context, caller, operations.VERSIONS_COMPARE, getattr(body, side)))
            if body.explain:
                access.permit(context, caller, operations.SAMPLES_LIST, names[side])
    served = {}
    for side in ("a", "b"):
        with _naming(side):
            served[side] = serving.now(context, getattr(body, side), body.traits)
    for side in ("a", "b"):
        with _naming(side):
            rules.require("use", served[side].model)
    pair = _Pair(context, served["a"], served["b"], body.traits)
    owned = all(access.is_author(caller, name) for name in names.values())
    return pair.compared(body.texts, may_read=owned, explain=body.explain)


@dataclass(frozen=True)
class _Stored:
    """What the store knows of both versions: metrics, how their samples differ, and the test samples with the owner of
    each text.
    """

    sides: tuple[VersionSide, VersionSide]
    recorded: RecordedChanges
    tests: TestSet
    owners: Sequence[Served]
    records: Sequence[Records | None]


class _Pair:
    """Two versions that are compared."""

    def __init__(self, context: Context, a: Served, b: Served, traits: list[str] | None) -> None:
        self._context, self._a, self._b, self._traits = context, a, b, traits
        self._keys = common_traits(a.snapshot, b.snapshot, traits)

    def compared(self, texts: Sequence[str] | None, *, may_read: bool, explain: bool) -> VersionsComparison:
        """The whole answer; `may_read` says whether it may have the ids of samples."""
        with reading(self._context.engine) as connection:
            stored = self._read(connection)
            movers = self._movers(connection, stored) if explain else None
        known, owners = len(stored.owners), [*stored.owners, *(self._a for _ in texts or ())]

        def score(every: Sequence[str]) -> Sequence[Scored]:
            # The texts of samples were checked when they were added.
            problems = [None if at < known else _problem(text) for at, text in enumerate(every)]
            asked = zip(every, owners, problems, strict=True)
            scored = iter(self._scored([_Text(text, owner) for text, owner, problem in asked if problem is None]))
            return [next(scored) if problem is None else problem for problem in problems]

        tests = stored.tests if may_read else replace(stored.tests, ids=())
        compared = compare_sides(
            *stored.sides, tests, score, recorded=stored.recorded, traits=self._traits, texts=texts
        )
        if movers is None or compared.texts is None or texts is None:
            return compared
        lines = [
            each.model_copy(update={"moved_by": movers.of(text, self._keys)})
            if isinstance(each, ComparedText)
            else each
            for each, text in zip(compared.texts, texts, strict=True)
        ]
        return compared.model_copy(update={"texts": lines})

    def _read(self, connection: Connection) -> _Stored:
        both = (self._a, self._b)
        ids = [resolve(connection, each.model, f"v{each.version_no}").id for each in both]
        shown = [versions.read(connection, version_id) for version_id in ids]
        a, b = (
            VersionSide(each.model.handle, each.version_no, version.param_hash, each.snapshot, version.metrics)
            for each, version in zip(both, shown, strict=True)
        )
        records = [version_samples.read(connection, version_id) for version_id in ids]
        tests, owners = self._tests(connection, records)
        return _Stored((a, b), self._recorded(records), tests, owners, records)

    def _movers(self, connection: Connection, stored: _Stored) -> Movers | None:
        """None if it is not recorded what the versions were trained with."""
        records = [each for each in stored.records if each is not None]
        if len(records) < 2:
            return None
        return Movers(connection, self._context, self._a, self._b, stored.sides[1].metrics, records)

    def _recorded(self, records: Sequence[Records | None]) -> RecordedChanges:
        without = [each for each, record in zip((self._a, self._b), records, strict=True) if record is None]
        if without:
            name = f"{without[0].model.handle}@v{without[0].version_no}"
            purged = without[0].model.zero_data_retention
            why = "its model is under zero data retention" if purged else "it was imported, or made by an older release"
            return RecordedChanges(unrecorded=f"The samples of {name} are not recorded: {why}.")
        a, b = (record for record in records if record is not None)
        tests_a, tests_b = a["held_out"], b["held_out"]
        return RecordedChanges(_changes(a[~tests_a], b[~tests_b]), _changes(a[tests_a], b[tests_b]))

    def _tests(self, connection: Connection, records: Sequence[Records | None]) -> tuple[TestSet, list[Served]]:
        """The test samples of both models that neither version was trained with, and the owner of each text."""
        trained = set[int]()
        for each, record in zip((self._a, self._b), records, strict=True):
            trained |= _trained(connection, each.model.id, record)
        owners: dict[int, Served] = {}
        candidates: list[Label] = []
        for owner in {each.model.id: each for each in (self._a, self._b)}.values():
            labels = samples.held_out_labels(connection, owner.model.id)
            candidates += [label for label in labels if label.trait in self._keys]
            owners |= {label.id: owner for label in labels}
        chosen, left_out = choose_tests(
            candidates, lambda trait, digest: version_samples.number(trait, digest) in trained
        )
        first = {label.content_sha256: label.id for label in reversed(chosen)}
        known = samples.texts(connection, list(first.values()))
        # A text that was deleted in the meantime is missing.
        texts = {digest: known[each] for digest, each in first.items() if each in known}
        ids = [label.id for label in chosen if label.content_sha256 in texts]
        tests = replace(TestSet.of(chosen, texts, left_out), ids=ids)
        return tests, [owners[first[digest]] for digest in texts]

    def _scored(self, texts: Sequence["_Text"]) -> list[Scored]:
        """Every text by both versions, or the error that a score of this text alone would raise."""
        if not texts:
            return []
        numbers: dict[str, int] = {}
        distinct: list[_Text] = []
        for each in texts:
            if each.text not in numbers:
                numbers[each.text] = len(distinct)
                distinct.append(each)
        encodings = _Encodings(self._context, self._a, self._b, distinct)

        def score(some: Sequence[int]) -> list[Scored]:
            encode_a, encode_b = encodings.of(distinct[some[0]], some[0])
            fitted = [serving.fitted(self._context, encode_a, distinct[number].text) for number in some]
            pairs = score_pairs(self._a.snapshot, self._b.snapshot, encode_a.encode, encode_b.encode, fitted)
            return [*pairs]

        def make(several: Sequence[int]) -> list[Scored]:
            same_owner = len({distinct[number].owner.model.id for number in several}) == 1
            return (same_owner and _together(score, several)) or [_single(score, number) for number in several]

        pipeline = Pipeline[Scored](
            [numbers[each.text] for each in texts],
            [(range(len(distinct)), WIDTH)],
            make,
            weights=[len(each.text) + 1 for each in distinct],
            handful_s=SCHEDULER.slot_seconds,
            live=self._context.batches,
            finish=encodings.finish,
        )
        scored = [each for _, each in pipeline]
        if len(scored) < len(texts):
            raise Unavailable("The service is stopping; try again in a moment.")
        return scored


@dataclass(frozen=True)
class _Text:
    """A text and the model under which its vectors are cached: that of the sample, or a for a text that was sent."""

    text: str
    owner: Served


class _Encodings:
    """The encoders of both versions, with the cached vectors of the model that a text belongs to."""

    def __init__(self, context: Context, a: Served, b: Served, texts: Sequence[_Text]) -> None:
        # If one of the models is under zero retention, nothing is cached for either.
        strict = next((each for each in (a, b) if each.model.zero_data_retention), None)
        used = [serving.of_version(context, each.snapshot) for each in (a, b)]
        if a.snapshot.encoder == b.snapshot.encoder:
            used = used[:1]
        owners = {each.owner.model.id: each.owner for each in texts}
        self._by_owner = {
            model_id: [BatchEncoding(context, encoder, strict or owner, mode=FULL) for encoder in used]
            for model_id, owner in owners.items()
        }
        self._ahead = {
            model_id: [
                ahead_of(context, each.text, b.snapshot.reading) if each.owner.model.id == model_id else ""
                for each in texts
            ]
            for model_id in owners
        }

    def of(self, text: _Text, number: int) -> tuple[BatchEncoding, BatchEncoding]:
        """The encodings for both versions of a text, with its stored vectors loaded."""
        encodings = self._by_owner[text.owner.model.id]
        for encoding in encodings:
            encoding.look_ahead(self._ahead[text.owner.model.id], number)
        return encodings[0], encodings[-1]

    def finish(self) -> None:
        """Write the new vectors to the store."""
        for encodings in self._by_owner.values():
            for encoding in encodings:
                encoding.finish()


def _together(score: Callable[[Sequence[int]], list[Scored]], several: Sequence[int]) -> list[Scored]:
    """Several texts at once; an empty list if one of them cannot be scored."""
    try:
        # If one text fails, all are scored one by one, so that each has an error of its own.
        return score(several)
    except Exception:
        return []


def _single(score: Callable[[Sequence[int]], list[Scored]], number: int) -> Scored:
    try:
        [scored] = score([number])
    except Exception as error:
        return error_of(error)
    return scored


def _problem(content: str) -> TraitbenchError | None:
    """Why a text cannot be compared."""
    try:
        check_content(content)
    except TraitbenchError as error:
        return error
    return _no_address() if is_url(content) else None


@contextmanager
def _naming(side: str) -> Iterator[None]:
    """Add to an error which of the two handles it is about."""
    try:
        yield
    except TraitbenchError as error:
        error.details = {**error.details, "side": side}
        raise


def _trained(connection: Connection, model_id: int, record: Records | None) -> set[int]:
    """The numbers of the samples that a version was trained with; without a record, those that the model has today."""
    if record is not None:
        return set(record["sample"][~record["held_out"]].tolist())
    return {version_samples.number(each.trait, each.content_sha256) for each in samples.labels(connection, model_id)}


def _changes(a: Records, b: Records) -> SampleChanges:
    added, removed, relabelled = version_samples.changes(a, b)
    return SampleChanges(added=added, removed=removed, relabelled=relabelled)


def _no_address() -> ValidationFailed:
    message = "A web address is not fetched in a comparison; send its text"
    return ValidationFailed(f"texts: {message}.", details={"errors": [rules.problem(["texts"], "address", message)]})
