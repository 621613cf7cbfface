"""States of views against the model: random groupings, cut into random morsels and tables, merged
in random order.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ringbuffer.groups.hash_table import GroupTable, Words
from ringbuffer.groups.merge import merge_tables
from ringbuffer.memory.arrow import slice_morsel
from ringbuffer.memory.columns import Morsel
from ringbuffer.memory.error_codes import DIVISION_BY_ZERO, RowError
from sql.errors import SqlError
from sql.tree.expressions import AggregateCall, Call, Cast, Column, Expression, Literal
from sql.tree.relations import OutputColumn, Schema
from sql.types.datatypes import BOOL, FLOAT4, FLOAT8, INT4, INT8, TEXT, SqlType, scaled_numeric
from tests.views.codegen.test_expressions import same
from tests.views.random_expressions import SCHEMA, ExpressionMaker, arrow_rows, python_rows, random_rows
from tests.views.reference import EXACT, SqlFailureError
from tests.views.reference_groups import group, group_key
from views.model.nodes import FinishStep, StreamPipeline
from views.model.plan import Plan, chain
from views.plan.deferred import unmade_schema
from views.upkeep.export.to_arrow import from_arrow
from views.upkeep.state import ViewState

# A stream's columns have no decimals of variable scale.
STREAM: Schema = tuple(column for column in SCHEMA if not column.type.is_variable_numeric)
RESULTS: dict[str, dict[str, SqlType]] = {
    "sum": {"int2": INT8, "int4": INT8, "int8": scaled_numeric(0), "float4": FLOAT4, "float8": FLOAT8},
    "avg": {"float4": FLOAT8, "float8": FLOAT8},
}


def make_aggregate(name: str, argument: Expression | None, condition: Expression | None = None) -> AggregateCall:
    """Return an aggregate with the type that bind gives it."""
    if argument is None:
        return AggregateCall("count_star", (), INT8, condition)
    kind = argument.type.without_modifier()
    if name == "count":
        kind = INT8
    elif name in RESULTS and kind.family in RESULTS[name]:
        kind = RESULTS[name][kind.family]
    elif name == "avg":
        kind = scaled_numeric(None)
    return AggregateCall(name, (argument,), kind, condition)


def random_aggregate(maker: ExpressionMaker) -> AggregateCall:
    """Return an aggregate, with FILTER now and then."""
    choose = maker.choose
    condition = maker.boolean(1) if choose.random() < 0.25 else None
    name = choose.choice(("count_star", "count", "sum", "sum", "avg", "min", "max", "bool_and", "bool_or"))
    if name == "count_star":
        return make_aggregate(name, None, condition)
    if name.startswith("bool"):
        return make_aggregate(name, maker.of("bool", 1), condition)
    families = ["int2", "int4", "int8", "numeric"]
    families += ["text", "date", "timestamp", "float4", "float8"] if name in ("count", "min", "max") else []
    return make_aggregate(name, maker.of(choose.choice(families), choose.randint(0, 1)), condition)


def make_plan(
    filters: list[Expression], keys: list[Expression], aggregates: list[AggregateCall], on_error: str = "reject"
) -> Plan:
    """Return the plan of a view that shows its groups as they are."""
    named_keys = tuple((f"k{index}", key) for index, key in enumerate(keys))
    named = tuple((f"a{index}", call) for index, call in enumerate(aggregates))
    groups = tuple(OutputColumn(name, item.type) for name, item in (*named_keys, *named))
    pipeline = StreamPipeline("s", STREAM, tuple(filters), named_keys, named, groups, on_error)
    items = tuple((column.name, Column(index, column.name, column.type)) for index, column in enumerate(groups))
    return chain(pipeline, FinishStep(groups, (), items, groups), None, None)


def stream_morsel(rows: list[tuple[Any, ...]]) -> Morsel:
    return from_arrow(arrow_rows(rows, STREAM), STREAM)


def feed(state: ViewState, morsel: Morsel, choose: random.Random) -> int:
    """Bring the rows in by all ways, in pieces, some of them by tables that are merged; return the
    rows skipped.
    """
    start = skipped = 0
    while start < morsel.rows_count:
        size = choose.randint(1, max(1, morsel.rows_count // 4))
        piece = slice_morsel(morsel, start, min(size, morsel.rows_count - start))
        start += piece.rows_count
        if choose.random() < 0.5:
            state.program.check(piece, 0)
            state.apply(piece, 0)
        else:
            table = state.program.new_table()
            skipped += state.program.fold(piece, table, 0)
            state.groups.absorb(table)
        if choose.random() < 0.3:
            state.groups.merge(state.groups.swap())
    state.groups.merge(state.groups.swap())
    return skipped


def exported(state: ViewState) -> list[tuple[Any, ...]]:
    return python_rows(state.export(0), state.plan.finish.output)


def by_key(rows: list[tuple[Any, ...]], keys_count: int) -> dict[Any, tuple[Any, ...]]:
    found = {tuple(group_key(value) for value in row[:keys_count]): row for row in rows}
    assert len(found) == len(rows), "a group came out twice"
    return found


def assert_same_groups(found: list[tuple[Any, ...]], wanted: list[tuple[Any, ...]], keys_count: int) -> None:
    left, right = by_key(found, keys_count), by_key(wanted, keys_count)
    assert left.keys() == right.keys()
    for key, row in left.items():
        assert all(same(a, b) for a, b in zip(row, right[key], strict=True)), f"{row} instead of {right[key]}"


def outcome(run: Callable[[], list[tuple[Any, ...]]]) -> list[tuple[Any, ...]] | str:
    """Return the rows, or the SQLSTATE of the failure."""
    try:
        return run()
    except (SqlFailureError, RowError, SqlError) as failure:
        return failure.sqlstate


def split_early(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let states of a few groups have partitions, on which two threads work."""
    # Without keys there is one group in the table, and one in what is merged.
    monkeypatch.setattr("views.upkeep.partitions.SPLIT_GROUPS", 2)
    monkeypatch.setattr("views.upkeep.partitions.SHARED_GROUPS_MIN", 1)


@pytest.mark.turns(4)
@pytest.mark.parametrize("is_split", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_random_groupings(seed: int, is_split: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if is_split:
        split_early(monkeypatch)
    choose = random.Random(1000 + seed)
    maker = ExpressionMaker(choose, STREAM, tame=True)
    filters = [maker.boolean(1) for _ in range(choose.randint(0, 2))]
    keys = [maker.any(choose.randint(0, 1)) for _ in range(choose.randint(0, 3))]
    aggregates = [random_aggregate(maker) for _ in range(choose.randint(1, 5))]
    skipping = choose.random() < 0.5
    state = ViewState(make_plan(filters, keys, aggregates, "skip" if skipping else "reject"), tmp_path)
    rows = random_rows(choose, 400, STREAM, wild=0.05 if skipping else 0.0)
    wanted = outcome(lambda: group(keys, aggregates, filters, rows, skip_errors=skipping))
    found = outcome(lambda: (feed(state, stream_morsel(rows), choose), exported(state))[1])
    if isinstance(wanted, str) or isinstance(found, str):
        assert found == wanted
        return
    assert state.groups.counts.tuples_in == len(rows)
    assert_same_groups(found, wanted, len(keys))


def column(name: str) -> Column:
    for index, described in enumerate(STREAM):
        if described.name == name:
            return Column(index, name, described.type)
    raise KeyError(name)


def rows_with(count: int, **values: Any) -> list[tuple[Any, ...]]:
    """Return rows of NULLs but for the columns given, each as a function of the row's number."""
    names = [described.name for described in STREAM]
    return [
        tuple(
            values[name](number) if name in values and index == names.index(name) else None
            for index, name in enumerate(names)
        )
        for number in range(count)
    ]


def test_no_keys_is_one_group_even_of_no_rows(tmp_path: Path) -> None:
    state = ViewState(make_plan([], [], [make_aggregate("", None), make_aggregate("sum", column("i4"))]), tmp_path)
    assert exported(state) == [(0, None)]
    state.apply(stream_morsel(rows_with(3, i4=lambda number: number)), 0)
    state.groups.merge(state.groups.swap())
    state.groups.merge(state.groups.swap())
    assert exported(state) == [(3, 3)]
    state.groups.reset()
    assert exported(state) == [(0, None)]


@pytest.mark.parametrize("is_split", [False, True])
def test_many_groups_and_long_texts_grow_the_table(
    is_split: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_split:
        split_early(monkeypatch)
    aggregates = [make_aggregate("max", column("t")), make_aggregate("min", column("t")), make_aggregate("", None)]
    state = ViewState(make_plan([], [column("t"), column("i4")], aggregates), tmp_path)
    rows = rows_with(
        20_000, t=lambda number: f"key number {number % 5000:09d}" * (1 + number % 2), i4=lambda number: number % 3
    )
    table = state.program.new_table()
    state.program.fold(stream_morsel(rows), table, 0)
    state.groups.absorb(table)
    state.groups.merge(state.groups.swap())
    wanted = group([column("t"), column("i4")], aggregates, [], rows)
    assert_same_groups(exported(state), wanted, 2)
    assert state.groups.merged.groups_count == len(wanted)


def absorb(state: ViewState, morsel: Morsel) -> None:
    """Bring a statement's rows as one that commits does."""
    table = state.program.new_table()
    state.program.fold(morsel, table, 0)
    buffer = state.groups.make_room()
    state.groups.absorb(table)
    buffer.leave_room()


def test_large_tables_wait_for_the_refresh_up_to_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("views.upkeep.commit_buffers.MERGED_GROUPS_MAX", 2)
    monkeypatch.setattr("views.upkeep.state.TABLES_WAITING_MAX", 3)
    state = ViewState(make_plan([], [column("i4")], [make_aggregate("", None)]), tmp_path)
    morsel = stream_morsel(rows_with(30, i4=lambda number: number % 5))
    tables_counts = []
    for statements_count in range(1, 7):
        for _ in range(statements_count):
            absorb(state, morsel)
        swapped = state.groups.swap()
        tables_counts.append(len(swapped))
        state.groups.merge(swapped)
    # The local table is always there; who brings the fourth one merges the three that wait into
    # one.
    assert tables_counts == [2, 3, 4, 3, 4, 5]
    assert exported(state) == [(key, 6 * 21) for key in range(5)]


@pytest.mark.parametrize("is_read", [False, True])
def test_who_drains_holds_nobody_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_read: bool) -> None:
    monkeypatch.setattr("views.upkeep.commit_buffers.MERGED_GROUPS_MAX", 2)
    monkeypatch.setattr("views.upkeep.state.TABLES_WAITING_MAX", 2)
    state = ViewState(make_plan([], [column("i4")], [make_aggregate("", None)]), tmp_path)
    morsel = stream_morsel(rows_with(30, i4=lambda number: number % 5))
    read: list[GroupTable] = []

    def merge_beside_others(target: GroupTable, source: GroupTable, program: Words) -> None:
        """Merge while other rows come, which would wait for the lock if it were held."""
        monkeypatch.setattr("views.upkeep.commit_buffers.merge_tables", merge_tables)
        with ThreadPoolExecutor(1) as other:
            other.submit(state.apply, morsel, 0).result(timeout=10)
        if is_read:
            read.extend(state.groups.swap())
        merge_tables(target, source, program)

    for _ in range(2):
        absorb(state, morsel)
    monkeypatch.setattr("views.upkeep.commit_buffers.merge_tables", merge_beside_others)
    for _ in range(7):
        absorb(state, morsel)
    assert state.groups.counts.queue_most == 2
    state.groups.merge((*read, *state.groups.swap()))
    assert exported(state) == [(key, 10 * 6) for key in range(5)]


def test_what_is_drained_again_and_again_is_merged_with_tables_of_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("views.upkeep.commit_buffers.MERGED_GROUPS_MAX", 2)
    monkeypatch.setattr("views.upkeep.state.TABLES_WAITING_MAX", 2)
    state = ViewState(make_plan([], [column("i4")], [make_aggregate("", None)]), tmp_path)
    for number in range(64):
        absorb(state, stream_morsel(rows_with(4, i4=lambda row, first=4 * number: first + row)))
    sizes = [table.groups_count for table in state.groups.buffer.drained]
    assert all(larger > 2 * smaller for larger, smaller in pairwise(sizes)) and sum(sizes) == 4 * 62, sizes
    state.groups.merge(state.groups.swap())
    assert exported(state) == [(key, 1) for key in range(256)]


def test_an_error_names_row_and_expression_and_leaves_the_state(tmp_path: Path) -> None:
    quotient = Call("divide", (Literal(10, INT4), column("i4")), INT4, text="10 / i4")
    state = ViewState(make_plan([], [], [make_aggregate("sum", quotient)]), tmp_path)
    morsel = stream_morsel(rows_with(5, i4=lambda number: 3 - number))
    for run in (
        lambda: state.program.check(morsel, 0),
        lambda: state.program.fold(morsel, state.program.new_table(), 0),
    ):
        with pytest.raises(RowError) as raised:
            run()
        assert (raised.value.code, raised.value.row) == (DIVISION_BY_ZERO, 3)
        assert state.program.expression_text(raised.value.expression) == "10 / i4"
    state.groups.merge(state.groups.swap())
    assert exported(state) == [(None,)]


def test_skip_leaves_bad_rows_out_and_counts_them(tmp_path: Path) -> None:
    quotient = Call("divide", (Literal(10, INT4), column("i4")), INT4)
    state = ViewState(make_plan([], [], [make_aggregate("", None), make_aggregate("sum", quotient)], "skip"), tmp_path)
    morsel = stream_morsel(rows_with(7, i4=lambda number: number % 3))
    state.program.check(morsel, 0)
    table = state.program.new_table()
    assert state.program.fold(morsel, table, 0) == 3
    state.groups.absorb(table)
    state.groups.merge(state.groups.swap())
    assert exported(state) == [(4, 30)]
    assert (state.groups.counts.tuples_in, state.groups.counts.tuples_passed, state.groups.counts.tuples_skipped) == (
        7,
        4,
        3,
    )


def test_a_sum_out_of_range_is_the_readers_error(tmp_path: Path) -> None:
    large = Cast(column("i8"), scaled_numeric(0))
    square = Call("multiply", (large, large), scaled_numeric(0))
    state = ViewState(make_plan([], [], [make_aggregate("sum", square), make_aggregate("", None)]), tmp_path)
    state.apply(stream_morsel(rows_with(2, i8=lambda number: 2**62)), 0)
    state.groups.merge(state.groups.swap())
    assert exported(state)[0][0] == Decimal(2 * 2**124)
    state.apply(stream_morsel(rows_with(9, i8=lambda number: -(2**63))), 0)
    state.groups.merge(state.groups.swap())
    with pytest.raises(SqlError) as raised:
        state.export(0)
    assert raised.value.sqlstate == "22003"


def test_sums_may_leave_128_bits_and_come_back(tmp_path: Path) -> None:
    value = column("n38")
    state = ViewState(make_plan([], [], [make_aggregate("sum", value), make_aggregate("avg", value)]), tmp_path)
    most = Decimal(10**38 - 1).scaleb(-6, EXACT)
    state.apply(stream_morsel(rows_with(40, n38=lambda number: most if number < 20 else most.copy_negate())), 0)
    state.apply(stream_morsel(rows_with(1, n38=lambda number: Decimal("1.500000"))), 0)
    state.groups.merge(state.groups.swap())
    assert exported(state)[0][0] == Decimal("1.500000")


def test_float_sums_overflow_only_from_finite_values(tmp_path: Path) -> None:
    state = ViewState(make_plan([], [column("i4")], [make_aggregate("sum", column("f8"))]), tmp_path)
    rows = rows_with(4, i4=lambda number: number // 2, f8=lambda number: [float("inf"), 1.0, 1e308, 1.0][number])
    state.apply(stream_morsel(rows), 0)
    state.groups.merge(state.groups.swap())
    assert sorted(exported(state)) == [(0, float("inf")), (1, 1e308)]
    state.apply(stream_morsel(rows_with(1, i4=lambda number: 1, f8=lambda number: 1e308)), 0)
    state.groups.merge(state.groups.swap())
    with pytest.raises(SqlError, match="22003"):
        state.export(0)


def test_groups_whose_sum_is_out_of_range_are_told_apart(tmp_path: Path) -> None:
    sums = [make_aggregate("sum", column("f8")), make_aggregate("", None), make_aggregate("sum", column("i4"))]
    state = ViewState(make_plan([], [column("i4")], sums), tmp_path)
    too_large = {3, 4, 99}
    rows = rows_with(200, i4=lambda number: number // 2, f8=lambda n: 1e308 if n // 2 in too_large else float(n))
    state.apply(stream_morsel(rows), 0)
    state.groups.merge(state.groups.swap())
    table, unmade = state.export_groups()
    assert unmade == [1]
    schema = unmade_schema(state.plan.finish.input, unmade)
    for key, total, count, whole, flag in python_rows(table, schema):
        assert isinstance(key, int)
        assert (total, flag) == ((None, 1) if key in too_large else (4.0 * key + 1, 0))
        assert (count, whole) == (2, 2 * key)
    everybody = rows_with(5000, i4=lambda number: number // 2, f8=lambda number: 1e308)
    state.apply(stream_morsel(everybody), 0)
    state.groups.merge(state.groups.swap())
    with pytest.raises(SqlError, match="22003"):
        state.export_groups()


def test_finish_step_filters_and_computes(tmp_path: Path) -> None:
    plan = make_plan([], [column("t")], [make_aggregate("sum", column("n2"))])
    groups = plan.stream.groups
    name, total = (Column(index, item.name, item.type) for index, item in enumerate(groups))
    items: tuple[tuple[str, Expression], ...] = (
        ("label", Call("concat_op", (name, Literal(" has the sum of", TEXT)), TEXT)),
        ("half", Call("divide", (total, Literal(Decimal(2), scaled_numeric(0))), scaled_numeric(None))),
    )
    predicate = Call("gt", (total, Literal(Decimal(2), scaled_numeric(0))), BOOL)
    output = tuple(OutputColumn(key, item.type) for key, item in items)
    finish = FinishStep(groups, (predicate,), items, output)
    state = ViewState(chain(plan.stream, finish, None, None), tmp_path)
    rows = rows_with(
        2000, t=lambda number: f"t{number % 1000}", n2=lambda number: Decimal(number % 1000 % 5).scaleb(-2) + 1
    )
    state.apply(stream_morsel(rows), 0)
    state.groups.merge(state.groups.swap())
    found = exported(state)
    assert len(found) == 800
    assert [path.parent for path in state.kernel_paths] == [tmp_path, tmp_path]
    assert ("t1 has the sum of", Decimal("1.0100000000000000")) in found


def test_tables_fold_on_threads(tmp_path: Path) -> None:
    plan = make_plan([], [column("t")], [make_aggregate("sum", column("n2")), make_aggregate("max", column("t"))])
    state = ViewState(plan, tmp_path)
    rows = rows_with(
        5000, t=lambda number: f"a text of some length {number % 77}", n2=lambda number: Decimal(number).scaleb(-2)
    )
    morsel = stream_morsel(rows)

    def work() -> None:
        table = state.program.new_table()
        state.program.fold(morsel, table, 0)
        state.groups.absorb(table)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    state.groups.merge(state.groups.swap())
    wanted = group([column("t")], [call for _, call in plan.stream.aggregates], [], rows * 4)
    assert_same_groups(exported(state), wanted, 1)


def test_unsupported_is_0a000_at_creation(tmp_path: Path) -> None:
    padded = Call("initcap", (column("t"),), TEXT, position=7)
    with pytest.raises(SqlError) as raised:
        ViewState(make_plan([], [padded], [make_aggregate("", None)]), tmp_path)
    assert (raised.value.sqlstate, raised.value.position) == ("0A000", 7)
    assert "initcap" in raised.value.message


def test_read_only_arrays_are_taken(tmp_path: Path) -> None:
    state = ViewState(make_plan([], [], [make_aggregate("sum", column("i4"))]), tmp_path)
    morsel = stream_morsel(rows_with(3, i4=lambda number: 7))
    for array in (*morsel.data, *morsel.nulls):
        array.flags.writeable = False
    state.program.check(morsel, 0)
    state.apply(morsel, 0)
    state.groups.merge(state.groups.swap())
    assert exported(state) == [(21,)]
    assert np.all(morsel.data[2] == 7)


def test_numeric_key_of_variable_scale_shows_the_first_form(tmp_path: Path) -> None:
    ten = Literal(Decimal(10), scaled_numeric(0))
    key = Call("coalesce", (Cast(column("i4"), scaled_numeric(0)), column("n2"), ten), scaled_numeric(None))
    state = ViewState(make_plan([], [key], [make_aggregate("", None)]), tmp_path)
    rows = rows_with(
        4, i4=lambda number: 3 if number == 2 else None, n2=lambda number: Decimal("3.00") if number < 2 else None
    )
    state.apply(stream_morsel(rows), 0)
    state.groups.merge(state.groups.swap())
    assert sorted(map(str, (row[0] for row in exported(state)))) == ["10", "3.00"]
