"""The views of the catalog that have rows: their queries, in PostgreSQL's SQL, from static/views.sql. A view that is not there is empty."""

from __future__ import annotations

from functools import cache

from engine.system_catalog.static_rows import FOLDER
from sql.parse import parse
from sql.statements.statement import Select
from sql.syntax import Query


@cache
def view_query(key: str) -> Query | None:
    """Return the query of the view called `key` (schema.name), None where it has none."""
    text = view_texts().get(key)
    if text is None:
        return None
    (statement,) = parse(text)
    assert isinstance(statement, Select), key
    return statement.query


@cache
def view_texts() -> dict[str, str]:
    """Return the queries' texts by schema.name."""
    found: dict[str, str] = {}
    for part in (FOLDER / "views.sql").read_text().split("\n\n")[1:]:
        head, _, text = part.partition("\n")
        found[head.removeprefix("-- ").strip()] = text
    return found
