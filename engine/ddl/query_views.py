"""Ordinary views: queries under a name, bound to the relations that they read when they were made.

The names of these relations may have changed since. Enters: CREATE VIEW statements and images.
Leaves: entries whose bound query stands wherever the view is named. A view is restored and bound
again from its text, over a catalog that shows each relation by the name and with the columns of
that time: so a renamed column stays known, and `*` does not grow. Must not run anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from engine.catalog.as_then import AsThen
from engine.catalog.image import (
    CatalogImage,
    SourceText,
    StateEntry,
    StreamEntry,
    ViewEntry,
    columns_named,
    source_text,
)
from engine.catalog.stream_output import StreamOutput
from sql.bind.queries.query import bind_query
from sql.catalog.catalog import ColumnDescription, RelationDescription, SessionSettings, UsedRelation, used_relation
from sql.errors import SqlError
from sql.parse.parse import parse
from sql.parse.statements.create_view import CreateView
from sql.tree.expressions import Cast, Column, Expression, Literal
from sql.tree.relations import BoundQuery, OutputColumn, Project, Relation, Scan, project
from sql.tree.walks import relation_names, rewrite_everywhere
from sql.types.datatypes import TEXT
from sql.types.records import require_stored
from views.model.definition import JoinChoice
from views.model.properties import scans
from views.model.trees import substitute
from views.plan.prepare import Prepared, prepared_view
from views.share.passing import passing
from views.upkeep.chain import Chain, ViewPhase


def statement_of(text: str) -> CreateView:
    """Return the CREATE VIEW of a stored text."""
    (statement,) = parse(text)
    assert isinstance(statement, CreateView), text
    return statement


def define_query_view(
    statement: CreateView,
    bound: BoundQuery,
    image: CatalogImage,
    settings: SessionSettings,
    oid: int,
    states: tuple[StateEntry, ...] = (),
    over: Prepared | None = None,
) -> ViewEntry:
    """Return the entry of a new view.

    bound: its query, bound to `image` with `settings`. states: of the groupings of streams in the
    query, `over` which it is; they have taken the options. Raises 42701 and 42601 for column names,
    22023 for options.
    """
    for name in () if states else statement.options:
        raise SqlError("22023", f'unrecognized parameter "{name}"')
    described = ((name, image.relation(name)) for name in sorted(bound.named))
    used = tuple(used_relation(name, description) for name, description in described if description is not None)
    source = source_text(statement.text, settings)
    return query_view(statement.name, statement.column_names, bound, source, used, oid, states, over)


def bound_anew(entry: ViewEntry, image: CatalogImage) -> ViewEntry:
    """Return the entry of a view, bound to the present form of the relations that it reads.

    Raises SqlError when it can't be bound any more.
    """
    name, oid, states = entry.description.name, entry.description.oid, entry.states
    columns = tuple(column.name for column in entry.description.columns)
    bound = bound_as_then(statement_of(entry.source.text), entry.source, entry.used, image)
    over = prepared_states(bound, states[0].chain.definition.joins, len(states)) if states else None
    return with_output(query_view(name, columns, bound, entry.source, entry.used, oid, states, over), entry.output)


def with_output(entry: ViewEntry, output: StreamOutput | None) -> ViewEntry:
    """Return a view as a transform whose rows go to a stream; None: as it is."""
    if output is None:
        return entry
    return replace(entry, columns=entry.columns | {(output.oid, number) for number in output.columns}, output=output)


def bound_as_then(
    statement: CreateView,
    source: SourceText,
    used: tuple[UsedRelation, ...],
    image: CatalogImage,
    untyped: bool = False,
) -> BoundQuery:
    """Return the query of a stored text, over the relations that it used when it was made, by the
    names and with the columns of today.

    untyped: as for `bind_query`. Raises SqlError when it can't be bound any more.
    """
    then = AsThen(image, source.objects, {relation.name: relation for relation in used})
    bound = bind_query(statement.query, then, source.settings, untyped=untyped)
    return replace(bound, root=then.of_today(bound.root))


def prepared_states(bound: BoundQuery, joins: JoinChoice, count: int) -> Prepared:
    """Return a query prepared for as many stored states.

    Raises XX001 if its groupings are others than when the view was made.
    """
    found = prepared_view(bound.root, joins, is_above=True)
    if len(found.groupings) != count:
        raise SqlError("XX001", f"the query has {len(found.groupings)} groupings of streams, and {count} states")
    return found


def query_view(
    name: str,
    column_names: tuple[str, ...],
    bound: BoundQuery,
    source: SourceText,
    used: tuple[UsedRelation, ...],
    oid: int,
    states: tuple[StateEntry, ...],
    over: Prepared | None,
) -> ViewEntry:
    """Return the entry of a view from its bound query, over its states if it has any."""
    root = bound.root
    if over is not None:
        root = over.above([state.chain.name for state in states])
    for state in states:
        note_passing(state.chain, root)
    root = _named(root, column_names)
    for column in root.schema:
        require_stored(column.name, column.type)
    query = BoundQuery(
        root,
        (),
        relation_names(root),
        bound.stable,
        functions=bound.functions,
        functions_below=bound.functions_below,
        calls=bound.calls,
    )
    columns = tuple(
        ColumnDescription(column.name, column.type, number=number) for number, column in enumerate(root.schema, 1)
    )
    description = RelationDescription(name, "query", oid, columns, query=query)
    source = replace(source, objects=tuple(sorted(bound.objects)))
    entry = ViewEntry(description, source, used, bound.columns, states)
    if not states:
        return entry
    return replace(entry, root=bound.root, named=bound.named.difference(scans(bound.root, "stream")))


def note_passing(chain: Chain, root: Relation | None) -> None:
    """Note how groups of a state pass under a query that may be another one than before.

    root: the query above the states of the view, None: there is none. Raises 55000 where it asks
    for groups that may have passed.
    """
    found = passing(root, chain.name, chain.plan)
    if chain.lifecycle.phase is not ViewPhase.ATTACHED:
        chain.passing = found
    elif chain.passing not in (None, found):
        name = chain.definition.shown
        raise SqlError(
            "55000", f'view "{name}" has given up what it would have to show', hint=f"DROP VIEW {name} first."
        )


def carried_over(before: CatalogImage, image: CatalogImage, changed: Iterable[int]) -> CatalogImage:
    """Return the image with the ordinary views over relations of `before` that have other names or
    columns now, given by oid, over the relations' present form.

    No text is bound, but of views that have a whole row as a value: its type is another one.
    """
    relations = [(then, image.by_oid(oid)) for oid in changed if (then := before.by_oid(oid)) is not None]
    today = {then.description.name: (then.description, now.description) for then, now in relations if now is not None}

    def scanned(node: Relation) -> Relation:
        if isinstance(node, Scan) and node.name in today and node.kind != "recursive":
            return rescanned(node, *today[node.name])
        below = node.input if isinstance(node, Project) else None
        if not isinstance(node, Project) or not isinstance(below, Project) or not isinstance(below.input, Scan):
            return node
        values = [item for _, item in below.items]
        if not all(isinstance(item, Column | Literal) for item in values):
            # What is computed below is computed once a row, however often it is used.
            return node
        return Project(below.input, tuple((name, substitute(item, values)) for name, item in node.items))

    for name, entry in image.entries.items():
        query = entry.description.query
        if isinstance(entry, ViewEntry) and query is not None and not query.relations.isdisjoint(today):
            root = rewrite_everywhere(query.root, scanned)
            query = replace(query, root=root, relations=relation_names(root))
            image = image.with_replaced(name, replace(entry, description=replace(entry.description, query=query)))
    rows = {oid for entry in image.entries.values() for oid, number in columns_named(entry) if number == 0}
    return bound_again(image, rows.intersection(changed))


def rescanned(scan: Scan, then: RelationDescription, now: RelationDescription) -> Relation:
    """Return the rows of a relation in the columns of an earlier scan of it; a dropped column is
    NULL.

    then: the relation as the scan has it.
    """
    places = {key: place for place, key in enumerate(keys_of(now))}
    schema = tuple(OutputColumn(column.name, column.type) for column in now.row)
    items: list[tuple[str, Expression]] = []
    for key, column in zip(keys_of(then), scan.schema, strict=True):
        place = places.get(key)
        value = Literal(None, column.type) if place is None else Column(place, column.name, schema[place].type)
        items.append((column.name, value))
    return project(Scan(now.name, scan.kind, schema), tuple(items))


def keys_of(relation: RelationDescription) -> list[int | str]:
    """Return what each column of a relation keeps for ever."""
    own = [column.number or -place for place, column in enumerate(relation.columns, 1)]
    return [*own, *(column.name for column in relation.hidden)]


def bound_again(image: CatalogImage, changed: Iterable[int]) -> CatalogImage:
    """Return the image with the ordinary views above changed relations, given by oid, bound to
    their present form.

    Raises SqlError for a view that can't be bound: the caller finds such views before, and refuses
    or drops them.
    """
    oids = set(changed)
    for entry in tuple(image.entries.values()):
        if isinstance(entry, ViewEntry) and not entry.is_state and not oids.isdisjoint(read_directly(entry)):
            oids.add(entry.description.oid)
            again = replace(bound_anew(entry, image), followers=entry.followers)
            image = image.with_replaced(entry.description.name, again)
    return image


def read_directly(entry: ViewEntry) -> set[int]:
    """Return the oids of the relations that an ordinary view reads directly."""
    return {used.oid for used in entry.used}


def _named(root: Relation, column_names: tuple[str, ...]) -> Relation:
    """Return the tree with the view's column names, and text for constants of unknown type, as
    PostgreSQL does.
    """
    if len(column_names) > len(root.schema):
        raise SqlError("42601", "CREATE VIEW specifies more column names than columns")
    names = [*column_names, *(column.name for column in root.schema[len(column_names) :])]
    for index, name in enumerate(names):
        if name in names[:index]:
            raise SqlError("42701", f'column "{name}" specified more than once')
    columns: list[Expression] = [Column(index, column.name, column.type) for index, column in enumerate(root.schema)]
    below = root
    if isinstance(root, Project):
        below, columns = root.input, [item for _, item in root.items]
    return Project(below, tuple((name, _known(item)) for name, item in zip(names, columns, strict=True)))


def _known(item: Expression) -> Expression:
    if item.type.family != "unknown":
        return item
    return replace(item, type=TEXT) if isinstance(item, Literal) else Cast(item, TEXT)


def reads_stream(bound: BoundQuery, image: CatalogImage) -> bool:
    """Tell whether a query reads a stream, so that a view of it is a continuous one."""
    return any(isinstance(image.entries.get(name), StreamEntry) for name in bound.relations)
