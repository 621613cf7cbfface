"""Queries as PostgreSQL prints them: a clause on each line, indented.

Enters: syntax, what it means, what this session calls relations and types. Leaves: text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from engine.system_catalog.deparse.calls import window
from engine.system_catalog.deparse.expressions import Expressions
from engine.system_catalog.deparse.layout import CLAUSE_INDENT, JOIN_INDENT, Page, Style, qualified
from engine.system_catalog.deparse.pieces import Piece, beside
from engine.system_catalog.deparse.sources import (
    VALUES_NAME,
    Meaning,
    Source,
    give_names,
    name_columns,
    relation_source,
    windowed_source,
)
from engine.system_catalog.syntax_nodes import flat, keys_of, nodes
from sql.bind.notes import NotedColumn
from sql.bind.queries.outputs import output_name
from sql.names.relation_keys import quoted
from sql.parse import syntax
from sql.types.datatypes import INT8, INTERVAL, TEXT, SqlType

# PostgreSQL 15 has these two items in FROM of each view.
RULE_NAMES = frozenset({"old", "new"})
GROUP_WORDS = {"rollup": "ROLLUP(", "cube": "CUBE(", "sets": "GROUPING SETS ("}
Item = syntax.FromItem | syntax.ValuesBody
WAITS = {"nowait": " NOWAIT", "skip": " SKIP LOCKED"}


def query_text(query: syntax.Query, meaning: Meaning, style: Style, names: Sequence[str]) -> str:
    """Return a view's query. names: of the view's columns."""
    printer = QueryPrinter(meaning, style, Page(), RULE_NAMES)
    printer.print(query, names)
    return printer.page.text + ";"


def expression_text(
    node: syntax.Expression, meaning: Meaning, style: Style, columns: Sequence[str], kind: SqlType, relation: str = ""
) -> str:
    """Return an expression over the columns of one relation, which are printed alone.

    kind: the type that an untyped constant has. relation: its name, for the whole row.
    """
    source = Source("relation", relation, list(columns), shown=relation)
    source.shown_columns = list(columns)
    printer = QueryPrinter(meaning, style, Page(), frozenset(), sources={0: source})
    shown = printer.expressions(prefixed=False)
    shown.write(shown.settled(shown.read(node), kind))
    return printer.page.text


def body_text(query: syntax.Query, meaning: Meaning, style: Style) -> str:
    """Return the query of BEGIN ATOMIC."""
    printer = QueryPrinter(meaning, style, Page(level=1), frozenset())
    printer.print(query, visible=False)
    return printer.page.text


def returned_text(query: syntax.Query, meaning: Meaning, style: Style) -> str:
    """Return the expression of RETURN: the value of a query of one row."""
    assert isinstance(query.body, syntax.SelectBody)
    shown = QueryPrinter(meaning, style, Page(indented=False), frozenset()).expressions()
    shown.write(shown.value(query.body.targets[0].expression), True)
    return shown.page.text


@dataclass
class QueryPrinter:
    """A printer of queries onto a page.

    Attributes:
        around: the aliases of the queries around, which those inside must not take.
        sources: the items of FROM of this query and those around, by their ids.
        item_names: of the items of WITH that a bare name would mean here.
        in_from: this query or one around has items of FROM.
        before: how many of the sources are of queries around.
    """

    meaning: Meaning
    style: Style
    page: Page
    around: frozenset[str]
    sources: dict[int, Source] = field(default_factory=dict)
    item_names: frozenset[str] = frozenset()
    in_from: bool = False
    before: int = 0

    def expressions(self, prefixed: bool = True) -> Expressions:
        """Return the printer of the query's expressions."""
        return Expressions(
            self.meaning, self.style, self.page, self.sources, self.inside, self.columns, prefixed, self.in_from
        )

    def inside(
        self,
        query: syntax.Query,
        names: Sequence[str] | None = None,
        visible: bool = False,
        kinds: Sequence[SqlType] = (),
    ) -> None:
        """Print a query inside of this one."""
        level = self.page.level
        replace(self).print(query, names, visible, kinds)
        self.page.level = level

    def columns(self, body: syntax.Body) -> list[NotedColumn]:
        """Return the columns of a query."""
        notes = self.meaning.notes
        match body:
            case syntax.Query():
                return self.columns(body.body)
            case syntax.ValuesBody():
                return list(notes.items[id(body)].columns)
            case syntax.SetOperation():
                pairs = zip(self.columns(body.left), notes.columns[id(body)], strict=True)
                return [NotedColumn(column.name, kind) for column, kind in pairs]
        found: list[NotedColumn] = []
        for target in body.targets:
            node = target.expression
            if isinstance(node, syntax.Star):
                found += notes.names.get(node.position, {}).values()
            else:
                kind = notes.types[id(node)]
                known = TEXT if kind.family == "unknown" else kind
                found.append(NotedColumn(target.alias or output_name(node), known))
        return found

    def print(
        self,
        query: syntax.Query,
        names: Sequence[str] | None = None,
        visible: bool = True,
        kinds: Sequence[SqlType] = (),
    ) -> None:
        """Print a query.

        names: of its columns, None: as in its text. visible: something else can see these names.
        kinds: of the columns of the set operation around.
        """
        query = flat(query)
        page, body = self.page, query.body
        assert not isinstance(body, syntax.Query)
        self.item_names |= {item.name for item in query.common_tables}
        items: Sequence[Item] = ()
        if not isinstance(body, syntax.SetOperation):
            items = (body,) if isinstance(body, syntax.ValuesBody) else body.from_items
            self._name(items)
        self.in_from |= isinstance(body, syntax.SetOperation) or bool(items)
        if query.common_tables:
            self._items(query)
        shown = self.expressions()
        own = [column.name for column in self.columns(query)]
        if isinstance(body, syntax.SetOperation):
            self._set(body, names, visible)
            order = [self._number(item.expression, own) for item in query.order_by]
        else:
            targets = self._targets(body, kinds)
            outputs = list(zip(own, targets, strict=True))
            sorted_by = [self._output(item.expression, outputs) for item in query.order_by]
            order = [shown.key(one) for one in sorted_by]
            is_plain = (names or own) == own and all(key.kind == "column" for key in sorted_by)
            if isinstance(body, syntax.ValuesBody) and is_plain:
                page.begin()
                self._values(body)
            else:
                self._block(body, items, list(zip(names or own, targets, strict=False)), outputs, visible)
        if order:
            page.line(" ORDER BY ", -CLAUSE_INDENT, CLAUSE_INDENT, 1)
            shown.write(shown.order(query.order_by, order))
        if query.offset is not None:
            page.line(" OFFSET ", -CLAUSE_INDENT, CLAUSE_INDENT)
            shown.write(shown.coerced(shown.read(query.offset), INT8))
        if query.limit is not None:
            page.line(" FETCH FIRST " if query.with_ties else " LIMIT ", -CLAUSE_INDENT, CLAUSE_INDENT)
            limit = shown.coerced(shown.read(query.limit), INT8)
            if limit.kind == "constant" and limit.value is None:
                limit = beside(["ALL"])
            elif query.with_ties:
                limit = beside(["(", limit, ") ROWS WITH TIES"])
            shown.write(limit)
        for lock in query.locking:
            self._lock(lock, items)

    def _name(self, items: Sequence[Item]) -> None:
        """Give names to the items of FROM."""
        self.before = len(self.sources)
        self.sources = dict(self.sources)
        for item in items:
            self._add(item)
        own = [
            source
            for source in list(self.sources.values())[self.before :]
            if source.kind != "join" and not source.is_inside
        ]
        self.around = give_names(own, self.around)
        for item in items:
            name_columns(item, self.sources, self.meaning.notes, frozenset())

    def _add(self, item: Item) -> None:
        notes, found = self.meaning.notes, self.sources
        if isinstance(item, syntax.JoinClause):
            self._add(item.left)
            self._add(item.right)
            found[id(item)] = Source("join", "", [pair.name for pair in notes.using.get(id(item), ())])
            return
        if isinstance(item, syntax.ValuesBody):
            found[id(item)] = Source("values", VALUES_NAME, [column.name for column in self.columns(item)])
            return
        noted = notes.items[id(item)]
        columns = [column.name for column in noted.columns]
        match item:
            case syntax.Table() if noted.relation:
                source = relation_source(self.meaning, item, noted.relation, noted.oid)
            case syntax.Table():
                source = Source("item", item.name[-1], columns, item.alias, item.column_aliases)
            case syntax.Derived():
                source = Source("query", item.alias, columns, item.alias, item.column_aliases)
            case syntax.FunctionTable():
                called = item.alias or item.calls[0].label
                source = Source("function", called, columns, item.alias, item.column_aliases)
            case syntax.WindowedTable():
                self._add(item.source)
                source = windowed_source(item, found[id(item.source)], noted)
        found[id(item)] = source

    def _items(self, query: syntax.Query) -> None:
        page = self.page
        page.begin()
        page.write("WITH " + "RECURSIVE " * any(item.recursive for item in query.common_tables))
        for number, item in enumerate(query.common_tables):
            page.write(", " * bool(number) + quoted(item.name) + _list(item.column_aliases) + " AS ")
            page.write(f"{item.materialized} (" if item.materialized else "(")
            page.line("")
            self.inside(item.query, visible=True)
            page.line("")
            page.write(")")
        page.level -= CLAUSE_INDENT
        page.part("")

    def _set(self, body: syntax.SetOperation, names: Sequence[str] | None, visible: bool) -> None:
        page, left, right = self.page, body.left, body.right
        kinds = self.meaning.notes.columns[id(body)]
        is_other = isinstance(left, syntax.SetOperation) and (left.operator, left.all) != (body.operator, body.all)
        indent = CLAUSE_INDENT * is_other
        if is_other:
            page.write("(")
            page.line("", indent)
        self._side(left, names, visible, kinds)
        if is_other:
            page.line(") ", -indent)
        else:
            page.part("", -indent)
        page.write(body.operator.upper() + " ALL" * body.all + " ")
        is_nested = isinstance(right, syntax.SetOperation)
        indent = CLAUSE_INDENT * is_nested
        page.write("(" * is_nested)
        page.line("", indent)
        self._side(right, names, False, kinds)
        page.level -= indent
        if is_nested:
            page.line(")")

    def _side(self, body: syntax.Body, names: Sequence[str] | None, visible: bool, kinds: Sequence[SqlType]) -> None:
        if isinstance(body, syntax.SetOperation):
            self._set(body, names, visible)
            return
        query = flat(body) if isinstance(body, syntax.Query) else syntax.Query((), body, (), None, None, body.position)
        clauses = query.common_tables or query.order_by or query.limit or query.offset or query.locking
        self.page.write("(" * bool(clauses))
        self.inside(query, names, visible, kinds)
        self.page.write(")" * bool(clauses))

    def _values(self, body: syntax.ValuesBody) -> None:
        shown, kinds = self.expressions(), [column.type for column in self.columns(body)]
        self.page.write("VALUES (")
        rows = [
            beside(
                [shown.coerced(shown.read(item), kind) for item, kind in zip(row, kinds, strict=True) if item],
                between=",",
            )
            for row in body.rows
        ]
        shown.write(beside(rows, between="), ("))
        self.page.write(")")

    def _targets(self, body: syntax.SelectBody | syntax.ValuesBody, kinds: Sequence[SqlType]) -> list[Piece]:
        """Return the expressions of a select list."""
        shown, found = self.expressions(), []
        if isinstance(body, syntax.ValuesBody):
            return [shown.column((id(body), place), one.type) for place, one in enumerate(self.columns(body))]
        for target in body.targets:
            node = target.expression
            found += shown.star(node) if isinstance(node, syntax.Star) else [shown.read(node)]
        return [shown.settled(one, kinds[place] if kinds else TEXT) for place, one in enumerate(found)]

    def _output(self, node: syntax.Expression, outputs: Sequence[tuple[str, Piece]]) -> Piece:
        """Return an item of ORDER BY, GROUP BY or DISTINCT ON, which may mean one of the select
        list.
        """
        if isinstance(node, syntax.Name) and len(node.parts) == 1 and node.position not in self.meaning.notes.names:
            named = next((piece for name, piece in outputs if name == node.parts[0]), None)
            if named is not None:
                return named
        if isinstance(node, syntax.Constant) and node.kind == "integer":
            return outputs[int(node.value) - 1][1]
        return self.expressions().value(node)

    def _number(self, node: syntax.Expression, names: list[str]) -> Piece:
        """Return the number of a column of a set operation."""
        if isinstance(node, syntax.Name):
            return beside([str(names.index(node.parts[-1]) + 1)])
        assert isinstance(node, syntax.Constant)
        return beside([node.value])

    def _block(
        self,
        body: syntax.SelectBody | syntax.ValuesBody,
        items: Sequence[Item],
        targets: Sequence[tuple[str, Piece]],
        outputs: Sequence[tuple[str, Piece]],
        visible: bool,
    ) -> None:
        page, shown = self.page, self.expressions()
        page.begin()
        page.write("SELECT")
        if isinstance(body, syntax.SelectBody):
            page.write(" DISTINCT" * (body.distinct or bool(body.distinct_on)))
            if body.distinct_on:
                keys = [shown.key(self._output(one, outputs)) for one in body.distinct_on]
                shown.write(beside([" ON (", beside(keys, between=", "), ")"]))
        self._target_list(targets, visible)
        self._from(items)
        if isinstance(body, syntax.ValuesBody):
            return
        if body.where is not None:
            page.line(" WHERE ", -CLAUSE_INDENT, CLAUSE_INDENT, 1)
            shown.write(shown.condition(body.where))
        if body.group_by:
            page.line(" GROUP BY ", -CLAUSE_INDENT, CLAUSE_INDENT, 1)
            groups = [one for group in body.group_by for one in keys_of(group)] or body.group_by
            shown_groups = [self._group(group, outputs, True) for group in groups]
            shown.write(beside(["DISTINCT " * body.group_distinct, beside(shown_groups, between=", ")]))
        if body.having is not None:
            page.line(" HAVING ", -CLAUSE_INDENT, CLAUSE_INDENT)
            shown.write(shown.condition(body.having))
        if body.windows:
            page.line(" WINDOW ", -CLAUSE_INDENT, CLAUSE_INDENT, 1)
            windows = [beside([f"{quoted(name)} AS ", window(shown, one)]) for name, one in body.windows]
            shown.write(beside(windows, between=", "))

    def _target_list(self, targets: Sequence[tuple[str, Piece]], visible: bool) -> None:
        page, shown = self.page, self.expressions()
        was_long = False
        for number, (name, target) in enumerate(targets):
            page.write(", " if number else " ")
            whole, page.text = page.text, ""
            shown.write(target, True)
            known = target.word if target.kind == "column" else "" if visible else "?column?"
            if name != known:
                page.write(f" AS {quoted(name)}")
            piece, page.text = page.text, whole
            passes = page.column + len(piece) > self.style.wrap
            page.place(piece, number > 0 and (passes or was_long))
            was_long = "\n" in piece.removeprefix("\n")

    def _group(self, group: syntax.GroupItem, outputs: Sequence[tuple[str, Piece]], bare: bool) -> Piece:
        if not isinstance(group, syntax.GroupingSets):
            return self.expressions().key(self._output(group, outputs))
        is_one = group.kind == "list" and bare and len(group.items) == 1
        items = []
        for item in group.items:
            if group.kind == "sets" and not isinstance(item, syntax.GroupingSets):
                item = syntax.GroupingSets("list", (item,), 0)
            items.append(self._group(item, outputs, group.kind != "sets"))
        shown = beside(items, between=", ")
        return shown if is_one else beside([GROUP_WORDS.get(group.kind, "("), shown, ")"])

    def _from(self, items: Sequence[Item]) -> None:
        page = self.page
        for number, item in enumerate(items):
            if not number:
                page.line(" FROM ", -CLAUSE_INDENT, CLAUSE_INDENT, 2)
                self._source(item)
                continue
            page.write(", ")
            whole, page.text = page.text, ""
            self._source(item)
            piece, page.text = page.text, whole
            page.place(piece, page.column + len(piece) > self.style.wrap)

    def _join(self, item: syntax.JoinClause) -> None:
        page, pretty, shown = self.page, self.style.pretty, self.expressions()
        using = self.meaning.notes.using.get(id(item), ())
        page.write("(" * (not pretty))
        self._source(item.left)
        is_cross = item.kind in ("inner", "cross") and item.condition is None and not using
        word = "CROSS" if is_cross else {"inner": ""}.get(item.kind, item.kind.upper())
        page.line(f" {word + ' ' if word else ''}JOIN ", -CLAUSE_INDENT, CLAUSE_INDENT, JOIN_INDENT)
        is_nested = pretty and isinstance(item.right, syntax.JoinClause)
        page.write("(" * is_nested)
        self._source(item.right)
        page.write(")" * is_nested)
        if using:
            page.write(f" USING {_list([shown.column(pair.meant, TEXT).word for pair in using])}")
        elif item.condition is not None:
            page.write(" ON " + "(" * (not pretty))
            shown.write(shown.condition(item.condition))
            page.write(")" * (not pretty))
        elif not is_cross:
            page.write(" ON TRUE")
        page.write(")" * (not pretty))

    def _source(self, item: Item) -> None:
        page, source = self.page, self.sources[id(item)]
        own = ""
        match item:
            case syntax.JoinClause():
                self._join(item)
                return
            case syntax.Table():
                own = source.name
                self._relation(item, source)
            case syntax.Derived():
                page.write("LATERAL " * item.lateral + "(")
                self.inside(item.query, visible=True)
                page.write(")")
            case syntax.ValuesBody():
                page.write("(")
                self._values(item)
                page.write(")")
            case syntax.FunctionTable():
                self._function(item)
            case syntax.WindowedTable():
                own = source.name
                self._windows(item)
        if source.alias is not None or source.shows_columns or source.shown != own:
            page.write(f" {quoted(source.shown)}")
        if source.shows_columns:
            page.write(_list(source.listed_columns))

    def _relation(self, item: syntax.Table, source: Source) -> None:
        page = self.page
        if source.kind == "relation":
            hidden = source.name in self.item_names
            page.write("ONLY " * item.only)
            page.write((qualified if hidden else self.style.relation_name)(source.schema, source.name))
        else:
            page.write(source.written(self.style.relation_name))

    def _windows(self, item: syntax.WindowedTable) -> None:
        shown = self.expressions(prefixed=False)
        self.page.write(f"{item.kind}(TABLE ")
        self._relation(item.source, self.sources[id(item.source)])
        if item.partition_by:
            keys = beside([shown.read(key) for key in item.partition_by], True, ", ")
            shown.write(beside([" PARTITION BY (", keys, ")"], True))
        spans = [shown.coerced(shown.read(span), INTERVAL) for span in item.spans]
        shown.write(beside(["", shown.read(item.time), *spans], True, ", "))
        self.page.write(")")

    def _function(self, item: syntax.FunctionTable) -> None:
        page, shown = self.page, self.expressions()
        known, names = self.meaning.notes.names, [one for one in nodes(item) if isinstance(one, syntax.Name)]
        is_lateral = any(
            key[0] in list(self.sources)[self.before :] for name in names for key in known.get(name.position, ())
        )
        page.write("LATERAL " * is_lateral)
        calls: list[syntax.FunctionCall] = []
        for call in item.calls:
            # unnest of several arrays is one call of each.
            arrays = call.arguments if call.name == "unnest" else ()
            calls += [replace(call, arguments=(one,)) for one in arrays] or [call]
        are_arrays = len(calls) > 1 and all(call.name == "unnest" for call in calls)
        word = "" if len(calls) == 1 else "UNNEST(" if are_arrays else "ROWS FROM("
        page.write(word)
        shown.write(beside([shown.read(one.arguments[0] if are_arrays else one) for one in calls], True, ", "))
        page.write(")" * bool(word) + " WITH ORDINALITY" * item.ordinality)

    def _lock(self, lock: syntax.Locking, items: Sequence[Item]) -> None:
        names = [name for name, _ in lock.tables]
        for item in nodes(tuple(items)):
            source = self.sources.get(id(item))
            if source is None or source.kind == "join":
                continue
            if (source.alias or source.name) in names if names else source.kind in ("relation", "query"):
                self.page.line(f" {lock.strength}", -CLAUSE_INDENT, CLAUSE_INDENT)
                self.page.write(f" OF {quoted(source.shown)}{WAITS.get(lock.wait, '')}")


def _list(names: Sequence[str]) -> str:
    """Return names in parentheses, nothing for none."""
    return f"({', '.join(map(quoted, names))})" if names else ""
