"""The table of the catalog's functions: name, types of arguments, result, and the function that
computes it.

Each function is called for a row with the session's context first. Functions of objects by OID give
NULL, or PostgreSQL's error, where there is no such object. Must not know DuckDB.
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
    """A function of the catalog.

    Attributes:
        arguments: PostgreSQL's types; 'object' is an OID or a name, and comes as '#123' or '=name'.
        required: the least number of arguments.
        fields: of the rows that the function returns as a list.
    """

    name: str
    arguments: tuple[str, ...]
    required: int
    result: str
    run: Run
    returns_rows: bool = False
    fields: tuple[tuple[str, str], ...] = ()

    def accepts(self, count: int) -> bool:
        """Tell whether the function can be called with so many arguments."""
        return self.required <= count <= len(self.arguments)


FUNCTIONS: dict[str, CatalogFunction] = {}
# The functions as which casts and operators are printed; no client can call them.
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
    """Enter the decorated function into the table.

    arguments: types with blanks between them; fields: 'name type, ...'. internal: no client can
    call the function.
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
