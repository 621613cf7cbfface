"""Names of functions and operators of which there are several, and types of the catalog that take
no value: as PostgreSQL reads them.
"""

from __future__ import annotations

import psycopg
import pytest

from tests.engine.session_client import SessionClient, World
from tests.oracle.postgres import PostgresCluster

NAMES = [
    "'+'::regoper", "'pg_catalog.+'::regoper", "'||/'::regoper", "'public.+'::regoper", "'abs'::regproc",
    "'now'::regproc", "'pg_catalog.now'::regproc", "'nope'::regproc", "to_regoper('+')", "to_regoper('||/')",
    "to_regproc('abs')", "to_regproc('now')", "'+(int4,int4)'::regoperator", "'-(none,int8)'::regoperator",
    "'-(NONE, float8)'::regoperator", "to_regoperator('+(text,text)')", "'abs(int8)'::regprocedure",
    "'abs(bigint)'::regprocedure", "'now()'::regprocedure", "'pg_catalog.abs( double precision )'::regprocedure",
    "'abs(text)'::regprocedure", "to_regprocedure('abs(text)')", "'substring(text, integer, integer)'::regprocedure::oid",
    "'x'::pg_ndistinct", "'x'::pg_node_tree", "''::pg_dependencies", "'x'::pg_mcv_list", "NULL::pg_ndistinct", "'x'::anyarray",
    "'=(int4,int8)'::regoperator::oid", "'abs(numeric)'::regprocedure::oid::regprocedure",
]  # fmt: skip


@pytest.fixture
def client(world: World) -> SessionClient:
    return world.client()


def test_postgres_agrees(client: SessionClient, postgres: PostgresCluster) -> None:
    for name in NAMES:
        text = f"SELECT ({name})::text"
        told = [line for line in client.ask(text) if line[0] in "DE"]
        with postgres.connect() as connection:
            try:
                row = connection.execute(text).fetchone()
            except psycopg.Error as error:
                assert told == [f"E ERROR {error.sqlstate} at 9: {error.diag.message_primary}"], name
                continue
        assert row is not None
        shown = None if row[0] is None else str(row[0]).encode()
        assert told == [f"D [{shown!r}]"], name
