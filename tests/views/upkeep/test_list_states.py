"""Lists that groups keep, beside other states: in the order of arrival, within their heap, and as
large as caps count them.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ringbuffer.groups.aggregates import TOO_LONG, State
from ringbuffer.groups.hash_table import HEAP_USED, GroupTable
from ringbuffer.memory.arrow import morsel_to_arrow
from ringbuffer.memory.columns import Layout, Morsel
from sql.errors import SqlError
from sql.tree.expressions import AggregateCall
from sql.types.datatypes import array_of
from tests.views.upkeep.test_state import (
    column,
    feed,
    make_aggregate,
    make_plan,
    rows_with,
    split_early,
    stream_morsel,
)
from views.upkeep.commit_buffers import MERGED_BYTES_MAX, is_large
from views.upkeep.state import ViewState


def listed(name: str) -> AggregateCall:
    one = column(name)
    return AggregateCall("array_agg", (one,), array_of(one.type))


def random_rows(choose: random.Random, count: int) -> list[tuple[Any, ...]]:
    return rows_with(
        count,
        i4=lambda n: choose.randrange(5),
        i8=lambda n: choose.choice((n, None)),
        t=lambda n: "x" * choose.choice((0, 7, 9, 13, 40, 200)) + str(n),
    )


def grown_to(state: ViewState, rows: list[tuple[Any, ...]]) -> GroupTable:
    """Return the table of some rows, folded one by one."""
    table = state.program.new_table()
    for row in rows:
        state.program.fold(stream_morsel([row]), table, 0)
        assert int(table.control[HEAP_USED]) <= len(table.heap), "it wrote over the end of its heap"
    return table


@pytest.mark.parametrize("seed", range(3))
def test_lists_and_texts_of_a_row_fit_into_the_heap_together(seed: int, tmp_path: Path) -> None:
    calls = [make_aggregate("min", column("t")), make_aggregate("max", column("t")), listed("t")]
    state = ViewState(make_plan([], [column("i4")], calls), tmp_path)
    grown_to(state, random_rows(random.Random(seed), 200))


@pytest.mark.parametrize("is_split", [False, True])
def test_lists_are_in_the_order_of_arrival(is_split: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if is_split:
        split_early(monkeypatch)
    choose = random.Random(is_split)
    rows = random_rows(choose, 600)
    calls = [listed("t"), make_aggregate("max", column("t")), listed("i8")]
    state = ViewState(make_plan([], [column("i4")], calls), tmp_path)
    feed(state, stream_morsel(rows), choose)
    key, text, number = (column(name).index for name in ("i4", "t", "i8"))
    found = {row["k0"]: (row["a0"], row["a1"], row["a2"]) for row in state.export(0).to_pylist()}
    assert found == {
        group: ([row[text] for row in mine], max(row[text] for row in mine), [row[number] for row in mine])
        for group in range(5)
        for mine in [[row for row in rows if row[key] == group]]
    }
    # More bytes than Arrow counts in one chunk.
    whole = state.export(0)

    def of_one_row(morsel: Morsel, layout: Layout) -> pa.Table:
        if morsel.rows_count > 1:
            raise OverflowError
        return morsel_to_arrow(morsel, layout)

    monkeypatch.setattr("views.upkeep.export.to_arrow.morsel_to_arrow", of_one_row)
    assert state.export(0).equals(whole)


def test_a_table_of_few_groups_is_large_by_its_lists(tmp_path: Path) -> None:
    state = ViewState(make_plan([], [column("i4")], [listed("t")]), tmp_path)
    table = state.program.new_table()
    rows = stream_morsel(rows_with(100, i4=lambda n: 1, t=lambda n: "x" * (MERGED_BYTES_MAX // 50)))
    state.program.fold(rows, table, 0)
    assert is_large(table)


def test_short_values_make_known_groups_larger(tmp_path: Path) -> None:
    state = ViewState(make_plan([], [column("i4")], [listed("i8")]), tmp_path)
    for _ in range(20):
        one = grown_to(state, rows_with(1, i4=lambda n: 1, i8=lambda n: 2))
        before = state.groups.merged.tables[0].used_bytes
        now, more = state.groups.sizes((), [one])
        assert now.bytes == before
        state.groups.absorb(one)
        state.groups.merge(state.groups.swap())
    assert more.groups == 0
    assert more.bytes > 0, "else no cap would ever be passed"


def test_a_list_that_is_too_long_is_told_apart_from_other_groups(tmp_path: Path) -> None:
    state = ViewState(make_plan([], [column("i4")], [listed("i8")]), tmp_path)
    feed(state, stream_morsel(rows_with(4, i4=lambda n: n, i8=lambda n: n)), random.Random(0))
    (table,) = state.groups.merged.tables
    grouping = state.program.grouping
    table.rows[2 * grouping.table.row_words + grouping.inputs[0].states[State.LIST] + 2] = TOO_LONG
    with pytest.raises(SqlError, match="array size exceeds"):
        state.export(0)
    groups, unmade = state.export_groups()
    assert unmade == [1]
    assert [values is None for values in groups.column("a0").to_pylist()].count(True) == 1
