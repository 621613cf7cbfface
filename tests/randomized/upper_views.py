"""Random views with a second grouping: texts that PostgreSQL takes as they are, and what happens to
them.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

COLUMNS = "k int, g int, x int, p numeric(8,2), t text, b bool, f float8"
TABLE_COLUMNS = "k int, name text, w int"
KEYS = ("k", "g", "t", "x % 3")
BELOW = {
    "n": "count(*)",
    "c": "count(x)",
    "s": "sum(x)",
    "q": "sum(p)",
    "a": "avg(x)",
    "m": "max(x)",
    "lo": "min(t)",
    "e": "bool_or(b)",
    "r": "sum(f)",
}
EXACT = ("n", "c", "s", "q", "m")
TEXTS = ("", "a", "b", "ab", "a text of more than twelve bytes", "another text of more than twelve bytes")


@dataclass(frozen=True)
class UpperView:
    """A view: the query, and what of it is below."""

    query: str
    is_joined: bool


def random_view(chance: Random) -> UpperView:
    """Return a view with a grouping, or a DISTINCT, above its first one."""
    keys = chance.sample(KEYS, chance.choice((0, 1, 1, 1, 2, 2)))
    named = [f"{key} AS k{place}" for place, key in enumerate(keys)]
    columns = chance.sample(sorted(BELOW), chance.randint(2, 6))
    if not set(columns) & set(EXACT):
        columns.append("n")
    where = chance.choice(("", "", " WHERE x > 2", " WHERE b", " WHERE p IS NOT NULL AND k < 5"))
    having = chance.choice(("", "", " HAVING count(*) > 1", " HAVING sum(x) > 10", " HAVING count(*) % 2 = 0"))
    below = f"SELECT {', '.join([*named, *(f'{BELOW[name]} AS {name}' for name in columns)])} FROM s{where}"
    below += (f" GROUP BY {', '.join(keys)}" if keys else "") + having
    exact = [name for name in columns if name in EXACT]
    integer = next((f"k{place}" for place, key in enumerate(keys) if key != "t"), None)
    join, is_joined = "", False
    if integer is not None and chance.random() < 0.45:
        is_joined = True
        kind = chance.choice(("JOIN", "JOIN", "LEFT JOIN"))
        more = chance.choice(("", " AND d.w > 0", f" AND d.w < u.{chance.choice(exact)}")) if kind == "JOIN" else ""
        join = f" {kind} d ON d.k = u.{integer}{more}"
    source = f"({below}) u{join}"
    conditions = [f"u.{chance.choice(exact)} > {chance.randint(0, 4)}"]
    conditions += [f"u.{integer} IN (SELECT k FROM d WHERE w > 1)"] if integer else []
    conditions += ["u.r > 1.5"] if "r" in columns else []
    conditions += ["NOT u.e"] if "e" in columns else []
    upper_where = f" WHERE {chance.choice(conditions)}" if chance.random() < 0.5 else ""
    by = [f"u.k{place}" for place in range(len(keys))] + [f"u.{name}" for name in exact if name != "q"]
    by += ["u.lo"] if "lo" in columns else []
    by += ["d.name", "d.w"] if is_joined else []
    chosen = chance.sample(by, min(len(by), chance.choice((0, 1, 1, 1, 2))))
    if chosen and chance.random() < 0.12:
        return UpperView(f"SELECT DISTINCT {', '.join(chosen)} FROM {source}{upper_where}", is_joined)
    calls = random_calls(chance, columns, exact, is_joined)
    items = [f"{key} AS o{place}" for place, key in enumerate(chosen)]
    items += [f"{call} AS c{place}" for place, call in enumerate(calls)]
    grouped = ""
    if chosen:
        grouped = f" GROUP BY {', '.join(chosen)}"
        if chance.random() < 0.1:
            grouped = f" GROUP BY ROLLUP ({', '.join(chosen)})"
    above = chance.choice(("", "", "", " HAVING count(*) > 1", f" HAVING sum(u.{exact[0]}) > 3"))
    query = f"SELECT {', '.join(items)} FROM {source}{upper_where}{grouped}{above}"
    if chance.random() < 0.15:
        query += f" ORDER BY {', '.join(str(place + 1) for place in range(len(items)))} LIMIT {chance.randint(1, 4)}"
    return UpperView(query, is_joined)


def random_calls(chance: Random, columns: list[str], exact: list[str], is_joined: bool) -> list[str]:
    """Return aggregates over the groups."""
    made = ["count(*)"]
    for name in exact:
        made += [f"sum(u.{name})", f"avg(u.{name})", f"max(u.{name})", f"min(u.{name})", f"count(DISTINCT u.{name})"]
        made += [f"sum(u.{name}) FILTER (WHERE u.{name} > 2)", f"bool_and(u.{name} > 1)", f"sum(u.{name} * 2 + 1)"]
        made += [f"round(sum(u.{name}) * 1.0 / count(*), 3)"]
    made += [f"var_pop(u.{name})" for name in exact if name in ("n", "c", "m")]
    made += ["max(u.lo)", "count(u.lo)"] if "lo" in columns else []
    made += ["bool_or(u.e)"] if "e" in columns else []
    made += ["count(u.a)"] if "a" in columns else []
    made += ["sum(d.w)", "max(d.name)", "count(d.k)"] if is_joined else []
    return chance.sample(made, min(len(made), chance.randint(1, 4)))


def random_rows(chance: Random, count: int) -> str:
    """Return rows of the stream as VALUES has them."""

    def value(written: str, share: float = 0.1) -> str:
        return "NULL" if chance.random() < share else written

    return ", ".join(
        "("
        + ", ".join(
            (
                value(str(chance.randrange(8))),
                value(str(chance.randrange(3))),
                value(str(chance.randint(-3, 12)), 0.2),
                value(f"{chance.randint(-300, 900) / 100:.2f}"),
                value(f"'{chance.choice(TEXTS)}'"),
                value(chance.choice(("true", "false"))),
                value(f"{chance.randint(-8, 8) / 4}"),
            )
        )
        + ")"
        for _ in range(count)
    )


def random_change(chance: Random) -> str:
    """Return a statement that changes the table, or not."""
    k = chance.randrange(8)
    return chance.choice(
        (
            f"INSERT INTO d VALUES ({k}, '{chance.choice('abc')}', {chance.randint(-1, 5)})",
            f"INSERT INTO d VALUES ({k}, NULL, NULL)",
            f"DELETE FROM d WHERE k = {k}",
            f"UPDATE d SET w = w + 1 WHERE k <> {k}",
        )
    )
