"""ALTER VIEW, and SELECT truncate_continuous_view('v') and the like, which change a view as
well.
"""

from __future__ import annotations

import pyarrow as pa

from engine.ddl.view_alterations import change_view, renamed, require_view, settle_output, with_options
from engine.execution.defining import altered, change_views, move_into_schema, own_image, with_tables
from engine.execution.outcome import Outcome
from engine.execution.registry import handles
from engine.execution.work import Work
from engine.statements.import_state import import_states
from sql.bind.queries.query import bind_query
from sql.bind.substitute import substitute_parameters
from sql.catalog.schemas import found_key
from sql.errors import not_supported
from sql.functions.session import IMPORT
from sql.parse.grammar.cursor import read_name
from sql.parse.statements.alter_view import AlterView, AlterViewOptions
from sql.parse.statements.select import Select
from sql.parse.syntax import FunctionCall, SelectBody
from sql.tree.expressions import Call, Literal
from sql.tree.relations import BoundQuery, OutputColumn, Project
from views.model.arrow_schema import arrow_schema


@handles(AlterView)
async def alter_view(statement: AlterView, work: Work) -> None:
    """Rename a view or a column of it, or move the view into another schema.

    Raises 42P01 and 42809.
    """
    entry = altered(statement.name, None, statement.if_exists, work)
    if entry is None:
        return
    view = require_view(entry)
    if statement.new_schema:
        await move_into_schema(view, statement.new_schema, work)
    else:
        change_views(*renamed(view, statement.change, work.image, work.server.catalog.image), work)


@handles(AlterViewOptions)
async def alter_view_options(statement: AlterViewOptions, work: Work) -> None:
    """Change options of a view. Raises 42P01, 42809 and 22023."""
    entry = altered(statement.name, None, statement.if_exists, work)
    if entry is None:
        return
    change_views(with_options(require_view(entry), statement.options, work.image), None, work)
    await with_tables(work, settle_output, statement.name, work.server.stream_options)


async def call_view_change(statement: Select, work: Work) -> Outcome:
    """Do a SELECT that is a call of one of `sql.functions.session.VIEW_CHANGES`."""
    image, captured = work.image, work.settings.captured()
    if work.prepared is None:
        bound = bind_query(statement.query, image, captured)
    else:
        work.prepared.refresh(image, work.settings)
        assert isinstance(work.prepared.bound, BoundQuery)
        bound = work.prepared.bound
    work.identity.require(image, bound)
    root = substitute_parameters(bound.root, work.parameters) if work.parameters else bound.root
    assert isinstance(root, Project)
    ((column, call),) = root.items
    assert isinstance(call, Call)
    work.require_writable(f"{call.function}()")
    values = [argument.value for argument in call.arguments if isinstance(argument, Literal)]
    if len(values) < len(call.arguments):
        raise not_supported(f"{call.function}() of anything but a constant", call.position)
    told: str | int | None = None
    if None not in values:
        name = found_key(read_name(str(values[0])), captured, image.entries.get)
        image = await own_image(work)
        if call.function == IMPORT:
            told = await import_states(name, str(values[1]), work)
        else:
            work.identity.require_owner(image, name)
            change_views(change_view(call.function, name, image), None, work)
            told = ""
    schema = (OutputColumn(column, call.type),)
    return Outcome("SELECT 1", schema, pa.Table.from_pylist([{column: told}], arrow_schema(schema)))


def called_alone(statement: Select) -> str:
    """Return the function that is the whole SELECT, or an empty text."""
    query, body = statement.query, statement.query.body
    if not isinstance(body, SelectBody) or len(body.targets) != 1 or body.from_items or body.where or body.distinct:
        return ""
    if body.group_by or body.having or query.limit or query.offset or query.order_by or query.common_tables:
        return ""
    call = body.targets[0].expression
    return call.name if isinstance(call, FunctionCall) else ""
