"""Which extra of the package installs which module, and what to say when one is missing."""

import json
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

EXTRA_OF: Mapping[str, str] = {
    "alembic": "service",
    "anywidget": "notebook",
    "authlib": "workbench",
    "dbos": "service",
    "fastapi": "service",
    "httpx2": "workbench",
    "joserfc": "workbench",
    "mcp": "service",
    "mcp_types": "service",
    "narwhals": "notebook",
    "onnx": "service",
    "openai": "llm",
    "opentelemetry": "otel",
    "pandas": "notebook",
    "plotly": "notebook",
    "prometheus_client": "service",
    "psycopg": "postgres",
    "pyarrow": "notebook",
    "python_calamine": "notebook",
    "requests": "otel",
    "segno": "workbench",
    "sqlalchemy": "service",
    "starlette": "service",
    "streamlit": "workbench",
    "tokenizers": "encoders",
    "trafilatura": "service",
    "traitlets": "notebook",
    "ulid": "service",
    "uvicorn": "service",
}

_NOT_IN_CLIENT = Path(__file__).with_name("scoring")


def require(module: str) -> None:
    """Raise `ModuleNotFoundError` that says what to install unless the module is installed; it is not imported."""
    if find_spec(module) is None:
        missing = ModuleNotFoundError(f"No module named {module!r}", name=module)
        raise ModuleNotFoundError(advice(missing) or str(missing), name=module)


def advice(error: ModuleNotFoundError) -> str | None:
    """What to install for a module that is missing; None when neither the rest of Traitbench nor an extra has it."""
    module = (error.name or "").partition(".")[0]
    if module == "traitbench" and not _NOT_IN_CLIENT.exists():
        return f"{error.name} is not in traitbench-client. Install the rest of Traitbench with: {install_line()}"
    extra = EXTRA_OF.get(module)
    return extra and f"The package {module} is not installed. Install it with: {install_line(extra)}"


def install_line(*extras: str) -> str:
    """Return the command that adds extras to this copy, from where it was installed (PEP 610).

    Traitbench is on no registry: a copy of unknown origin needs the wheels that `make wheel` in a checkout builds.
    """
    names = f"[{','.join(extras)}]" if extras else ""
    try:
        origin = json.loads(distribution("traitbench").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        origin = {}
    url = urlsplit(origin.get("url", ""))
    path = Path(url2pathname(url.path))
    if url.scheme != "file" or not path.exists():
        files = f'dist/traitbench_client-*.whl "$(ls dist/traitbench-*.whl){names}"'
        return f"make wheel, in a checkout of Traitbench, then pip install {files}"
    editable = "-e " if origin.get("dir_info", {}).get("editable") else ""
    return f"pip install {editable}'{path}{names}'"
