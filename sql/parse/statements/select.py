"""SELECT and VALUES: a query as a statement; `sql.parse.grammar.queries` reads it."""

from __future__ import annotations

from dataclasses import dataclass

from sql.parse import syntax
from sql.parse.statements.declaration import Statement


@dataclass(frozen=True)
class Select(Statement, tag="SELECT"):
    """A SELECT or VALUES statement."""

    query: syntax.Query
