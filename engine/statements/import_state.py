"""SELECT import_state('v', 'table or query'): states of groups, which state_of() has given on this
server or another, are merged into those of a view.

Enters: the name of a view, and a table or query over tables with one column of type bytea. Leaves:
a catalog of the transaction in which each state that gets groups is a new one: it begins with its
groups and these, when the transaction commits. Must not commit.
"""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from engine.catalog.image import ViewEntry, in_states, states_of
from engine.execution.defining import change_views
from engine.execution.work import Work
from engine.statements.backfill import require_caps
from engine.statements.create_view import require_unwritten
from sql.bind.queries.query import bind_query
from sql.errors import SqlError, not_supported
from sql.interrupts import interrupted_by
from sql.names.relation_keys import name_of
from sql.parse.parse import parse
from sql.parse.statements.create_view import is_query
from sql.parse.statements.select import Select
from views.upkeep.chain import Chain
from views.upkeep.export.state_values import HEAD_BYTES, MAGIC, state_head, table_of_states
from views.upkeep.lifecycle import enriched_view

HINT = "import_state takes a table, or a query over tables, with one column of type bytea: the states of state_of()."


async def import_states(name: str, text: str, work: Work) -> int:
    """Merge states into those of a view; return how many there were.

    Raises 42501 for who neither owns the view nor may insert into its streams, 22023 for bytes that
    are no state, and 55000 for states of other views.
    """
    image = work.image
    entry = image.existing(name)
    if not isinstance(entry, ViewEntry) or not states_of(entry):
        raise SqlError("42809", f'"{name_of(name)}" is not a continuous view')
    streams = {state.stream_name for state in entry.states}
    if not all(work.identity.may_insert(stream, image) for stream in streams):
        work.identity.require_owner(image, name)
    return await work.threads.in_worker(merge_states, entry, text, work)


def merge_states(entry: ViewEntry, text: str, work: Work) -> int:
    """Let the transaction go on with a view that has more groups."""
    with interrupted_by(work.threads.check_cancelled):
        return _merge(entry, states_in(text, work), work)


def states_in(text: str, work: Work) -> pa.Array:
    """Return the states in a table or query. Raises 22023, 42501, and the errors of the query."""
    statements = parse(text if is_query(text) else f"TABLE {text}")
    if len(statements) != 1 or not isinstance(statements[0], Select):
        raise SqlError("22023", "the second argument of import_state is no query", hint=HINT)
    bound = bind_query(statements[0].query, work.image, work.settings.captured())
    work.identity.require(work.image, bound)
    places = [place for place, column in enumerate(bound.root.schema) if column.type.family == "bytea"]
    if len(places) != 1 or bound.root.schema[places[0]].type.is_array:
        raise SqlError("42804", "import_state needs one column of type bytea", hint=HINT)
    if any(one.kind != "table" for name in bound.relations if (one := work.image.relation(name)) is not None):
        raise not_supported("import_state from relations that are no tables", hint=HINT)
    rows = work.server.transactions.begin_tables(work.transaction).query_plain(bound.root, {}, ())
    found = rows.column(places[0]).combine_chunks()
    if found.null_count:
        raise SqlError("22004", "a state is null", hint=HINT)
    return found.view(pa.binary()) if found.type != pa.binary() else found


def _merge(entry: ViewEntry, values: pa.Array, work: Work) -> int:
    heads = pc.binary_slice(values, 0, HEAD_BYTES)
    known = {state_head(state.chain.state.program): number for number, state in enumerate(entry.states)}
    for head in heads.unique().to_pylist():
        if head not in known:
            row = heads.index(head).as_py() + 1
            if len(head) < HEAD_BYTES or not head.startswith(MAGIC):
                raise SqlError("22023", f"row {row} is no state of a group", hint=HINT)
            raise SqlError(
                "55000",
                f'row {row} is a state of another view than "{name_of(entry.description.name)}", or of another form',
                detail="Columns of the stream, keys, aggregates, WHERE and joins have to be the same.",
            )
    image, states = work.image, list(entry.states)
    added: list[Chain] = []
    for head, number in known.items():
        mine = values.filter(pc.equal(heads, pa.scalar(head, pa.binary())))
        if not len(mine):
            continue
        chain = states[number].chain
        require_unwritten(chain, work)
        table = table_of_states(mine, chain.state.program)
        made = enriched_view(chain, image.next_oid + len(added), table)
        made.state.inherit(work.server.catalog.lock)
        added.append(made)
        states[number] = replace(states[number], chain=made)
    if added:
        require_caps(added, work)
        image = replace(image, next_oid=image.next_oid + len(added))
        name = entry.description.name
        change_views(image.with_replaced(name, in_states(entry, tuple(states))), None, work)
    return len(values)
