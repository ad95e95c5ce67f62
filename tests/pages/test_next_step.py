"""The next step in the header of a model's pages: the same on each, with one primary button at most."""

from collections.abc import Sequence

import pytest

from tests.conftest import COLD, WARM, Service, Trained, train
from tests.pages.drive import Workbench, end_badly, hold_busy, next_step, press, words
from traitbench.client import Traitbench
from traitbench.contract.models import Progress
from traitbench.contract.samples import SampleInput
from traitbench_app.shell.navigation import PAGES

ABOUT_A_MODEL = [page.name for page in PAGES if page.about_a_model]


@pytest.mark.parametrize("name", ABOUT_A_MODEL)
@pytest.mark.parametrize("fixture", ["new", "empty", "draft", "trained"])
def test_a_page_has_one_primary_button_at_most(
    workbench: Workbench, request: pytest.FixtureRequest, fixture: str, name: str
) -> None:
    model = request.getfixturevalue(fixture)
    at = workbench.open(name, model=model.handle if isinstance(model, Trained) else model)
    primary = [button.key for button in at.button if button.proto.type == "primary"]
    assert len(primary) <= 1
    assert "head.step" not in primary or fixture != "trained", "20 samples prove nothing"


def test_the_button_opens_the_page_of_the_step_with_the_same_model(workbench: Workbench, draft: str) -> None:
    at = workbench.open("model", model=draft)
    assert "10 + 10 samples." in words(at)
    assert (next_step(at), at.button(key="head.step").proto.type) == ("Train", "primary")
    press(at, "head.step")
    assert ([title.value for title in at.title], at.selectbox(key="model").value) == (["Train"], draft)
    assert not next_step(at), "the page has the button that starts it"


def test_a_run_is_followed_and_can_be_watched(workbench: Workbench, service: Service, draft: str) -> None:
    progress = Progress(phase="learning", done=0, total=1, fraction=0.5, elapsed_s=3.0, eta_s=4.2)
    run_id = hold_busy(service.context, draft, progress)
    at = workbench.open("versions", model=draft)
    assert "Training: about 4 s left." in words(at)
    assert [title.value for title in press(at, "head.step").title] == ["Train"]
    end_badly(service.context, run_id, "The disk is full.")
    at = workbench.open("versions", model=draft)
    assert "The first training failed." in words(at)
    assert next_step(at) == "See why"


def test_corrections_that_wait_come_first(workbench: Workbench, client: Traitbench, ready: str) -> None:
    at = workbench.open("versions", model=ready)
    assert next_step(at) == "Score a file"
    client.scores.score(ready, "Go away.", feedback={"warmth": 0})
    at.run()
    assert "1 correction waits." in words(at)
    assert next_step(at) == "Learn them"


def add(client: Traitbench, handle: str, texts: Sequence[str], quality: float) -> None:
    client.samples.add(handle, [SampleInput(trait="warmth", text=text, quality=quality) for text in texts])


def test_a_draft_of_a_model_is_changed_then_trained_then_compared(
    workbench: Workbench, client: Traitbench, ready: str
) -> None:
    fork = client.models.fork(ready, f"{ready}-next").handle
    at = workbench.open("versions", model=fork)
    assert "As many samples as ready v1." in words(at)
    assert next_step(at) == "Change its samples"
    add(client, fork, ["So kind of you, my dear."], 1.0)
    assert "Differs from ready v1." in words(at.run())
    assert next_step(at) == "Train and compare"
    train(client, fork)
    assert "Is it better than ready v1?" in words(at.run())
    assert next_step(at) == "Compare"


def test_a_side_with_few_texts_is_labelled_next(workbench: Workbench, client: Traitbench, empty: str) -> None:
    add(client, empty, [f"{text} {more}" for text in WARM for more in ("Dear.", "Truly.", "My friend.")], 1.0)
    add(client, empty, COLD[:5], 0.0)
    train(client, empty)
    at = workbench.open("score", model=empty)
    assert "Few cold texts (5 of 35)." in words(at)
    assert [title.value for title in press(at, "head.step").title] == ["Label"]
