"""Random window calls over columns whose rows are unique, so that ORDER BY all of them is one
order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random

from tests.randomized.expressions import FLOATS, INTEGERS, Term

RANKS = ("rank()", "dense_rank()", "percent_rank()", "cume_dist()")
VALUES = ("lag", "lead", "first_value", "last_value", "nth_value")
FRAMES = (
    "",
    "",
    " ROWS UNBOUNDED PRECEDING",
    " ROWS BETWEEN 1 PRECEDING AND CURRENT ROW",
    " ROWS BETWEEN 1 PRECEDING AND 2 FOLLOWING",
    " ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    " ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING",
    " RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
    " RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
    " RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
)


def window_call(random: Random, columns: Sequence[Term], counts: Counter[str]) -> Term:
    """Return a window call over `columns`."""
    partition = ""
    if random.random() < 0.5:
        counts["window partition"] += 1
        chosen = random.choice([column for column in columns if column.fixed] or columns)
        partition = f"PARTITION BY {chosen.text} " if chosen.fixed and chosen.family not in FLOATS else ""
    total = ", ".join(column.text + random.choice(["", "", " DESC", " NULLS FIRST"]) for column in columns)
    kind = random.choice(["rank", "row_number", "ntile", "value", "value", "aggregate", "aggregate"])
    counts[f"window {kind}"] += 1
    if kind == "rank":
        # Ranks have ties when only a part of the columns orders.
        order = f"{random.choice(columns).text}{random.choice(['', ' DESC'])}" if random.random() < 0.5 else total
        name = random.choice(RANKS)
        family = "float8" if name in ("percent_rank()", "cume_dist()") else "int8"
        return Term(f"{name} OVER ({partition}ORDER BY {order})", family)
    if kind == "row_number":
        return Term(f"row_number() OVER ({partition}ORDER BY {total})", "int8")
    if kind == "ntile":
        return Term(f"ntile({random.randint(1, 4)}) OVER ({partition}ORDER BY {total})", "int4")
    frame = random.choice(FRAMES)
    if kind == "value":
        return value_call(random, columns, f"({partition}ORDER BY {total}", frame)
    measured = [column for column in columns if column.family in (*INTEGERS, "numeric") and column.fixed]
    over = f"({partition}ORDER BY {total}{frame})" if random.random() < 0.8 else f"({partition.strip()})"
    if not measured or random.random() < 0.2:
        return Term(f"count(*) OVER {over}", "int8")
    column = random.choice(measured)
    function = random.choice(["sum", "avg", "min", "max", "count"])
    result = {"count": "int8", "avg": "numeric"}.get(function, column.family)
    if function == "sum":
        result = "int8" if column.family in ("int2", "int4") else "numeric"
    return Term(f"{function}({column.text}) OVER {over}", result, fixed=function != "avg")


def value_call(random: Random, columns: Sequence[Term], over: str, frame: str) -> Term:
    """Return a call of a function that picks another row's value; `over` is an open parenthesis
    with its order.
    """
    column = random.choice(columns)
    function = random.choice(VALUES)
    if function in ("lag", "lead"):
        offset = random.choice(["", ", 1", ", 2", ", 0"])
        return Term(f"{function}({column.text}{offset}) OVER {over})", column.family, column.fixed)
    arguments = f"{column.text}, 2" if function == "nth_value" else column.text
    return Term(f"{function}({arguments}) OVER {over}{frame})", column.family, column.fixed)
