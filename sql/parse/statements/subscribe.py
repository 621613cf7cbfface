"""SUBSCRIBE [TO] relation | (query) [WITH (PROGRESS, SNAPSHOT = false)], as in Materialize.

It stands alone, in COPY (...) TO STDOUT, and after DECLARE ... CURSOR FOR.
"""

from __future__ import annotations

from dataclasses import dataclass

from sql.errors import not_supported
from sql.parse.grammar import queries
from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.declaration import Statement
from sql.parse.statements.options import relation_options
from sql.parse.statements.rules import begins
from sql.parse.statements.select import Select

BOOLEANS = ("true", "false", "on", "off")
OPTIONS = {"progress": BOOLEANS, "snapshot": BOOLEANS}
PAIRS = "changes_of() and output_of() give the old and the new values of each row, matched by the view's keys."
# Clauses of Materialize's, each with what does the like.
REFUSED = {
    ("envelope", "upsert"): PAIRS,
    ("envelope", "debezium"): PAIRS,
    ("within", "timestamp"): "The rows of one mz_timestamp that are gone come before those that have come.",
    (
        "as",
        "of",
    ): "changes_of('view', since => n) gives what has changed since a version of which version_of() has told.",
    ("up", "to"): "The client ends a subscription; FETCH ... WITH (timeout = '1 s') from a cursor gives what is there.",
}


@dataclass(frozen=True)
class Subscribe(Statement, tag="SUBSCRIBE"):
    """The statement SUBSCRIBE.

    Attributes:
        select: the query whose changes are asked for.
        progress: a row tells when a moment is over.
        snapshot: the rows of the beginning come first.
    """

    select: Select
    progress: bool = False
    snapshot: bool = True


@begins("subscribe")
def subscribe(cursor: Cursor) -> Subscribe:
    """Read the statement from its first word."""
    return subscription(cursor)


def subscription(cursor: Cursor) -> Subscribe:
    """Read SUBSCRIBE, wherever it stands."""
    first = cursor.index
    cursor.expect("subscribe")
    cursor.accept("to")
    if cursor.at_operator("("):
        query, text = cursor.with_text(lambda inner: inner.enclosed(queries.query))
    else:
        query, text = cursor.with_text(queries.whole_relation)
    refuse_clauses(cursor)
    options = relation_options(cursor, OPTIONS) if cursor.accept("with") else {}
    refuse_clauses(cursor)
    values = {name: value in ("true", "on") for name, value in options.items()}
    return Subscribe(
        cursor.text_since(first), Select(text, query), values.get("progress", False), values.get("snapshot", True)
    )


def refuse_clauses(cursor: Cursor) -> None:
    """Raise 0A000 for a clause of Materialize's that is not there."""
    for words, hint in REFUSED.items():
        if cursor.at_words(*words):
            raise not_supported(f"{' '.join(words).upper()} in SUBSCRIBE", cursor.position, hint)
