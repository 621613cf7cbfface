"""The refusals to change tables that continuous views have joined with their streams."""

from __future__ import annotations

from collections.abc import Collection

from engine.catalog.disabled_views import refuse_table
from engine.catalog.image import Entry, states_of
from sql.errors import SqlError

# How a view may be made, so that rows of its tables may change.
FROZEN = ", or make it WITH (stream_join = arrival) instead of freeze_tables, so that the table may change"
JOINED = (
    ", or make it WITH (stream_join = arrival), where rows of the stream meet the table as it is when they arrive, "
    "or WITH (stream_join = retroactive), where a change counts for all rows"
)


def refuse_joined(name: str, entries: Collection[Entry], is_altered: bool = False) -> None:
    """Raise 55006 if one of `entries` is a continuous view that joins its stream with this table.

    55000 if the view is disabled. Rows may change under views with stream_join = arrival,
    definitions (is_altered) may not.
    """
    refuse_table(name, entries)
    for entry in entries:
        joined = [state.chain for state in states_of(entry) if name in state.chain.stream_tables]
        if joined and (is_altered or not all(view.joins_at_arrival for view in joined)):
            view = entry.description.name
            is_frozen = any(one.definition.joins.freeze_tables for one in joined)
            other = "" if is_altered else FROZEN if is_frozen else JOINED
            raise SqlError(
                "55006",
                f'cannot change table "{name}" because continuous view "{view}" joins it with its stream',
                detail="The view has built the table's rows into its stream pipeline.",
                hint=f"DROP VIEW {view} first{other}.",
                table_name=name,
            )
