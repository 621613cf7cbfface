"""Printing: queries beside DuckDB's and Spark's text, or the refusal, in the `.txt` files of this
folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sql.emit.duckdb import DuckDbExpressions
from sql.emit.spark import SparkExpressions
from sql.functions.catalog import OF_CATALOG
from sql.functions.table import QUANTIFIED, ROWS
from tests.golden import Golden, texts
from tests.sql.emit.every_type import printed_lines

FILES = sorted(Path(__file__).parent.glob("*.txt"))
# Rules of each table that no query of the files takes: of what bind never leaves (a cast to the
# same type), and of what Spark is never asked. These numbers only go down.
UNUSED_MAX = {
    # Two of them print what is only asked for by streams.
    (DuckDbExpressions, "rules"): 24,
    (DuckDbExpressions, "casts"): 17,
    (SparkExpressions, "rules"): 26,
    (SparkExpressions, "casts"): 9,
}


class Noted(dict[Any, Any]):
    """A table that notes which of its rules were taken."""

    def __init__(self, rules: Mapping[Any, Any]) -> None:
        super().__init__(rules)
        self.taken: set[Any] = set()

    def get(self, key: Any, default: Any = None) -> Any:
        self.taken |= {key} & self.keys()
        return super().get(key, default)


@pytest.mark.golden
@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_queries_are_printed_as_ever(path: Path, golden: Golden) -> None:
    golden(path, printed_lines)


def test_every_rule_is_taken_somewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = {}
    for printer, table in UNUSED_MAX:
        tables[printer, table] = Noted(getattr(printer, table))
        monkeypatch.setattr(printer, table, tables[printer, table])
    for text in (*texts(*FILES), *(f"select {row.example[0]}" for row in ROWS.values() if row.example)):
        printed_lines(text)
    quantified = {row.canonical for row in QUANTIFIED} - {"any_ilike", "all_ilike"}
    for place, most in UNUSED_MAX.items():
        # The tools' queries call those of the catalog, and operators before ANY have one rule.
        unused = {key for key in tables[place].keys() - tables[place].taken if key[0] not in OF_CATALOG | quantified}
        assert len(unused) <= most, (place, sorted(unused))


def test_no_two_queries_are_the_same() -> None:
    found = texts(*FILES)
    assert len(found) == len(set(found))
