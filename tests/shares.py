"""Tests of which `make test` takes a share; `make test-long` takes the others.

Of the cases of a test that is marked `turns(n)`, a run of the whole suite takes every n-th: those
of turn 0, or of `--turn N`. The same commit runs the same tests every day. A run of single files
takes them all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from zlib import crc32

import pytest

# Files about neighbouring things that take turns: those on the left run in turn 0, those on the
# right in turn 1. A test that is marked has its own turns.
PAIRS = """
ringbuffer/compile/test_compile_process | ringbuffer/compile/test_loader ringbuffer/compile/test_code_cache
ringbuffer/patterns/test_regular_machines | engine/embedded/test_regular_expressions end_to_end/test_regular_expressions
views/codegen/test_flat_logic | views/codegen/test_constant_tables views/plan/test_pass_order
views/upkeep/test_join_tables | views/upkeep/test_state
views/upkeep/test_first_rows views/upkeep/test_list_states | views/upkeep/test_state_pages
engine/commit/test_computed_columns | engine/sessions/test_computed_inserts engine/commit/test_arrival
engine/ingest/test_copy_arrow | engine/ingest/test_copy_in engine/ingest/test_copy_binary
engine/sessions/test_reads_at_once | engine/sessions/test_kept_plans engine/sessions/test_kept_for_sessions
engine/sessions/test_bind_runs | engine/sessions/test_row_inserts engine/sessions/test_insert_paths
engine/scans/test_table_rows | engine/scans/test_point_reads
engine/ddl/test_view_life_cycle | end_to_end/test_view_life end_to_end/test_kept_contents
engine/ddl/test_stream_alterations | end_to_end/test_stream_alterations
engine/ddl/test_shared_pipelines | engine/ddl/test_view_states
engine/ddl/test_embedded_pipelines | engine/ddl/test_functions
engine/tables/test_conflicting_writes | engine/tables/test_table_writes
engine/catalog/test_disabled_views | end_to_end/test_zones_of_definitions
engine/embedded/test_float_aggregates | engine/embedded/test_first_aggregates
engine/system_catalog/test_catalog_rows | engine/system_catalog/test_view_texts system_catalog/test_expressions
end_to_end/test_adapters | end_to_end/test_drivers
end_to_end/test_locks | end_to_end/test_transactions end_to_end/test_savepoints
end_to_end/test_streams | end_to_end/test_table_sessions
end_to_end/test_arrival end_to_end/test_arrival_joins | end_to_end/test_snapshots
end_to_end/test_eager_grouping | views/plan/test_eager_grouping
faults/test_every_event | faults/test_kill
engine/ddl/test_definitions | engine/ddl/test_definitions_side_by_side
engine/scans/test_scheduled | engine/scans/test_warm_pipelines
engine/server/test_shutdown | end_to_end/test_shutdown
end_to_end/test_streams | end_to_end/test_stream_types
engine/catalog/test_rights_of_reads | engine/system_catalog/test_catalog_rights
engine/commit/test_caps | engine/commit/test_inserts_beside_alterations
"""
PLACES = {
    f"tests/{name}.py": place
    for line in PAIRS.strip().splitlines()
    for place, side in enumerate(line.split("|"))
    for name in side.split()
}


def is_whole(config: pytest.Config) -> bool:
    """Tell whether a run is one of the whole suite, which takes shares, also in a worker of it."""
    picked = config.getoption("-k") or config.getoption("--rewrite") or config.getoption("--check")
    return config.args == config.getini("testpaths") and not picked


def mark_what_has_no_turn(items: Sequence[pytest.Item], turn: int) -> None:
    """Mark the cases long that are not taken in a turn.

    A test alone says its place: `turns(3, 1)`. Others are mixed: neighbours are alike.
    """
    cases: dict[tuple[object, tuple[int, ...]], list[pytest.Item]] = defaultdict(list)
    for item in items:
        marks = list(item.iter_markers("turns"))
        if marks:
            test = item.path, getattr(item, "originalname", item.name)
            # What a case says of itself comes after what its test says of all.
            cases[test, marks[-1].args].append(item)
        elif PLACES.get(item.nodeid.partition("::")[0], turn % 2) != turn % 2:
            item.add_marker(pytest.mark.long)
    for (_, (of, *places)), found in cases.items():
        found.sort(key=lambda item: (crc32(item.name.encode()), item.name))
        # Of few cases one is taken.
        count = of if places else min(of, len(found))
        for place, item in enumerate(found):
            if (places[0] if places else place) % count != turn % count:
                item.add_marker(pytest.mark.long)


def share(values: Iterable[Any], is_taken: Callable[[Any], bool]) -> list[Any]:
    """Return the parameters of a test: those that are not taken are marked long."""
    return [value if is_taken(value) else pytest.param(value, marks=pytest.mark.long) for value in values]
