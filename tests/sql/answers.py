"""Answers of a statement's front end, in one form for us and for PostgreSQL: result columns, or
the fields of the error.
"""

from __future__ import annotations

import psycopg
from psycopg.pq import ExecStatus

from sql.bind import bind_insert, bind_query
from sql.bind.expressions.coerce import with_type
from sql.errors import SqlError
from sql.parse.parse import parse
from sql.parse.statements.declaration import Naming
from sql.parse.statements.explain import Explain
from sql.parse.statements.insert import Insert
from sql.parse.statements.select import Select
from tests.sql.sample_catalog import SETTINGS, SampleCatalog

# ["ok"] | ["columns", [name, oid, typmod], ...] | ["error", sqlstate, message, position, hint,
# detail]
Answer = list[object]


def our_answer(statement: str) -> Answer:
    """Return what parse and bind say."""
    catalog = SampleCatalog()
    try:
        parsed = parse(statement)[-1]
        if isinstance(parsed, Insert):
            bind_insert(parsed, catalog, SETTINGS)
        for field in (field for field, naming in parsed.named if naming is Naming.TYPES):
            for part in getattr(parsed, field):
                with_type(part, lambda _: None)
        if not isinstance(parsed, Select):
            return ["ok"]
        root = bind_query(parsed.query, catalog, SETTINGS).root
    except SqlError as error:
        return ["error", error.sqlstate, error.message, error.position, error.hint, error.detail]
    assert not isinstance(parsed, Explain)
    return ["columns", *([column.name, column.type.oid, column.type.typmod] for column in root.schema)]


def postgres_answer(connection: psycopg.Connection[tuple[object, ...]], statement: str) -> Answer:
    """Return what PostgreSQL says; the tables are empty, so that nothing is evaluated."""
    result = connection.pgconn.exec_(statement.encode())
    if result.status == ExecStatus.COPY_IN:
        connection.pgconn.put_copy_end(b"not wanted")
    if result.status in (ExecStatus.COPY_IN, ExecStatus.COPY_OUT):
        while result.status == ExecStatus.COPY_OUT and connection.pgconn.get_copy_data(0)[0] > 0:
            pass
        while connection.pgconn.get_result() is not None:
            pass
        return ["ok"]
    if result.status == ExecStatus.FATAL_ERROR:
        fields = psycopg.errors.error_from_result(result).diag
        position = None if fields.statement_position is None else int(fields.statement_position)
        hint, detail = fields.message_hint, fields.message_detail
        return ["error", fields.sqlstate, fields.message_primary, position, hint, detail]
    if result.status != ExecStatus.TUPLES_OK or not statement.lstrip("( ;").lower().startswith(
        ("select", "with", "values", "table")
    ):
        return ["ok"]
    names = [(result.fname(index) or b"").decode() for index in range(result.nfields)]
    return ["columns", *([name, result.ftype(index), result.fmod(index)] for index, name in enumerate(names))]
