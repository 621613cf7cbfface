"""Names of relations and columns as PostgreSQL finds them, and units that stand where columns do.

A name in quotes keeps its letters in PostgreSQL: where the dialect finds it whatever their case, it
gets PostgreSQL's small letters, as a name without quotes has.
"""

from __future__ import annotations

import re

from sqlglot import exp

from sql.dialects.context import FOLDS_UP, POSTGRES_LIKE, Context
from sql.dialects.dates import UNITS
from sql.names.keywords import RESERVED, TYPE_OR_FUNCTION

PLAIN = re.compile(r"[^\W\d][\w$]*")
UPPER = re.compile(r"[^\Wa-z\d][^\Wa-z]*")
CALLED_BARE = frozenset({"user", "current_user", "session_user", "current_role"})
# Where a call has its unit, by its name and number of arguments; of BigQuery it is the last one.
FIRST = frozenset(
    (name, count)
    for count, names in (
        (3, "DATEDIFF DATE_DIFF TIMESTAMPDIFF TIMESTAMPADD DATEADD DATE_ADD TIMEADD AGE"),
        (2, "DATE_TRUNC DATETRUNC DATE_PART DATEPART DATENAME"),
    )
    for name in names.split()
)
LAST = frozenset(
    (name, count)
    for count, names in (
        (3, "DATE_DIFF DATETIME_DIFF TIMESTAMP_DIFF"),
        (2, "DATE_TRUNC DATETIME_TRUNC TIMESTAMP_TRUNC LAST_DAY"),
    )
    for name in names.split()
)


def mark_units(tree: exp.Expr, context: Context) -> None:
    """Make words of the units in calls, which are read as columns."""
    if context.dialect in POSTGRES_LIKE:
        return
    places = LAST if context.dialect == "bigquery" else FIRST
    for call in list(tree.find_all(exp.Anonymous)):
        key = str(call.name).upper(), len(call.expressions)
        if key in places or key == ("LAST_DAY", 2):
            unit = call.expressions[-1 if key in LAST and (places is LAST or key[0] == "LAST_DAY") else 0]
            word = unit.name
            if isinstance(unit, exp.Anonymous) and len(unit.expressions) == 1:
                word = f"{unit.name}({unit.expressions[0].name})"
            if word.lower() in UNITS or isinstance(unit, exp.Anonymous):
                unit.replace(exp.Var(this=word))


def fold_names(tree: exp.Expr, context: Context) -> None:
    """Write all names as PostgreSQL finds them. Raises 0A000 for those that mean a function."""
    for table in tree.find_all(exp.Table):
        of_relation(table, context)
    for name in tree.find_all(exp.Identifier):
        written = name.this
        if context.dialect in POSTGRES_LIKE:
            continue
        if name.args.get("quoted"):
            keeps = context.dialect in FOLDS_UP
            if UPPER.fullmatch(written) if keeps else PLAIN.fullmatch(written):
                name.set("this", written.lower())
            continue
        low = written.lower()
        if low in CALLED_BARE and context.dialect in ("oracle", "tsql") and isinstance(name.parent, exp.Column):
            raise context.refusal(low.upper(), name)
        if low in RESERVED or low in TYPE_OR_FUNCTION or not PLAIN.fullmatch(written):
            name.set("this", low)
            name.set("quoted", True)


def of_relation(table: exp.Table, context: Context) -> None:
    """Leave out what is before the schema of a relation's name, and T-SQL's default schema."""
    if table.args.get("catalog") is not None:
        context.note(f'"{table.catalog}" before the schema is left out')
        table.set("catalog", None)
    if context.dialect == "tsql" and table.db.lower() == "dbo":
        context.note("the schema dbo is left out")
        table.set("db", None)
