"""Write the files of an encoder into a folder for a wheel: `python -m traitbench.encoders.shipping ENCODER FOLDER`.

The wheel of Traitbench carries those of the default encoder, a second one those of `minilm-full`: MiniLM and
wordllama's table. What is made from the weights equals what a first start would make. The hash of every file is
checked. The licences are included.
"""

import sys
import tempfile
from importlib.metadata import distribution
from pathlib import Path

from traitbench.encoders import e5_file, minilm, multilingual, table
from traitbench.encoders.file_cache import write

_E5 = Path(__file__).with_name("e5-licence.txt")
_MINILM = Path(__file__).with_name("minilm-licence.txt")

_WORDLLAMA = """\
The files wordllama.safetensors and wordllama-tokenizer.json are those of the model l2_supercat in the package wordllama
by Lee Miller, unchanged, under the licence below. Its author trained the table from the token embeddings of several
language models, among them Llama 2 70B and Phi 3 medium.

"""


def ship_multilingual(folder: Path, *, cache: Path) -> None:
    """Write weights, graph, tokenizer and licence; raise `EncoderUnavailable` if the package is not installed."""
    folder.mkdir(parents=True, exist_ok=True)
    file = e5_file.read_file()
    (folder / e5_file.FILE.carried_as).write_bytes(e5_file.FILE.read())
    write(folder / multilingual.graph_file(), multilingual.graph_content(file, cache=cache))
    write(folder / multilingual.tokenizer_file(), multilingual.tokenizer_content(file, cache=cache))
    (folder / "LICENSE.multilingual-e5-small").write_bytes(_E5.read_bytes())


def ship_minilm(folder: Path, *, cache: Path) -> None:
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
    ship = {"multilingual": ship_multilingual, "minilm-full": ship_minilm}[sys.argv[1]]
    with tempfile.TemporaryDirectory() as empty:  # an empty cache, so that everything is made from the package
        ship(Path(sys.argv[2]), cache=Path(empty))
