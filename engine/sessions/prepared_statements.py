"""PREPARE, EXECUTE and DEALLOCATE: prepared statements of SQL, which share their names with those of the extended protocol.

Enters: statements with their transaction. Leaves: prepared statements; for EXECUTE the statement to run and the values of its parameters.
"""

from __future__ import annotations

import struct
from functools import partial
from typing import TYPE_CHECKING

from engine.commit.transaction import Transaction
from engine.sessions.prepared import Prepared
from engine.statements.outcome import Outcome
from ringbuffer.encode.output_forms import Forms
from ringbuffer.encode.rows import HEAD_BYTES, encode_data_rows
from sql.bind.substitute import bind_arguments, substitute_now
from sql.catalog.schemas import find_type
from sql.errors import not_supported
from sql.parse.statements.delete import Delete
from sql.parse.statements.explain import Explain
from sql.parse.statements.insert import Insert
from sql.parse.statements.prepared import Execute, Prepare
from sql.parse.statements.select import Select
from sql.parse.statements.update import Update
from sql.parse.statements.variables import Show
from sql.parse.type_names import resolve_type
from sql.tree.expressions import Expression, Literal
from sql.tree.relations import OutputColumn, Schema, Values
from sql.types.datatypes import SqlType
from sql.values.literals import input_value
from views.model.arrow_schema import encoded_family

if TYPE_CHECKING:
    from engine.sessions.session import Session


class PreparedStatements:
    """What SQL prepares in one session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def prepare(self, statement: Prepare, now_us: int) -> Outcome:
        """Do PREPARE. Raises 42P05, and what the statement has wrong."""
        session = self._session
        own = partial(find_type, catalog=session.runner.image(), settings=session.settings.captured())
        declared = tuple(None if kind.name == "unknown" else resolve_type(kind, own) for kind in statement.types)
        prepared = Prepared(statement.statement, declared, session.database.system_catalog, from_sql=True)
        prepared.shown_text, prepared.made_us = statement.text, now_us
        prepared.refresh(session.runner.image(), session.settings)
        session.names.keep_statement(statement.name, prepared)
        return Outcome("PREPARE")

    async def resolve(self, statement: Execute, transaction: Transaction) -> tuple[Prepared, tuple[Literal, ...]]:
        """Return what EXECUTE runs. Raises 26000, and what the arguments have wrong."""
        session = self._session
        prepared = session.names.statement(statement.name)
        if not isinstance(prepared.statement, Select | Insert | Update | Delete | Show | Explain):
            raise not_supported("EXECUTE of this kind of statement")
        image, settings = session.runner.image(), session.settings
        prepared.refresh(image, settings)
        kinds = prepared.parameter_types
        given = bind_arguments(statement, kinds, image, settings.captured())
        if all(isinstance(value, Literal) for value in given):
            return prepared, tuple(value for value in given if isinstance(value, Literal))
        return prepared, await session.in_worker(self._evaluated, given, kinds, transaction.now_us)

    def schema(self, statement: Execute) -> Schema | None:
        """Return the columns of what EXECUTE gives, None where there is no such statement yet."""
        prepared = self._session.names.statements.get(statement.name)
        if prepared is None:
            return None
        prepared.refresh(self._session.runner.image(), self._session.settings)
        return prepared.schema

    def _evaluated(self, given: tuple[Expression, ...], kinds: tuple[SqlType, ...], now_us: int) -> tuple[Literal, ...]:
        session = self._session
        zone = session.settings.time_zone
        schema = tuple(OutputColumn(f"p{number}", value.type) for number, value in enumerate(given))
        row = session.database.tables.run(substitute_now(Values((given,), schema), now_us), {}, session)
        families = [encoded_family(value.type) for value in given]
        message, _ = encode_data_rows(row.columns, families, [0] * len(families), Forms(zone), row.num_rows)
        found, start = [], HEAD_BYTES
        for kind in kinds:
            (length,) = struct.unpack_from("!i", message, start)
            start += 4
            text = None if length < 0 else message[start : start + length].decode()
            found.append(Literal(None if text is None else input_value(text, kind, zone, None), kind))
            start += max(length, 0)
        return tuple(found)
