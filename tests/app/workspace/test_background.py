"""Work in memory while other work begins: what has ended makes room, at whatever moment."""

import pytest

from tests.app.processes import eventually
from traitbench_app.workspace import background
from traitbench_app.workspace.background import BackgroundWork, State

pytestmark = pytest.mark.usefixtures("nothing_left")


class Quick(BackgroundWork):
    """Work that has ended by the time that `start` returns; meanwhile, other work begins."""

    def __init__(self, *, meanwhile: int = 0) -> None:
        super().__init__(total=1)
        self._meanwhile = meanwhile

    @property
    def handles(self) -> tuple[str, ...]:
        return ("local.tone",)

    def start(self) -> None:
        super().start()
        assert eventually(lambda: self.state == "done")
        for _ in range(self._meanwhile):
            background.start(Quick())

    def work(self) -> State:
        return "done"


def test_work_that_ends_before_it_has_its_timer_makes_room_for_others() -> None:
    first = Quick(meanwhile=background.MOST_IN_MEMORY)
    background.start(first)
    assert first.id not in background.ids()
    assert len(background.ids()) == background.MOST_IN_MEMORY
