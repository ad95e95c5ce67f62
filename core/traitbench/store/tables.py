"""The tables. Their names begin with `tb_`, because the run engine has its own tables in the same database.

Ids are never reused (SQLite would reuse the last one). Times are stored as microseconds since 1970, and are aware in
Python. JSON values are small. Wide columns (vectors, snapshots) have tables of their own, so that listings never read
them.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Dialect,
    Float,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    false,
    func,
    literal_column,
    text,
)

from traitbench.errors import UnreadableRow

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST = 253_370_764_800_000_000  # the year 9999: a time zone may still move a time before it


class Moment(TypeDecorator[datetime]):
    """A time with a time zone, stored as whole microseconds, so that no database can lose the zone."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> int | None:
        """Microseconds since 1970."""
        return None if value is None else (value - _EPOCH) // timedelta(microseconds=1)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """The time in UTC; raise `UnreadableRow` if it is not between 1970 and 9998."""
        if value is None:
            return None
        if type(value) is not int or not 0 <= value < _LAST:
            raise UnreadableRow("a time is not between 1970 and 9998")
        return _EPOCH + timedelta(microseconds=value)


_Id = BigInteger().with_variant(Integer, "sqlite")
# Both databases must sort names by their bytes.
_Name = String().with_variant(String(collation="C"), "postgresql")
_Json = JSON(none_as_null=True)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _identity() -> Column[int]:
    return Column("id", _Id, Identity(), primary_key=True)


def _model_id(*, index: bool = False) -> Column[int]:
    return Column("model_id", _Id, ForeignKey("tb_models.id"), nullable=False, index=index)


models = Table(
    "tb_models",
    metadata,
    _identity(),
    Column("handle", _Name, nullable=False, unique=True),
    Column("namespace", _Name, nullable=False),
    Column("description", Text, nullable=False),
    Column("state", String, nullable=False),
    Column("kind", String, nullable=False),
    Column("scoring_method", String, nullable=False),
    Column("max_depth", Integer, nullable=False),
    Column("additional_terms", Text),
    Column("upstream_sources", _Json),
    Column("readme_markdown", Text),
    Column("versions_made", _Id, nullable=False, server_default=text("0")),
    Column("active_version_id", _Id),
    Column("run_id", String),
    Column("zero_data_retention", Boolean, nullable=False, server_default=false()),
    # The time of a purge whose samples may still be in the database's files (`operations.zero_retention`).
    Column("unsettled_purge", Moment),
    Column("version_retention_policy", _Json),
    # A retrained version that is worse is held: it does not serve until someone decides. It was trained with the
    # feedback up to `held_up_to`.
    Column("hold_if_worse", Boolean, nullable=False, server_default=false()),
    # Under zero retention: whether synthesis may send texts to the language model.
    Column("language_model_allowed", Boolean, nullable=False, server_default=false()),
    Column("held_version_id", _Id),
    Column("held_up_to", _Id),
    # Of a fork: the model it was made from and its active version then; the number of the last version made, and the
    # id of the last sample then, tell whether that model has moved on since.
    Column("forked_from", _Name),
    Column("forked_from_version_no", _Id),
    Column("forked_after_version_no", _Id),
    Column("forked_up_to", _Id),
    # Of an archived model: since when, and the state that restoring brings back.
    Column("archived_at", Moment),
    Column("archived_from", String),
    # The key of the trait that is shown first, and texts to show the model with. They are stored with the model,
    # because a presenter needs the same ones in every browser. Training and scoring ignore both.
    Column("main_trait", _Name),
    Column("demo_texts", _Json),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    CheckConstraint("state IN ('draft', 'busy', 'ready', 'failed', 'archived')", name="state"),
    Index("ix_tb_models_namespace_handle", "namespace", "handle"),
    Index(
        "ix_tb_models_unsettled_purge",
        "unsettled_purge",
        sqlite_where=text("unsettled_purge IS NOT NULL"),
        postgresql_where=text("unsettled_purge IS NOT NULL"),
    ),
    sqlite_autoincrement=True,
)

traits = Table(
    "tb_traits",
    metadata,
    _identity(),
    _model_id(),
    Column("key", _Name, nullable=False),
    Column("name", Text, nullable=False),
    Column("description", Text, nullable=False),
    Column("positive_label", Text, nullable=False),
    Column("negative_label", Text, nullable=False),
    Column("aggregation", String, nullable=False),
    Column("kind", String, nullable=False),
    # The rest is for intrinsic traits only: the axis for one encoder, and the record of the discovery.
    Column("axis", LargeBinary),
    Column("axis_encoder_digest", String),
    Column("discrimination", Float),
    Column("explained_variance", Float),
    Column("anchor_sample_ids", _Json),
    Column("discovery", _Json),
    Column("origin_run_id", String),
    # Where it is among the traits of its model, for one that was moved: the id of the trait whose place it took.
    Column("rank", _Id),
    UniqueConstraint("model_id", "key"),
    Index("ix_tb_traits_attribute", text("upper(replace(key, '-', '_'))")),
    sqlite_autoincrement=True,
)

ATTRIBUTE_OF_KEY = literal_column("upper(replace(tb_traits.key, '-', '_'))", String)
"""Of a trait: the attribute that its key in capitals is. Both databases turn only a to z into capitals here."""

TRAIT_ORDER = func.coalesce(traits.c.rank, traits.c.id)
"""What the traits of a model are sorted by: as they were added, until a person moves one."""

DISMISSED = "dismissed"
LISTED_TRAIT = traits.c.kind != DISMISSED
"""Of a trait: it is there. A dismissed suggestion is only stored so that it can be brought back."""

samples = Table(
    "tb_samples",
    metadata,
    _identity(),
    _model_id(),
    Column("trait_id", _Id, ForeignKey("tb_traits.id", ondelete="CASCADE"), nullable=False),
    Column("text", Text, nullable=False),
    Column("quality", Float, nullable=False),
    Column("provenance", String, nullable=False),
    Column("source_url", Text),
    Column("content_sha256", String, nullable=False),
    Column("created_at", Moment, nullable=False),
    # Never trained with, but every version is measured on it; `must_pass` means that its side has to be right.
    Column("held_out", Boolean, nullable=False, server_default=false()),
    Column("must_pass", Boolean, nullable=False, server_default=false()),
    # What the sample belongs to, as a conversation or an author: as private as the text.
    Column("group", Text),
    # Why it has its label, in a person's words: as private as the text too.
    Column("note", Text),
    # Feedback that no version was trained with yet. It is a flag because feedback is listed, counted, exported and
    # purged like every sample; a table of its own would need each of these rules a second time.
    Column("pending", Boolean, nullable=False, server_default=false()),
    # Of feedback: the score that the text had when the feedback was given, 0-100.
    Column("score_then", Integer),
    # Of a synthesized sample: the sample it varies (which may be gone), the generator and the run that made it.
    Column("seed_sample_id", _Id),
    Column("generator", String),
    Column("origin_run_id", String),
    # It rises with each change, so that whoever changes a sample can say which one they have seen. `changed_by` is the
    # change that the sample's content comes from, null if it is as it was added: an undo brings the one before back.
    Column("revision", _Id, nullable=False, server_default=text("1")),
    Column("changed_by", _Id),
    Index("ix_tb_samples_model_id_id", "model_id", "id"),
    Index("ix_tb_samples_trait_id_id", "trait_id", "id"),
    Index(
        "ix_tb_samples_pending",
        "model_id",
        "created_at",
        sqlite_where=text("pending"),
        postgresql_where=text("pending"),
    ),
    sqlite_autoincrement=True,
)

# Who changed which samples when (`store.sample_changes`). Without texts: it stays as long as the model has samples.
sample_changes = Table(
    "tb_sample_changes",
    metadata,
    _identity(),
    _model_id(),
    Column("at", Moment, nullable=False),
    # The name of the key; null if the service did it by itself.
    Column("by", Text),
    # The smallest and the largest id of its samples: changes are searched by sample.
    Column("first_sample_id", _Id, nullable=False),
    Column("last_sample_id", _Id, nullable=False),
    Column("undoable_until", Moment),
    # The change that undid this one, and the one that this one undid.
    Column("undone_by", _Id),
    Column("undoes", _Id),
    Column("note", Text),
    Column("entries", LargeBinary, nullable=False),
    Index("ix_tb_sample_changes_model_id_id", "model_id", "id"),
    Index(
        "ix_tb_sample_changes_undoable_until",
        "undoable_until",
        sqlite_where=text("undoable_until IS NOT NULL"),
        postgresql_where=text("undoable_until IS NOT NULL"),
    ),
    sqlite_autoincrement=True,
)

# Samples as they were before a change, for its undo: as private as samples, and deleted after a day. As JSON, because
# another column of a sample must not need one here.
undo_samples = Table(
    "tb_undo_samples",
    metadata,
    Column(
        "change_id",
        _Id,
        ForeignKey("tb_sample_changes.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("sample_id", _Id, primary_key=True, autoincrement=False),
    Column("sample", Text, nullable=False),
)

vectors = Table(
    "tb_vectors",
    metadata,
    Column("sample_id", _Id, ForeignKey("tb_samples.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("encoder_digest", String, primary_key=True),
    # float32, as the encoder returned it. Half precision would halve the table, but a training would get other
    # parameters from stored vectors than from new ones.
    Column("vector", LargeBinary, nullable=False),
)

# Vectors of texts that batches have scored; the texts are not stored. The size is limited; the least recently used are
# deleted first. A place is a hash of the whole key of a vector: an index on such small numbers is fast to write, an
# index on the text hash is not.
kept_vectors = Table(
    "tb_kept_vectors",
    metadata,
    _identity(),
    _model_id(),
    Column("encoder_digest", String, nullable=False),
    Column("mode", String, nullable=False),
    Column("place", BigInteger, nullable=False, unique=True),
    Column("text_hash", LargeBinary, nullable=False),
    Column("tokens", Integer),
    Column("alone", Boolean, nullable=False),
    Column("size", Integer, nullable=False),
    Column("used_at", Moment, nullable=False),
    Column("vector", LargeBinary, nullable=False),
    Index("ix_tb_kept_vectors_model_id_encoder_digest_mode", "model_id", "encoder_digest", "mode"),
    Index("ix_tb_kept_vectors_used_at_size", "used_at", "size"),
    sqlite_autoincrement=True,
)

versions = Table(
    "tb_versions",
    metadata,
    _identity(),
    _model_id(),
    Column("version_no", _Id, nullable=False),
    Column("triggered_by", String, nullable=False),
    Column("param_hash", String, nullable=False),
    Column("sample_count", Integer, nullable=False),
    Column("run_id", String, unique=True),
    Column("metrics", _Json, nullable=False),
    Column("created_at", Moment, nullable=False),
    UniqueConstraint("model_id", "version_no"),
    sqlite_autoincrement=True,
)

snapshots = Table(
    "tb_snapshots",
    metadata,
    Column("version_id", _Id, ForeignKey("tb_versions.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("snapshot", LargeBinary, nullable=False),
)

# The samples of the model when the version was trained, without their texts (`store.version_samples`).
version_samples = Table(
    "tb_version_samples",
    metadata,
    Column("version_id", _Id, ForeignKey("tb_versions.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("samples", LargeBinary, nullable=False),
)

# The position of each of these samples when it was held out (`store.version_positions`), and requests for positions of
# versions that have none: answered by a worker, or refused with a reason.
version_positions = Table(
    "tb_version_positions",
    metadata,
    Column("version_id", _Id, ForeignKey("tb_versions.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("traits", _Json, nullable=False),
    Column("samples", LargeBinary, nullable=False),
)

asked_positions = Table(
    "tb_asked_positions",
    metadata,
    Column("version_id", _Id, ForeignKey("tb_versions.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("refusal", String),
)

# Samples that a promotion replaced, for as long as a version of theirs is there: the numbers of the first and the last
# say which. A table of its own, so that no query on the samples of a model counts or lists them. Ids are those that
# they had in `tb_samples`.
replaced_samples = Table(
    "tb_replaced_samples",
    metadata,
    Column("sample_id", _Id, primary_key=True, autoincrement=False),
    _model_id(),
    Column("first_version_no", _Id, nullable=False),
    Column("last_version_no", _Id, nullable=False),
    Column("trait", _Name, nullable=False),
    Column("text", Text, nullable=False),
    Column("quality", Float, nullable=False),
    Column("provenance", String, nullable=False),
    Column("source_url", Text),
    Column("content_sha256", String, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("held_out", Boolean, nullable=False),
    Column("must_pass", Boolean, nullable=False),
    Column("group", Text),
    Column("note", Text),
    Column("score_then", Integer),
    Column("seed_sample_id", _Id),
    Column("generator", String),
    Index("ix_tb_replaced_samples_model_id_sample_id", "model_id", "sample_id"),
)

# Which version served when. Versions are numbers here, because an old version may have been pruned.
activations = Table(
    "tb_activations",
    metadata,
    _identity(),
    _model_id(index=True),
    Column("version_no", _Id, nullable=False),
    Column("previous_version_no", _Id),
    Column("activated_at", Moment, nullable=False),
    Column("cause", String, nullable=False),
    # The name of the key; null if the service did it by itself.
    Column("by", Text),
    CheckConstraint("cause IN ('train', 'retrain', 'activate', 'promote', 'import')", name="cause"),
    sqlite_autoincrement=True,
)

tags = Table(
    "tb_tags",
    metadata,
    Column("model_id", _Id, ForeignKey("tb_models.id"), primary_key=True, autoincrement=False),
    Column("name", _Name, primary_key=True),
    Column("version_id", _Id, ForeignKey("tb_versions.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("note", Text),
)

runs = Table(
    "tb_runs",
    metadata,
    Column("id", String, primary_key=True),
    _model_id(),
    Column("kind", String, nullable=False),
    Column("effort", String, nullable=False),
    # Runs with equal keys do the same work (`operations.model_runs`); options are parameters besides the effort.
    Column("run_key", String, nullable=False, server_default=""),
    Column("options", _Json, nullable=False, server_default="{}"),
    # The name of the key that asked for the run; null if the service started it by itself.
    Column("requested_by", Text),
    Column("status", String, nullable=False),
    Column("progress", _Json),
    Column("error_code", String),
    Column("error_message", Text),
    Column("owner", String),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    # How often the run has brought its worker down without progress in between, and where (`runs.quarantine`).
    Column("strikes", Integer, nullable=False, server_default=text("0")),
    Column("struck_at", _Json),
    Column("created_at", Moment, nullable=False),
    Column("finished_at", Moment),
    CheckConstraint("status IN ('queued', 'running', 'succeeded', 'failed')", name="status"),
    # One operation at a time per model (core/docs/contract.md, section 5), enforced by the database.
    Index(
        "uq_tb_runs_live",
        "model_id",
        unique=True,
        sqlite_where=text("status IN ('queued', 'running')"),
        postgresql_where=text("status IN ('queued', 'running')"),
    ),
    Index("ix_tb_runs_model_id_run_key", "model_id", "run_key"),
)

# Texts without labels that a discovery was sent, until it ends: a killed worker has to resume it. As samples of a model
# they would need limits, purges and exports of their own.
run_texts = Table(
    "tb_run_texts",
    metadata,
    Column("run_id", String, ForeignKey("tb_runs.id", ondelete="CASCADE"), primary_key=True),
    Column("content_sha256", String, primary_key=True),
    Column("text", Text, nullable=False),
)

# Texts that the last synthesis of a model rejected, until its next run: counts alone do not show whether the filter was
# right. A variation holds words of its seed, so these rows are as private as samples.
rejected_texts = Table(
    "tb_rejected_texts",
    metadata,
    _identity(),
    _model_id(index=True),
    Column("trait_id", _Id, ForeignKey("tb_traits.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("seed_sample_id", _Id, ForeignKey("tb_samples.id", ondelete="CASCADE"), index=True),
    Column("text", Text, nullable=False),
    Column("quality", Float, nullable=False),
    Column("reason", String, nullable=False),
    Column("generator", String, nullable=False),
    sqlite_autoincrement=True,
)

# Labels that other programs proposed for texts: nothing is trained with them. As private as samples. The key of the
# trait, not its id: a promotion makes the traits of a model again.
proposed_labels = Table(
    "tb_proposed_labels",
    metadata,
    _identity(),
    _model_id(),
    Column("trait", _Name, nullable=False),
    Column("text", Text, nullable=False),
    Column("content_sha256", String, nullable=False),
    Column("value", Float, nullable=False),
    Column("community", Text),
    Column("client_token", Text),
    Column("proposed_at", Moment, nullable=False),
    Index("ix_tb_proposed_labels_model_id_id", "model_id", "id"),
    Index("ix_tb_proposed_labels_model_id_content_sha256", "model_id", "content_sha256"),
    sqlite_autoincrement=True,
)

# Texts that were brought to be labelled: as private as samples. They belong to a model and its forks (`store.texts`).
texts = Table(
    "tb_texts",
    metadata,
    _identity(),
    _model_id(),
    Column("text", Text, nullable=False),
    Column("content_sha256", String, nullable=False),
    # Where it is from, such as the name of a file, and what it belongs to, as in samples.
    Column("source", Text),
    Column("group", Text),
    Column("added_at", Moment, nullable=False),
    Column("by", Text),
    UniqueConstraint("model_id", "content_sha256"),
    Index("ix_tb_texts_model_id_id", "model_id", "id"),
    sqlite_autoincrement=True,
)

# What each person decided about a text and the trait with this key. Without a quality, the text was skipped. `made`
# says that the decision made its sample, which then goes with it.
decisions = Table(
    "tb_decisions",
    metadata,
    _identity(),
    Column("text_id", _Id, ForeignKey("tb_texts.id", ondelete="CASCADE"), nullable=False),
    Column("trait", _Name, nullable=False),
    Column("person", String, nullable=False),
    Column("by", Text),
    Column("quality", Float),
    Column("sample_id", _Id),
    Column("made", Boolean, nullable=False),
    Column("note", Text),
    Column("decided_at", Moment, nullable=False),
    UniqueConstraint("text_id", "trait", "person"),
    sqlite_autoincrement=True,
)

# What an attribute of Perspective's wire, such as TOXICITY, means in a namespace. The alias of an archived model stays,
# and holds again when the model is restored.
attributes = Table(
    "tb_attributes",
    metadata,
    _identity(),
    Column("namespace", _Name, nullable=False),
    Column("name", _Name, nullable=False),
    Column("handle", _Name, nullable=False),
    Column("trait", _Name, nullable=False),
    Column("set_at", Moment, nullable=False),
    # The name of the key.
    Column("by", Text),
    UniqueConstraint("namespace", "name"),
    sqlite_autoincrement=True,
)

# What requests with an `Idempotency-Key` were answered, written in the transaction of their effect. `id` and `request`
# are keyed hashes; what they are keyed with is not stored (`operations.repeats`). Answers may be as private as samples.
answers = Table(
    "tb_answers",
    metadata,
    Column("id", String, primary_key=True),
    Column("request", String, nullable=False),
    Column("model_id", _Id, ForeignKey("tb_models.id"), index=True),
    Column("request_id", String, nullable=False),
    Column("status", Integer, nullable=False),
    Column("media_type", String, nullable=False),
    Column("content", LargeBinary, nullable=False),
    Column("answered_at", Moment, nullable=False, index=True),
)

workers = Table(
    "tb_workers",
    metadata,
    Column("executor_id", String, primary_key=True),
    Column("seen_at", BigInteger, nullable=False),
)

keys = Table(
    "tb_keys",
    metadata,
    Column("id", String, primary_key=True),
    Column("name", Text, nullable=False),
    Column("hash", String, nullable=False, unique=True),
    Column("prefix", String, nullable=False),
    Column("scope", String, nullable=False),
    Column("namespaces", _Json, nullable=False),
    # Who signed in, in keys of sessions; null in keys that were issued by hand.
    Column("person", String),
    Column("created_at", Moment, nullable=False),
    Column("last_used_at", Moment),
    Column("revoked_at", Moment),
    CheckConstraint("scope IN ('scoring', 'authoring')", name="scope"),
)
