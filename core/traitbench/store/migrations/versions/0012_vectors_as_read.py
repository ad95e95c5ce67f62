"""Vectors of samples are those of the texts as they are read. A text that is read otherwise is encoded again."""

import sqlalchemy as sa
from alembic import op

from traitbench.as_read import as_read

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

_AT_ONCE = 500
_WITH_VECTOR = sa.text(
    "SELECT id, text FROM tb_samples WHERE id > :after"
    " AND EXISTS (SELECT 1 FROM tb_vectors WHERE sample_id = tb_samples.id) ORDER BY id LIMIT :most"
)
_DELETE = sa.text("DELETE FROM tb_vectors WHERE sample_id IN :ids").bindparams(sa.bindparam("ids", expanding=True))


def upgrade() -> None:
    """Delete the vectors of texts that are read otherwise than they were sent, in batches of samples."""
    connection, after = op.get_bind(), 0
    while rows := connection.execute(_WITH_VECTOR, {"after": after, "most": _AT_ONCE}).all():
        if ids := [row.id for row in rows if as_read(row.text).text != row.text]:
            connection.execute(_DELETE, {"ids": ids})
        after = rows[-1].id
