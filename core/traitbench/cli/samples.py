"""`traitbench samples`: list, add, import, delete, synthesize, rejected; set test samples aside and put them back."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import get_args

import click

from traitbench.cli.options import (
    InputFile,
    Refused,
    as_json,
    check_columns,
    connected,
    given_text,
    read_table,
    tell_problems,
    text_column,
    waits,
)
from traitbench.cli.output import RowProgress, say, say_lines, say_table, say_unreadable
from traitbench.cli.runs import follow
from traitbench.client.wire import SynthType
from traitbench.contract.models import Effort
from traitbench.contract.page import LARGEST_SAMPLE_PAGE
from traitbench.contract.samples import Pole, Provenance, Sample, SampleIds, SampleInput, SynthesisPlan
from traitbench.contract.traits import Trait
from traitbench.display.text import count
from traitbench.tables.sample_files import (
    Checked,
    FileLayout,
    LabelColumn,
    Table,
    check,
    guess_columns,
    guess_test_columns,
    guess_wide,
    guess_words,
    known_traits,
    words,
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
@click.option("--find", help="Only texts that contain these words, in any case.")
@click.option("--pole", type=click.Choice(get_args(Pole)), help="Only samples whose label is nearer to this pole.")
@click.option("--from", "provenance", type=click.Choice(get_args(Provenance)), help="Only samples of this origin.")
@as_json
def list_samples(
    handle: str,
    trait: str | None,
    held_out: bool | None,
    pending: bool | None,
    find: str | None,
    pole: Pole | None,
    provenance: Provenance | None,
    as_json: bool,
) -> None:
    """List samples.

    The output of --json can be imported again. With --pending, THEN is the score when the feedback was given.
    """
    with connected() as client:
        listing = client.samples.list(
            handle,
            trait=trait,
            held_out=held_out,
            pending=pending,
            text=find,
            pole=pole,
            provenance=provenance,
            limit=LARGEST_SAMPLE_PAGE,
        )
        if as_json:
            say_lines(listing)
        elif pending:
            waiting = [
                (each.id, each.trait, f"{each.quality:g}", _score(each.score_then), each.text) for each in listing
            ]
            say_table(("ID", "TRAIT", "QUALITY", "THEN", "TEXT"), waiting)
        else:
            rows = [
                (each.id, each.trait, f"{each.quality:g}", each.provenance, _test(each), each.text) for each in listing
            ]
            say_table(("ID", "TRAIT", "QUALITY", "FROM", "TEST", "TEXT"), rows)
        say_unreadable(listing.unreadable, "sample")


@samples.command("rejected")
@click.argument("handle")
@as_json
def list_rejected(handle: str, as_json: bool) -> None:
    """List texts that the last synthesis rejected, with the reasons, until the model's next run."""
    with connected() as client:
        listed = client.samples.rejected(handle)
    if as_json:
        say_lines(listed)
    else:
        rows = [(each.trait, f"{each.quality:g}", each.reason, each.text) for each in listed]
        say_table(("TRAIT", "QUALITY", "REASON", "TEXT"), rows)


@samples.command("add")
@click.argument("handle")
@click.argument("text", required=False)
@click.option("--file", type=InputFile(), help="Read the text from a file; - for stdin.")
@click.option("--trait", required=True, help="The trait of the sample.")
@click.option("--quality", type=float, required=True, help="1 for the positive pole, 0 for the negative one.")
@click.option("--held-out", is_flag=True, help="Add it as a test sample: versions are measured on it only.")
@click.option("--must-pass", is_flag=True, help="Its score has to be on its pole's side; needs --held-out.")
@as_json
def add_sample(
    handle: str,
    text: str | None,
    file: str | None,
    trait: str,
    quality: float,
    held_out: bool,
    must_pass: bool,
    as_json: bool,
) -> None:
    """Add one TEXT as a sample. Without TEXT, or with `-`, read stdin."""
    # Not validated here, because the service reports what is wrong.
    sample = SampleInput.model_construct(trait=trait, text=given_text(text, file), quality=quality)
    marks = {"held_out": held_out, "must_pass": must_pass}
    sample = sample.model_copy(update={name: True for name, given in marks.items() if given})
    with connected() as client:
        ids = client.samples.add(handle, [sample])
    say(SampleIds(ids=ids), f"Added sample {ids[0]} to {handle}.", as_json=as_json)


@samples.command("import")
@click.argument("handle")
@click.argument("file", type=InputFile())
@click.option("--text-column", help="The column of the texts. Columns that are not named are guessed.")
@click.option("--trait-column", help="The column of the traits.")
@click.option("--quality-column", help="The column of the qualities: numbers from 0 to 1, or words.")
@click.option("--held-out-column", help="The column that marks test samples with yes or no.")
@click.option("--must-pass-column", help="The column that marks test samples that must pass with yes or no.")
@click.option("--trait", help="The trait of rows without one. Default: the only trait.")
@click.option("--quality", type=click.FloatRange(0, 1), help="The quality of rows without one.")
@click.option(
    "--word", "meanings", metavar="WORD=QUALITY", multiple=True, help="The quality that a word means, such as fine=1."
)
@click.option("--sheet", help="The sheet of an Excel file. Default: the first visible one.")
@click.option("--no-header", is_flag=True, help="The first row of a CSV or Excel file is a sample.")
@click.option("--skip-bad", is_flag=True, help="Add the good rows even if others are bad.")
@as_json
def import_samples(
    handle: str,
    file: str,
    text_column: str | None,
    trait_column: str | None,
    quality_column: str | None,
    held_out_column: str | None,
    must_pass_column: str | None,
    trait: str | None,
    quality: float | None,
    meanings: tuple[str, ...],
    sheet: str | None,
    no_header: bool,
    skip_bad: bool,
    as_json: bool,
) -> None:
    """Import samples from a CSV, Excel, JSONL or Parquet FILE; `-` reads stdin.

    Without --skip-bad, either all rows are added or none.
    """
    table = read_table(file, header=not no_header, sheet=sheet)
    given, marks = (text_column, trait_column, quality_column), (held_out_column, must_pass_column)
    check_columns(table, (*given, *marks))
    with connected() as client:
        traits = client.traits.list(handle)
        say_unreadable(traits.unreadable, "trait")
        layout = _layout(table, traits, given, marks, (trait, quality), dict(map(meaning, meanings)))
        checked = check(table, layout, traits)
        _tell(checked, layout)
        if checked.problems and not skip_bad:
            raise Refused(
                f"Nothing was added: {count(len(checked.problems), 'bad row')}. "
                f"Correct the file, or add the good rows with --skip-bad. {known_traits(checked.problems, traits)}"
            )
        ids = client.samples.add(handle, checked.samples)
    say(
        SampleIds(ids=ids),
        f"Added {count(len(ids), 'sample')} to {handle}: {_shares(checked.samples)}",
        as_json=as_json,
    )


@samples.command("delete")
@click.argument("handle")
@click.argument("sample_ids", metavar="ID...", type=int, nargs=-1, required=True)
@as_json
def delete_samples(handle: str, sample_ids: tuple[int, ...], as_json: bool) -> None:
    """Delete samples of a draft, or withdraw feedback that waits.

    Up to 500 are deleted as a whole or not at all. With --json, print their ids.
    """
    with connected() as client:
        deleted = SampleIds(ids=client.samples.delete_many(handle, sample_ids))
    click.echo(deleted.model_dump_json() if as_json else f"Deleted {count(len({*deleted.ids}), 'sample')} of {handle}.")


@samples.command("set-aside")
@click.argument("handle")
@click.option("--share", type=click.FloatRange(0, 0.5), default=0.2, show_default=True, help="The share of each pole.")
@click.option("--at-least", type=click.IntRange(1), default=10, show_default=True, help="Samples at each pole.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="An equal seed chooses equally.")
@as_json
def set_aside(handle: str, share: float, at_least: int, seed: int, as_json: bool) -> None:
    """Set samples of a draft aside as test samples, at random.

    No version learns from them, and every version is measured on them. Near duplicates, and texts with their
    variations, go aside together.
    """
    # Imported here: encoding texts is heavy, and other commands do not.
    from traitbench.local import held_out, preview

    with connected() as client:
        traits, own = list(client.traits.list(handle)), list(client.samples.list(handle, limit=LARGEST_SAMPLE_PAGE))
        progress = RowProgress("Reading", len({sample.content_sha256 for sample in own}))
        try:
            preview.read(own, lambda done, _: progress.at(done))
            vectors = preview.vectors(own)
        except preview.PreviewUnavailable as error:
            raise Refused(str(error)) from error
        chosen = held_out.choice(own, vectors, share=share, at_least=at_least, seed=seed)
        progress.end(len({sample.content_sha256 for sample in own}))
        if refusal := held_out.refusal(chosen, traits):
            raise Refused(f"Nothing was set aside. {refusal}")
        ids = client.samples.update(handle, chosen.ids, held_out=True)
    for sentence in held_out.shortages(chosen.too_few, traits):
        click.echo(sentence, err=True)
    say(SampleIds(ids=ids), held_out.done(chosen, own, traits), as_json=as_json)


@samples.command("hold-out")
@click.argument("handle")
@click.argument("sample_ids", metavar="ID...", type=int, nargs=-1, required=True)
@click.option("--must-pass/--may-fail", default=None, help="Whether their scores have to be on their pole's side.")
@as_json
def hold_out(handle: str, sample_ids: tuple[int, ...], must_pass: bool | None, as_json: bool) -> None:
    """Make samples of a draft test samples."""
    with connected() as client:
        ids = client.samples.update(handle, sample_ids, held_out=True, must_pass=must_pass)
    say(SampleIds(ids=ids), f"{handle}: {count(len(sample_ids), 'test sample')} set aside.", as_json=as_json)


@samples.command("put-back")
@click.argument("handle")
@click.argument("sample_ids", metavar="ID...", type=int, nargs=-1)
@click.option("--all", "every", is_flag=True, help="All test samples of the model.")
@as_json
def put_back(handle: str, sample_ids: tuple[int, ...], every: bool, as_json: bool) -> None:
    """Train with test samples of a draft again."""
    if every == bool(sample_ids):
        raise click.UsageError("Give the IDs of samples, or --all.")
    with connected() as client:
        listing = client.samples.list(handle, held_out=True, limit=LARGEST_SAMPLE_PAGE) if every else ()
        ids = [sample.id for sample in listing] or list(sample_ids)
        client.samples.update(handle, ids, held_out=False)
    say(SampleIds(ids=ids), f"{handle}: put {count(len(ids), 'sample')} back.", as_json=as_json)


@samples.command("synthesize")
@click.argument("handle")
@click.option("--type", "synth_type", type=click.Choice(get_args(SynthType)), default="from_traits", show_default=True)
@click.option("--effort", type=click.Choice(get_args(Effort)), help="How many samples to make.")
@click.option("--offline", is_flag=True, help="Do not ask the language model of the service, if it has one.")
@click.option("--plan", "only_plan", is_flag=True, help="Show what would be made, its cost and what would be sent.")
@waits
@as_json
def synthesize_samples(
    handle: str,
    synth_type: SynthType,
    effort: Effort | None,
    offline: bool,
    only_plan: bool,
    wait: bool,
    as_json: bool,
) -> None:
    """Make samples for a draft.

    They are made from its traits, or as variations of its samples (diversify). With --wait, the exit code is 1 if the
    language model did not write all of them; what was made is added all the same, and --offline never asks it.
    Texts made offline are in English; a language model writes in the language of the samples or labels.
    """
    language_model = False if offline else None
    with connected() as client:
        if only_plan:
            plan = client.samples.plan(handle, synth_type=synth_type, effort=effort, language_model=language_model)
            for line in [""] if as_json else _plan(plan):
                say(plan, line, as_json=as_json)
            return
        ahead = client.samples.plan(handle, synth_type=synth_type, effort=effort, language_model=language_model)
        if not ahead.requests and ahead.offline_warning:
            click.echo(ahead.offline_warning, err=True)
        started = client.samples.synthesize(handle, synth_type=synth_type, effort=effort, language_model=language_model)
        model = follow(client, handle, started, wait=wait, as_json=as_json)
        if model is None:
            return
        traits = client.traits.list(handle)
    outcome = (
        model.last_operation.progress.synthesis if model.last_operation and model.last_operation.progress else None
    )
    if not as_json:
        say_table(("TRAIT", "+", "-"), [(each.key, each.positive_samples, each.negative_samples) for each in traits])
        say_unreadable(traits.unreadable, "trait")
    if outcome is not None and outcome.failure:
        raise Refused(
            f"The language model did not write all of the {count(outcome.added, 'sample')} that were added. Its reason"
            " is above. Correct it and repeat the command, or pass --offline."
        )


def _plan(plan: SynthesisPlan) -> list[str]:
    """A plan in lines."""
    effect = f"Up to {plan.texts_per_pole} texts per pole in about {plan.seconds:.0f} s"
    if not plan.requests:
        return [f"{effect}, made offline: nothing is sent.", *filter(None, [plan.offline_warning])]
    cost = f"about {plan.tokens:,} tokens, at most {plan.most_tokens:,}"
    asked = f"{effect}, by {plan.generator} at {plan.host}: {count(plan.requests, 'request')}, {cost}."
    return [asked, "The first request:", *(line for part in plan.sent for line in part.splitlines())]


def _score(score: int | None) -> str:
    return "-" if score is None else str(score)


def _layout(
    table: Table,
    traits: Sequence[Trait],
    given: tuple[str | None, str | None, str | None],
    marks: tuple[str | None, str | None],
    defaults: tuple[str | None, float | None],
    meanings: Mapping[str, float],
) -> FileLayout:
    """Return the columns that were named, and guess the others."""
    text = text_column(table, given[0], "--text-column")
    trait, quality = (name or guess for name, guess in zip(given[1:], guess_columns(table, traits)[1:], strict=True))
    held_out, must_pass = (name or guess for name, guess in zip(marks, guess_test_columns(table), strict=True))
    wide = guess_wide(table, traits)
    if wide and trait is None and quality in (None, *wide) and (given[2], *defaults) == (None, None, None):
        labels = [
            LabelColumn(column, key, {**_known(table, column, traits), **meanings, "": None})
            for column, key in wide.items()
        ]
        return FileLayout(text, tuple(labels), None, held_out, must_pass)
    known = {**(_known(table, quality, traits) if quality else {}), **meanings}
    if defaults[1] is not None:
        known[""] = defaults[1]
    only = traits[0].key if len(traits) == 1 else None
    label = LabelColumn(quality if quality != text else None, defaults[0] or only, known)
    return FileLayout(text, (label,), trait if trait != text else None, held_out, must_pass)


def _known(table: Table, column: str, traits: Sequence[Trait]) -> dict[str, float]:
    guessed = guess_words(words(table, column), traits)
    return {word: quality for word, quality in guessed.items() if quality is not None}


def meaning(option: str) -> tuple[str, float]:
    """Parse the option WORD=QUALITY."""
    word, _, quality = option.rpartition("=")
    try:
        value = float(quality)
    except ValueError:
        value = -1.0
    if not word or not 0.0 <= value <= 1.0:
        raise click.UsageError(f"--word {option} is not WORD=QUALITY, with a quality from 0 to 1.")
    return word, value


def _tell(checked: Checked, layout: FileLayout) -> None:
    first, *more = layout.labels
    traits = "their columns" if more else layout.trait or first.trait or "nowhere"
    qualities = ", ".join(each.column or "--quality" for each in layout.labels)
    tests = f", test samples from {layout.held_out}" if layout.held_out else ""
    click.echo(f"texts from {layout.text}, traits from {traits}, qualities from {qualities}{tests}", err=True)
    tell_problems([(each.row, f"{each.column} {each.reason}".strip()) for each in checked.problems])


def _shares(samples: Sequence[SampleInput]) -> str:
    shares = ", ".join(f"{number:,} of {trait}" for trait, number in Counter(each.trait for each in samples).items())
    tests = sum(each.held_out for each in samples)
    return f"{shares}; {count(tests, 'test sample')}" if tests else shares


def _test(sample: Sample) -> str:
    return "must pass" if sample.must_pass else "yes" if sample.held_out else "-"
