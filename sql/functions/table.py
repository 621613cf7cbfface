"""The table of all functions and operators: the rows of each family, and what is asked of all.

Enters: rows. Leaves: signatures by the names that clients write, rules by canonical names and
forms, and what `sql` knows of a canonical name. Aggregates, functions of windows and functions that
return rows are other kinds of rows, each with names of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from sql.functions import (
    addresses,
    advisory_locks,
    aggregates,
    arrays,
    binary_forms,
    bytes,
    catalog,
    comparisons,
    enums,
    hashes,
    intervals,
    json,
    mathematics,
    numbers,
    patterns,
    records,
    session,
    sets,
    sketches,
    sums,
    texts,
    times,
    windows,
)
from sql.functions.aggregate_rows import Aggregate, AggregateRule, WindowFunction
from sql.functions.printing import Rule
from sql.functions.rows import IMMUTABLE, Function, Kernel, Routine, Row, of_form, spread
from sql.functions.sets import SetFunction
from sql.functions.signatures import Signature
from sql.tree.expressions import AggregateCall, Call, Expression, WindowCall

FAMILIES = (
    *(comparisons.FUNCTIONS, numbers.FUNCTIONS, mathematics.FUNCTIONS, texts.FUNCTIONS, patterns.FUNCTIONS),
    *(bytes.FUNCTIONS, times.FUNCTIONS, intervals.FUNCTIONS, json.FUNCTIONS, arrays.FUNCTIONS, addresses.FUNCTIONS),
    *(enums.FUNCTIONS, records.FUNCTIONS, session.FUNCTIONS, advisory_locks.FUNCTIONS, catalog.FUNCTIONS),
    *(sketches.FUNCTIONS, binary_forms.FUNCTIONS, hashes.FUNCTIONS),
)
# One rule for all of them.
QUANTIFIED = tuple(arrays.quantified(chain.from_iterable(FAMILIES)))
ROWS: Mapping[str, Function] = {row.canonical: row for row in chain(*FAMILIES, QUANTIFIED)}
# Calls that the session answers, as they are in a tree.
OF_SESSION = frozenset(row.canonical for row in ROWS.values() if row.of_session)
# The names and symbols that take a char(n) with its blanks.
BLANKS_SEEN = frozenset(row.sees_blanks for row in ROWS.values()) - {""}
WAITING = frozenset(row.canonical for row in ROWS.values() if row.waits)
ROUTINES: tuple[Routine, ...] = (
    *(routine for row in ROWS.values() for routine in row.routines.values()),
    *addresses.ROUTINES,
    *json.ROUTINES,
    *numbers.ROUTINES,
    *texts.ROUTINES,
    *patterns.ROUTINES,
    *times.ROUTINES,
    *sets.ROUTINES,
    *sums.ROUTINES,
)
DUCKDB_RULES: Mapping[tuple[str, str], Rule] = {
    (row.canonical, form): rule for row in ROWS.values() for form, rule in row.duckdb_rules()
}
SPARK_RULES: Mapping[tuple[str, str], Rule] = {
    (row.canonical, form): rule for row in ROWS.values() for form, rule in row.spark_rules()
}

AGGREGATE_ROWS: Mapping[str, Aggregate] = {
    row.canonical: row for family in (sums.AGGREGATES, aggregates.AGGREGATES, sketches.AGGREGATES) for row in family
}
WINDOW_ROWS: Mapping[str, WindowFunction] = {row.canonical: row for row in windows.WINDOW_FUNCTIONS}
SET_ROWS: Mapping[str, SetFunction] = {row.canonical: row for row in sets.SET_FUNCTIONS}
# By the one name of each, and the canonical names of calls that make one column of two.
SET_NAMES: Mapping[str, SetFunction] = {row.names or row.canonical: row for row in sets.SET_FUNCTIONS}
DUCKDB_AGGREGATES: Mapping[str, AggregateRule] = {
    name: row.duckdb_rule for name, row in AGGREGATE_ROWS.items() if row.duckdb_rule is not None
}
SPARK_AGGREGATES: Mapping[str, AggregateRule] = {
    name: row.spark_rule for name, row in AGGREGATE_ROWS.items() if row.spark_rule is not None
}


def _named(rows: Iterable[Row], is_operator: bool = False, is_prefix: bool = False) -> dict[str, tuple[Signature, ...]]:
    """Return the overloads by the names that clients write, missing ones as well."""
    found: dict[str, list[Signature]] = {}
    # Missing overloads come after all others of their name.
    named = chain(*(row.named_overloads for row in rows), *(row.named_missing for row in rows))
    for names, overload in named:
        for name in names:
            if is_symbol(name) == is_operator and (len(overload.arguments) == 1 or not is_prefix):
                found.setdefault(name, []).append(overload)
    if is_operator and not is_prefix:
        found = {name: [one for one in overloads if len(one.arguments) == 2] for name, overloads in found.items()}
    return {name: tuple(overloads) for name, overloads in found.items() if overloads}


def is_symbol(name: str) -> bool:
    """Tell whether a name is an operator's."""
    return not (name[0].isalpha() or name[0] == "_")


FUNCTIONS = _named(ROWS.values())
BINARY_OPERATORS = _named(ROWS.values(), is_operator=True)
PREFIX_OPERATORS = _named(ROWS.values(), is_operator=True, is_prefix=True)
AGGREGATES = _named(AGGREGATE_ROWS.values())
WINDOW_FUNCTIONS = _named(WINDOW_ROWS.values())
TABLE_FUNCTIONS = _named(SET_ROWS.values())
DISTINCT_FREE = frozenset(name for name, row in AGGREGATE_ROWS.items() if row.distinct_free)
WITHIN_GROUP = frozenset(name for row in AGGREGATE_ROWS.values() if row.within_group for name in row.names.split())


def volatility(canonical: str) -> str:
    """Return how long the value of a function lasts; an aggregate's is immutable."""
    row = ROWS.get(canonical)
    return IMMUTABLE if row is None else row.volatility


def is_strict(canonical: str) -> bool:
    """Tell whether a function is NULL where an operand is."""
    row = ROWS.get(canonical)
    return row is not None and row.strict


def is_lazy(canonical: str) -> bool:
    """Tell whether a function evaluates later operands only where earlier ones do not decide."""
    row = ROWS.get(canonical)
    return row is not None and row.is_lazy


def can_fail(call: Call) -> bool:
    """Tell whether a call may raise on operands that have values."""
    row = ROWS.get(call.function)
    told = row is None or row.can_fail
    return told(call) if callable(told) else told


def result_scale(canonical: str, operands: Sequence[Expression], position: int | None = None) -> int | None:
    """Return the display scale of a numeric call's value."""
    row = ROWS.get(canonical) or AGGREGATE_ROWS.get(canonical)
    rule = None if row is None else row.scale
    return None if rule is None else rule(operands, position)


def kernel_of(canonical: str, form: str) -> Kernel | str | None:
    """Return the kernel of a function for the form of its first operand, or its source text, if its
    row has one.
    """
    row = ROWS.get(canonical)
    found: Kernel | str | None = None if row is None else of_form(row.kernel, form)
    return found


def places_read(canonical: str) -> frozenset[int]:
    """Return the places of operands that a kernel reads as constants, and has no words of."""
    row = ROWS.get(canonical)
    kernels = () if row is None else (kernel for _, kernel in spread(row.kernel) if isinstance(kernel, Kernel))
    return frozenset(place for kernel in kernels for place in kernel.reads)


def added_in_order(call: AggregateCall | WindowCall) -> bool:
    """Tell whether an aggregate adds floats, so that its last digits depend on the order of the
    rows.
    """
    row = AGGREGATE_ROWS.get(call.function)
    return row is not None and bool(call.arguments) and row.adds_in_order(call.arguments[0].type.family)
