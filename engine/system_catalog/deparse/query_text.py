"""Queries as PostgreSQL prints them: a clause on each line, indented.

Enters: a `SelectQuery`, what this session calls relations and types. Leaves: text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.system_catalog.deparse.aliases import give_names, listed_columns
from engine.system_catalog.deparse.expression_text import ExpressionPrinter
from engine.system_catalog.deparse.layout import CLAUSE_INDENT, JOIN_INDENT, Page, Style, qualified
from engine.system_catalog.deparse.nodes import (
    CallNode,
    Constant,
    FromNode,
    GroupNode,
    JoinNode,
    Merged,
    Node,
    SelectBlock,
    SelectQuery,
    SetNode,
    Source,
    Var,
)
from sql.names.relation_keys import quoted

# PostgreSQL 15 has these two items in FROM of each view.
RULE_NAMES = frozenset({"old", "new"})


def query_text(query: SelectQuery, style: Style, names: Sequence[str]) -> str:
    """Return a view's query.

    names: of the view's columns.
    """
    printer = QueryPrinter(style, Page(), RULE_NAMES)
    printer.print(query, names)
    return printer.page.text + ";"


def expression_text(node: Node, style: Style) -> str:
    """Return an expression over one relation, whose columns are printed alone."""
    page = Page()
    printer = QueryPrinter(style, page, frozenset())
    printer.expressions(prefixed=False).print(node)
    return page.text


def body_text(query: SelectQuery, style: Style) -> str:
    """Return the query of BEGIN ATOMIC."""
    printer = QueryPrinter(style, Page(level=1), frozenset())
    printer.print(query, visible=False)
    return printer.page.text


def returned_text(query: SelectQuery, style: Style) -> str:
    """Return the expression of RETURN: the value of a query of one row."""
    assert isinstance(query.body, SelectBlock)
    page = Page(indented=False)
    QueryPrinter(style, page, frozenset()).expressions().print(query.body.targets[0].expression, True)
    return page.text


@dataclass
class QueryPrinter:
    """A printer of queries onto a page.

    Attributes:
        around: the aliases of the queries around, which those inside must not take.
        in_from: this query or one around has items of FROM.
        item_names: of the items of WITH that a bare name would mean here.
    """

    style: Style
    page: Page
    around: frozenset[str]
    item_names: frozenset[str] = frozenset()
    taken: frozenset[str] = frozenset()
    in_from: bool = False

    def expressions(self, prefixed: bool = True) -> ExpressionPrinter:
        """Return the printer of the query's expressions."""
        return ExpressionPrinter(self.page, self.style, prefixed, self.inside, self.in_from)

    def inside(self, query: SelectQuery, names: Sequence[str] | None = None, visible: bool = False) -> None:
        """Print a query inside of this one."""
        level = self.page.level
        inner = QueryPrinter(self.style, self.page, self.taken or self.around, self.item_names, in_from=self.in_from)
        inner.print(query, names, visible)
        self.page.level = level

    def print(self, query: SelectQuery, names: Sequence[str] | None = None, visible: bool = True) -> None:
        """Print a query.

        names: of its columns, None: as in its text. visible: something else can see these names.
        """
        page = self.page
        self.taken = self.around
        self.item_names |= {item.name for item in query.items}
        if isinstance(query.body, SelectBlock):
            self.taken = give_names(query.body, self.around)
        self.in_from |= isinstance(query.body, SetNode) or bool(query.body.sources)
        if query.items:
            self._items(query)
        shown = self.expressions()
        if isinstance(query.body, SetNode):
            self._set(query.body, names, visible)
        else:
            own = [name for name, _ in query.columns]
            rows = alone(query, query.body)
            if rows and (names or own) == own:
                page.begin()
                self._values(rows)
            else:
                self._block(query.body, names or own, visible)
        if query.order_by:
            page.line(" ORDER BY ", -CLAUSE_INDENT, CLAUSE_INDENT, 1)
            shown.order(query.order_by, query.order_numbers)
        if query.offset is not None:
            page.line(" OFFSET ", -CLAUSE_INDENT, CLAUSE_INDENT)
            shown.print(query.offset)
        if query.limit is not None:
            page.line(" FETCH FIRST " if query.with_ties else " LIMIT ", -CLAUSE_INDENT, CLAUSE_INDENT)
            is_all = isinstance(query.limit, Constant) and query.limit.text is None
            if is_all:
                page.write("ALL")
            elif query.with_ties:
                page.write("(")
                shown.print(query.limit)
                page.write(") ROWS WITH TIES")
            else:
                shown.print(query.limit)
        for strength, sources, wait in query.locking:
            for source in sources:
                page.line(f" {strength}", -CLAUSE_INDENT, CLAUSE_INDENT)
                page.write(f" OF {quoted(source.shown)}{wait}")

    def _items(self, query: SelectQuery) -> None:
        page = self.page
        page.begin()
        page.write("WITH " + "RECURSIVE " * query.recursive)
        for number, item in enumerate(query.items):
            page.write(", " * bool(number) + quoted(item.name) + _list(item.column_aliases) + " AS ")
            page.write(f"{item.materialized} (" if item.materialized else "(")
            page.line("")
            self.inside(item.query, visible=True)
            page.line("")
            page.write(")")
        page.level -= CLAUSE_INDENT
        page.part("")

    # Set operations

    def _set(self, node: SetNode | SelectQuery, names: Sequence[str] | None, visible: bool) -> None:
        page = self.page
        if isinstance(node, SelectQuery):
            clauses = node.items or node.order_by or node.limit or node.offset or node.locking
            page.write("(" * bool(clauses))
            self.inside(node, names, visible)
            page.write(")" * bool(clauses))
            return
        left = node.left
        is_other = isinstance(left, SetNode) and left.operator != node.operator
        indent = CLAUSE_INDENT * is_other
        if is_other:
            page.write("(")
            page.line("", indent)
        self._set(left, names, visible)
        if is_other:
            page.line(") ", -indent)
        else:
            page.part("", -indent)
        page.write(f"{node.operator} ")
        is_nested = isinstance(node.right, SetNode)
        indent = CLAUSE_INDENT * is_nested
        page.write("(" * is_nested)
        page.line("", indent)
        self._set(node.right, names, False)
        page.level -= indent
        if is_nested:
            page.line(")")

    def _values(self, rows: Sequence[Sequence[Node]]) -> None:
        shown = self.expressions()
        self.page.write("VALUES (")
        self.page.items(rows, lambda row: shown.all(row, False, ","), "), (")
        self.page.write(")")

    # SELECT

    def _block(self, block: SelectBlock, names: Sequence[str], visible: bool) -> None:
        page, shown = self.page, self.expressions()
        page.begin()
        page.write("SELECT" + " DISTINCT" * (block.distinct or bool(block.distinct_on)))
        if block.distinct_on:
            page.write(" ON (")
            page.items(block.distinct_on, shown.key)
            page.write(")")
        self._targets(block, names, visible)
        self._from(block)
        if block.where is not None:
            page.line(" WHERE ", -CLAUSE_INDENT, CLAUSE_INDENT, 1)
            shown.print(block.where)
        if block.groups:
            page.line(" GROUP BY ", -CLAUSE_INDENT, CLAUSE_INDENT, 1)
            page.write("DISTINCT " * block.group_distinct)
            page.items(block.groups, lambda group: self._group(group, True))
        if block.having is not None:
            page.line(" HAVING ", -CLAUSE_INDENT, CLAUSE_INDENT)
            shown.print(block.having)
        if block.windows:
            page.line(" WINDOW ", -CLAUSE_INDENT, CLAUSE_INDENT, 1)
            page.items(block.windows, shown.named_window)

    def _targets(self, block: SelectBlock, names: Sequence[str], visible: bool) -> None:
        page = self.page
        was_long = False
        for number, (target, name) in enumerate(zip(block.targets, names, strict=False)):
            page.write(", " if number else " ")
            whole, page.text = page.text, ""
            shown = "" if visible else "?column?"
            self.expressions().print(target.expression, True)
            if isinstance(target.expression, Var) and target.expression.source.kind != "parameters":
                source, index = target.expression.source, target.expression.index
                shown = "" if index is None else source.shown_columns[index]
            elif isinstance(target.expression, Merged):
                shown = target.expression.shown or target.expression.name
            if name != shown:
                page.write(f" AS {quoted(name)}")
            piece, page.text = page.text, whole
            passes = page.column + len(piece) > self.style.wrap
            page.place(piece, number > 0 and (passes or was_long))
            was_long = "\n" in piece.removeprefix("\n")

    def _from(self, block: SelectBlock) -> None:
        page = self.page
        for number, item in enumerate(block.items):
            if not number:
                page.line(" FROM ", -CLAUSE_INDENT, CLAUSE_INDENT, 2)
                self._item(item)
                continue
            page.write(", ")
            whole, page.text = page.text, ""
            self._item(item)
            piece, page.text = page.text, whole
            page.place(piece, page.column + len(piece) > self.style.wrap)

    def _group(self, group: GroupNode, bare: bool) -> None:
        page = self.page
        if group.kind == "key":
            assert group.expression is not None
            self.expressions().key(group.expression)
            return
        words = {"rollup": "ROLLUP(", "cube": "CUBE(", "sets": "GROUPING SETS ("}
        is_one = group.kind == "list" and bare and len(group.items) == 1
        page.write("" if is_one else words.get(group.kind, "("))
        for number, item in enumerate(group.items):
            page.write(", " * bool(number))
            if group.kind == "sets" and item.kind == "key":
                self._group(GroupNode("list", (item,)), False)
            else:
                self._group(item, group.kind != "sets")
        page.write("" if is_one else ")")

    # FROM

    def _item(self, item: FromNode) -> None:
        if isinstance(item, JoinNode):
            self._join(item)
        else:
            self._source(item)

    def _join(self, item: JoinNode) -> None:
        page, pretty = self.page, self.style.pretty
        page.write("(" * (not pretty))
        self._item(item.left)
        is_cross = item.kind in ("inner", "cross") and item.condition is None and not item.using
        word = "CROSS" if is_cross else {"inner": ""}.get(item.kind, item.kind.upper())
        page.line(f" {word + ' ' if word else ''}JOIN ", -CLAUSE_INDENT, CLAUSE_INDENT, JOIN_INDENT)
        is_nested = pretty and isinstance(item.right, JoinNode)
        page.write("(" * is_nested)
        self._item(item.right)
        page.write(")" * is_nested)
        if item.using:
            names = [_using_name(column, name) for name, _, _, column in item.using]
            page.write(f" USING {_list(names)}")
        elif item.condition is not None:
            page.write(" ON " + "(" * (not pretty))
            self.expressions().print(item.condition)
            page.write(")" * (not pretty))
        elif not is_cross:
            page.write(" ON TRUE")
        page.write(")" * (not pretty))

    def _source(self, source: Source) -> None:
        page = self.page
        page.write("LATERAL " * source.lateral)
        own = ""
        match source.kind:
            case "relation":
                own = source.name
                page.write("ONLY " * source.only)
                hidden = source.name in self.item_names
                shown = qualified if hidden else self.style.relation_name
                page.write(shown(source.schema, source.name))
            case "item":
                own = source.name
                page.write(quoted(source.name))
            case "query":
                assert source.query is not None
                page.write("(")
                self.inside(source.query, visible=True)
                page.write(")")
            case "values":
                page.write("(")
                self._values(source.rows)
                page.write(")")
            case _:
                calls: Sequence[Node] = source.calls
                word = ""
                if len(calls) > 1:
                    arrays = [one.arguments[0] for one in calls if isinstance(one, CallNode) and one.name == "unnest"]
                    word, calls = ("UNNEST(", arrays) if len(arrays) == len(calls) else ("ROWS FROM(", calls)
                page.write(word)
                self.expressions().all(calls, True)
                page.write(")" * bool(word) + " WITH ORDINALITY" * source.has_ordinality)
        if source.alias is not None or source.shows_columns or source.shown != own:
            page.write(f" {quoted(source.shown)}")
        if source.shows_columns:
            page.write(_list(listed_columns(source)))


def alone(query: SelectQuery, block: SelectBlock) -> Sequence[Sequence[Node]]:
    """Return the rows of a query that VALUES can say, in the order of its columns; else none."""
    values = block.sources[0] if block.sources else None
    if values is None or values.kind != "values":
        return ()
    keys = (item.expression for item in query.order_by)
    return values.rows if all(isinstance(key, Var) and key.source is values for key in keys) else ()


def _using_name(column: Node, name: str) -> str:
    if isinstance(column, Var) and column.index is not None:
        return column.source.shown_columns[column.index]
    return getattr(column, "shown", "") or name


def _list(names: Sequence[str]) -> str:
    """Return names in parentheses, nothing for none."""
    return f"({', '.join(map(quoted, names))})" if names else ""
