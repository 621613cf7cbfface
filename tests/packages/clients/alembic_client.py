"""Alembic's operations on tables and a stream, and what its autogeneration finds different."""

from __future__ import annotations

import sys

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.operations import Operations
from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    DateTime,
    Enum,
    Integer,
    MetaData,
    Numeric,
    String,
    Table,
    Text,
    column,
    create_engine,
    func,
    table,
    text,
)
from sqlalchemy.dialects import postgresql


def make(op: Operations) -> None:
    """Create two tables, and what belongs to them."""
    op.create_table(
        "old",
        Column("id", Integer, primary_key=True),
        Column("name", String(20), nullable=False),
        Column("at", DateTime(timezone=True), server_default=func.now()),
        Column("kind", Enum("x", "y", name="kind")),
        Column("n", Integer, server_default="5"),
    )
    op.create_table(
        "other",
        Column("id", BigInteger, primary_key=True),
        Column("old", Integer),
        Column("data", postgresql.JSONB, server_default=text("'{}'::jsonb")),
    )
    op.create_foreign_key("fk", "other", "old", ["old"], ["id"], ondelete="CASCADE", deferrable=True)
    op.create_index("by_two", "old", ["name", "at"])
    op.create_index("by_lower", "old", [text("lower(name)")], unique=True)
    op.create_index("by_n", "old", ["n"], postgresql_where=text("n > 0"), postgresql_include=["name"])
    op.create_index("by_data", "other", ["data"], postgresql_using="gin")
    op.create_unique_constraint("names", "old", ["name"])
    op.create_check_constraint("positive", "old", text("n >= 0"))


def change(op: Operations) -> None:
    """Alter, rename, fill and drop."""
    op.add_column("old", Column("z", Numeric(8, 2), server_default="1.5", comment="zed"))
    op.alter_column("old", "n", type_=BigInteger, existing_type=Integer)
    op.alter_column("old", "name", type_=String(50))
    op.alter_column("old", "z", type_=Text, postgresql_using="z::text")
    op.alter_column("old", "z", nullable=False, server_default=None)
    op.alter_column("old", "z", new_column_name="zz", comment="zzz")
    op.bulk_insert(table("old", column("id"), column("name"), column("zz")), [{"id": 1, "name": "a", "zz": "q"}])
    op.create_table_comment("old", "A table")
    op.drop_constraint("positive", "old", type_="check")
    op.drop_constraint("names", "old")
    op.drop_index("by_two")
    op.drop_column("old", "at")
    op.rename_table("other", "another")
    op.execute("CREATE FOREIGN TABLE trips (city int, fare numeric(10,2)) SERVER stream")
    op.execute("CREATE VIEW fares AS SELECT city, count(*) AS n FROM trips GROUP BY city")
    op.execute("DROP FOREIGN TABLE trips CASCADE")


def compare(context: MigrationContext) -> None:
    """Find a table that is new, and one that is gone, and nothing else."""
    wanted = MetaData()
    Table(
        "old",
        wanted,
        Column("id", Integer, primary_key=True),
        Column("name", String(50), nullable=False),
        Column("kind", Enum("x", "y", name="kind")),
        Column("n", BigInteger, server_default="5"),
        Column("zz", Text, nullable=False, comment="zzz"),
        comment="A table",
    )
    Table("fresh", wanted, Column("id", Integer))
    found = [one[0] for one in compare_metadata(context, wanted)]
    assert sorted(found) == ["add_table", "remove_index", "remove_index", "remove_index", "remove_table"], found


def everything(connection: Connection) -> None:
    """Do all of it."""
    names = {"old", "another", "fresh"}
    options = {
        "compare_type": True,
        "compare_server_default": True,
        "include_object": lambda one, name, kind, *_: kind != "table" or name in names,
    }
    context = MigrationContext.configure(connection, opts=options)
    op = Operations(context)
    context._ensure_version_table()
    assert context.get_current_revision() is None
    make(op)
    connection.commit()
    change(op)
    connection.commit()
    compare(context)
    op.drop_table("another")
    op.drop_table("old")
    op.execute("DROP TYPE kind")
    connection.commit()


with create_engine(f"postgresql+psycopg://antumbra:none@127.0.0.1:{sys.argv[1]}/antumbra").connect() as only:
    everything(only)
