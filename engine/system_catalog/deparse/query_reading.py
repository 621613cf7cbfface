"""Queries of a definition's text to nodes: items of FROM with the columns that they have today.

Enters: `sql.parse.syntax`, a catalog of the relations as the text calls them, and the relations of
today by oid. Leaves: `SelectQuery`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from engine.system_catalog.deparse import calls_reading, scopes, signatures
from engine.system_catalog.deparse.expression_reading import ExpressionReader, Settings, parts
from engine.system_catalog.deparse.nodes import (
    CallNode,
    Constant,
    FromNode,
    GroupNode,
    ItemNode,
    JoinNode,
    Node,
    SelectBlock,
    SelectQuery,
    SetNode,
    Source,
    SourceColumn,
    TargetNode,
    Var,
)
from engine.system_catalog.deparse.scopes import Level, Levels, level_of
from engine.system_catalog.descriptions import description
from sql.bind.queries.outputs import output_name
from sql.catalog.catalog import KnowsSystem, RelationDescription, SessionSettings
from sql.catalog.functions import FunctionDescription, visible_functions
from sql.catalog.schemas import SYSTEM, find_relation, find_type
from sql.errors import SqlError
from sql.names.relation_keys import as_written, name_of, schema_of, written_schema
from sql.parse import syntax
from sql.parse.type_names import resolve_type
from sql.types.datatypes import INT8, TEXT, UNKNOWN, SqlType, by_oid

# Item of WITH -> its columns.
Items = dict[str, tuple[tuple[str, SqlType], ...]]
# What PostgreSQL calls the rows of VALUES.
VALUES_NAME = "*VALUES*"
BY_PLACE = frozenset({"view", "query"})
VALUE_NAMES = frozenset(f"{family}_array_elements{form}" for family in ("json", "jsonb") for form in ("", "_text"))


@dataclass(frozen=True)
class DefinitionCatalog:
    """The relations that a definition means.

    Attributes:
        then: the relations by the names of the definition's text.
        today: a relation by its oid.
        written: the settings with which the text is read.
        shown_zone: the zone in which times are shown.
        oids: of relations that the text names in strings.
        function: a user's function by its oid.
    """

    then: KnowsSystem
    today: Callable[[int], RelationDescription | None]
    written: SessionSettings
    shown_zone: str
    function: Callable[[int], FunctionDescription | None]
    oids: Mapping[str, int] = field(default_factory=dict)

    def functions(self, written: str) -> list[FunctionDescription]:
        """Return the users' functions that a name as written means, by their present names."""
        found = visible_functions(written, self.then, self.written)
        return [self.function(one.oid) or one for one in found]

    def oid_in_string(self, kind: str, text: str) -> int | None:
        """Return the oid of the object that a string names as a value of a type like regclass, None
        where there is none.
        """
        try:
            known = self.oids.get(text) if kind == "regclass" else None
            return known or self.then.object_oid(kind, text, self.written, None)
        except SqlError:
            return None

    def resolve(self, written: syntax.TypeName) -> SqlType:
        """Return the type that a name as written means."""
        return resolve_type(written, lambda name: find_type(name, self.then, self.written))


def read_query(query: syntax.Query, catalog: DefinitionCatalog) -> SelectQuery:
    """Return the query of a view."""
    return QueryReader(catalog, {}).query(query, ())


def read_expression(
    node: syntax.Expression, catalog: DefinitionCatalog, columns: Sequence[SourceColumn], kind: SqlType
) -> Node:
    """Return an expression over the columns of one relation, as a default or a check has it.

    kind: the type that an untyped constant has.
    """
    source = Source("relation", "", "", "", None, (), list(columns))
    source.shown_columns = [column.name for column in columns]
    reader = QueryReader(catalog, {}).expressions((level_of(source),))
    found = reader.read(node)
    return reader.coerced(found, kind) if found.type.family == "unknown" else found


def read_body(query: syntax.Query, function: FunctionDescription, catalog: DefinitionCatalog) -> SelectQuery:
    """Return the query of a function's body, whose parameters are columns around it."""
    columns = [SourceColumn(one.name or None, one.name, one.type) for one in function.inputs]
    name = name_of(function.name)
    return QueryReader(catalog, {}).query(query, (level_of(Source("parameters", name, name, "", None, (), columns)),))


@dataclass(frozen=True)
class QueryReader:
    """A reader of queries below the same items of WITH."""

    catalog: DefinitionCatalog
    items: Items

    def query(self, query: syntax.Query, outer: Levels) -> SelectQuery:
        """Return a query inside of other ones, whose names it can use; untyped constants in its
        select list are texts.
        """
        found = self._query(query, outer)
        kinds = [TEXT if kind.family == "unknown" else kind for _, kind in found.columns]
        return _settled_query(found, kinds, self.expressions(outer))

    def _query(self, query: syntax.Query, outer: Levels) -> SelectQuery:
        inner, reader = [], self
        is_recursive = any(item.recursive for item in query.common_tables)
        for item in query.common_tables:
            read, columns = reader._item(item, outer)
            inner.append(read)
            reader = replace(reader, items={**reader.items, item.name: columns})
        found = reader._body_with_clauses(query, outer)
        if not inner:
            return found
        return replace(found, items=(*inner, *found.items), recursive=is_recursive or found.recursive)

    def expressions(self, levels: Levels, windows: tuple[str, ...] = ()) -> ExpressionReader:
        """Return the reader of the expressions inside of these levels."""
        catalog = self.catalog
        settings = Settings(
            catalog.written.time_zone,
            catalog.shown_zone,
            catalog.resolve,
            self.query,
            catalog.oid_in_string,
            catalog.functions,
        )
        return ExpressionReader(levels, settings, windows)

    def _item(self, item: syntax.CommonTable, outer: Levels) -> tuple[ItemNode, tuple[tuple[str, SqlType], ...]]:
        reader = self
        if item.recursive and isinstance(item.query.body, syntax.SetOperation):
            first = self._side(item.query.body.left, outer)
            reader = replace(self, items={**self.items, item.name: renamed(first.columns, item.column_aliases)})
        query = reader.query(item.query, outer)
        return ItemNode(item.name, item.column_aliases, query, item.materialized), renamed(
            query.columns, item.column_aliases
        )

    def _body_with_clauses(self, query: syntax.Query, outer: Levels) -> SelectQuery:
        match query.body:
            case syntax.SelectBody():
                return self._select(query, query.body, outer)
            case syntax.ValuesBody():
                return self._values(query, query.body, outer)
            case syntax.SetOperation():
                return self._set_query(query, query.body, outer)
        inner = query.body
        assert isinstance(inner, syntax.Query)
        merged = replace(
            inner,
            order_by=query.order_by or inner.order_by,
            limit=query.limit or inner.limit,
            offset=query.offset or inner.offset,
            with_ties=query.with_ties or inner.with_ties,
        )
        return self._query(merged, outer)

    # SELECT

    def _select(self, query: syntax.Query, body: syntax.SelectBody, outer: Levels) -> SelectQuery:
        level, items = Level(), []
        for item in body.from_items:
            read, names = self._from_item(item, level, outer)
            items.append(read)
            level = level.beside(names)
        reader = self.expressions((level, *outer), tuple(name for name, _ in body.windows))
        targets = [one for target in body.targets for one in _targets(target, reader)]
        outputs = Outputs(reader, tuple(targets))
        block = SelectBlock(
            tuple(targets), body.distinct, tuple(outputs.item(one) for one in body.distinct_on), tuple(items),
            None if body.where is None else reader.condition(body.where),
            _flat(tuple(outputs.group(one) for one in body.group_by)), body.group_distinct,
            None if body.having is None else reader.condition(body.having),
            tuple(calls_reading.window(reader, window, name) for name, window in body.windows),
            sources=tuple(level.sources),
        )  # fmt: skip
        columns = tuple((target.name, target.expression.type) for target in targets)
        order = tuple(reader.sort(outputs.item(item.expression), item) for item in query.order_by)
        locking = tuple(
            (
                lock.strength,
                tuple(_locked(lock, level)),
                {"nowait": " NOWAIT", "skip": " SKIP LOCKED"}.get(lock.wait, ""),
            )
            for lock in query.locking
        )
        found = SelectQuery(block, columns, order_by=order, with_ties=query.with_ties, locking=locking)
        return self._with_counts(found, query, reader)

    def _values(self, query: syntax.Query, body: syntax.ValuesBody, outer: Levels) -> SelectQuery:
        reader = self.expressions(outer)
        read = [[reader.read(item) for item in row if item is not None] for row in body.rows]
        kinds = [signatures.common_type([node.type for node in column]) for column in zip(*read, strict=True)]
        rows = tuple(tuple(reader.coerced(node, kind) for node, kind in zip(row, kinds, strict=True)) for row in read)
        columns = tuple((f"column{number}", kind) for number, kind in enumerate(kinds, 1))
        named_columns = [SourceColumn(name, name, kind) for name, kind in columns]
        source = Source("values", VALUES_NAME, VALUES_NAME, "", None, (), named_columns, rows=rows)
        targets = tuple(TargetNode(Var(source, index, kind), name) for index, (name, kind) in enumerate(columns))
        outputs = Outputs(self.expressions((level_of(source), *outer)), targets)
        order = tuple(outputs.reader.sort(outputs.item(item.expression), item) for item in query.order_by)
        block = SelectBlock(targets, items=(source,), sources=(source,))
        return self._with_counts(SelectQuery(block, columns, order_by=order), query, reader)

    def _with_counts(self, found: SelectQuery, query: syntax.Query, reader: ExpressionReader) -> SelectQuery:
        limit = None if query.limit is None else reader.coerced(reader.read(query.limit), INT8)
        offset = None if query.offset is None else reader.coerced(reader.read(query.offset), INT8)
        return replace(found, limit=limit, offset=offset, with_ties=query.with_ties)

    def _numbered(self, found: SelectQuery, query: syntax.Query, outer: Levels) -> SelectQuery:
        """Return a set operation with its ORDER BY, by numbers of columns."""
        reader = self.expressions(outer)
        names = [name for name, _ in found.columns]
        numbers, order = [], []
        for item in query.order_by:
            node = item.expression
            number = int(node.value) if isinstance(node, syntax.Constant) else 0
            if isinstance(node, syntax.Name) and node.parts[-1] in names:
                number = names.index(node.parts[-1]) + 1
            numbers.append(number)
            order.append(reader.sort(Constant(str(number), UNKNOWN), item))
        return replace(found, order_by=tuple(order), order_numbers=tuple(numbers))

    # Set operations

    def _set_query(self, query: syntax.Query, body: syntax.SetOperation, outer: Levels) -> SelectQuery:
        node, columns = self._set(body, outer)
        found = SelectQuery(node, columns)
        return self._with_counts(self._numbered(found, query, outer), query, self.expressions(outer))

    def _set(self, body: syntax.SetOperation, outer: Levels) -> tuple[SetNode, tuple[tuple[str, SqlType], ...]]:
        sides: list[SetNode | SelectQuery] = []
        columns = []
        for side in (body.left, body.right):
            if isinstance(side, syntax.SetOperation):
                inner, known = self._set(side, outer)
                sides.append(inner)
            else:
                read = self._side(side, outer)
                sides.append(read)
                known = read.columns
            columns.append(known)
        kinds = [signatures.common_type([one, other]) for (_, one), (_, other) in zip(*columns, strict=True)]
        left, right = (_settled(side, kinds, self.expressions(outer)) for side in sides)
        word = body.operator.upper() + " ALL" * body.all
        names = tuple((name, kind) for (name, _), kind in zip(columns[0], kinds, strict=True))
        return SetNode(word, left, right), names

    def _side(self, body: syntax.Body, outer: Levels) -> SelectQuery:
        if isinstance(body, syntax.Query):
            return self._query(body, outer)
        return self._body_with_clauses(syntax.Query((), body, (), None, None, body.position), outer)

    # FROM

    def _from_item(self, item: syntax.FromItem, beside: Level, outer: Levels) -> tuple[FromNode, Level]:
        match item:
            case syntax.Table():
                source = self._table(item)
            case syntax.Derived():
                source = self._derived(item, (beside, *outer) if item.lateral else outer)
            case syntax.FunctionTable():
                source = self._function(item, beside, outer)
            case syntax.JoinClause():
                return self._join(item, beside, outer)
        return source, level_of(source)

    def _table(self, item: syntax.Table) -> Source:
        called = item.alias or item.name[-1]
        if len(item.name) == 1 and item.name[0] in self.items:
            columns = [SourceColumn(name, name, kind) for name, kind in self.items[item.name[0]]]
            return Source("item", called, item.name[0], "", item.alias, item.column_aliases, columns)
        written = as_written(item.name)
        then = find_relation(written, self.catalog.then, self.catalog.written)
        then = then or description(written_schema(written) or SYSTEM, name_of(written))
        assert then is not None, item
        today = self.catalog.today(then.oid) or then
        schema = then.schema_name if then.schema_name != "public" else schema_of(today.name)
        return Source(
            "relation", called, name_of(today.name), schema, item.alias, item.column_aliases,
            columns_today(then, today), schema_of(then.name), only=item.only,
        )  # fmt: skip

    def _derived(self, item: syntax.Derived, outer: Levels) -> Source:
        query = self.query(item.query, outer)
        columns = [SourceColumn(name, name, kind) for name, kind in query.columns]
        called = item.alias
        return Source(
            "query", called, called, "", item.alias, item.column_aliases, columns, query=query, lateral=item.lateral
        )

    def _function(self, item: syntax.FunctionTable, beside: Level, outer: Levels) -> Source:
        reader = self.expressions((beside, *outer))
        all_written = [one for call in item.calls for one in _calls_of(call)]
        calls = tuple(reader.read(call) for call in all_written)
        called = item.alias or item.calls[0].label
        columns: list[SourceColumn] = []
        for written, read in zip(all_written, calls, strict=True):
            named = _function_columns(written, read, called if len(calls) == 1 else written.label)
            columns += [SourceColumn(name, name, kind) for name, kind in named]
        if item.ordinality:
            columns.append(SourceColumn("ordinality", "ordinality", INT8))
        return Source(
            "function", called, called, "", item.alias, item.column_aliases, columns,
            calls=calls, has_ordinality=item.ordinality,
            lateral=any(isinstance(one, Var) and one.source in beside.sources for call in calls for one in parts(call)),
        )  # fmt: skip

    def _join(self, item: syntax.JoinClause, beside: Level, outer: Levels) -> tuple[FromNode, Level]:
        left, left_level = self._from_item(item.left, beside, outer)
        right, right_level = self._from_item(item.right, beside.beside(left_level), outer)
        both = left_level.beside(right_level)
        names = [name for name, _ in item.using]
        if item.natural:
            there = [name for name, _, hidden in right_level.visible if not hidden]
            names = list(dict.fromkeys(name for name, _, hidden in left_level.visible if not hidden and name in there))
        using = []
        for name in names:
            one, other = (_visible(level, name) for level in (left_level, right_level))
            common = signatures.common_type([one.type, other.type])
            using.append((name, one, other, scopes.merged(name, item.kind, one, other, common)))
        if using:
            rest = [visible for visible in both.visible if visible[0] not in names]
            both = Level(both.sources, [*((name, node, False) for name, _, _, node in using), *rest])
        condition = None
        if item.condition is not None:
            condition = self.expressions((both, beside, *outer)).condition(item.condition)
        kind = "inner" if item.natural and not using and item.kind == "inner" else item.kind
        return JoinNode(kind, left, right, condition, tuple(using)), both


@dataclass(frozen=True)
class Outputs:
    """The select list, which ORDER BY, GROUP BY and DISTINCT ON can name."""

    reader: ExpressionReader
    targets: tuple[TargetNode, ...]

    def item(self, node: syntax.Expression) -> Node:
        """Return an item of ORDER BY or DISTINCT ON: names of the select list come first."""
        if isinstance(node, syntax.Name) and len(node.parts) == 1:
            for target in self.targets:
                if target.name == node.parts[0]:
                    return target.expression
        if isinstance(node, syntax.Constant) and node.kind == "integer":
            return self.targets[int(node.value) - 1].expression
        return self.reader.value(node)

    def group(self, node: syntax.GroupItem) -> GroupNode:
        """Return an item of GROUP BY: columns of FROM come first."""
        if isinstance(node, syntax.GroupingSets):
            return GroupNode(node.kind, tuple(self.group(item) for item in node.items))
        if isinstance(node, syntax.Name) and len(node.parts) == 1:
            level = self.reader.levels[0]
            if any(name == node.parts[0] for name, _, _ in level.visible):
                return GroupNode("key", expression=self.reader.value(node))
        return GroupNode("key", expression=self.item(node))


def columns_today(then: RelationDescription, today: RelationDescription) -> list[SourceColumn]:
    """Return the columns that a relation has today, with the names that a text knows."""
    if then.kind in BY_PLACE:
        called: dict[object, str] = {place: column.name for place, column in enumerate(then.columns)}
        keys: list[object] = list(range(len(today.columns)))
    elif all(column.number for column in today.columns):
        called = {column.number: column.name for column in then.columns}
        keys = [column.number for column in today.columns]
    else:
        called = {column.name: column.name for column in then.columns}
        keys = [column.name for column in today.columns]
    found = [
        SourceColumn(called.get(key), column.name, column.type) for key, column in zip(keys, today.columns, strict=True)
    ]
    return [*found, *(SourceColumn(column.name, column.name, column.type, True) for column in today.hidden)]


def renamed(columns: tuple[tuple[str, SqlType], ...], aliases: tuple[str, ...]) -> tuple[tuple[str, SqlType], ...]:
    """Return columns with other names for the first ones."""
    names = [*aliases, *(name for name, _ in columns[len(aliases) :])]
    return tuple((name, kind) for name, (_, kind) in zip(names, columns, strict=True))


def _flat(groups: tuple[GroupNode, ...]) -> tuple[GroupNode, ...]:
    """Return a GROUP BY whose lists are their keys; () alone stays."""
    found = tuple(one for group in groups for one in (group.items if group.kind == "list" else (group,)))
    return found or groups


def _targets(target: syntax.Target, reader: ExpressionReader) -> list[TargetNode]:
    node = target.expression
    if isinstance(node, syntax.Star):
        return [TargetNode(column, name) for name, column in scopes.star(node.qualifier, reader.levels)]
    return [TargetNode(reader.read(node), target.alias or output_name(node))]


def _settled(side: SetNode | SelectQuery, kinds: Sequence[SqlType], reader: ExpressionReader) -> SetNode | SelectQuery:
    """Return one side of a set operation, its untyped constants as the types of the columns."""
    if isinstance(side, SetNode):
        return replace(side, left=_settled(side.left, kinds, reader), right=_settled(side.right, kinds, reader))
    return _settled_query(side, kinds, reader)


def _settled_query(query: SelectQuery, kinds: Sequence[SqlType], reader: ExpressionReader) -> SelectQuery:
    if isinstance(query.body, SetNode):
        body: SelectBlock | SetNode = replace(
            query.body,
            left=_settled(query.body.left, kinds, reader),
            right=_settled(query.body.right, kinds, reader),
        )
    else:
        targets = tuple(
            replace(target, expression=reader.coerced(target.expression, kind))
            if target.expression.type.family == "unknown"
            else target
            for target, kind in zip(query.body.targets, kinds, strict=False)
        )
        body = replace(query.body, targets=targets)
    known = zip(query.columns, kinds, strict=True)
    columns = tuple((name, wanted if kind.family == "unknown" else kind) for (name, kind), wanted in known)
    return replace(query, body=body, columns=columns)


def _visible(level: Level, name: str) -> Node:
    return next(node for known, node, _ in level.visible if known == name)


def _locked(lock: syntax.Locking, level: Level) -> list[Source]:
    names = [name for name, _ in lock.tables]
    return [
        source
        for source in level.sources
        if (source.called in names if names else source.kind in ("relation", "query"))
    ]


def _calls_of(call: syntax.FunctionCall) -> list[syntax.FunctionCall]:
    """Return the calls that a call in FROM stands for: unnest of several arrays is one of each."""
    if call.name != "unnest" or len(call.arguments) < 2:
        return [call]
    return [replace(call, arguments=(argument,)) for argument in call.arguments]


def _function_columns(written: syntax.FunctionCall, read: Node, called: str) -> list[tuple[str, SqlType]]:
    """Return the columns of a function in FROM."""
    if isinstance(read, CallNode) and read.columns:
        return list(read.columns)
    rows = [row for row in signatures.functions_named(written.name) if row["proallargtypes"]]
    modes = rows[0]["proargmodes"] if rows else []
    names = rows[0]["proargnames"] if rows else []
    outs = [place for place, mode in enumerate(modes) if mode in ("o", "t", "b")]
    if len(outs) > 1:
        return [(names[place], by_oid(rows[0]["proallargtypes"][place]) or TEXT) for place in outs]
    return [("value" if written.name in VALUE_NAMES else called, read.type)]
