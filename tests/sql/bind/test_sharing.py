"""Relations that a statement names several times are bound once, and the tree stays in proportion
to the text.
"""

from __future__ import annotations

import time

import pytest

from sql.bind import bind_query
from sql.bind.sharing import is_shared, nodes_count, written_out
from sql.emit.duckdb import emit_duckdb
from sql.errors import SqlError
from sql.parse.parse import parse
from sql.parse.statements.select import Select
from sql.tree.relations import BoundQuery
from sql.tree.walks import all_relations
from tests.sql.sample_catalog import SETTINGS, SampleCatalog


def bound(text: str) -> BoundQuery:
    (statement,) = parse(text)
    assert isinstance(statement, Select)
    return bind_query(statement.query, SampleCatalog(), SETTINGS)


def chain(count: int, step: str = "select p.x + q.x as x from {0} p, {0} q", start: str = "select 1 as x") -> str:
    """Return a query whose items of WITH name the one before twice each."""
    items = [f"c0 as ({start})", *(f"c{number} as ({step.format(f'c{number - 1}')})" for number in range(1, count + 1))]
    return f"with {', '.join(items)} select * from c{count}"


@pytest.mark.parametrize(
    "step",
    [
        "select p.x + q.x as x from {0} p, {0} q",
        "select x from {0} union all select x from {0}",
        "select (select x from {0}) + (select x from {0}) as x",
        "select x from {0} where x in (select x from {0})",
        "select p.x from {0} p, lateral (select q.x from {0} q where q.x = p.x) l",
    ],
)
def test_trees_and_texts_grow_with_the_statement_alone(step: str) -> None:
    sizes, texts = [], []
    begin = time.monotonic()
    for count in (20, 40):
        root = bound(chain(count, step)).root
        sizes.append(sum(1 for _ in all_relations(root)))
        texts.append(len(emit_duckdb(root, {})))
        hash(root)
    assert sizes[1] < 3 * sizes[0]
    assert texts[1] < 3 * texts[0]
    # Twice as long for each item would be hours.
    assert time.monotonic() - begin < 20


def test_what_is_small_stands_at_its_places() -> None:
    assert not is_shared(bound(chain(4)).root)
    assert is_shared(bound(chain(12)).root)
    assert not is_shared(bound("with c as (select random() as x) select x from c").root)
    assert is_shared(bound("with c as (select random() as x) select p.x, q.x from c p, c q").root)


def test_what_has_to_be_written_out_is_refused_when_it_is_huge() -> None:
    root = bound(chain(8)).root
    assert nodes_count(written_out(root)) == nodes_count(root)
    assert not is_shared(written_out(root))
    with pytest.raises(SqlError) as caught:
        written_out(bound(chain(40)).root)
    assert caught.value.sqlstate == "54001"


def test_what_depends_on_a_row_outside_is_bound_once_per_place() -> None:
    inner = chain(20, start="select s.a as x").replace("select * from", "select x from")
    with pytest.raises(SqlError) as caught:
        bound(f"select ({inner}) from s")
    assert caught.value.sqlstate == "54001"
    assert not is_shared(bound(f"select ({chain(3, start='select s.a as x')}) from s").root)
