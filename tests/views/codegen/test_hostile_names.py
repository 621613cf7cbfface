"""No text of a client enters generated code: kernels of views whose names, constants and comments
are hostile, beside harmless ones.

The proof: all of them are one tree but for its numbers, and those that differ in names alone are
the same text. Files and modules are named by us alone. `--cases` says how many kernels; `make
test-long` generates 10,000.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import count

import pytest

from sql.bind import bind_query
from sql.catalog.catalog import ColumnDescription, RelationDescription, SessionSettings
from sql.parse.parse import parse
from sql.parse.statements.create_view import CreateView
from sql.types.datatypes import FLOAT8, INT4, TEXT, TIMESTAMPTZ, SqlType, enum_type, numeric
from sql.types.enums import EnumLabel, EnumType
from tests.hostile_texts import MARK, hostile
from views.codegen.finish_kernel import generate_finish_kernel
from views.codegen.grouping import make_grouping
from views.codegen.modules import GeneratedModule
from views.codegen.stream_kernel import generate_stream_kernel
from views.model.definition import define_view
from views.plan.planner import plan_view

NAME_BYTES_MAX = 63
NAMES = (
    "view",
    "stream",
    "key",
    "number",
    "price",
    "at",
    "state",
    "table",
    "match",
    "share",
    "out1",
    "out2",
    "alias",
    "cte",
)
TEXTS = ("like", "equal", "listed", "chosen", "format", "zone", "comment")
FORMAT_BYTES = 40
HARMLESS_NAMES = {name: f"n{number}" for number, name in enumerate(NAMES)}
HARMLESS_TEXTS = {name: f"a harmless constant that is the {name}" for name in TEXTS} | {
    "format": f'"{"x" * FORMAT_BYTES}"',
    "zone": "<harmless>+3",
}
HARMLESS_LABELS = ("a harmless label", "another harmless label")
# What the names are in the statement: {name} is an identifier, [text] a constant, and the comment
# is one.
STATEMENT = """CREATE VIEW {view} /* [comment] */ ({out1}, {out2}) AS -- the rest of the line
WITH {cte} AS (SELECT {alias}.*, {alias}.{price} / {alias}.{number} AS {out2} FROM {stream} {alias} WHERE {key} LIKE [like])
SELECT upper({key} || [equal]) AS {out1}, sum({price} * {share}) + 1 AS {out2}
FROM {cte} JOIN {table} ON {cte}.{key} = {table}.{match}
WHERE {key} <> [equal] AND {key} IN ([listed], [equal]) AND CASE WHEN {number} > 1 THEN [chosen] ELSE {key} END > [chosen]
  AND to_char({at}, [format]) <> {state}::text AND {at} + interval '1 day' > date_trunc('day', {at})
  AND {at}::date::timestamp AT TIME ZONE [zone] < {at}
GROUP BY upper({key} || [equal]), {table}.{share}
HAVING sum({out2}) > 2 AND max({key}) || [chosen] <> [like]"""


class Relations:
    """A catalog of a stream and a table, with these names."""

    def __init__(self, names: Mapping[str, str], labels: tuple[str, ...]) -> None:
        enum = EnumType(
            names["state"], 16390, 16391, tuple(EnumLabel(17000 + k, k, text) for k, text in enumerate(labels))
        )
        kinds: dict[str, SqlType] = {"key": TEXT, "number": INT4, "price": numeric(10, 2), "at": TIMESTAMPTZ}
        kinds["state"] = enum_type(enum)
        self._relations = {
            names["stream"]: described(names["stream"], "stream", 16384, names, kinds),
            names["table"]: described(names["table"], "table", 16385, names, {"match": TEXT, "share": FLOAT8}),
        }

    def relation(self, name: str) -> RelationDescription | None:
        return self._relations.get(name)

    def relation_names(self) -> Iterable[str]:
        return self._relations


def described(
    name: str, kind: str, oid: int, names: Mapping[str, str], kinds: Mapping[str, SqlType]
) -> RelationDescription:
    return RelationDescription(
        name, kind, oid, tuple(ColumnDescription(names[column], type_) for column, type_ in kinds.items())
    )


def modules(names: Mapping[str, str], texts: Mapping[str, str], labels: tuple[str, ...]) -> list[GeneratedModule]:
    """Return all that is generated for the view: the stream pipeline and the finish step."""
    written = {f"{{{name}}}": '"' + text.replace('"', '""') + '"' for name, text in names.items()}
    written |= {f"[{name}]": "'" + text.replace("'", "''") + "'" for name, text in texts.items()}
    written["[comment]"] = texts["comment"].replace("*/", "").replace("/*", "")
    places = "|".join(map(re.escape, written))
    (statement,) = parse(re.sub(places, lambda found: written[found[0]], STATEMENT))
    assert isinstance(statement, CreateView)
    settings = SessionSettings(time_zone="Europe/Berlin")
    definition = define_view(statement, 16400, settings)
    bound = bind_query(statement.query, Relations(names, labels), settings)
    plan = plan_view(definition, bound).plan
    stream = plan.maintained
    assert plan.finish.predicates and stream.probes and stream.filters
    return [generate_stream_kernel(stream, make_grouping(stream)), generate_finish_kernel(plan.finish)]


def hostile_names(randomness: random.Random) -> dict[str, str]:
    """Return different names, of which some begin alike."""
    numbers = count()
    return {name: hostile(randomness, NAME_BYTES_MAX - 3) + f"{next(numbers):03d}" for name in NAMES}


def hostile_texts(randomness: random.Random) -> dict[str, str]:
    """Return constants. Between quotes a time format is text, and kernels have its bytes as
    numbers: it is as long as the harmless one.
    """
    texts = {name: hostile(randomness, 200) for name in TEXTS}
    template = re.sub(r'[\\"]', "-", texts["format"]).encode()[:FORMAT_BYTES].decode(errors="ignore")
    template += "x" * (FORMAT_BYTES - len(template.encode()))
    return texts | {"format": f'"{template}"', "zone": f"<{texts['zone']}>+3"}


def without_numbers(text: str) -> str:
    """Return the tree of a module with all its numbers alike: constants are numbers, and there is
    no other way into the text.
    """
    tree = ast.parse(text)
    strings = []
    for node in ast.walk(tree):
        # The header names the fingerprint.
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                strings.append(node)
            node.value = 0
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            node.op = ast.UAdd()
    assert len(strings) == 1 and isinstance(tree.body[0], ast.Expr) and tree.body[0].value is strings[0]
    return ast.dump(tree).replace("UnaryOp(op=UAdd(), operand=Constant(value=0))", "Constant(value=0)")


@pytest.fixture(scope="module")
def seeds(request: pytest.FixtureRequest) -> range:
    """The seeds of the cases, each of two kernels."""
    first, cases = request.config.getoption("--seed"), request.config.getoption("--cases")
    return range(first, first + cases // 2)


def test_kernels_have_nothing_of_names_and_constants_but_numbers(seeds: range) -> None:
    expected = [without_numbers(module.text) for module in modules(HARMLESS_NAMES, HARMLESS_TEXTS, HARMLESS_LABELS)]
    for seed in seeds:
        randomness = random.Random(seed)
        labels = (hostile(randomness, 60) + "1", hostile(randomness, 60) + "2")
        found = modules(hostile_names(randomness), hostile_texts(randomness), labels)
        assert [without_numbers(module.text) for module in found] == expected, f"--seed {seed}"
        for module in found:
            assert module.text.isascii() and MARK not in module.text, f"--seed {seed}"
            assert re.fullmatch(r"(stream_pipeline|finish)_[0-9a-f]{32}", module.name)


def test_names_change_nothing_in_a_kernel(seeds: range) -> None:
    expected = modules(HARMLESS_NAMES, HARMLESS_TEXTS, HARMLESS_LABELS)
    for seed in seeds[::20]:
        found = modules(hostile_names(random.Random(seed)), HARMLESS_TEXTS, HARMLESS_LABELS)
        # The SQL of what can fail is told to clients, by number.
        told = [replace(module, expressions=same.expressions) for module, same in zip(expected, found, strict=True)]
        assert found == told, f"--seed {seed}"
