"""Views whose stream pipelines are equal take rows together: one of them leads, and rows are folded
once.

Enters: the views that take rows now. Leaves: sets of them with a `SharedBuffer` each. A view counts
from its own creation on, and may be emptied or left alone while another view goes on, so that
merged groups are each view's own. Must not know the catalog.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from views.codegen.grouping import make_grouping
from views.model.nodes import StreamPipeline
from views.model.plan import Plan
from views.share.reuse import equal_plan
from views.upkeep.group_state import SharedBuffer
from views.upkeep.state_pages import state_fingerprint
from views.upkeep.view import ContinuousView

Views = tuple[ContinuousView, ...]


def together(views: Iterable[ContinuousView]) -> tuple[Views, ...]:
    """Return the views in sets that take rows together, in order; the first view of a set leads."""
    sets: list[list[ContinuousView]] = []
    for view in views:
        for known in sets:
            if view.state.takes_rows_of(known[0].state):
                known.append(view)
                break
        else:
            sets.append([view])
    return tuple(tuple(known) for known in sets)


def find_twin(
    candidates: Iterable[ContinuousView], plan: Plan, stream_join: str, is_new: bool
) -> tuple[ContinuousView | None, Plan]:
    """Return a view with which one of this plan can take rows, or None, and the plan to do so.

    Both are over the same columns of the same stream. is_new: the view keeps no groups yet, and so
    may take over the order in which the other view keeps keys and aggregates.
    """
    for view in candidates:
        kept = view.plan.maintained
        if not _joins_alike(kept, plan.maintained):
            continue
        if kept.probes and view.definition.joins.stream_join != stream_join:
            continue
        if state_fingerprint(plan.maintained, make_grouping(plan.maintained)) == view.state.program.fingerprint:
            return view, plan
        equal = equal_plan(kept, plan) if is_new else None
        if equal is not None:
            return view, equal
    return None, plan


def _joins_alike(one: StreamPipeline, other: StreamPipeline) -> bool:
    if one.stream != other.stream or len(one.probes) != len(other.probes):
        return False
    return all(mine.build == theirs.build for mine, theirs in zip(one.probes, other.probes, strict=True))


class Sharing:
    """The sets of views that take rows together at present.

    Its methods are called under the commit lock.
    """

    def __init__(self) -> None:
        self._shared_buffers: dict[tuple[int, ...], SharedBuffer] = {}

    def follow(self, sets: Sequence[Views]) -> None:
        """Let the views of each set take rows together, and all other views by themselves."""
        states = [[view.state.groups for view in views] for views in sets if len(views) > 1]
        wanted = {tuple(map(id, members)): members for members in states}
        for key in [key for key in self._shared_buffers if key not in wanted]:
            self._shared_buffers.pop(key).end()
        for key, members in wanted.items():
            if key not in self._shared_buffers:
                self._shared_buffers[key] = SharedBuffer(members)
