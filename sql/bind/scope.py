"""Which names mean which columns: the tables of a FROM clause and what is visible without qualification.

Enters: names. Leaves: `Column` expressions over the FROM clause's row. Errors are PostgreSQL's, with 'did you mean'.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sql.datatypes import SqlType
from sql.errors import SqlError, not_supported
from sql.expressions import Column, Expression
from sql.names import close_names, distance
from sql.syntax import Name


@dataclass(frozen=True, slots=True)
class ScopeColumn:
    """A column that a name can reach; `expression` addresses the row of the whole FROM clause."""

    name: str
    expression: Expression
    table: str


@dataclass(frozen=True, slots=True)
class ScopeTable:
    """A table of the FROM clause under its alias."""

    alias: str
    columns: tuple[ScopeColumn, ...]
    relation: str = ""


@dataclass
class Scope:
    """tables: for `table.column`. visible: for bare names and `*`, in order; JOIN USING merges columns there. width: of the row."""

    tables: list[ScopeTable] = field(default_factory=list)
    visible: list[ScopeColumn] = field(default_factory=list)
    width: int = 0

    def table(self, parts: tuple[str, ...], position: int) -> ScopeTable:
        """Return the table that a qualifier names, or raise 42P01."""
        alias = parts[-1]
        found = [table for table in self.tables if table.alias == alias]
        if len(found) > 1:
            raise SqlError("42P09", f'table reference "{alias}" is ambiguous', position)
        if found:
            return found[0]
        renamed = next((table for table in self.tables if table.relation == alias), None)
        if renamed is not None:
            hint = f'Perhaps you meant to reference the table alias "{renamed.alias}".'
            raise SqlError("42P01", f'invalid reference to FROM-clause entry for table "{alias}"', position, hint=hint)
        close = close_names(alias, (table.alias for table in self.tables))
        hint_text = f'Perhaps you meant to reference the table "{close[0]}".' if close else None
        raise SqlError("42P01", f'missing FROM-clause entry for table "{alias}"', position, hint=hint_text)

    def column(self, name: Name) -> Expression:
        """Return the column that `name` means."""
        if len(name.parts) > 4:
            raise SqlError(
                "42601", f"improper qualified name (too many dotted names): {'.'.join(name.parts)}", name.position
            )
        if len(name.parts) > 1:
            return self.qualified_column(name)
        wanted = name.parts[0]
        found = [column for column in self.visible if column.name == wanted]
        if len(found) > 1:
            raise SqlError("42702", f'column reference "{wanted}" is ambiguous', name.position)
        if found:
            return placed(found[0].expression, name.position)
        if any(table.alias == wanted for table in self.tables):
            raise not_supported("a whole row as a value", name.position)
        raise SqlError("42703", f'column "{wanted}" does not exist', name.position, hint=self.hint(wanted, None))

    def qualified_column(self, name: Name) -> Expression:
        table = self.table(name.parts[:-1], name.position)
        wanted = name.parts[-1]
        found = [column for column in table.columns if column.name == wanted]
        if len(found) > 1:
            raise SqlError("42702", f'column reference "{wanted}" is ambiguous', name.position)
        if found:
            return placed(found[0].expression, name.position)
        hint = self.hint(wanted, name.parts[-2])
        raise SqlError("42703", f"column {'.'.join(name.parts)} does not exist", name.position, hint=hint)

    def bare(self, wanted: str, position: int) -> Expression | None:
        """Return the column of a bare name, or None; an ambiguous one is an error."""
        found = [column for column in self.visible if column.name == wanted]
        if len(found) > 1:
            raise SqlError("42702", f'column reference "{wanted}" is ambiguous', position)
        return placed(found[0].expression, position) if found else None

    def hint(self, wanted: str, alias: str | None) -> str | None:
        """Return PostgreSQL's hint with the closest column or two."""
        scored: list[tuple[int, str]] = []
        for table in self.tables:
            extra = 0 if alias is None or alias == table.alias else distance(alias, table.alias)
            scored += [
                (distance(wanted, column.name) + extra, f'column "{table.alias}.{column.name}"')
                for column in table.columns
            ]
        # PostgreSQL gives up when more than half of the letters differ, and when more than two are equally close.
        limit = len(wanted) // 2 if alias is None else (len(wanted) + len(alias)) // 2
        close = min((score for score, _ in scored), default=limit + 1)
        best = [text for score, text in scored if score == close]
        if close > min(limit, 3) or len(best) > 2:
            return None
        return f"Perhaps you meant to reference the {' or the '.join(best)}."


def placed(expression: Expression, position: int) -> Expression:
    """Return a column reference with the place where it is written."""
    if isinstance(expression, Column):
        return Column(expression.index, expression.name, expression.type, position)
    return expression


def table_scope(alias: str, columns: list[tuple[str, SqlType]], relation: str = "") -> Scope:
    """Return the scope of one table whose columns are the whole row."""
    found = [ScopeColumn(name, Column(index, name, kind), alias) for index, (name, kind) in enumerate(columns)]
    return Scope([ScopeTable(alias, tuple(found), relation)], found, len(found))
