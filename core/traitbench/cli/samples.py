"""`traitbench samples`: list, add, import, change, delete, synthesize, rejected; undo a change, and list all changes;
set test samples aside and put them back.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

import click

from traitbench.cli.options import (
    FileOptions,
    InputFile,
    Refused,
    answers,
    check_columns,
    given_text,
    reads_file,
    tell_problems,
    waits,
    word_meanings,
)
from traitbench.cli.output import Listing, Output, RowProgress, say_table, say_text, say_unreadable
from traitbench.cli.runs import Run
from traitbench.client import Traitbench
from traitbench.client.pages import ListedRows
from traitbench.client.wire import SynthType
from traitbench.contract.models import Effort, Model
from traitbench.contract.page import LARGEST_CHANGE_PAGE, LARGEST_SAMPLE_PAGE
from traitbench.contract.sample_changes import SampleChange, SampleEdit
from traitbench.contract.samples import Pole, Provenance, RejectedText, Sample, SampleIds, SampleInput, SynthesisPlan
from traitbench.contract.traits import Trait
from traitbench.display.text import count
from traitbench.tables.rows import Table
from traitbench.tables.rows_together import rows_together
from traitbench.tables.sample_files import (
    Checked,
    FileLayout,
    LabelColumn,
    check,
    guess_columns,
    guess_group_column,
    guess_note_column,
    guess_test_columns,
    guess_wide,
    known_traits,
    known_words,
    without_answer,
)


@click.group()
def samples() -> None:
    """Manage the labelled texts of a model."""


@samples.command("list")
@click.argument("handle")
@click.option("--trait", help="Only samples of this trait.")
@click.option(
    "--held-out/--not-held-out",
    default=None,
    help="Only test samples, or only the samples to train with. Default: all.",
)
@click.option(
    "--pending/--not-pending", default=None, help="Only feedback that no version was trained with, or only the others."
)
@click.option("--find", "text", help="Only texts that contain these words, in any case.")
@click.option("--pole", type=click.Choice(get_args(Pole)), help="Only samples whose label is nearer to this pole.")
@click.option("--from", "provenance", type=click.Choice(get_args(Provenance)), help="Only samples of this origin.")
@answers
def list_samples(client: Traitbench, handle: str, pending: bool | None, **filters: Any) -> Listing[Sample]:
    """List samples.

    The output of --json can be imported again. With --pending, THEN is the score when the feedback was given.
    """
    heads = ("ID", "TRAIT", "QUALITY", *(("THEN",) if pending else ("FROM", "TEST")), "TEXT")
    return Listing(
        client.samples.list(handle, pending=pending, **filters, limit=LARGEST_SAMPLE_PAGE),
        "sample",
        heads,
        lambda each: (
            *(each.id, each.trait, f"{each.quality:g}"),
            *((each.score_then,) if pending else (each.provenance, _test(each))),
            each.text,
        ),
    )


@samples.command("rejected")
@click.argument("handle")
@answers
def list_rejected(client: Traitbench, handle: str) -> Listing[RejectedText]:
    """List texts that the last synthesis rejected, with the reasons, until the model's next run."""
    return Listing(
        ListedRows(client.samples.rejected(handle)),
        "text",
        ("TRAIT", "QUALITY", "REASON", "TEXT"),
        lambda each: (each.trait, f"{each.quality:g}", each.reason, each.text),
    )


@samples.command("add")
@click.argument("handle")
@click.argument("text", required=False)
@click.option("--file", type=InputFile(), help="Read the text from a file; - for stdin.")
@click.option("--trait", required=True, help="The trait of the sample.")
@click.option("--quality", type=float, required=True, help="1 for the positive pole, 0 for the negative one.")
@click.option("--held-out", is_flag=True, help="Add it as a test sample: versions are measured on it only.")
@click.option("--must-pass", is_flag=True, help="Its score has to be on its pole's side; needs --held-out.")
@click.option("--group", help="What it belongs to, such as a conversation: no figure divides a group.")
@click.option("--note", help="Why it has its label.")
@answers
def add_sample(client: Traitbench, handle: str, text: str | None, file: str | None, **fields: Any) -> Output:
    """Add one TEXT as a sample. Without TEXT, or with `-`, read stdin."""
    # Not validated here, because the service reports what is wrong. A mark that is not given is not sent.
    sent = {name: value for name, value in fields.items() if value is not False and value is not None}
    sent["text"] = given_text(text, file)
    ids = client.samples.add(handle, [SampleInput.model_construct(_fields_set={*sent}, **sent)])
    return Output(SampleIds(ids=ids), f"Added sample {ids[0]} to {handle}.")


@samples.command("import")
@click.argument("handle")
@click.argument("file", type=InputFile())
@reads_file("--text-column", "--text")
@click.option("--trait-column", help="The column of the traits.")
@click.option("--quality-column", help="The column of the qualities: numbers from 0 to 1, or words.")
@click.option("--held-out-column", help="The column that marks test samples with yes or no.")
@click.option("--must-pass-column", help="The column that marks test samples that must pass with yes or no.")
@click.option("--trait", help="The trait of rows without one. Default: the only trait.")
@click.option("--quality", type=click.FloatRange(0, 1), help="The quality of rows without one.")
@word_meanings
@click.option("--skip-bad", is_flag=True, help="Add the good rows even if others are bad.")
@click.option(
    "--no-groups",
    is_flag=True,
    help="Let figures divide rows that share a value that predicts their labels, such as a conversation.",
)
@answers
def import_samples(
    client: Traitbench,
    handle: str,
    file: str,
    of_file: FileOptions,
    trait_column: str | None,
    quality_column: str | None,
    held_out_column: str | None,
    must_pass_column: str | None,
    trait: str | None,
    quality: float | None,
    meanings: dict[str, float],
    skip_bad: bool,
    no_groups: bool,
) -> Output:
    """Import samples from a CSV, Excel, JSONL or Parquet FILE; `-` reads stdin.

    Without --skip-bad, either all rows are added or none. Rows with the same conversation, author or document are kept
    together if a column repeats and predicts the labels.
    """
    source, text = of_file.texts(file, of_file.open(file))
    table = source.whole
    given, marks = (text, trait_column, quality_column), (held_out_column, must_pass_column)
    check_columns(table, (*given, *marks))
    traits = client.traits.list(handle)
    say_unreadable(traits.unreadable, "trait")
    layout = _layout(table, traits, given, marks, (trait, quality), meanings)
    layout = replace(layout, group=None) if no_groups else _with_group(table, layout, traits, dict(of_file.given))
    checked = check(table, layout, traits)
    _tell(table, checked, layout, of_file.said(source, text))
    if checked.problems and not skip_bad:
        raise Refused(
            f"Nothing was added: {count(len(checked.problems), 'bad row')}. "
            f"Correct the file, or add the good rows with --skip-bad. {known_traits(checked.problems, traits)}"
        )
    ids = client.samples.add(handle, checked.samples)
    return Output(SampleIds(ids=ids), f"Added {count(len(ids), 'sample')} to {handle}: {_shares(checked.samples)}")


@samples.command("change")
@click.argument("handle")
@click.argument("sample_ids", metavar="ID...", type=int, nargs=-1, required=True)
@click.option("--text", help="The new text.")
@click.option("--quality", type=float, help="1 for the positive pole, 0 for the negative one.")
@click.option("--trait", help="The trait to move it to.")
@click.option("--held-out/--not-held-out", default=None, help="Make it a test sample, or one to train with.")
@click.option("--must-pass/--need-not-pass", default=None, help="Whether its score has to be on its pole's side.")
@click.option("--group", help="What it belongs to, such as a conversation; an empty text for nothing.")
@click.option("--sample-note", help="Why they have their label; an empty text for no note.")
@click.option("--note", help="What the change is, for the history.")
@answers
def change_samples(
    client: Traitbench,
    handle: str,
    sample_ids: tuple[int, ...],
    note: str | None,
    sample_note: str | None,
    **fields: Any,
) -> Output:
    """Change samples of a draft, or feedback that waits: up to 500 as a whole or not at all.

    All get the same values. Ids and origins stay. The change can be undone for 24 hours.
    """
    # Not validated here, because the service reports what is wrong.
    sent = {name: value for name, value in {**fields, "note": sample_note}.items() if value is not None}
    if not sent:
        raise click.UsageError("Say what to change, such as --quality 0.5.")
    edits = [
        SampleEdit.model_construct(_fields_set={"id", *sent}, id=each, **sent) for each in dict.fromkeys(sample_ids)
    ]
    change = client.samples.apply(handle, updates=edits, note=note)
    return Output(change, f"Changed {count(len(change.updates), 'sample')} of {handle}.{_undoable(handle, change)}")


@samples.command("changes")
@click.argument("handle")
@click.option("--sample", "sample_id", type=int, help="Only changes of the sample with this id.")
@answers
def list_changes(client: Traitbench, handle: str, sample_id: int | None) -> Listing[SampleChange]:
    """List who changed which samples when, newest first."""
    return Listing(
        client.samples.changes(handle, sample_id=sample_id, limit=LARGEST_CHANGE_PAGE),
        "change",
        ("CHANGE", "MADE (UTC)", "BY", "ADDED", "CHANGED", "DELETED", "UNDO", "NOTE"),
        lambda each: (
            each.id,
            f"{each.at:%Y-%m-%d %H:%M}",
            each.by,
            *(len(ids) or None for ids in (each.adds, each.updates, each.deletes)),
            "undone" if each.undone else each.undoable_until and f"until {each.undoable_until:%Y-%m-%d %H:%M}",
            each.note,
        ),
    )


@samples.command("undo")
@click.argument("handle")
@click.argument("change_id", metavar="CHANGE", type=int)
@answers
def undo_change(client: Traitbench, handle: str, change_id: int) -> Output:
    """Undo a change of samples as a whole. `changes` lists them with their ids."""
    change = client.samples.undo(handle, change_id)
    return Output(change, f"Undid change {change_id} of {handle}.{_undoable(handle, change)}")


def _undoable(handle: str, change: SampleChange) -> str:
    """How to take a change back, as a sentence after another; empty under zero retention."""
    if change.undoable_until is None:
        return ""
    return f" To take this back within 24 hours: traitbench samples undo {handle} {change.id}"


@samples.command("delete")
@click.argument("handle")
@click.argument("sample_ids", metavar="ID...", type=int, nargs=-1, required=True)
@answers
def delete_samples(client: Traitbench, handle: str, sample_ids: tuple[int, ...]) -> Output:
    """Delete samples of a draft, or withdraw feedback that waits.

    Up to 500 are deleted as a whole or not at all. With --json, print their ids.
    """
    deleted = SampleIds(ids=client.samples.delete_many(handle, sample_ids))
    return Output(deleted, f"Deleted {count(len({*deleted.ids}), 'sample')} of {handle}.")


@samples.command("set-aside")
@click.argument("handle")
@click.option("--share", type=click.FloatRange(0, 0.5), default=0.2, show_default=True, help="The share of each pole.")
@click.option("--at-least", type=click.IntRange(1), default=10, show_default=True, help="Samples at each pole.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="An equal seed chooses equally.")
@answers
def set_aside(client: Traitbench, handle: str, share: float, at_least: int, seed: int) -> Output:
    """Set samples of a draft aside as test samples, at random.

    No version learns from them, and every version is measured on them. Near duplicates, and texts with their
    variations, go aside together.
    """
    # Imported here: encoding texts is heavy, and other commands do not.
    from traitbench.local import held_out, preview

    traits, own = list(client.traits.list(handle)), list(client.samples.list(handle, limit=LARGEST_SAMPLE_PAGE))
    texts = len({sample.content_sha256 for sample in own})
    progress = RowProgress("Reading", texts)
    preview.read(own, lambda done, _: progress.at(done))
    vectors = preview.vectors(own)
    chosen = held_out.choice(own, vectors, share=share, at_least=at_least, seed=seed)
    progress.end(texts)
    if refusal := held_out.refusal(chosen, traits):
        raise Refused(f"Nothing was set aside. {refusal}")
    ids = client.samples.update(handle, chosen.ids, held_out=True)
    for sentence in held_out.shortages(chosen.too_few, traits):
        click.echo(sentence, err=True)
    return Output(SampleIds(ids=ids), held_out.done(chosen, own, traits))


@samples.command("hold-out")
@click.argument("handle")
@click.argument("sample_ids", metavar="ID...", type=int, nargs=-1, required=True)
@click.option("--must-pass/--may-fail", default=None, help="Whether their scores have to be on their pole's side.")
@answers
def hold_out(client: Traitbench, handle: str, sample_ids: tuple[int, ...], must_pass: bool | None) -> Output:
    """Make samples of a draft test samples."""
    ids = client.samples.update(handle, sample_ids, held_out=True, must_pass=must_pass)
    return Output(SampleIds(ids=ids), f"{handle}: {count(len(sample_ids), 'test sample')} set aside.")


@samples.command("put-back")
@click.argument("handle")
@click.argument("sample_ids", metavar="ID...", type=int, nargs=-1)
@click.option("--all", "every", is_flag=True, help="All test samples of the model.")
@answers
def put_back(client: Traitbench, handle: str, sample_ids: tuple[int, ...], every: bool) -> Output:
    """Train with test samples of a draft again."""
    if every == bool(sample_ids):
        raise click.UsageError("Give the IDs of samples, or --all.")
    listing = client.samples.list(handle, held_out=True, limit=LARGEST_SAMPLE_PAGE) if every else ()
    ids = [sample.id for sample in listing] or list(sample_ids)
    client.samples.update(handle, ids, held_out=False)
    return Output(SampleIds(ids=ids), f"{handle}: put {count(len(ids), 'sample')} back.")


@samples.command("synthesize")
@click.argument("handle")
@click.option("--type", "synth_type", type=click.Choice(get_args(SynthType)), default="from_traits", show_default=True)
@click.option("--effort", type=click.Choice(get_args(Effort)), help="How many samples to make.")
@click.option("--offline", is_flag=True, help="Do not ask the language model of the service, if it has one.")
@click.option("--plan", "only_plan", is_flag=True, help="Show what would be made, its cost and what would be sent.")
@waits
@answers
def synthesize_samples(
    client: Traitbench, handle: str, offline: bool, only_plan: bool, wait: bool, **options: Any
) -> Output | Run:
    """Make samples for a draft.

    They are made from its traits, or as variations of its samples (diversify). With --wait, the exit code is 1 if the
    language model did not write all of them; what was made is added all the same, and --offline never asks it.
    Texts made offline are in English; a language model writes in the language of the samples or labels.
    """
    options["language_model"] = False if offline else None
    plan = client.samples.plan(handle, **options)
    if only_plan:
        return Output(plan, lambda: say_text("\n".join(_plan(plan))))
    if not plan.requests and plan.offline_warning:
        click.echo(plan.offline_warning, err=True)

    def balance(_model: Model) -> None:
        traits = client.traits.list(handle)
        say_table(("TRAIT", "+", "-"), [(each.key, each.positive_samples, each.negative_samples) for each in traits])
        say_unreadable(traits.unreadable, "trait")

    return Run(client, handle, client.samples.synthesize(handle, **options), wait, balance, check=_check_written)


def _check_written(model: Model) -> None:
    """Raise `Refused` if the language model failed on the way."""
    progress = model.last_operation.progress if model.last_operation else None
    if progress is not None and progress.synthesis is not None and progress.synthesis.failure:
        raise Refused(
            f"The language model did not write all of the {count(progress.synthesis.added, 'sample')} that were added."
            " Its reason is above. Correct it and repeat the command, or pass --offline."
        )


def _plan(plan: SynthesisPlan) -> list[str]:
    """A plan in lines."""
    effect = f"Up to {plan.texts_per_pole} texts per pole in about {plan.seconds:.0f} s"
    if not plan.requests:
        return [f"{effect}, made offline: nothing is sent.", *filter(None, [plan.offline_warning])]
    cost = f"about {plan.tokens:,} tokens, at most {plan.most_tokens:,}"
    asked = f"{effect}, by {plan.generator} at {plan.host}: {count(plan.requests, 'request')}, {cost}."
    return [asked, "The first request:", *(line for part in plan.sent for line in part.splitlines())]


def _layout(
    table: Table,
    traits: Sequence[Trait],
    given: tuple[str, str | None, str | None],
    marks: tuple[str | None, str | None],
    defaults: tuple[str | None, float | None],
    meanings: Mapping[str, float],
) -> FileLayout:
    """Return the columns that were named, and guess the others."""
    text = given[0]
    trait, quality = (name or guess for name, guess in zip(given[1:], guess_columns(table, traits)[1:], strict=True))
    held_out, must_pass = (name or guess for name, guess in zip(marks, guess_test_columns(table), strict=True))
    group, note = guess_group_column(table), guess_note_column(table)
    wide = guess_wide(table, traits)
    if wide and trait is None and quality in (None, *wide) and (given[2], *defaults) == (None, None, None):
        labels = [
            LabelColumn(column, key, {**known_words(table, column, traits), **meanings, "": None})
            for column, key in wide.items()
        ]
        return FileLayout(text, tuple(labels), None, held_out, must_pass, group, note)
    known = {**(known_words(table, quality, traits) if quality else {}), **meanings}
    if defaults[1] is not None:
        known[""] = defaults[1]
    only = traits[0].key if len(traits) == 1 else None
    label = LabelColumn(quality if quality != text else None, defaults[0] or only, known)
    return FileLayout(text, (label,), trait if trait != text else None, held_out, must_pass, group, note)


def _with_group(table: Table, layout: FileLayout, traits: Sequence[Trait], given: Mapping[str, str]) -> FileLayout:
    """Return the layout with the column of what rows belong to, and say which it is; `given` are the readings of
    columns that a person knows.
    """
    named = next((column for column, reading in given.items() if reading == "rows_together"), layout.group)
    if named is not None:
        click.echo(f"Rows with the same “{named}” are kept together.", err=True)
        return replace(layout, group=named)
    match = rows_together(table, layout, traits, without=given)
    if match is None:
        return layout
    column, says = match
    click.echo(f"{says} They are kept together; --no-groups divides them.", err=True)
    return replace(layout, group=column)


def _tell(table: Table, checked: Checked, layout: FileLayout, texts: str) -> None:
    first, *more = layout.labels
    traits = "their columns" if more else layout.trait or first.trait or "nowhere"
    qualities = ", ".join(each.column or "--quality" for each in layout.labels)
    tests = f", test samples from {layout.held_out}" if layout.held_out else ""
    click.echo(f"{texts}, traits from {traits}, qualities from {qualities}{tests}", err=True)
    if missing := without_answer(table, layout.labels):
        words = ", ".join(f"“{word}” {times:,}" for word, times in [*missing.items()][:8])
        click.echo(
            f"{count(sum(missing.values()), 'label means', 'labels mean')} no answer: {words}. Left out.", err=True
        )
    tell_problems([(each.row, f"{each.column} {each.reason}".strip()) for each in checked.problems])


def _shares(samples: Sequence[SampleInput]) -> str:
    shares = ", ".join(f"{number:,} of {trait}" for trait, number in Counter(each.trait for each in samples).items())
    tests = sum(each.held_out for each in samples)
    return f"{shares}; {count(tests, 'test sample')}" if tests else shares


def _test(sample: Sample) -> str:
    return "must pass" if sample.must_pass else "yes" if sample.held_out else "-"
