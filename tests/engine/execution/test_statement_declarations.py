"""Declarations of statements fit the statements: fields that are there, tags as
PostgreSQL has them.
"""

from __future__ import annotations

import pytest

import engine.dialect
import engine.statements
from engine.execution.prepared import UnparsedInsert
from engine.execution.registry import HANDLERS, load
from engine.execution.resolving import FOUND
from engine.execution.rights import CHECKS
from sql.parse.parse import parse
from sql.parse.statements.declaration import Empty, Naming, Right, Statement
from sql.parse.statements.prepared import Execute
from sql.parse.statements.transaction import Transaction

# Statements of each kind, with what a read-only transaction of PostgreSQL 15 calls them where it
# refuses them.
REFUSED = {
    "INSERT INTO t VALUES (1)": "INSERT",
    "UPDATE t SET a = 1": "UPDATE",
    "DELETE FROM t": "DELETE",
    "TRUNCATE t": "TRUNCATE TABLE",
    "CREATE TABLE t (a int)": "CREATE TABLE",
    "CREATE TABLE t AS SELECT 1": "CREATE TABLE AS",
    "CREATE VIEW v AS SELECT 1": "CREATE VIEW",
    "CREATE SEQUENCE s": "CREATE SEQUENCE",
    "ALTER SEQUENCE s RESTART": "ALTER SEQUENCE",
    "ALTER TABLE t ADD COLUMN b int": "ALTER TABLE",
    "ALTER FOREIGN TABLE t ADD COLUMN b int": "ALTER FOREIGN TABLE",
    "ALTER TABLE t OWNER TO me": "ALTER TABLE",
    "ALTER VIEW v RENAME TO w": "ALTER VIEW",
    "CREATE INDEX i ON t (a)": "CREATE INDEX",
    "DROP INDEX i": "DROP INDEX",
    "ALTER INDEX i RENAME TO j": "ALTER INDEX",
    "DROP TABLE t": "DROP TABLE",
    "DROP FOREIGN TABLE t": "DROP FOREIGN TABLE",
    "DROP VIEW v": "DROP VIEW",
    "DROP SEQUENCE s": "DROP SEQUENCE",
    "CREATE TYPE e AS ENUM ('a')": "CREATE TYPE",
    "ALTER TYPE e ADD VALUE 'b'": "ALTER TYPE",
    "DROP TYPE e": "DROP TYPE",
    "COMMENT ON TABLE t IS 'x'": "COMMENT",
    "COMMENT ON ROLE r IS 'x'": "COMMENT",
    "GRANT SELECT ON t TO r": "GRANT",
    "REVOKE SELECT ON t FROM r": "REVOKE",
    "GRANT a TO b": "GRANT ROLE",
    "REVOKE a FROM b": "REVOKE ROLE",
    "CREATE ROLE r": "CREATE ROLE",
    "ALTER ROLE r LOGIN": "ALTER ROLE",
    "DROP ROLE r": "DROP ROLE",
    "CREATE SCHEMA s": "CREATE SCHEMA",
    "ALTER SCHEMA s RENAME TO t": "ALTER SCHEMA",
    "DROP SCHEMA s": "DROP SCHEMA",
    "DROP OWNED BY r": "DROP OWNED",
    "REASSIGN OWNED BY r TO s": "REASSIGN OWNED",
}
ALLOWED = (
    "SELECT 1",
    "SHOW all",
    "SET a.b = 1",
    "LOCK t",
    "CHECKPOINT",
    "VACUUM",
    "DISCARD ALL",
    "NOTIFY c",
    "COPY t FROM STDIN",
)


@pytest.mark.parametrize("text", [*REFUSED, *ALLOWED])
def test_statements(text: str) -> None:
    (statement,) = parse(text)
    assert statement.writes == (text in REFUSED)
    if text in REFUSED:
        assert statement.tag == REFUSED[text]
    for field, _ in (*statement.named, *statement.rights):
        assert hasattr(statement, field), field


def test_each_statement_is_a_frozen_dataclass() -> None:
    for kind in Statement.__subclasses__():
        assert vars(kind)["__dataclass_params__"].frozen, kind


def test_each_statement_has_a_function_that_does_it() -> None:
    load(engine.statements, engine.dialect)
    # What the session does itself: nothing, its transaction, another statement in the place of
    # EXECUTE, and the statement of a text that is parsed after all.
    assert set(Statement.__subclasses__()) - HANDLERS.keys() == {Empty, Transaction, Execute, UnparsedInsert}


def test_each_way_to_name_and_each_right_is_known() -> None:
    assert FOUND.keys() == set(Naming)
    assert CHECKS.keys() == set(Right)
