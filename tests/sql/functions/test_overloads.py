"""Calls and operators beside the overload that is chosen for the families of their arguments, in
overloads.txt.

A line is a name and the families of the arguments. That the choice is PostgreSQL's is the subject
of tests/sql/test_against_postgres.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from sql.functions.catalog import CATALOG
from sql.functions.overloads import AmbiguousError, choose
from sql.functions.table import (
    AGGREGATE_ROWS,
    AGGREGATES,
    BINARY_OPERATORS,
    FUNCTIONS,
    PREFIX_OPERATORS,
    ROWS,
    TABLE_FUNCTIONS,
    WINDOW_FUNCTIONS,
)
from tests.golden import Golden, texts

FILE = Path(__file__).with_name("overloads.txt")
TABLES = (FUNCTIONS, AGGREGATES, WINDOW_FUNCTIONS, TABLE_FUNCTIONS)


@pytest.mark.golden
def test_the_overload_is_chosen_as_ever(golden: Golden) -> None:
    golden(FILE, chosen_lines)


def test_every_name_is_called() -> None:
    """A function whose row has an example is called by that."""
    called = {text.split()[0] for text in texts(FILE)}
    called |= {
        name
        for row in (*ROWS.values(), *AGGREGATE_ROWS.values())
        if row.example
        for names, _ in row.named_overloads
        for name in names
    }
    # The tools' queries call those of the catalog.
    assert {
        name for table in (*TABLES, BINARY_OPERATORS, PREFIX_OPERATORS) for name, found in table.items() if found
    } - CATALOG.keys() - {"_pg_expandarray"} <= called


def chosen_lines(text: str) -> list[str]:
    """Return the overload of each table that has the name."""
    name, *families = text.split()
    tables = [table for table in TABLES if name in table]
    operators = BINARY_OPERATORS if len(families) == 2 else PREFIX_OPERATORS
    tables += [operators] if name in operators else []
    lines = []
    for table in tables:
        try:
            found = choose(table[name], families, is_operator=table is operators)
        except AmbiguousError:
            lines.append("ambiguous")
            continue
        lines.append("nothing" if found is None else f"{found.canonical}({', '.join(found.arguments)}) {found.result}")
    return lines
