"""Which extra of the package installs which module, and what to say when one is missing."""

from collections.abc import Mapping
from importlib.util import find_spec

EXTRA_OF: Mapping[str, str] = {
    "alembic": "service",
    "anywidget": "notebook",
    "authlib": "workbench",
    "dbos": "service",
    "fastapi": "service",
    "httptools": "service",
    "joserfc": "workbench",
    "mcp": "service",
    "mcp_types": "service",
    "narwhals": "notebook",
    "onnx": "service",
    "openai": "llm",
    "pandas": "workbench",
    "plotly": "workbench",
    "prometheus_client": "service",
    "psycopg": "postgres",
    "pyarrow": "notebook",
    "python_calamine": "workbench",
    "sqlalchemy": "service",
    "starlette": "service",
    "streamlit": "workbench",
    "trafilatura": "service",
    "traitlets": "notebook",
    "ulid": "service",
    "uvicorn": "service",
}


def require(module: str) -> None:
    """Raise `ModuleNotFoundError` unless the module is installed; it is not imported."""
    if find_spec(module) is None:
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)


def advice(error: ModuleNotFoundError) -> str | None:
    """What to install for a module that is missing; None when no extra installs it."""
    module = (error.name or "").partition(".")[0]
    extra = EXTRA_OF.get(module)
    return extra and f"The package {module} is not installed. Install it with: pip install 'traitbench[{extra}]'"
