"""The functions of the catalog in one table: name, types of arguments, result, and what computes it.

Each is called for a row with the session's context first. Functions of objects by OID give NULL, or what PostgreSQL says, where there is
no such object. Must not know DuckDB.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.system_catalog.session_context import SessionContext

Run = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class CatalogFunction:
    """A function. arguments: PostgreSQL's types; 'object' is an OID or a name, and comes as '#123' or '=name'. required: so many at least.

    fields: of the rows that it returns as a list.
    """

    name: str
    arguments: tuple[str, ...]
    required: int
    result: str
    run: Run
    returns_rows: bool = False
    fields: tuple[tuple[str, str], ...] = ()

    def accepts(self, count: int) -> bool:
        """Tell whether it can be called with so many arguments."""
        return self.required <= count <= len(self.arguments)


FUNCTIONS: dict[str, CatalogFunction] = {}
# What casts and operators are printed as; no client can call them.
INTERNAL: dict[str, CatalogFunction] = {}


def catalog_function(
    arguments: str,
    result: str,
    required: int | None = None,
    name: str = "",
    fields: str = "",
    rows: bool = False,
    internal: bool = False,
) -> Callable[[Run], Run]:
    """Enter the decorated function into the table. arguments: types with blanks between them; fields: 'name type, ...'.

    internal: no client can call it.
    """
    types = tuple(arguments.split())

    def enter(run: Run) -> Run:
        own = name or run.__name__
        described = tuple((one.split()[0], one.split()[1]) for one in fields.split(",")) if fields else ()
        needed = len(types) if required is None else required
        table = INTERNAL if internal else FUNCTIONS
        table[own] = CatalogFunction(own, types, needed, result, run, rows or bool(fields), described)
        return run

    return enter


def constant(name: str, arguments: str, result: str, value: Any, required: int | None = None) -> None:
    """Enter a function whose value is always the same."""
    types = tuple(arguments.split())
    needed = len(types) if required is None else required

    def run(_: SessionContext, *__: Any) -> Any:
        return value

    FUNCTIONS[name] = CatalogFunction(name, types, needed, result, run)
