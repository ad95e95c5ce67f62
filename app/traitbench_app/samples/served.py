"""A listing of many samples, which stay in the service: it sends only the rows that are shown, by their scores."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from traitbench.client.pages import Pages
from traitbench.contract.metrics import Pole as Side
from traitbench.contract.page import LARGEST_SAMPLE_PAGE
from traitbench.contract.samples import MOST_SAMPLES, Sample, SampleQuery
from traitbench.contract.traits import Trait
from traitbench.contract.versions import Version
from traitbench.local.unseen import UnseenRow
from traitbench_app.samples.editing import search_words
from traitbench_app.samples.listed import ORIGINS, Chip, Chosen, ChosenSamples, is_in_tenth
from traitbench_app.shell import session
from traitbench_app.shell.service import client, reader

_BY_SERVICE = (*ORIGINS, "no group")
_AUTHORED, _COPIES = "samples.synthesized_count", "samples.copies_count"


class ServedListing:
    """The samples of a model by their scores, without their texts; `rows` are those that a version scored unseen."""

    def __init__(
        self, handle: str, traits: Sequence[Trait], rows: Iterable[UnseenRow], version: Version | None
    ) -> None:
        self._handle, self._traits, self._version = handle, traits, version
        self._rows = [row for row in rows if row.points is not None]
        self.total = sum(trait.stored_samples for trait in traits)
        self.tests = sum(trait.held_out_samples for trait in traits)
        self.wrong = sum(row.right is False for row in self._rows)
        self.has_scores = bool(self._rows)

    def chips(self) -> dict[Chip, int]:
        """Return the number of samples of each chip that can be chosen without reading all samples."""
        counts: dict[Chip, int] = {"all": self.total, "wrong": self.wrong, "test": self.tests}
        counts["synthesized"] = self._synthesized()
        without = client().samples.list(self._handle, grouped=False, limit=1, count=True).count or 0
        # Where no sample has a group, all would be shown.
        counts["no group"] = without if without < self.total else 0
        return {chip: number for chip, number in counts.items() if chip == "all" or number}

    def score_counts(self, trait: str) -> Mapping[Side, Sequence[int]] | None:
        """Return how many samples of a trait have each score from 0 to 100, by the pole of their label."""
        figures = None if self._version is None else self._version.metrics.traits.get(trait)
        return None if figures is None else figures.score_counts

    def at_poles(self, trait: str) -> tuple[int, int]:
        """Return how many samples of a trait are nearer to the negative and to the positive pole."""
        own = next((each for each in self._traits if each.key == trait), None)
        return (0, 0) if own is None else (own.negative_samples, own.positive_samples)

    def looks_wrong(self, is_sure: Callable[[str, int], bool]) -> int:
        """Return how many samples score surely on the other side."""
        return sum(row.right is False and is_sure(row.trait, row.points or 0) for row in self._rows)

    def copies_of(self, sample: Sample) -> int | None:
        """Return how many other samples of the trait have the same text; None if too many have its words."""
        about = (reader(), self._handle, sample.id, sample.revision, self.total)
        return session.once(_COPIES, about, lambda: self._copies_of(sample))

    def _copies_of(self, sample: Sample) -> int | None:
        words = search_words(sample.text)
        page = client().samples.list(self._handle, trait=sample.trait, text=words, limit=LARGEST_SAMPLE_PAGE)
        if page.next_cursor is not None:
            return None
        return sum(each.content_sha256 == sample.content_sha256 and each.id != sample.id for each in page.items)

    def in_group_of(self, sample: Sample) -> int | None:
        """Return None: a group is not known without reading all samples."""
        return None

    def synthesized(self) -> Sequence[Sample]:
        """Return all synthesized samples."""
        if not self._synthesized():
            return ()
        return list(client().samples.list(self._handle, provenance="synthesized", limit=LARGEST_SAMPLE_PAGE))

    def find(self, chosen: Chosen) -> ChosenSamples:
        """Return the samples that pass: by their scores or, with words or newest first, as the service lists them."""
        by_score = self.has_scores and not (chosen.newest_first or chosen.words or chosen.chip in _BY_SERVICE)
        if chosen.ids:
            return self._by_ids(sorted(chosen.ids, reverse=True))
        if by_score and chosen.pole != "between":
            return self._by_ids([row.sample_id for row in self._scored(chosen)])
        if chosen.chip == "wrong" or chosen.tenth is not None:
            # The service knows words and the page knows scores: of what has the words, those with such a score.
            wanted = {row.sample_id for row in self._scored(replace(chosen, words=""))}
            with_score = [
                each for each in self._listing(chosen, count=False, limit=LARGEST_SAMPLE_PAGE) if each.id in wanted
            ]
            return ChosenSamples(len(with_score), lambda number: with_score[:number])
        counted = self._listing(chosen, count=True, limit=1).count or 0
        return ChosenSamples(counted, lambda number: self._newest(chosen, number))

    def _scored(self, chosen: Chosen) -> list[UnseenRow]:
        """The rows that pass, farthest from their label first."""
        passing = [
            row
            for row in self._rows
            if (chosen.trait is None or row.trait == chosen.trait)
            and (chosen.pole is None or row.positive is (chosen.pole == "positive"))
            and (chosen.tenth is None or is_in_tenth(chosen.tenth, row.points or 0))
            and (chosen.chip != "wrong" or row.right is False)
            and (chosen.chip != "test" or row.held_out)
        ]
        return sorted(passing, key=lambda row: (-row.distance, -row.sample_id))

    def _by_ids(self, ids: Sequence[int]) -> ChosenSamples:
        def first(number: int) -> list[Sample]:
            samples: list[Sample] = []
            for start in range(0, min(number, len(ids)), MOST_SAMPLES):
                some = ids[start : min(start + MOST_SAMPLES, number)]
                known = {each.id: each for each in client().samples.list(self._handle, ids=some, limit=MOST_SAMPLES)}
                samples += [known[each] for each in some if each in known]
            return samples

        return ChosenSamples(len(ids), first)

    def _newest(self, chosen: Chosen, number: int) -> list[Sample]:
        rows = self._listing(chosen, count=False, limit=min(number, LARGEST_SAMPLE_PAGE))
        return [sample for sample, _ in zip(rows, range(number), strict=False)]

    def _listing(self, chosen: Chosen, *, count: bool, limit: int) -> Pages[Sample]:
        query = SampleQuery(
            trait=chosen.trait,
            held_out=True if chosen.chip == "test" else None,
            provenance=ORIGINS.get(chosen.chip),
            pole=chosen.pole,
            grouped=False if chosen.chip == "no group" else None,
            text=chosen.words or None,
            newest_first=True,
            count=count,
        )
        return client().samples.list(self._handle, **query.parameters(), limit=limit)

    def _synthesized(self) -> int:
        """How many samples are synthesized; counted again only if the counts of the traits change."""
        about = (reader(), self._handle, [(each.key, each.stored_samples) for each in self._traits])
        asked = lambda: client().samples.list(self._handle, provenance="synthesized", limit=1, count=True).count  # noqa: E731
        return session.once(_AUTHORED, about, asked) or 0
