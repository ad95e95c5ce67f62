"""What browsers reach and what pages may load: open paths and the Content-Security-Policy."""

import base64
import hashlib
import re
from pathlib import Path

import streamlit

_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_PROGRAM = re.compile(r"(?:^|/)_stcore(?:/|$)")
_NEEDED = frozenset({"/_stcore/health", "/_stcore/host-config", "/_stcore/stream"})
_NEEDED_BELOW = ("/_stcore/upload_file/", "/_stcore/bidi-components/")
_SIGN_IN = re.compile(r"/(?:auth|oauth2callback)(?:/|$)")


def closed(path: str) -> bool:
    """Whether a path is not served, such as Streamlit's metrics.

    Of the paths that contain `_stcore`, only those in the tables above are open, so that new ones of a later Streamlit
    release stay closed.
    """
    if _PROGRAM.search(path):
        return path not in _NEEDED and (not path.startswith(_NEEDED_BELOW) or ".." in path)
    return _SIGN_IN.match(path) is not None


def policy() -> str:
    """Return the Content-Security-Policy of the pages: load everything from this process, and allow no framing.

    Streamlit needs inline styles, and starts the code of components from `blob:` addresses.
    """
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src 'self' blob: {_inline_scripts()}",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "connect-src 'self'",
            "media-src 'self' blob:",
            "worker-src 'self' blob:",
            "manifest-src 'self'",
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        )
    )


def _inline_scripts() -> str:
    """Return the hashes of the inline scripts in Streamlit's page."""
    page = Path(streamlit.__file__).with_name("static") / "index.html"
    scripts = _INLINE.findall(page.read_text("utf-8"))
    return " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(each.encode()).digest()).decode()}'" for each in scripts)
