"""The state of one statement's translation: the dialect, the types of columns, warnings and
refusals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from sql.errors import SqlError
from sql.names.dialects import DIALECTS

# The families of a relation's columns by their names, None where it is not known; asked by the
# parts of its name.
ColumnsOf = Callable[[tuple[str, ...]], Mapping[str, str] | None]

# Families of dialects that agree about something.
BACKSLASHES = frozenset({"bigquery", "clickhouse", "databricks", "mysql", "snowflake", "spark"})
FOLDS_UP = frozenset({"oracle", "snowflake"})
POSTGRES_LIKE = frozenset({"materialize", "risingwave"})
SPARKS = frozenset({"databricks", "spark"})


@dataclass
class Context:
    """The state of one statement's translation.

    Attributes:
        dialect: its name in `DIALECTS`.
        columns: kinds of columns by name, as far as all relations of the statement agree.
        notes: warnings, each once, in the order in which they were found.
        pretty: the text is for people.
        copied_count: nodes that stand for names of output columns.
    """

    dialect: str
    columns_of: ColumnsOf = lambda _: None
    columns: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    pretty: bool = False
    copied_count: int = 0

    @property
    def shown(self) -> str:
        """The name of the dialect for people."""
        return DIALECTS[self.dialect]

    def note(self, text: str) -> None:
        """Warn, once."""
        if text not in self.notes:
            self.notes.append(text)

    def refusal(
        self, what: str, node: exp.Expr | None = None, hint: str | None = None, why: str | None = None
    ) -> SqlError:
        """Return the 0A000 error that names a construct."""
        return SqlError("0A000", f"{what} of {self.shown} can't be translated", position_of(node), why, hint)


def position_of(node: exp.Expr | None) -> int | None:
    """Return the 1-based place of a node in the client's text, None where sqlglot did not keep
    it.
    """
    for one in () if node is None else node.walk():
        if "start" in one.meta:
            return int(one.meta["start"]) + 1
    return None
