"""Train the demo models again and write their versions: `python -m traitbench.operations.write_demo_versions`.

The versions are files of `sample_data`. Run it after a change of the samples, of the default encoder or of the
training. A service in an empty home trains the models and exports them.
"""

import io
import tempfile
from collections.abc import Sequence
from pathlib import Path

from traitbench.contract.bundles import Bundle, BundledVersion
from traitbench.operations import bundles, demo, models
from traitbench.operations.access import Caller
from traitbench.operations.context import Context, open_context
from traitbench.operations.model_runs import fail
from traitbench.operations.worker import bodies
from traitbench.runs.executor import Worker, execute
from traitbench.sample_data import demo_models, store_version
from traitbench.settings import Settings

_OWNER = Caller(key_id="", scope="authoring", namespaces=frozenset({"demo"}))


def main() -> None:
    """Write the versions."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        context = open_context(Settings(home=home, database_url=f"sqlite:///{home / 'traitbench.db'}"))
        try:
            for handle, version in trained(context, [each.handle for each in demo_models()]).items():
                store_version(handle, version.model_dump_json(exclude_defaults=True))
        finally:
            context.close()


def trained(context: Context, handles: Sequence[str]) -> dict[str, BundledVersion]:
    """Train demo models in this process, in a store that has none; return their versions by handle."""
    demo.train_demo_models(context)
    run = bodies(context.engine, context.settings)
    worker = Worker(context.engine, context.settings.database_url, "here", run, fail)
    for handle in handles:
        operation = models.get(context, _OWNER, handle).last_operation
        assert operation is not None
        execute(worker, str(operation.run_id))
    return {handle: _exported(context, handle) for handle in handles}


def _exported(context: Context, handle: str) -> BundledVersion:
    file = io.BytesIO()
    bundles.export(context, _OWNER, handle, file)
    [version] = Bundle.model_validate_json(file.getvalue()).versions
    return version


if __name__ == "__main__":
    main()
