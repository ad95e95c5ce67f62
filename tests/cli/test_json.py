"""`--json` is stable: programs and agents rely on these keys. A new key is welcome; a missing one breaks somebody."""

import json
from pathlib import Path

import pytest

from tests.cli.asking import asking, leaves
from tests.conftest import Service, make_draft
from traitbench.cli.main import main
from traitbench.client import Traitbench

MODEL = (
    "handle state traits version_no version_tags last_operation description zero_data_retention main_trait archived_at"
)
TRAIT = "key name positive_label negative_label sample_count positive_samples negative_samples kind aggregation"
VERSION = "version_no triggered_by sample_count created_at metrics tags tag_notes param_hash"
RUN = "state run_id"
CHANGE = "id at by note adds updates deletes undone undoes undoable_until samples"
ALIAS = "name handle trait set_at by"
CARD = "scores composite confidence headroom detail input_tokens metadata"

# In this order: a later line may need what an earlier one did. DRAFT, READY and FORK are handles, ID is a sample, and
# LAST the last change.
KEYS = (
    ("models create FORK", MODEL),
    ("models list --namespace NAMESPACE", MODEL),
    ("models show DRAFT", MODEL),
    ("models update DRAFT --main-trait warmth", MODEL),
    ("models delete FORK --yes", "handle deleted"),
    ("models restore FORK", MODEL),
    ("traits add DRAFT Haste", TRAIT),
    ("traits list DRAFT", TRAIT),
    ("traits update DRAFT haste --name Hurry", TRAIT),
    ("traits delete DRAFT haste --yes", "handle deleted"),
    ("samples add DRAFT Hello --trait warmth --quality 1", "ids"),
    ("samples list DRAFT", "id trait text quality provenance held_out must_pass pending"),
    ("samples list DRAFT --find thank --pole positive --from authored", "id text quality provenance"),
    ("samples hold-out DRAFT ID", "ids"),
    ("samples put-back DRAFT ID", "ids"),
    ("samples set-aside DRAFT --at-least 2", "ids"),
    ("samples change DRAFT ID --quality 0.75", CHANGE),
    ("samples changes DRAFT --sample ID", CHANGE),
    ("samples undo DRAFT LAST", CHANGE),
    ("samples delete DRAFT ID", "ids"),
    ("train DRAFT --effort low --wait", MODEL),
    ("retrain DRAFT", RUN),
    ("score DRAFT Hello", CARD),
    ("score DRAFT Hello --explain", f"{CARD} explanation"),
    ("compare DRAFT Hello Goodbye", "a b improvement certain per_trait"),
    ("versions list DRAFT", VERSION),
    ("versions show DRAFT", f"{VERSION} snapshot"),
    ("versions samples DRAFT", "sample_id trait position right held_out"),
    ("versions tag DRAFT best --note Approved", "handle tag version_no"),
    ("versions activate DRAFT best", "handle version_no"),
    ("versions untag DRAFT best", "handle tag"),
    ("attributes set NAMESPACE KINDNESS DRAFT warmth", ALIAS),
    ("attributes list NAMESPACE", ALIAS),
    ("attributes unset NAMESPACE KINDNESS", ALIAS),
    ("proposed delete DRAFT --yes", "handle count"),
    ("texts add DRAFT letters.txt", "handle added known count most"),
    ("texts delete DRAFT --yes", "handle count"),
    ("activations DRAFT", "version_no activated_at cause by"),
    ("compare-versions DRAFT DRAFT", "a b verdict reason traits changed texts"),
    ("fork DRAFT NEXT", MODEL),
    ("import tone.json --handle COPY", MODEL),
    ("doctor", "healthy checks"),
    ("key create --scope scoring --namespace NAMESPACE", "id secret scope namespaces name created_at"),
    ("key list", "id prefix scope namespaces name created_at last_used_at revoked_at"),
    ("backup all.backup", "file made_at models samples versions keys"),
    ("restore all.backup --replace", "file made_at models samples versions keys unfinished_runs"),
)
# These print no answer but a document.
DOCUMENTS = {"serve", "worker", "mcp", "skill", "completion", "models card", "export", "gate"}
# The keys of these are tested with the rest of what they do.
OTHERS = {
    *("samples import", "samples synthesize", "samples rejected", "traits discover", "extract", "promote"),
    *("key revoke", "encoder check", "encoder compare", "agreement", "audit draw", "audit answer", "read"),
    *("proposed list", "texts list", "thresholds"),
}


def test_the_keys_are_there(
    service: Service, client: Traitbench, namespace: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ask = asking(service, tmp_path / "home", namespace)
    draft = f"{namespace}.draft"
    make_draft(client, draft)
    Path("letters.txt").write_text("See you soon!\n", "utf-8")
    handles = {"DRAFT": draft, "FORK": f"{namespace}.fork", "NEXT": f"{namespace}.next", "COPY": f"{namespace}.copy"}
    known = {**handles, "NAMESPACE": namespace, "ID": str(client.samples.list(draft).items[0].id)}
    for line, keys in KEYS:
        if line.startswith("import"):
            assert ask("export", draft, "-o", "tone.json")[0] == 0
        known["LAST"] = str(client.samples.list(draft).change_id)
        code, out, err = ask(*(known.get(word, word) for word in line.split()), "--json")
        assert code == 0, (line, err)
        first = json.loads(out if "\n  " in out else out.splitlines()[0])
        assert set(keys.split()) <= first.keys(), (line, sorted(first))


def test_every_command_that_answers_has_json() -> None:
    commands = dict(leaves(main))
    pinned = {name for name in commands for line, _ in KEYS if f"{line} ".startswith(f"{name} ")}
    assert pinned | DOCUMENTS | OTHERS == commands.keys()
    without = {name for name, command in commands.items() if all("--json" not in each.opts for each in command.params)}
    assert without == DOCUMENTS
