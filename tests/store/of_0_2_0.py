"""A database as release 0.2.0 leaves it: without the tables and columns that came later."""

from sqlalchemy import Engine, text

from traitbench.store.database import writing

_LATER_TABLES = (
    *("tb_rejected_texts", "tb_run_texts", "tb_activations", "tb_version_samples"),
    *("tb_version_positions", "tb_asked_positions", "tb_replaced_samples"),
    *("tb_undo_samples", "tb_sample_changes", "tb_attributes", "tb_proposed_labels", "tb_answers"),
    *("tb_decisions", "tb_texts"),
)
_LATER_COLUMNS = {
    "tb_models": (
        *("hold_if_worse", "held_version_id", "held_up_to"),
        *("forked_from", "forked_from_version_no", "forked_after_version_no", "forked_up_to"),
        *("archived_at", "archived_from", "main_trait", "demo_texts", "language_model_allowed"),
    ),
    "tb_traits": ("rank",),
    "tb_samples": ("held_out", "must_pass", "score_then", "group", "note", "revision", "changed_by"),
    "tb_tags": ("note",),
    "tb_runs": ("requested_by",),
    "tb_keys": ("person",),
}


def make_0_2_0(engine: Engine) -> None:
    """Take from a database of now what 0.2.0 did not have."""
    with writing(engine) as connection:
        for table in _LATER_TABLES:
            connection.execute(text(f"DROP TABLE {table}"))
        for table, columns in _LATER_COLUMNS.items():
            for column in columns:
                connection.execute(text(f'ALTER TABLE {table} DROP COLUMN "{column}"'))
        connection.execute(text("UPDATE tb_schema SET version_num = '0005'"))
