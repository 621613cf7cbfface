"""Names and their meanings: the tables of a FROM clause, the columns that are visible without
qualification, rows as values.

Enters: names, ROW(...), selections of fields. Leaves: `Column` expressions over the FROM clause's
row, `OuterColumn`s for names of queries outside; 'row' of its items, and 'field' of (record, the
place of the field as an int4). A row that is compared with another one as it is written is no
value: `sql.bind.expressions.rows` divides it. Errors are PostgreSQL's, with 'did you mean'.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from sql.bind.expressions.correlation import Closure, Outer, Passage, pass_in
from sql.bind.notes import NotedColumn, NotedItem, NotedPlace, Notes
from sql.errors import SqlError, not_supported
from sql.names.relation_keys import name_of, relation_key, shown_key
from sql.names.suggestions import close_names, distance
from sql.parse.syntax import Expression as Syntax
from sql.parse.syntax import FieldSelection, Name, Row, Star
from sql.tree.expressions import Call, Column, Expression, Literal
from sql.types.casts import plain_name
from sql.types.datatypes import INT4, SqlType, record_type
from sql.types.records import RecordType, field_type

if TYPE_CHECKING:
    from sql.bind.expressions.binder import Binder


class Origin(NamedTuple):
    """The relation of the catalog that a column is of.

    Attributes:
        noted: the (oid, attnum) of all columns that the statement names (`References.columns`).
    """

    noted: set[tuple[int, int]]
    oid: int
    number: int


@dataclass(frozen=True, slots=True)
class ScopeColumn:
    """A column that a name can reach.

    Attributes:
        expression: addresses the row of the whole FROM clause.
        hidden: only a name reaches the column, no star.
        origin: None for a column that is of no relation of the catalog.
        place: where it is, if notes are taken.
    """

    name: str
    expression: Expression
    table: str
    hidden: bool = False
    origin: Origin | None = None
    place: NotedPlace | None = None

    @property
    def noted(self) -> NotedColumn:
        """The column as notes have it."""
        return NotedColumn(self.name, self.expression.type, self.hidden)

    def named(self, position: int = 0, is_whole: bool = False) -> Expression:
        """Return the expression, and note that the statement names the column at a position.

        is_whole: the row is named, not the column.
        """
        if self.origin is not None:
            self.origin.noted.add((self.origin.oid, 0 if is_whole else self.origin.number))
        if self.place is not None and not is_whole:
            self.place.note(self.noted, position)
        return self.expression


@dataclass(frozen=True, slots=True)
class ScopeTable:
    """A table of the FROM clause under its alias.

    Attributes:
        key: places of the columns of its primary key.
        has_alias: the alias was written.
        may_be_missing: an outer join fills its columns with NULL where no row of it is found.
        relation_oid: of a relation that has a type for its rows.
        is_value: its one column is the meaning of its name as a value: a function that returns no
            rows of columns.
        place: of its row as a value, if notes are taken.
    """

    alias: str
    columns: tuple[ScopeColumn, ...]
    relation: str = ""
    key: tuple[int, ...] = ()
    has_alias: bool = False
    may_be_missing: bool = False
    relation_oid: int = 0
    is_value: bool = False
    place: NotedPlace | None = None

    def is_called(self, parts: tuple[str, ...]) -> bool:
        """Tell whether a qualifier means this table; with a schema, only a table without an
        alias.
        """
        return self.alias == parts[-1] and (
            len(parts) == 1 or (self.goes_by_schema and self.relation == relation_key(parts[-2], parts[-1]))
        )

    @property
    def goes_by_schema(self) -> bool:
        """True when the table's name is its own, so that a schema tells it from another one."""
        return self.relation != "" and not self.has_alias


# A scope where names are looked up, and the closures that its values pass through on their way in,
# innermost first.
Place = tuple["Scope", tuple[Closure, ...]]


@dataclass
class Scope:
    """The names of a FROM clause.

    Attributes:
        tables: for `table.column` and hidden columns.
        visible: for bare names and `*`, in order; JOIN USING merges columns there.
        width: of the row.
        outer: the surroundings of the query.
        same_level: the scope next outside is the rest of the same FROM clause.
    """

    tables: list[ScopeTable] = field(default_factory=list)
    visible: list[ScopeColumn] = field(default_factory=list)
    width: int = 0
    outer: Outer | None = None
    same_level: bool = False

    def levels(self) -> Iterator[list[Place]]:
        """Yield the scopes in which a name may have a meaning, from the inside.

        Those of one level are together.
        """
        level: list[Place] = [(self, ())]
        closures: tuple[Closure, ...] = ()
        scope, outer = self, self.outer
        while outer is not None:
            if isinstance(outer, Passage):
                closures = (*closures, *outer.closures)
                outer = outer.there
                continue
            closures = (*closures, outer)
            if not scope.same_level:
                yield level
                level = []
            scope = outer.binder.scope
            level.append((scope, closures))
            outer = scope.outer
        yield level

    def reachable(self) -> Iterator[ScopeTable]:
        """Yield all tables, also those that may not be named here, for hints."""
        yield from self.tables
        outer = self.outer
        while outer is not None:
            if isinstance(outer, Closure):
                yield from outer.binder.scope.tables
                outer = outer.binder.scope.outer
            else:
                if outer.hidden is not None:
                    yield from outer.hidden.tables
                outer = outer.there

    def table(self, parts: tuple[str, ...], position: int) -> tuple[ScopeTable, tuple[Closure, ...]]:
        """Return the table that a qualifier names and the closures in between, or raise 42P01."""
        alias = parts[-1]
        for level in self.levels():
            found = [(table, path) for scope, path in level for table in scope.tables if table.is_called(parts)]
            if len(found) > 1:
                raise SqlError("42P09", f'table reference "{alias}" is ambiguous', position)
            if found:
                return found[0]
        raise self.missing_table(parts, position)

    def missing_table(self, parts: tuple[str, ...], position: int) -> SqlError:
        """Return the error about a table name that nothing here has."""
        alias = parts[-1]
        invalid = f'invalid reference to FROM-clause entry for table "{alias}"'
        visible = [table for level in self.levels() for scope, _ in level for table in scope.tables]
        meant = (table for table in visible if name_of(table.relation) == alias and table.alias != alias)
        renamed = next(meant, None)
        if renamed is not None:
            hint = f'Perhaps you meant to reference the table alias "{renamed.alias}".'
            return SqlError("42P01", invalid, position, hint=hint)
        if any(table.alias == alias for table in self.reachable()):
            hint = f'There is an entry for table "{alias}", but it cannot be referenced from this part of the query.'
            return SqlError("42P01", invalid, position, hint=hint)
        close = close_names(alias, (table.alias for table in visible))
        hint_text = f'Perhaps you meant to reference the table "{close[0]}".' if close else None
        return SqlError("42P01", f'missing FROM-clause entry for table "{alias}"', position, hint=hint_text)

    def column(self, name: Name) -> Expression:
        """Return the column that `name` means."""
        if len(name.parts) > 4:
            raise SqlError(
                "42601", f"improper qualified name (too many dotted names): {'.'.join(name.parts)}", name.position
            )
        if len(name.parts) > 1:
            return self.qualified_column(name)
        wanted = name.parts[0]
        for level in self.levels():
            found = [(column, path) for scope, path in level for column in scope.called(wanted)]
            if len(found) > 1:
                raise SqlError("42702", f'column reference "{wanted}" is ambiguous', name.position)
            if found:
                return brought(*found[0], name.position)
        for level in self.levels():
            called = [(table, path) for scope, path in level for table in scope.tables if table.alias == wanted]
            if len(called) > 1:
                raise SqlError("42P09", f'table reference "{wanted}" is ambiguous', name.position)
            if called:
                return whole_row(*called[0], name.position)
        raise SqlError("42703", f'column "{wanted}" does not exist', name.position, hint=self.hint(wanted, None))

    def qualified_column(self, name: Name) -> Expression:
        table, path = self.table(name.parts[:-1], name.position)
        wanted = name.parts[-1]
        found = [column for column in table.columns if column.name == wanted]
        if len(found) > 1:
            raise SqlError("42702", f'column reference "{wanted}" is ambiguous', name.position)
        if found:
            return brought(found[0], path, name.position)
        hint = self.hint(wanted, name.parts[-2])
        raise SqlError("42703", f"column {'.'.join(name.parts)} does not exist", name.position, hint=hint)

    def called(self, wanted: str) -> list[ScopeColumn]:
        """Return the columns that a bare name means here: more than one when it is ambiguous."""
        hidden = (column for table in self.tables for column in table.columns if column.hidden)
        return [column for column in (*self.visible, *hidden) if column.name == wanted]

    def bare(self, wanted: str, position: int) -> Expression | None:
        """Return the column of this query that a bare name means, or None.

        An ambiguous one is an error.
        """
        found = self.called(wanted)
        if len(found) > 1:
            raise SqlError("42702", f'column reference "{wanted}" is ambiguous', position)
        return placed(found[0].named(position), position) if found else None

    def hint(self, wanted: str, alias: str | None) -> str | None:
        """Return PostgreSQL's hint with the closest column or two."""
        scored: list[tuple[int, str]] = []
        for table in self.reachable():
            exact = any(column.name == wanted for column in table.columns)
            if exact and alias in (None, table.alias):
                beginning = f'There is a column named "{wanted}" in table "{table.alias}"'
                return f"{beginning}, but it cannot be referenced from this part of the query."
            extra = 0 if alias is None or alias == table.alias else distance(alias, table.alias)
            scored += [
                (distance(wanted, column.name) + extra, f'column "{table.alias}.{column.name}"')
                for column in table.columns
            ]
        # PostgreSQL gives up when more than half of the letters differ, and when more than two are
        # equally close.
        limit = len(wanted) // 2 if alias is None else (len(wanted) + len(alias)) // 2
        close = min((score for score, _ in scored), default=limit + 1)
        best = [text for score, text in scored if score == close]
        if close > min(limit, 3) or len(best) > 2:
            return None
        return f"Perhaps you meant to reference the {' or the '.join(best)}."


def whole_row(table: ScopeTable, closures: tuple[Closure, ...], position: int) -> Expression:
    """Return the row of a table as a value."""
    if table.is_value:
        return brought(table.columns[0], closures, position)
    if table.may_be_missing:
        # Its columns do not tell a row of NULLs from no row.
        raise not_supported("a whole row of the side of an outer join that may be missing", position)
    columns = [column for column in table.columns if not column.hidden]
    values = [brought(column, closures, position, is_whole=True) for column in columns]
    relation = (table.relation_oid, table.relation) if table.relation_oid else None
    row = record_value(values, [column.name for column in columns], position, table.alias, relation)
    if table.place is not None:
        table.place.note(NotedColumn(table.alias, row.type), position)
    return row


def brought(column: ScopeColumn, closures: tuple[Closure, ...], position: int, is_whole: bool = False) -> Expression:
    """Return a column with the place where it is written, as it is addressed inside of the
    closures.

    is_whole: the row is named, not the column.
    """
    if closures and closures[-1].refused:
        message = f'invalid reference to FROM-clause entry for table "{column.table}"'
        detail = "The combining JOIN type must be INNER or LEFT for a LATERAL reference."
        raise SqlError("42P10", message, position, detail=detail)
    return pass_in(placed(column.named(position, is_whole), position), closures, column.name, position)


def placed(expression: Expression, position: int) -> Expression:
    """Return a column reference with the place where it is written."""
    if isinstance(expression, Column):
        return Column(expression.index, expression.name, expression.type, position)
    return expression


def table_scope(alias: str, columns: list[tuple[str, SqlType]], relation: str = "", is_value: bool = False) -> Scope:
    """Return the scope of one table whose columns are the whole row; is_value: see ScopeTable."""
    found = [ScopeColumn(name, Column(index, name, kind), alias) for index, (name, kind) in enumerate(columns)]
    return Scope([ScopeTable(alias, tuple(found), relation, is_value=is_value)], found, len(found))


def noted_scope(scope: Scope, item: int, notes: Notes | None) -> Scope:
    """Return the scope of one table, noted as the item of FROM of this id, with columns that note
    what names them.
    """
    if notes is None:
        return scope
    (table,) = scope.tables
    columns = tuple(replace(one, place=NotedPlace(notes, (item, place))) for place, one in enumerate(table.columns))
    notes.items[item] = NotedItem(tuple(one.noted for one in columns), table.relation, table.relation_oid)
    visible = [one for one in columns if not one.hidden]
    named = replace(table, columns=columns, place=NotedPlace(notes, (item, None)))
    return replace(scope, tables=[named], visible=visible)


@dataclass(frozen=True, slots=True)
class Output:
    """One output column while its SELECT is bound.

    Attributes:
        syntax: None for a column of a star.
    """

    name: str
    expression: Expression
    syntax: Syntax | None
    position: int


def expand_star(node: Star, scope: Scope) -> list[Output]:
    """Return the columns of * or table.*."""
    if node.qualifier:
        table, closures = scope.table(node.qualifier, node.position)
        columns = [column for column in table.columns if not column.hidden]
    else:
        if not scope.tables:
            raise SqlError("42601", "SELECT * with no tables specified is not valid", node.position)
        columns, closures = scope.visible, ()
    return [Output(column.name, brought(column, closures, node.position), None, node.position) for column in columns]


def row_value(binder: Binder, node: Row) -> Expression:
    """Bind ROW(...) where it is a value; a star stands for its columns."""
    items: list[Expression] = []
    for item in node.items:
        if isinstance(item, Star):
            items += [output.expression for output in expand_star(item, binder.scope)]
        else:
            items.append(binder.bind(item))
    names = [f"f{number}" for number in range(1, len(items) + 1)]
    return record_value(items, names, node.position, node.text)


def record_value(
    items: Sequence[Expression], names: Sequence[str], position: int, text: str, relation: tuple[int, str] | None = None
) -> Expression:
    """Return items as one value with fields of these names.

    relation: oid and key of the relation whose row it is, if it is one.
    """
    fields = tuple((name, field_type(item.type)) for name, item in zip(names, items, strict=True))
    record = RecordType(fields) if relation is None else RecordType(fields, relation[0], shown_key(relation[1]))
    return Call("row", tuple(items), record_type(record), position, text)


def fields_of(operand: Expression) -> list[Expression]:
    """Return the fields of a record as expressions."""
    record = operand.type.record
    assert record is not None, operand
    if isinstance(operand, Call) and operand.function == "row":
        return list(operand.arguments)
    return [
        Call("field", (operand, Literal(place, INT4)), kind, operand.position if isinstance(operand, Call) else None)
        for place, kind in enumerate(record.types)
    ]


def field_selection(binder: Binder, node: FieldSelection) -> Expression:
    """Bind (record).name."""
    operand = binder.bind(node.operand)
    if isinstance(node.operand, Name) and isinstance(operand, Call) and operand.function == "row":
        column = replace(node.operand, parts=(*node.operand.parts, node.name), position=node.position)
        return binder.scope.qualified_column(column)
    record = operand.type.record
    if record is None or not operand.type.is_record:
        if operand.type.family == "unknown":
            raise not_supported("selection of a field of an untyped value", node.position)
        name = plain_name(operand.type)
        message = f"column notation .{node.name} applied to type {name}, which is not a composite type"
        raise SqlError("42809", message, node.position)
    for (name, _), found in zip(record.fields, fields_of(operand), strict=True):
        if name == node.name:
            return found
    if record.relation:
        raise SqlError("42703", f'column "{node.name}" not found in data type {record.name}', node.position)
    raise SqlError("42703", f'could not identify column "{node.name}" in record data type', node.position)


def check_alike(left: Expression, right: Expression) -> None:
    """Raise 42804 for records that can't be compared: PostgreSQL finds that out when it compares
    two rows.
    """
    one, two = left.type.record, right.type.record
    if one is None or two is None:
        return
    if len(one.fields) != len(two.fields):
        raise SqlError("42804", "cannot compare record types with different numbers of columns")
    for number, (first, second) in enumerate(zip(one.types, two.types, strict=True), 1):
        if first.family != second.family:
            names = f"{plain_name(first)} and {plain_name(second)}"
            raise SqlError("42804", f"cannot compare dissimilar column types {names} at record column {number}")
