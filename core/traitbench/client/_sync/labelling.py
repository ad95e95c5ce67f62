# Made from client/labelling.py by `python -m tests.client.generate`: edit that file, not this one.
"""`client.texts`: texts without labels, and decisions about them."""

from collections.abc import Iterable, Sequence

from traitbench.client._sync.connection import Connection
from traitbench.client.pages import Pages
from traitbench.contract import operations
from traitbench.contract.labelling import TextDecision, TextInput, TextsAdded, TextsDeleted, UnlabelledText
from traitbench.contract.samples import MOST_SAMPLES


class UnlabelledTexts:
    """Texts to label, and what people decided about them."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def add(self, handle: str, texts: Iterable[str | TextInput], *, source: str | None = None) -> TextsAdded:
        """Add texts to label; texts that the model has already stay as they are. `source` says where they are from.

        They are sent in batches of up to 500, each added as a whole or not at all. After an error, add them again: only
        what is missing is added.
        """
        inputs = [{"text": each} if isinstance(each, str) else each.model_dump(exclude_unset=True) for each in texts]
        said = {} if source is None else {"source": source}
        added = known = 0
        answer = TextsAdded(handle=handle, added=0, known=0, count=0, most=0)
        for first in range(0, len(inputs), MOST_SAMPLES):
            body = {"texts": inputs[first : first + MOST_SAMPLES], **said}
            answer = self._connection.send(operations.TEXTS_ADD, handle=handle, body=body)
            added, known = added + answer.added, known + answer.known
        return answer.model_copy(update={"added": added, "known": known})

    def list(
        self, handle: str, *, after: int = 0, limit: int = 500, cursor: str | None = None
    ) -> Pages[UnlabelledText]:
        """List the texts that were brought, labelled or not, by id; with `after`, only those with a higher id."""
        return Pages(
            lambda at: self._connection.get(
                operations.TEXTS_LIST, handle=handle, params={"after": after, "limit": limit, "cursor": at}
            ),
            cursor,
        )

    def delete(self, handle: str, ids: Sequence[int] | None = None) -> TextsDeleted:
        """Delete texts and the decisions about them: all, or at most 500 by their ids. Samples stay."""
        params = {"ids": None if ids is None else ",".join(map(str, ids))}
        return self._connection.send(operations.TEXTS_DELETE, handle=handle, params=params)

    def decisions(
        self, handle: str, *, everyone: bool = False, limit: int = 500, cursor: str | None = None
    ) -> Pages[TextDecision]:
        """List your decisions about texts, or everyone's, by id."""
        return Pages(
            lambda at: self._connection.get(
                operations.TEXTS_DECISIONS, handle=handle, params={"everyone": everyone, "limit": limit, "cursor": at}
            ),
            cursor,
        )

    def decide(
        self,
        handle: str,
        text_id: int,
        trait: str,
        quality: float | None,
        *,
        note: str | None = None,
        replaces: int | None = None,
    ) -> TextDecision:
        """Label a text with a quality from 0 to 1, or skip it with None.

        If somebody gave the text another label, `conflict` is the sample with it, and yours is not a sample. Pass its
        `revision` as `replaces` to give it yours.
        """
        body = {"quality": quality, "note": note, "replaces": replaces}
        return self._connection.send(operations.TEXTS_DECIDE, handle=handle, text_id=text_id, key=trait, body=body)

    def take_back(self, handle: str, text_id: int, trait: str) -> TextDecision:
        """Take your decision back, with the sample that it made; return it as it was."""
        return self._connection.send(operations.TEXTS_TAKE_BACK, handle=handle, text_id=text_id, key=trait)
