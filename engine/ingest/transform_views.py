"""CREATE VIEW ... WITH (action = transform, outputstream = '...'): what may be a transform.

Enters: statements, bound queries, images. Leaves: the entry of a view whose rows go to a stream; to
readers it is an ordinary view of its own stream. Must not run anything:
`engine.ingest.transforms` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from engine.catalog.image import CatalogImage, StreamEntry, ViewEntry
from engine.catalog.stream_output import StreamOutput
from engine.ddl.query_views import define_query_view, with_output
from engine.ddl.view_replacing import check_columns
from sql.catalog.catalog import ARRIVAL, SessionSettings
from sql.errors import SqlError, not_supported
from sql.functions.volatility import is_volatile
from sql.names.relation_keys import is_output, name_of, quoted, shown
from sql.parse.statements.create_view import CreateView
from sql.tree.expressions import Column, Expression, Subquery
from sql.tree.relations import (
    Aggregate,
    BoundQuery,
    Distinct,
    Join,
    Limit,
    Relation,
    Scan,
    SetOperation,
    Sort,
    TableFunction,
    Values,
    Window,
)
from sql.tree.walks import walk
from views.model.definition import checked
from views.model.trees import taken_apart

# What a transform can't have between its stream and its rows.
NAMES: dict[type[Relation], str] = {
    Aggregate: "a grouping",
    Distinct: "DISTINCT",
    Join: "a join",
    Limit: "LIMIT",
    SetOperation: "a set operation",
    Sort: "ORDER BY",
    TableFunction: "a set-returning function",
    Values: "a query without a stream",
    Window: "a window function",
}
HINT = "A transform takes each row of one stream by itself: conditions and expressions of its columns."
# A row may reach a stream in so many ways.
WAYS_MAX = 64


def defined_transform(
    statement: CreateView,
    bound: BoundQuery,
    image: CatalogImage,
    settings: SessionSettings,
    before: ViewEntry | None = None,
) -> ViewEntry | None:
    """Return the entry of a new transform, None for another view.

    before: the transform that it replaces. Raises 22023 for a view that has an option of
    transforms, 42P16 for columns that do not begin like the old ones, and 0A000 for a view over a
    transform.
    """
    if statement.is_transform:
        oid = image.next_oid if before is None else before.description.oid
        made = define_transform(statement, bound, image, settings, oid)
        if before is not None:
            check_columns(before.description.columns, made.description.columns)
        return made
    if "outputstream" in statement.options:
        hint = "WITH (action = transform, outputstream = ...) makes a transform."
        raise SqlError("22023", 'parameter "outputstream" is one of a transform', hint=hint)
    for name in sorted(bound.named):
        entry = image.entries.get(name)
        if isinstance(entry, ViewEntry) and entry.output is not None:
            (target,) = targets_among([entry], image)
            raise not_supported("a view over a transform", hint=f"Its rows are in stream {shown(target)}.")
    return None


def define_transform(
    statement: CreateView, bound: BoundQuery, image: CatalogImage, settings: SessionSettings, oid: int
) -> ViewEntry:
    """Return the entry of a new transform.

    Raises 22023 for options, 42P01 and 42809 for the stream, 0A000 for what its query may not have,
    42601 for its columns, 42P17 for a circle of transforms.
    """
    given = {name for name in statement.options if name not in ("action", "outputstream", "time_zone", "on_error")}
    for name in sorted(given):
        raise SqlError("22023", f'parameter "{name}" is not one of a transform')
    target = output_stream(statement, image, settings)
    refuse_shape(bound.root)
    entry = define_query_view(replace(statement, options={}), bound, image, settings, oid)
    filled, columns = len(entry.description.columns), target.stream.columns
    if filled > len(columns):
        name = shown(target.description.name)
        raise SqlError("42601", f'the transform has more columns than stream "{name}"')
    numbers = tuple(column.number for column in columns[:filled])
    skips = checked("on_error", statement.options.get("on_error", "reject")) == "skip"
    entry = with_output(entry, StreamOutput(target.description.oid, numbers, skips))
    refuse_circles(image.with_entry(entry))
    return entry


def output_stream(statement: CreateView, image: CatalogImage, settings: SessionSettings) -> StreamEntry:
    """Return the stream that WITH (outputstream = ...) names."""
    written = statement.options.get("outputstream")
    if written is None:
        hint = "WITH (action = transform, outputstream = 'name') names the stream that gets the rows."
        raise not_supported("a transform without an output stream", hint=hint)
    found = image.by_oid(image.object_oid("regclass", written, settings, None))
    if not isinstance(found, StreamEntry) or is_output(found.description.name):
        raise SqlError("42809", f'"{written}" is not a stream')
    return found


def refuse_shape(root: Relation) -> None:
    """Raise 0A000 for a query that is more than conditions and expressions over one stream."""
    base, conditions, items = taken_apart(root)
    if not isinstance(base, Scan) or base.kind != "stream":
        what = NAMES.get(type(base), "a recursive query")
        raise not_supported(f"{'a table or view' if isinstance(base, Scan) else what} in a transform", hint=HINT)
    for part in (*conditions, *items):
        for node in walk(part):
            refuse_node(node)
        if is_volatile(part):
            raise not_supported("a volatile function in a transform", hint=HINT)


def refuse_node(node: Expression) -> None:
    """Raise 0A000 for an expression whose value no row has when it is staged."""
    if isinstance(node, Subquery):
        raise not_supported("a subquery in a transform", node.position, hint=HINT)
    if isinstance(node, Column) and node.name == ARRIVAL.name:
        hint = "It is set at COMMIT; views over the output stream see its own."
        raise not_supported(f"{ARRIVAL.name} in a transform", hint=hint)


def refuse_circles(image: CatalogImage) -> None:
    """Raise 42P17 where rows of a stream would come back to it, and 54000 where a row would reach a
    stream in too many ways.
    """
    ways: dict[str, int] = {}

    def follow(path: tuple[str, ...]) -> None:
        for target in targets_among(image.transforms_of(path[-1]), image):
            if target in path:
                detail = f"Rows would go from {' to '.join(shown(one) for one in (*path, target))}."
                raise SqlError("42P17", f'infinite recursion of transforms of stream "{shown(target)}"', detail=detail)
            ways[target] = ways.get(target, 0) + 1
            if ways[target] > WAYS_MAX:
                raise SqlError("54000", f'rows would reach stream "{shown(target)}" in more than {WAYS_MAX} ways')
            follow((*path, target))

    for stream in image.streams.values():
        ways.clear()
        follow((stream.name,))


def targets_among(views: Iterable[ViewEntry], image: CatalogImage) -> Iterator[str]:
    """Yield the streams that get the rows of transforms."""
    for view in views:
        assert view.output is not None, view
        target = image.by_oid(view.output.oid)
        assert target is not None, view
        yield target.description.name


def transform_lines(entry: ViewEntry, image: CatalogImage) -> list[str]:
    """Return the lines of EXPLAIN on a transform besides its query."""
    (target,) = targets_among([entry], image)
    assert entry.output is not None and entry.description.query is not None, entry
    (source,) = entry.description.query.relations
    known = {column.number: column.name for column in image.entries[target].description.columns}
    names = ", ".join(quoted(known[number]) for number in entry.output.columns)
    name = quoted(name_of(entry.description.name))
    return [
        f"Transform {name}: rows of stream {shown(source)} become rows of stream {shown(target)} in the same commit",
        f"Columns that it fills: {names}",
    ]
