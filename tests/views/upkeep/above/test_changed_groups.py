"""Changes that merges have made, before and after, in states of one part and of many."""

from __future__ import annotations

from random import Random

import pytest

from ringbuffer.groups.hash_table import GroupTable
from tests.views.delta.changed_rows import PIPELINE, answer, folded
from views.upkeep.above.changed_groups import CHANGED_SHARE, ChangedGroups
from views.upkeep.commit_buffers import CommitBuffer
from views.upkeep.group_state import GroupState
from views.upkeep.partitions import SPLIT_GROUPS
from views.upkeep.program import StreamProgram

LONG = "a group with a name of more than twelve bytes: "


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> StreamProgram:
    return StreamProgram(PIPELINE, tmp_path_factory.mktemp("kernels"))


def no_groups(program: StreamProgram) -> GroupState:
    return GroupState(CommitBuffer(program.new_table, program.merge_steps), keys_only=True)


def merged(state: GroupState, table: GroupTable) -> None:
    """Merge a table as a refresh does."""
    state.absorb(table)
    state.merge(state.swap())


def table_of(program: StreamProgram, numbers: range | list[int], value: int) -> GroupTable:
    return folded(program, [(f"{LONG if number % 2 else ''}{number}", value, None) for number in numbers])


@pytest.mark.parametrize("count", [0, 2_000, SPLIT_GROUPS + 1_000])
def test_changes_lead_from_one_state_to_the_next(program: StreamProgram, count: int) -> None:
    chance, state = Random(count), no_groups(program)
    merged(state, table_of(program, range(count), 1))
    state.changed = noted = ChangedGroups()
    known: dict[object, tuple[object, ...]] = {
        f"{LONG if number % 2 else ''}{number}": (1, 1, 1, None) for number in range(count)
    }
    for value in (5, -3):
        merged(state, table_of(program, chance.sample(range(count + 50), 40), value))
    assert state.changed is noted and len(noted.changes) == 2
    for before, after in noted.take():
        old, new = answer(program, before), answer(program, after)
        assert old.items() <= known.items() and old.keys() == known.keys() & new.keys() and len(new) == 40
        known |= new
    found = [answer(program, table) for table in state.merged.tables]
    assert {name: group for part in found for name, group in part.items()} == known
    assert (noted.changes, noted.groups_count) == ([], 0)


def test_too_many_changes_are_not_noted(program: StreamProgram) -> None:
    state = no_groups(program)
    merged(state, table_of(program, range(4_000), 1))
    state.changed = noted = ChangedGroups()
    merged(state, table_of(program, range(4_000 // CHANGED_SHARE - 10), 1))
    assert state.changed is noted
    merged(state, table_of(program, range(20), 1))
    assert state.changed is None, "the sum of both is too much"


def test_what_replaces_groups_ends_the_notes(program: StreamProgram) -> None:
    state = no_groups(program)
    for work in (state.reset, lambda: state.replace(state.new_partitions()), lambda: split(state, program)):
        state.changed = noted = ChangedGroups()
        work()
        assert state.changed is not noted


def split(state: GroupState, program: StreamProgram) -> None:
    """Bring more groups than one table has."""
    merged(state, table_of(program, range(SPLIT_GROUPS + 1), 1))
    assert len(state.merged.tables) > 1
