"""Paths into JSON: v:a.b[0]::int of Snowflake and Databricks, JSON_VALUE(v, '$.a.b') and its like.

A value that is found is a text, cast to what is asked for: paths without a cast, whose values are
of a type that PostgreSQL has not, are refused.
"""

from __future__ import annotations

import re

from sqlglot import exp

from sql.dialects.calls import Call, cast, filled, function, literal, text_of
from sql.dialects.context import Context
from sql.dialects.kinds import kind_of

STEP = re.compile(r"""\.(?P<name>[A-Za-z_]\w*)|\."(?P<quoted>[^"\\]*)"|\['(?P<key>[^'\\]*)'\]|\[(?P<index>\d+)\]""")
NO_JSON = "a text that is no JSON is an error here"
# What a path is until it is cast.
PATH = "JSONB_EXTRACT_PATH"


def path(node: exp.Expr, context: Context) -> exp.Expr:
    """Return v:a.b as a call, which the cast around it reads."""
    found = node.args.get("expression")
    if not node.args.get("variant_extract") or not isinstance(found, exp.JSONPath):
        raise context.refusal("a path into JSON", node)
    if not isinstance(node.parent, exp.Cast):
        raise context.refusal("a path into JSON without a cast", node, "Cast it: v:a.b::text.")
    steps: list[str] = []
    for step in found.expressions:
        match step:
            case exp.JSONPathRoot():
                continue
            case exp.JSONPathKey() if isinstance(step.this, str):
                steps.append(step.this)
            case exp.JSONPathSubscript() if isinstance(step.this, int) and step.this >= 0:
                steps.append(str(step.this))
            case _:
                raise context.refusal("this path into JSON", node)
    return function(PATH, document(node.this, context), *map(literal, steps))


def is_path(node: exp.Expr) -> bool:
    """Tell whether a node is a path that is not cast yet."""
    return isinstance(node, exp.Anonymous) and str(node.this).upper() == PATH


def at_path(node: exp.Anonymous) -> exp.Expr:
    """Return the text at a path."""
    return function("JSONB_EXTRACT_PATH_TEXT", *node.expressions)


def document(node: exp.Expr, context: Context) -> exp.Expr:
    """Return a value as jsonb."""
    kind = kind_of(node, context)
    if kind == "jsonb":
        return node.copy()
    if kind != "json":
        context.note(NO_JSON)
    return cast(node, "JSONB")


def scalar(call: Call) -> exp.Expr:
    """JSON_VALUE(v, '$.a.b') and its like: the text of a value that has no parts, else NULL."""
    written = text_of(call.arguments[1]) if len(call.arguments) == 2 else None
    steps = None if written is None else steps_of(written)
    if not steps:
        raise call.refuse("a path that is not a constant of names and numbers")
    given = [document(call.arguments[0], call.context), *map(literal, steps)]
    value, text = function(PATH, *given), function("JSONB_EXTRACT_PATH_TEXT", *given)
    found = filled("CASE WHEN JSONB_TYPEOF($1) IN ('object', 'array') THEN NULL ELSE $2 END", [value, text])
    return filled("NULLIF($1, '')", [found]) if call.context.dialect == "oracle" else found


def steps_of(written: str) -> list[str] | None:
    """Return the steps of a path such as '$.a[0]."b c"', None for others."""
    rest, steps = written.removeprefix("$"), []
    if rest == written:
        return None
    while rest:
        found = STEP.match(rest)
        if found is None:
            return None
        steps.append(next(part for part in found.groups() if part is not None))
        rest = rest[found.end() :]
    return steps
