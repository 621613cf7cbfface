"""Names and constants that are code to somebody: to Python, to DuckDB, to Spark, to the shell, to
the file system. They are only names.

The server starts again with all of them. The oracle is a dictionary, and PostgreSQL's rule that
names end after 63 bytes.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from tests.oracle.antumbra import AntumbraServer

# A drawing, and its texts, in the language of Graphviz.
DOT_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
BOX = "shape=box, style=filled, fontname=text, fontsize=10"
DRAWING = re.compile(
    rf"digraph plan {{\n  rankdir=BT;\n  node \[{BOX}\];\n(  (p\d+ \[label=text, fillcolor=text\]|p\d+ -> p\d+);\n)+}}\n?"
)
# Of the names, `make test` takes one of so many parts.
PARTS = 16
MARKER = "hostile-marker"
NAMES = (
    'x"""\nopen("{folder}/hostile-marker", "w").write("in")\n"""',
    'b"""',
    "a\\x",
    "\\",
    "a\\u0027\\N{{BULLET}}",
    "'''\nimport os; os.system(\"touch {folder}/hostile-marker\")\n'''",
    "line\nfeed\r\x0c\x0b\x85\u2028\u2029end",
    "{{0}} {{x!r}} %s %(x)s",
    "'; DROP VIEW v; --",
    '"; COPY (SELECT 1) TO \'{folder}/hostile-marker\'; --',
    "`; DROP VIEW v; --",
    "${{env:PATH}} ${{spark:spark.app.name}}",
    "../../../../{folder}/hostile-marker",
    "(SELECT text AS k, 1 AS n FROM catalog.definitions)t1--",
    "x" * 63,
    "# /* */ -- \ufeff\u202e",
)  # fmt: skip
# From here the constants come, in places where each of the engines computes.
QUERY = """SELECT {k} || {text} AS {k}, {n} FROM (
    SELECT {k}, count(*) AS {n}, max(CASE WHEN {k} LIKE {text} ESCAPE '' THEN {text} ELSE {k} END) AS m FROM {stream}
    WHERE {k} <> {text} AND {k} IN ('one', 'two', {text}) GROUP BY {k}) AS {alias}
WHERE m <> {text} ORDER BY {n} DESC, {k} || {text} LIMIT 10"""


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("hostile")
    return [name.format(folder=folder) for name in NAMES]


def uses_spark(number: int) -> bool:
    """Tell whether a name of a part is also that of a view whose upper part runs in Spark, which
    takes a second or more for each.
    """
    return number == 0


def shortened(name: str) -> str:
    """Return what PostgreSQL leaves of a name."""
    return name.encode()[:63].decode(errors="ignore")


@pytest.mark.turns(PARTS)
@pytest.mark.parametrize("part", range(PARTS))
def test_they_are_only_names(part: int, names: list[str], tmp_path: Path) -> None:
    names = names[part::PARTS]
    server = AntumbraServer(tmp_path / "data").start()
    with server.connect() as connection:
        for number, name in enumerate(names):
            define(connection, number, name)
    check(server, names)
    assert server.stop() == 0
    again = AntumbraServer(tmp_path / "data").start()
    check(again, names)
    assert again.stop() == 0
    kernels = [path.name for path in (tmp_path / "data" / "kernels").iterdir() if path.is_file()]
    assert kernels and all(name.isascii() and name.partition(".")[0].isidentifier() for name in kernels)
    assert not list(tmp_path.parent.rglob(f"*{MARKER}*"))


def define(connection: psycopg.Connection[tuple[object, ...]], number: int, name: str) -> None:
    """Make a stream with a row for each key, and two views over it, of which one gets its name
    later.
    """
    fields = fields_of(number, name)
    statements = (
        "CREATE FOREIGN TABLE {stream} ({k} text, {n} int) SERVER stream",
        f"CREATE VIEW {{view}} AS {QUERY}",
        "CREATE VIEW {other} AS SELECT {k}, count(*) AS {n} FROM {stream} GROUP BY {k}",
        "ALTER VIEW {other} RENAME TO {renamed}",
        "COMMENT ON VIEW {renamed} IS {text}",
        "INSERT INTO {stream} VALUES ('one', 1), ('one', 2), ('two', 3), ({text}, 4)",
    )
    explained = f"EXPLAIN (FORMAT {{form}}) CREATE VIEW {{other}} AS {QUERY}"
    for statement in statements:
        if "{view}" in statement and not uses_spark(number):
            continue
        connection.execute(sql.SQL(statement).format(**fields))
        if statement.startswith("CREATE FOREIGN"):
            rows = connection.execute(sql.SQL(explained).format(form=sql.SQL("JSON"), **fields)).fetchall()
            plan = rows[0][0] if len(rows) == 1 else "\n".join(str(row[0]) for row in rows)
            assert isinstance(json.loads(plan) if isinstance(plan, str) else plan, list)
            lines = connection.execute(sql.SQL(explained).format(form=sql.SQL("DOT"), **fields)).fetchall()
            assert DRAWING.fullmatch(DOT_TEXT.sub("text", "\n".join(str(line) for (line,) in lines))), lines


def fields_of(number: int, name: str) -> dict[str, sql.Composable]:
    names = {
        "view": name,
        "stream": f"s{number} {name}",
        "k": name,
        "n": f"n{name}",
        "alias": f"a{name}",
        "other": f"o{number}",
        "renamed": f"r{number} {name}",
    }
    return {"text": sql.Literal(" ".join(NAMES)), **{field: sql.Identifier(text) for field, text in names.items()}}


def check(server: AntumbraServer, names: list[str]) -> None:
    text = " ".join(NAMES)
    with server.connect() as connection:
        for number, name in enumerate(names):
            fields = fields_of(number, name)
            if uses_spark(number):
                found = connection.execute(sql.SQL("SELECT * FROM {view}").format(**fields)).fetchall()
                assert found == [(f"one{text}", 2), (f"two{text}", 1)], name
            query = sql.SQL("SELECT * FROM {renamed} WHERE {k} <> {text} ORDER BY {k}").format(**fields)
            assert connection.execute(query).fetchall() == [("one", 2), ("two", 1)], name
        known = {row[0] for row in connection.execute("SELECT relname FROM pg_class WHERE relkind = 'v'")}
        assert {shortened(name) for number, name in enumerate(names) if uses_spark(number)} <= known
