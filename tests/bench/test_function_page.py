"""sql/FUNCTIONS.md is what the tables of signatures and rules say; `python -m bench.function_page`
writes it anew.
"""

from __future__ import annotations

from bench.function_page import PAGE, page


def test_the_page_is_not_stale() -> None:
    assert PAGE.read_text() == page(), "run python -m bench.function_page"
