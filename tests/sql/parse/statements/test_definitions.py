"""Our grammar reads CREATE TABLE, ALTER TABLE and sequences as PostgreSQL does.

The user's text and our print of its dataclass are each run in a schema of their own; then
PostgreSQL's catalog must say the same of both.
"""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from sql.parse.parse import parse
from sql.parse.statements.alter_table import AlterTable
from sql.parse.statements.create_table import CreateTable
from sql.parse.statements.sequences import AlterSequence, CreateSequence
from tests.oracle.postgres import PostgresCluster
from tests.sql.parse.statements.definition_text import definition_text

STATEMENTS = [
    line for line in (Path(__file__).parents[2] / "data" / "definitions.sql").read_text().splitlines() if line.strip()
]

BEFORE = """
    DROP SCHEMA IF EXISTS one CASCADE; CREATE SCHEMA one; SET search_path = one;
    CREATE TABLE base (a int, b int UNIQUE, c text DEFAULT 'c'); CREATE SEQUENCE counter START 10 MAXVALUE 20 OWNED BY base.a;
"""

AFTER = """
    SELECT relname, relkind::text, attname, format_type(atttypid, atttypmod), attnotnull, attidentity::text,
        pg_get_expr(adbin, adrelid)
    FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
        LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE relnamespace = 'one'::regnamespace AND relkind IN ('r', 'S') ORDER BY relname, attnum;
    SELECT conrelid::regclass, conname, pg_get_constraintdef(oid) FROM pg_constraint
    WHERE connamespace = 'one'::regnamespace ORDER BY 1, 2;
    SELECT relname, seqtypid::regtype, seqstart, seqincrement, seqmax, seqmin, seqcache, seqcycle, pg_sequence_last_value(seqrelid),
        refobjid::regclass, refobjsubid, deptype
    FROM pg_class JOIN pg_sequence ON seqrelid = oid LEFT JOIN pg_depend ON objid = seqrelid AND refobjsubid > 0
    WHERE relnamespace = 'one'::regnamespace ORDER BY 1;
"""


def defined(connection: psycopg.Connection[tuple[object, ...]], text: str) -> list[list[tuple[object, ...]]]:
    """Return what the catalog says after `text`, and how many rows each new table has."""
    connection.execute(BEFORE)
    connection.execute(text.encode())
    cursor = connection.execute(AFTER)
    found = [cursor.fetchall()]
    while cursor.nextset():
        found.append(cursor.fetchall())
    for (name,) in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'one' ORDER BY 1").fetchall():
        found.append(connection.execute(f'SELECT * FROM one."{name}" ORDER BY 1'.encode()).fetchall())
    connection.execute("DROP SCHEMA one CASCADE; RESET search_path")
    return found


@pytest.mark.parametrize("texts", [False, True])
def test_definitions_are_those_of_postgres(texts: bool, postgres: PostgresCluster) -> None:
    with postgres.connect() as connection:
        for text in STATEMENTS:
            (statement,) = parse(text)
            assert isinstance(statement, CreateTable | AlterTable | CreateSequence | AlterSequence), text
            printed = definition_text(statement, texts)
            assert defined(connection, printed) == defined(connection, text), f"{text}\n{printed}"
