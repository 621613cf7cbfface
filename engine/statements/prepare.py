"""PREPARE and EXECUTE: prepared statements of SQL, which share their names with those of the
extended protocol.

Enters: statements, and the work. Leaves: prepared statements; for EXECUTE the statement to run and
the values of its parameters.
"""

from __future__ import annotations

import struct
from dataclasses import replace
from functools import partial

from engine.execution.prepared import Prepared
from engine.execution.registry import handles
from engine.execution.work import Work
from engine.tables.sequence_functions import in_session
from ringbuffer.encode.output_forms import Forms
from ringbuffer.encode.rows import HEAD_BYTES, encode_data_rows
from sql.bind.expressions.object_names import scalar
from sql.bind.substitute import bind_arguments, substitute_now
from sql.catalog.schemas import find_type
from sql.errors import not_supported
from sql.parse.statements.declaration import Statement
from sql.parse.statements.delete import Delete
from sql.parse.statements.explain import Explain
from sql.parse.statements.insert import Insert
from sql.parse.statements.prepared import Execute, Prepare
from sql.parse.statements.select import Select
from sql.parse.statements.update import Update
from sql.parse.statements.variables import Show
from sql.parse.type_names import resolve_type
from sql.tree.expressions import Literal
from sql.tree.relations import Values
from sql.types.datatypes import OF_CATALOG, SqlType
from sql.values.literals import input_value
from views.model.arrow_schema import encoded_family


@handles(Prepare)
async def prepare(statement: Prepare, work: Work) -> None:
    """Keep a statement under a name. Raises 42P05, and the errors of the statement."""
    own = partial(find_type, catalog=work.image, settings=work.settings.captured())
    declared = tuple(None if kind.name == "unknown" else resolve_type(kind, own) for kind in statement.types)
    prepared = Prepared(statement.statement, declared, from_sql=True)
    prepared.shown_text, prepared.made_us = statement.text, work.transaction.now_us
    await work.threads.with_text(statement.text, prepared.refresh, work.image, work.settings)
    work.names.keep_statement(statement.name, prepared)


async def executed(statement: Execute, work: Work) -> tuple[Prepared, tuple[Literal, ...]]:
    """Return the statement that EXECUTE runs. Raises 26000, and the errors of the arguments."""
    prepared = work.names.statement(statement.name)
    await work.threads.with_text(prepared.text, prepared.read, work.image, work.settings)
    if not isinstance(prepared.statement, Select | Insert | Update | Delete | Show | Explain):
        raise not_supported("EXECUTE of this kind of statement")
    kinds, captured = prepared.parameter_types, work.settings.captured()
    bound = await work.threads.with_text(statement.text, bind_arguments, statement, kinds, work.image, captured)
    work.identity.require(work.image, bound)
    assert isinstance(bound.root, Values)
    (given,) = bound.root.rows
    if all(isinstance(value, Literal) for value in given):
        return prepared, tuple(value for value in given if isinstance(value, Literal))
    return prepared, await work.threads.in_worker(evaluated, bound.root, kinds, work)


def explained(statement: Explain, prepared: Statement) -> Explain:
    """Return EXPLAIN EXECUTE with the prepared statement in the place of EXECUTE. Raises 0A000 for
    one that is no SELECT.
    """
    if not isinstance(prepared, Select):
        raise not_supported(f"EXPLAIN EXECUTE of {prepared.tag}")
    return replace(statement, statement=prepared)


def evaluated(given: Values, kinds: tuple[SqlType, ...], work: Work) -> tuple[Literal, ...]:
    """Return the values of arguments that are no literals."""
    zone, now_us = work.settings.time_zone, work.transaction.now_us
    # The functions of the session find what they ask for there.
    work.sequences.image = work.reader(work.image).image
    root = in_session(substitute_now(given, now_us), work.sequences)
    row = work.server.engines.tables.run(root, {}, work.client)
    plain = [place for place, kind in enumerate(kinds) if scalar(kind).family not in OF_CATALOG]
    families = [encoded_family(given.schema[place].type) for place in plain]
    columns = [row.column(place) for place in plain]
    message, _ = encode_data_rows(columns, families, [0] * len(families), Forms(zone), row.num_rows)
    found, start = [], HEAD_BYTES
    for place, kind in enumerate(kinds):
        if place not in plain:
            # Oids, texts and lists of them.
            value = row.column(place)[0].as_py()
            found.append(Literal(tuple(value) if isinstance(value, list) else value, kind))
            continue
        (length,) = struct.unpack_from("!i", message, start)
        start += 4
        text = None if length < 0 else message[start : start + length].decode()
        found.append(Literal(None if text is None else input_value(text, kind, zone, None), kind))
        start += max(length, 0)
    return tuple(found)
