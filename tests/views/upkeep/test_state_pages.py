"""A view's state as pages: what is loaded goes on like what was written, and nothing else is
loaded.
"""

from __future__ import annotations

import io
import random
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ringbuffer.groups.aggregates import State
from ringbuffer.groups.hash_table import ENTRY, GroupTable, TableLayout, find_group, hash_entry
from ringbuffer.groups.merge import merge_tables
from ringbuffer.memory.arrow import slice_morsel
from ringbuffer.pages.pages import Page, read_pages, write_pages
from sql.tree.expressions import Call, Expression, Literal
from sql.tree.relations import OutputColumn, Scan
from sql.types.datatypes import INT4, INT8, INTERVAL, TEXT, TIMESTAMP
from tests.views.random_expressions import ExpressionMaker, random_rows
from tests.views.upkeep.test_state import (
    STREAM,
    assert_same_groups,
    column,
    exported,
    feed,
    make_aggregate,
    make_plan,
    outcome,
    random_aggregate,
    rows_with,
    split_early,
    stream_morsel,
)
from views.codegen.grouping import make_grouping
from views.model.nodes import Probe, StreamPipeline
from views.upkeep.older_states import StoredForm
from views.upkeep.state import ViewState
from views.upkeep.state_pages import COUNTERS, load_tables, state_fingerprint, table_pages


def through_bytes(pages: Iterable[Page]) -> list[Page]:
    """Return the pages as they are read from a file."""
    file = io.BytesIO()
    write_pages(file.write, pages)
    file.seek(0)
    return list(read_pages(file.read))


def pages_of(state: ViewState) -> list[Page]:
    with state.groups.pages() as pages:
        return list(pages)


def form_of(state: ViewState) -> StoredForm:
    form = state.stored_form(state.program.fingerprint)
    assert form is not None
    return form


@pytest.mark.turns(2)
@pytest.mark.parametrize("seed", range(6))
def test_a_loaded_state_goes_on_like_the_one_that_was_written(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose = random.Random(2000 + seed)
    monkeypatch.setattr("views.upkeep.state_pages.PAGE_BYTES_MAX", choose.choice((8, 1000, 1 << 20)))
    if seed % 2:
        split_early(monkeypatch)
    maker = ExpressionMaker(choose, STREAM, tame=True)
    keys = [maker.any(choose.randint(0, 1)) for _ in range(choose.randint(0, 3))]
    aggregates = [random_aggregate(maker) for _ in range(choose.randint(1, 5))]
    plan = make_plan([maker.boolean(1)], keys, aggregates, "skip")
    written, loaded = ViewState(plan, tmp_path), ViewState(plan, tmp_path)
    assert written.program.fingerprint == loaded.program.fingerprint
    morsel = stream_morsel(random_rows(choose, 500, STREAM))
    feed(written, slice_morsel(morsel, 0, 250), choose)
    feed(loaded, slice_morsel(morsel, 0, 30), choose)
    table = loaded.program.new_table()
    loaded.program.fold(morsel, table, 0)
    loaded.groups.absorb(table)
    loaded.load(through_bytes(pages_of(written)), form_of(written))
    assert loaded.groups.counts.tuples_in == written.groups.counts.tuples_in == 250
    for state in (written, loaded):
        feed(state, slice_morsel(morsel, 250, 250), random.Random(seed))
    counts = [
        (state.groups.counts.tuples_in, state.groups.counts.tuples_passed, state.groups.counts.tuples_skipped)
        for state in (written, loaded)
    ]
    assert counts[0] == counts[1]
    found, wanted = outcome(lambda: exported(loaded)), outcome(lambda: exported(written))
    if isinstance(found, str) or isinstance(wanted, str):
        assert found == wanted
        return
    assert_same_groups(found, wanted, len(keys))


def test_pages_are_those_of_the_merged_rows_only(tmp_path: Path) -> None:
    state = ViewState(make_plan([], [column("i4")], [make_aggregate("", None)]), tmp_path)
    state.apply(stream_morsel(rows_with(3, i4=lambda number: number)), 0)
    state.groups.merge(state.groups.swap())
    state.apply(stream_morsel(rows_with(9, i4=lambda number: number)), 0)
    counters = pages_of(state)[0].array
    assert dict(zip(("rows", "heap", "in", "passed", "skipped", "late"), counters.tolist(), strict=True)) == {
        "rows": 3, "heap": 0, "in": 3, "passed": 3, "skipped": 0, "late": 0
    }  # fmt: skip


def test_an_empty_state(tmp_path: Path) -> None:
    choices: list[list[Expression]] = [[], [column("t")]]
    for keys in choices:
        state = ViewState(make_plan([], keys, [make_aggregate("max", column("t"))]), tmp_path)
        before = exported(state)
        state.load(through_bytes(pages_of(state)), form_of(state))
        assert exported(state) == before
        state.apply(stream_morsel(rows_with(1, t=lambda number: "a text of more than twelve bytes")), 0)
        state.groups.merge(state.groups.swap())
        assert exported(state)[0][-1] == "a text of more than twelve bytes"


@pytest.mark.parametrize(
    "change",
    [
        lambda pages: [],
        lambda pages: pages[1:],
        lambda pages: pages[:-1],
        lambda pages: [*pages, pages[-1]],
        lambda pages: [*pages, Page("other", pages[-1].array)],
        lambda pages: [pages[0], Page("rows", pages[1].array.astype(np.float64)), *pages[2:]],
        lambda pages: [pages[0], Page("rows", pages[1].array.reshape(-1, 1)), *pages[2:]],
        lambda pages: [Page("counters", pages[0].array[:4]), *pages[1:]],
        lambda pages: [Page("counters", -pages[0].array), *pages[1:]],
        lambda pages: [Page("counters", pages[0].array + 1), *pages[1:]],
    ],
)
def test_other_pages_are_refused_and_the_state_stays(change: object, tmp_path: Path) -> None:
    assert callable(change)
    state = ViewState(make_plan([], [column("t")], [make_aggregate("", None)]), tmp_path)
    state.apply(stream_morsel(rows_with(2, t=lambda number: "a text of more than twelve bytes")), 0)
    state.groups.merge(state.groups.swap())
    before = exported(state)
    with pytest.raises(ValueError, match="the state of a view"):
        state.load(change(pages_of(state)), form_of(state))
    assert exported(state) == before


def fingerprint(pipeline: StreamPipeline) -> str:
    return state_fingerprint(pipeline, make_grouping(pipeline))


def test_names_do_not_matter_to_the_fingerprint_but_meanings_do() -> None:
    quotient = Call("divide", (Literal(10, INT4), column("i4")), INT4)
    probe = Probe("t", Scan("t", "table", (OutputColumn("k", INT4),)), 1, "inner", ((column("i4"), 0),), (), ())
    pipeline = replace(
        make_plan([column("b")], [column("t")], [make_aggregate("sum", quotient)]).stream, probes=(probe,)
    )
    renamed = replace(
        pipeline,
        stream="other",
        input=tuple(replace(described, name=f"{described.name}_") for described in pipeline.input),
        keys=(("other", replace(column("t"), name="other", position=9)),),
        aggregates=(("other", make_aggregate("sum", replace(quotient, text="10 / i4", position=4))),),
        probes=(replace(probe, name="u", build=Scan("u", "table", (OutputColumn("l", INT4),))),),
    )
    assert fingerprint(renamed) == fingerprint(pipeline)
    others = [
        replace(pipeline, filters=()),
        replace(pipeline, on_error="skip"),
        replace(pipeline, keys=()),
        replace(pipeline, keys=(("t", column("i4")),)),
        replace(pipeline, aggregates=(("a0", make_aggregate("avg", quotient)),)),
        replace(pipeline, aggregates=(("a0", make_aggregate("sum", quotient, column("b"))),)),
        replace(pipeline, aggregates=(("a0", make_aggregate("sum", replace(quotient, function="modulo"))),)),
        replace(pipeline, probes=()),
        replace(pipeline, probes=(replace(probe, kind="left"),)),
        replace(pipeline, probes=(replace(probe, keys=((column("i8"), 0),)),)),
        replace(pipeline, probes=(replace(probe, build=Scan("t", "table", (OutputColumn("k", INT8),))),)),
    ]
    assert len({fingerprint(each) for each in (pipeline, *others)}) == len(others) + 1


@pytest.mark.parametrize(
    "call",
    [
        Call("add_interval", (column("ts"), Literal(0, INT4), Literal(1, INT4), Literal(0, INT8)), TIMESTAMP),
        Call("age", (column("ts"), column("ts")), INTERVAL),
    ],
    ids=lambda call: str(call.function),
)
def test_a_time_without_a_zone_has_the_fingerprint_that_it_had(call: Call) -> None:
    """Earlier versions had an empty zone in the tree, and stored states with it."""
    before = replace(call, arguments=(*call.arguments, Literal("", TEXT)))
    today, then = (make_plan([], [key], [make_aggregate("", None)]).stream for key in (call, before))
    assert fingerprint(today) == fingerprint(then)


def test_the_stored_form_is_what_it_was() -> None:
    """If this fails, states of earlier versions can't be read any more: raise STATE_FORM, and write
    the new values here.
    """
    assert {state.name: int(state) for state in State} == {
        "COUNT": 0, "SUM_INTEGER": 1, "SUM_NUMERIC": 2, "SUM_FLOAT64": 3, "SUM_FLOAT32": 4, "AVERAGE_FLOAT": 5, "MIN_INTEGER": 6,
        "MAX_INTEGER": 7, "MIN_FLOAT": 8, "MAX_FLOAT": 9, "MIN_NUMERIC": 10, "MAX_NUMERIC": 11, "MIN_TEXT": 12, "MAX_TEXT": 13,
        "ANY_FALSE": 14, "ANY_TRUE": 15, "FIRST": 16, "BIT_AND": 17, "BIT_OR": 18, "BIT_XOR": 19, "SUM_SQUARES": 20,
        "MIN_STORED": 21, "MAX_STORED": 22, "LIST": 23, "PAIRS": 24, "REGISTERS": 25, "QUANTILES": 26, "COUNTERS": 27,
        "FILTER": 28, "COMBINED": 29, "TOP": 30,
    }  # fmt: skip
    text = np.frombuffer(b"a text of more than twelve bytes", dtype=np.uint8).copy()
    entry = np.array([5, -7, len(text) | int.from_bytes(b"a te", "little") << 32, 0], dtype=np.int64)
    assert hash_entry(entry, 0, text.ctypes.data, 4, 0b100) == HASH
    aggregates = [
        make_aggregate("avg", column("f8")),
        make_aggregate("sum", column("i8")),
        make_aggregate("max", column("t")),
    ]
    assert fingerprint(make_plan([column("b")], [column("t"), column("f8")], aggregates).stream) == FINGERPRINT


HASH = 8876418031056324383
FINGERPRINT = "b1ca9f874e0dcdd4525be35bb9d3d12c"


def synthetic_table(groups_count: int) -> GroupTable:
    """Return a table of different rows of ten words: hash, null mask, three key words, count, sum
    of three words, minimum.
    """
    layout = TableLayout(key_words=4, entry_words=4, row_words=10, text_mask=0)
    table = GroupTable(layout, 1 << (groups_count - 1).bit_length())
    rows = table.rows.reshape(-1, 10)[:groups_count]
    numbers = np.arange(groups_count, dtype=np.int64)
    rows[:, 0] = (numbers * 0x1E3779B97F4A7C15) ^ (numbers >> 7)
    rows[:, 2] = numbers
    rows[:, 3] = numbers % 1000
    rows[:, 5] = 1
    rows[:, 6] = numbers * 3
    table.control[COUNTERS[0]] = groups_count
    table.control[COUNTERS[2]] = groups_count
    return table


@pytest.mark.parametrize("groups_count", [0, 1, 31, 32, 33, 5000])
def test_tables_of_any_size(groups_count: int) -> None:
    layout = TableLayout(key_words=2, entry_words=2, row_words=4, text_mask=0)
    table = GroupTable(layout)
    sizes = (layout.key_words, layout.entry_words, layout.row_words, layout.text_mask)
    for number in range(groups_count):
        table.control[ENTRY + 1] = number * 77
        while (row := find_group(table.control, table.slots, table.rows, table.control, ENTRY, 0, *sizes)) < 0:
            table.grow_rows()
        table.rows[row + 3] = number + 1
    (loaded,) = load_tables(layout, through_bytes(table_pages(table)))
    assert loaded.groups_count == groups_count
    merge_tables(loaded, table, np.array([(int(State.COUNT), 3, 3)], dtype=np.int64))
    assert loaded.groups_count == groups_count
    assert (loaded.rows[3 : 4 * groups_count : 4] == 2 * np.arange(1, groups_count + 1)).all()


def test_a_million_groups_are_loaded_as_they_were(tmp_path: Path) -> None:
    table = synthetic_table(1_000_000)
    path = tmp_path / "pages"
    with path.open("wb") as file:
        write_pages(file.write, table_pages(table))
    with path.open("rb") as file:
        (loaded,) = load_tables(table.layout, read_pages(file.read))
    assert loaded.groups_count == 1_000_000
    assert (loaded.rows[: 10 * loaded.groups_count] == table.rows[: 10 * loaded.groups_count]).all()
