"""The routines of the table of functions as DuckDB's functions: their types, and what computes
them.

Enters: rows of `sql.functions.table`. Leaves: names, DuckDB's types and functions of Python's
values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from engine.embedded.functions import (
    json,
    json_sets,
    jsonb_changes,
    jsonb_keys,
    math,
    number_formats,
    number_reading,
    regular_expressions,
    series,
    special_numerics,
    sums,
    text,
    time,
    time_reading,
)
from engine.embedded.functions.special_numerics import SPECIAL_FUNCTIONS
from engine.embedded.patterns import like
from ringbuffer.vectors.loops import ZONE
from sql.functions.rows import Kernel, LookAhead, Routine
from sql.functions.table import ROUTINES
from sql.types.datatypes import FAMILIES

VARIABLE = "STRUCT(unscaled DECIMAL(38,0), scale SMALLINT)"
# Types that no client names: an integer of 38 digits, and the key of a numeric.
WIDE = "DECIMAL(38,0)"
KEY = "STRUCT(whole DECIMAL(38,0), high DECIMAL(19,0), low DECIMAL(19,0))"
OWN_TYPES = {"zone": ZONE, "wide": WIDE, "key": KEY, "numeric": VARIABLE}
# Where the names of implementations begin.
MODULES: Mapping[str, ModuleType] = {
    module.__name__.rpartition(".")[2]: module
    for module in (
        json,
        json_sets,
        jsonb_changes,
        jsonb_keys,
        math,
        like,
        number_formats,
        number_reading,
        regular_expressions,
        series,
        sums,
        text,
        time,
        time_reading,
    )
}


@dataclass(frozen=True, slots=True)
class Registered:
    """A function as DuckDB knows it."""

    name: str
    arguments: list[str]
    result: str
    function: Callable[..., Any]
    is_strict: bool
    is_volatile: bool
    takes_run: bool
    special: Callable[..., Any] | None
    ahead: LookAhead | None


def registered() -> Iterator[Registered]:
    """Yield the functions of all rows that Python computes."""
    for routine in ROUTINES:
        if isinstance(routine.implementation, Kernel):
            continue
        arguments = [physical(family) for family in routine.arguments]
        run = implementation(routine)
        yield Registered(
            routine.name,
            arguments,
            physical(routine.result),
            run,
            routine.is_strict,
            routine.is_volatile,
            routine.takes_run,
            special_of(routine),
            routine.ahead,
        )


def special_of(routine: Routine) -> Callable[..., Any] | None:
    """Return what computes a routine where a numeric is NaN or an infinity."""
    if not routine.special:
        return SPECIAL_FUNCTIONS.get(routine.name)
    function: Callable[..., Any] = getattr(special_numerics, routine.special)
    return function


def physical(family: str) -> str:
    """Return DuckDB's type for the values of a family in functions of ours."""
    if family.endswith("[]"):
        return f"{physical(family[:-2])}[]"
    return OWN_TYPES.get(family) or FAMILIES[family].duckdb


def implementation(routine: Routine) -> Callable[..., Any]:
    """Return what computes a routine. Raises KeyError, AttributeError for names of nothing."""
    found = routine.implementation
    assert not isinstance(found, Kernel), routine.name
    if not isinstance(found, str):
        return found
    module, _, name = found.partition(".")
    function: Callable[..., Any] = getattr(MODULES[module], name)
    return function
