"""What the current API key may do with a model. This is checked once per key, because keys never change."""

from collections.abc import Sequence

from traitbench.contract.models import Model
from traitbench.display.text import plain
from traitbench_app.shell import people
from traitbench_app.shell.service import me, namespaces


def why_read_only(model: Model) -> str:
    """Say in Markdown why the key may not change the model; "" if it may."""
    namespace = model.handle.split(".")[0]
    if namespace not in namespaces():
        return f"{_whose()} API key does not own the namespace *{plain(namespace)}*."
    if me().scope != "authoring":
        return f"{_whose()} API key may score but not change models. Use a key of scope `authoring`."
    return ""


def why_nowhere(owned: Sequence[str]) -> str | None:
    """Say why the person cannot create a model, or return None if they can in a namespace of `owned`."""
    if people.current().scope == "scoring":
        return "Your API key may score but not create models."
    if me().scope != "authoring":
        return "This workbench's API key may score but not create models. Use a key of scope `authoring`."
    return None if owned else f"{_whose()} API key owns no namespace to create models in."


def _whose() -> str:
    return "This workbench's" if people.current().operator else "Your"
