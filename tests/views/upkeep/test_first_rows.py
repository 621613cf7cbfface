"""The first row of each group against a model: random orders, cut into random morsels and tables,
merged in the order of commits.
"""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import cmp_to_key
from pathlib import Path
from typing import Any

import pytest

from sql.tree.expressions import AggregateCall, Column, Literal, SortKey
from sql.types.datatypes import INT8, array_of
from tests.views.random_expressions import random_rows
from tests.views.reference_groups import group_key
from tests.views.upkeep.test_state import (
    STREAM,
    assert_same_groups,
    column,
    exported,
    feed,
    make_plan,
    rows_with,
    split_early,
    stream_morsel,
)
from views.model.nodes import FIRST, FIRST_ROWS
from views.upkeep.state import ViewState


def firsts(columns: list[Column], order: tuple[SortKey, ...]) -> list[AggregateCall]:
    """Return what a DISTINCT ON keeps of its rows."""
    return [AggregateCall(FIRST, (one,), one.type, order_by=order) for one in columns]


def first_lists(columns: list[Column], order: tuple[SortKey, ...], rows_max: int) -> list[AggregateCall]:
    """Return what several first rows are."""
    number = Literal(rows_max, INT8)
    return [
        AggregateCall(FIRST_ROWS, (one, number), array_of(one.type.without_modifier()), order_by=order)
        for one in columns
    ]


def as_kept(value: Any) -> Any:
    """Return a value of a list, or a list of them, as the model has it."""
    match value:
        case list():
            return list(map(as_kept, value))
        case dict():
            return value["unscaled"].scaleb(-value["scale"])
        case datetime():
            return (value.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
        case date():
            return (value - date(1970, 1, 1)).days
    return value


def model(
    rows: list[tuple[Any, ...]], keys: list[Column], order: tuple[SortKey, ...], rows_max: int = 0
) -> list[tuple[Any, ...]]:
    """Return the keys and the first row of each group, or lists of the values of several; rows that
    are equal in the order stay in order of arrival.
    """

    def compare(one: tuple[Any, ...], two: tuple[Any, ...]) -> int:
        for key in order:
            assert isinstance(key.expression, Column)
            a, b = one[key.expression.index], two[key.expression.index]
            if a is None or b is None:
                if (a is None) != (b is None):
                    return -1 if (a is None) == key.nulls_first else 1
                continue
            # NaN is the largest, and -0 is 0.
            a, b = ((a != a, 0 if a != a else a), (b != b, 0 if b != b else b))
            if a != b:
                return -1 if (a < b) != key.descending else 1
        return 0

    groups: dict[Any, list[tuple[Any, ...]]] = {}
    for row in rows:
        groups.setdefault(tuple(group_key(row[key.index]) for key in keys), []).append(row)
    if rows_max:
        several = [(found[0], sorted(found, key=cmp_to_key(compare))[:rows_max]) for found in groups.values()]
        return [(*(first[key.index] for key in keys), *map(list, zip(*found, strict=True))) for first, found in several]
    best = [(found[0], min(found, key=cmp_to_key(compare))) for found in groups.values()]
    return [(*(first[key.index] for key in keys), *row) for first, row in best]


@pytest.mark.turns(4)
@pytest.mark.parametrize("is_split", [False, True])
@pytest.mark.parametrize("rows_max", [0, 1, 5])
@pytest.mark.parametrize("seed", range(5))
def test_random_orders(
    seed: int, rows_max: int, is_split: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_split:
        split_early(monkeypatch)
    choose = random.Random(seed)
    columns = [Column(index, one.name, one.type) for index, one in enumerate(STREAM)]
    keys = choose.sample(columns, choose.randint(1, 2))
    order = tuple(
        SortKey(one, choose.random() < 0.5, choose.random() < 0.5)
        for one in choose.sample([one for one in columns if one not in keys], choose.randint(0, 3))
    )
    calls = first_lists(columns, order, rows_max) if rows_max else firsts(columns, order)
    state = ViewState(make_plan([], [*keys], calls), tmp_path)
    rows = random_rows(choose, 300, STREAM, wild=0.0)
    few = choose.sample(rows, 25)
    # Few different values: many rows of a group, and many that are equal in the order.
    rows += [tuple(choose.choice(few)[index] for index in range(len(STREAM))) for _ in range(600)]
    choose.shuffle(rows)
    feed(state, stream_morsel(rows), choose)
    found = [tuple(map(as_kept, row)) for row in exported(state)]
    assert_same_groups(found, model(rows, keys, order, rows_max), len(keys))


def test_ties_are_in_order_of_commits_though_a_large_table_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("views.upkeep.commit_buffers.MERGED_GROUPS_MAX", 2)
    plan = make_plan([], [column("i4")], firsts([column("t"), column("i8")], (SortKey(column("i8")),)))
    state = ViewState(plan, tmp_path)
    first, second = (
        stream_morsel(rows_with(5, i4=lambda n: n, i8=lambda n: 1, t=lambda n, text=text: text * 4))
        for text in ("came first", "came later")
    )
    table = state.program.new_table()
    state.program.fold(first, table, 0)
    state.groups.absorb(table)
    state.apply(second, 0)
    state.groups.absorb(table)
    swapped = state.groups.swap()
    assert len(swapped) == 4, "what was folded between the two waits in its turn"
    state.groups.merge(swapped)
    state.apply(second, 0)
    state.groups.merge(state.groups.swap())
    assert sorted(exported(state)) == [(number, "came first" * 4, 1) for number in range(5)]


def test_a_state_with_another_order_is_another_state(tmp_path: Path) -> None:
    order = SortKey(column("i8"))
    states = [
        ViewState(make_plan([], [column("i4")], firsts([column("t")], (key,))), tmp_path)
        for key in (order, replace(order, descending=True), replace(order, nulls_first=True), order)
    ]
    assert len({state.program.fingerprint for state in states}) == 3
