"""The views of the catalog that have rows, by their queries in PostgreSQL's SQL from
static/views.sql.

A view that is not there is empty.
"""

from __future__ import annotations

from functools import cache

from engine.system_catalog.static_rows import FOLDER
from sql.parse.parse import parse
from sql.parse.statements.select import Select
from sql.parse.syntax import Query

# Relations of information_schema's views that stand for those rows of pg_class of which the role
# may know.
MAY_KNOW = {
    "relations_seen": "has_table_privilege(r.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')",
    "relations_written": "has_table_privilege(r.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')",
    "relations_with_columns": "has_any_column_privilege(r.oid, 'SELECT, INSERT, UPDATE, REFERENCES')",
    "relations_owned": "false",
    # For a relation that is no sequence it would be an error.
    "sequences_seen": "CASE WHEN r.relkind = 'S' THEN has_sequence_privilege(r.oid, 'SELECT, UPDATE, USAGE') END",
}


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
        for name, condition in MAY_KNOW.items():
            kind = "= 'S'" if name == "sequences_seen" else "IN ('r', 'v', 'f', 'p')"
            owned = "pg_has_role(r.relowner, 'USAGE')"
            rows = f"(SELECT r.* FROM pg_class r WHERE r.relkind {kind} AND ({owned} OR {condition}))"
            text = text.replace(f"{name} ", f"{rows} ")
        found[head.removeprefix("-- ").strip()] = text
    return found
