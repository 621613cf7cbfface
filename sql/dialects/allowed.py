"""The nodes of a tree that is printed: those that mean the same in PostgreSQL, each with those of
its parts that do.

All others are refused by name, so that nothing is printed with another meaning or left out without
a word.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from sql.dialects.context import Context
from sql.dialects.functions import is_window, known_names

MODIFIERS = "with_ where group having windows order limit offset joins"
ALLOWED: dict[Any, frozenset[str]] = {
    kind: frozenset(parts.split())
    for kind, parts in {
        exp.Select: f"expressions distinct from_ {MODIFIERS}",
        exp.From: "this",
        exp.Join: "this on side kind using method",
        exp.Where: "this",
        exp.Group: "expressions grouping_sets cube rollup",
        exp.Having: "this",
        exp.Order: "this expressions",
        exp.Ordered: "this desc nulls_first",
        exp.Limit: "expression",
        exp.Offset: "expression",
        exp.With: "expressions recursive",
        exp.CTE: "this alias materialized",
        exp.Subquery: f"this alias {MODIFIERS}",
        exp.Union: f"this expression distinct {MODIFIERS}",
        exp.Except: f"this expression distinct {MODIFIERS}",
        exp.Intersect: f"this expression distinct {MODIFIERS}",
        exp.Values: "expressions alias",
        exp.Column: "this table db",
        exp.Identifier: "this quoted",
        exp.Table: "this alias db joins",
        exp.TableAlias: "this columns",
        exp.Alias: "this alias",
        exp.Star: "",
        exp.Literal: "this is_string",
        exp.Boolean: "this",
        exp.Null: "",
        exp.Cast: "this to",
        exp.DataType: "this expressions nested kind nullable",
        exp.DataTypeParam: "this",
        exp.Case: "this ifs default",
        exp.If: "this true",
        exp.Between: "this low high",
        exp.In: "this expressions query",
        exp.Exists: "this",
        exp.Any: "this",
        exp.All: "this",
        exp.Interval: "this unit",
        exp.Window: "this partition_by order spec over alias",
        exp.WindowSpec: "kind start start_side end end_side",
        exp.Filter: "this expression",
        exp.WithinGroup: "this expression",
        exp.Distinct: "expressions on",
        exp.Anonymous: "this expressions",
        exp.Paren: "this",
        exp.Neg: "this",
        exp.Not: "this",
        exp.Like: "this expression negate",
        exp.ILike: "this expression negate",
        exp.Escape: "this expression",
        exp.Is: "this expression negate",
        exp.Extract: "this expression",
        exp.Var: "this",
        exp.Tuple: "expressions",
        exp.Bracket: "this expressions",
        exp.Array: "expressions",
        exp.Lateral: "this alias",
        exp.Unnest: "expressions alias",
        exp.Cube: "expressions",
        exp.Rollup: "expressions",
        exp.GroupingSets: "expressions",
        exp.AtTimeZone: "this zone",
        exp.CurrentDate: "",
        exp.CurrentTimestamp: "",
        exp.Localtimestamp: "",
        exp.Parameter: "this",
        exp.Create: "this kind replace expression",
        exp.Schema: "this expressions",
    }.items()
}
OPERATORS = (
    *(
        exp.And,
        exp.Or,
        exp.EQ,
        exp.NEQ,
        exp.LT,
        exp.LTE,
        exp.GT,
        exp.GTE,
        exp.NullSafeEQ,
        exp.NullSafeNEQ,
        exp.Add,
        exp.Sub,
    ),
    *(exp.Mul, exp.Div, exp.Mod, exp.DPipe, exp.RegexpLike, exp.RegexpILike),
)
ALLOWED |= dict.fromkeys(OPERATORS, frozenset({"this", "expression"}))
# What sqlglot's parser notes about an operator of its dialect, which printing does not look at.
UNPRINTED = frozenset(
    {"typed", "safe", "bracket_notation", "offset", "returns_list_for_maps", "over", "unique", "refresh", "exists"}
)
NAMES: dict[Any, str] = {
    exp.Pivot: "PIVOT",
    exp.Struct: "STRUCT",
    exp.TableSample: "TABLESAMPLE",
    exp.Command: "this statement",
    exp.JSONExtract: "a path into JSON",
    exp.Final: "FINAL",
    exp.Placeholder: "a placeholder",
    exp.Collate: "COLLATE",
    exp.Lambda: "a lambda expression",
    exp.PropertyEQ: "a named argument",
    exp.Xor: "XOR",
    exp.SetOperation: "this set operation",
}
PARTS = {
    "join_mark": "the outer join sign (+)",
    "qualify": "QUALIFY",
    "pivots": "PIVOT",
    "connect": "CONNECT BY",
    "sample": "TABLESAMPLE",
    "except_": "* EXCEPT",
    "replace": "* REPLACE",
    "rename": "* RENAME",
    "settings": "SETTINGS",
    "format": "FORMAT",
    "all": "GROUP BY ALL",
    "totals": "WITH TOTALS",
    "by_name": "BY NAME",
    "into": "INTO",
    "locks": "FOR UPDATE",
    "with_fill": "WITH FILL",
    "kind": "SELECT AS STRUCT",
    "match": "MATCH_RECOGNIZE",
    "hint": "a hint",
    "expressions": "LIMIT BY",
}
JOINS = frozenset({"", "INNER", "CROSS", "OUTER"})


def require_allowed(tree: exp.Expr, context: Context) -> None:
    """Raise 0A000 for the first node or part of one that PostgreSQL may mean otherwise."""
    for node in tree.walk():
        parts = ALLOWED.get(type(node))
        if parts is None:
            raise context.refusal(NAMES.get(type(node)) or spoken(node), node)
        for key, value in node.args.items():
            if value and key not in parts and key not in UNPRINTED and value != []:
                raise context.refusal(PARTS.get(key) or f"{key.strip('_').upper()} of {spoken(node)}", node)
        if isinstance(node, exp.Anonymous) and str(node.this).upper() not in known_names() and not is_window(node):
            name = str(node.this).lower().lstrip("_")
            raise context.refusal(f"the function {name}", node, "Antumbra has no function of this name.")
        if isinstance(node, exp.Parameter) and not str(node.name).isdigit():
            raise context.refusal("a variable", node)
        if isinstance(node, exp.Join) and not (node.kind.upper() in JOINS and node.method.upper() in ("", "NATURAL")):
            raise context.refusal(f"{node.method} {node.kind} JOIN".strip().upper(), node)
        if isinstance(node, exp.Join) and context.dialect == "clickhouse" and node.side:
            context.note("columns of an outer join without a partner are NULL, as with join_use_nulls = 1")


def spoken(node: exp.Expr) -> str:
    """Return the name of a node's class as SQL writes it."""
    return " ".join(part for part in _words(type(node).__name__)).upper()


def _words(name: str) -> list[str]:
    found = [""]
    for letter in name:
        if letter.isupper() and found[-1] and not found[-1][-1].isupper():
            found.append("")
        found[-1] += letter
    return found
