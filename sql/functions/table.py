"""The table of all functions and operators: the rows of each family, and what is asked of all.

Enters: rows. Leaves: signatures by the names that clients write, rules by canonical names and
forms, and what `sql` knows of a canonical name. Aggregates have a table beside it.
"""

from __future__ import annotations

from collections.abc import Mapping

from sql.functions import addresses, json
from sql.functions.printing import Rule
from sql.functions.rows import Function, Kernel, Routine
from sql.functions.signatures import Signature

FAMILIES = (addresses, json)
ROWS: Mapping[str, Function] = {row.canonical: row for family in FAMILIES for row in family.FUNCTIONS}
ROUTINES: tuple[Routine, ...] = (
    *(routine for row in ROWS.values() for routine in row.routines.values()),
    *(routine for family in FAMILIES for routine in family.ROUTINES),
)
DUCKDB_RULES: Mapping[tuple[str, str], Rule] = {
    (row.canonical, form): rule for row in ROWS.values() for form, rule in row.duckdb_rules()
}
SPARK_RULES: Mapping[tuple[str, str], Rule] = {
    (row.canonical, form): rule for row in ROWS.values() for form, rule in row.spark_rules()
}


def _named(is_operator: bool, is_prefix: bool = False) -> dict[str, tuple[Signature, ...]]:
    found: dict[str, tuple[Signature, ...]] = {}
    for row in ROWS.values():
        for name in row.names.split():
            if is_symbol(name) == is_operator:
                fitting = (one for one in row.overloads if not is_operator or (len(one.arguments) == 1) == is_prefix)
                found[name] = (*found.get(name, ()), *fitting)
    return {name: overloads for name, overloads in found.items() if overloads}


def is_symbol(name: str) -> bool:
    """Tell whether a name is an operator's."""
    return not (name[0].isalpha() or name[0] == "_")


# Overloads by the names that clients write.
FUNCTIONS = _named(is_operator=False)
BINARY_OPERATORS = _named(is_operator=True)
PREFIX_OPERATORS = _named(is_operator=True, is_prefix=True)


def with_rows(
    table: Mapping[str, tuple[Signature, ...]], rows: Mapping[str, tuple[Signature, ...]]
) -> dict[str, tuple[Signature, ...]]:
    """Return a table of signatures with the overloads of rows after its own."""
    return {name: (*table.get(name, ()), *rows.get(name, ())) for name in (*table, *rows)}


def kernel_of(canonical: str, family: str) -> Kernel | None:
    """Return the kernel of a function for the family of its first operand, if its row has one."""
    row = ROWS.get(canonical)
    found = None if row is None else row.kernel
    return found.get(family) if isinstance(found, Mapping) else found
