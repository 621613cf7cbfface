"""CREATE TABLE and CREATE TABLE AS."""

from __future__ import annotations

from engine.ddl.definitions import require_free
from engine.ddl.table_building import build_table, build_table_as
from engine.ddl.table_likes import build_table_like
from engine.ddl.table_work import TableWork
from engine.execution.defining import finish, is_there, table_work, with_tables
from engine.execution.outcome import Outcome
from engine.execution.registry import handles
from engine.execution.work import Work
from sql.bind.queries.query import bind_query
from sql.bind.substitute import substitute_now, substitute_parameters
from sql.bind.writes.write_target import stored
from sql.parse.statements.create_table import CreateTable
from sql.tree.expressions import Column
from sql.tree.relations import Project


@handles(CreateTable)
async def create_table(statement: CreateTable, work: Work) -> Outcome:
    """Make a table, and fill it where there is a query."""
    if is_there(statement.name, statement.if_not_exists, work):
        return Outcome(statement.tag)
    require_free(work.image, statement.name)
    if statement.query is None:
        await with_tables(work, build_table_like if statement.likes else build_table, statement)
        return Outcome(statement.tag)
    changed = await table_work(work, reads=True)
    count = await work.threads.in_thread(fill, statement, changed, work)
    finish(changed, work)
    return Outcome(f"SELECT {count}" if statement.with_data else statement.tag)


def fill(statement: CreateTable, changed: TableWork, work: Work) -> int:
    """Make the table of a query and give it the query's rows; return their number."""
    assert statement.query is not None
    bound = bind_query(statement.query, changed.image, changed.settings, work.parameter_types)
    work.identity.require(changed.image, bound)
    entry = build_table_as(statement, bound.root.schema, changed)
    if not statement.with_data:
        return 0
    root = substitute_parameters(bound.root, work.parameters) if work.parameters else bound.root
    roots = [substitute_now(root, work.transaction.now_us)]
    (root,), inputs = work.reader(changed.image).scan_inputs(bound.relations, roots)
    items = tuple(
        (column.name, stored(Column(index, found.name, found.type), column))
        for index, (found, column) in enumerate(zip(bound.root.schema, entry.description.columns, strict=True))
    )
    rows = changed.tables.query(Project(root, items), inputs)
    changed.tables.insert(entry, rows)
    return int(rows.num_rows)
