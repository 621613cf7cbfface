"""ALTER VIEW, and SELECT truncate_continuous_view('v') and the like, which change a view as
well.
"""

from __future__ import annotations

from engine.catalog.image import CatalogImage
from engine.ddl.view_alterations import change_view, renamed, require_view, settle_output, with_options
from engine.execution.defining import altered, move_into_schema, note_built, own_image, with_tables
from engine.execution.outcome import Outcome, text_outcome
from engine.execution.registry import handles
from engine.execution.work import Work
from sql.bind.queries.query import bind_query
from sql.bind.substitute import substitute_parameters
from sql.catalog.schemas import found_key
from sql.errors import not_supported
from sql.parse.grammar.cursor import read_name
from sql.parse.statements.alter_view import AlterView, AlterViewOptions
from sql.parse.statements.select import Select
from sql.parse.syntax import FunctionCall, SelectBody
from sql.tree.expressions import Call, Literal
from sql.tree.relations import BoundQuery, Project
from sql.types.datatypes import VOID


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


def change_views(image: CatalogImage, said: str | None, work: Work) -> None:
    """Let the transaction go on with changed views.

    said: the notices for the client.
    """
    if said is not None:
        work.notice("00000", said)
    note_built(image, work)
    work.transaction.change_catalog(image)


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
    (argument,) = call.arguments
    if not isinstance(argument, Literal):
        raise not_supported(f"{call.function}() of anything but a constant", call.position)
    if argument.value is not None:
        name = found_key(read_name(str(argument.value)), captured, image.entries.get)
        image = await own_image(work)
        work.identity.require_owner(image, name)
        change_views(change_view(call.function, name, image), None, work)
    return text_outcome("SELECT 1", [column], [[None if argument.value is None else ""]], VOID)


def called_alone(statement: Select) -> str:
    """Return the function that is the whole SELECT, or an empty text."""
    query, body = statement.query, statement.query.body
    if not isinstance(body, SelectBody) or len(body.targets) != 1 or body.from_items or body.where or body.distinct:
        return ""
    if body.group_by or body.having or query.limit or query.offset or query.order_by or query.common_tables:
        return ""
    call = body.targets[0].expression
    return call.name if isinstance(call, FunctionCall) else ""
