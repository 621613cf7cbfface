"""sql/FUNCTIONS.md is what the tables of signatures and rules say; `python -m bench.function_page`
writes it anew.
"""

from __future__ import annotations

import pytest

from bench.function_page import PAGE, cast_rows, function_rows, operator_rows, page
from sql.functions.session import VIEW_CHANGES
from sql.functions.table import FUNCTIONS, OF_SESSION


@pytest.mark.turns(2, 1)
def test_the_page_is_not_stale() -> None:
    assert PAGE.read_text() == page(), "run python -m bench.function_page"


@pytest.mark.turns(3, 2)
@pytest.mark.slow
def test_streams_have_every_scalar_function_of_the_embedded_engine() -> None:
    rows = [*function_rows(FUNCTIONS), *operator_rows(), *cast_rows()]
    missing = {name.strip("`") for name, _, (kernel, duckdb, _) in rows if duckdb and not kernel}
    assert missing <= OF_SESSION.union(VIEW_CHANGES)
