"""Chains whose stream pipelines are equal take rows together: one of them leads, and rows are
folded once.

Enters: the chains that take rows now. Leaves: sets of them with a `SharedBuffer` each. A chain
counts from its own creation on, and may be emptied or left alone while another chain goes on, so
that merged groups are each chain's own. Must not know the catalog.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from views.codegen.grouping import make_grouping
from views.model.nodes import StreamPipeline
from views.model.plan import Plan
from views.share.reuse import equal_plan
from views.upkeep.chain import Chain
from views.upkeep.group_state import SharedBuffer
from views.upkeep.state_pages import state_fingerprint

Chains = tuple[Chain, ...]


def together(chains: Iterable[Chain]) -> tuple[Chains, ...]:
    """Return chains in sets that take rows together, in order; the first one of a set leads.

    Which rows are late, each chain tells by itself.
    """
    sets: list[list[Chain]] = []
    for chain in chains:
        for known in sets:
            is_gated = any(one.state.groups.watermark is not None for one in (chain, known[0]))
            if chain.state.program is known[0].state.program and not is_gated:
                known.append(chain)
                break
        else:
            sets.append([chain])
    return tuple(tuple(known) for known in sets)


def find_twin(candidates: Iterable[Chain], plan: Plan, stream_join: str, is_new: bool) -> tuple[Chain | None, Plan]:
    """Return a chain with which one of this plan can take rows, or None, and the plan to do so.

    Both are over the same columns of the same stream. is_new: the chain keeps no groups yet, and so
    may take over the order in which the other chain keeps keys and aggregates.
    """
    for chain in candidates:
        kept = chain.plan.maintained
        if not _joins_alike(kept, plan.maintained):
            continue
        if kept.probes and chain.definition.joins.stream_join != stream_join:
            continue
        if state_fingerprint(plan.maintained, make_grouping(plan.maintained)) == chain.state.program.fingerprint:
            return chain, plan
        equal = equal_plan(kept, plan) if is_new else None
        if equal is not None:
            return chain, equal
    return None, plan


def _joins_alike(one: StreamPipeline, other: StreamPipeline) -> bool:
    if one.stream != other.stream or len(one.probes) != len(other.probes):
        return False
    return all(mine.build == theirs.build for mine, theirs in zip(one.probes, other.probes, strict=True))


class Sharing:
    """The sets of chains that take rows together at present.

    Its methods are called under the commit lock.
    """

    def __init__(self) -> None:
        self._shared_buffers: dict[tuple[int, ...], SharedBuffer] = {}

    def follow(self, sets: Sequence[Chains]) -> None:
        """Let the chains of each set take rows together, and all other chains by themselves."""
        states = [[chain.state.groups for chain in chains] for chains in sets if len(chains) > 1]
        wanted = {tuple(map(id, members)): members for members in states}
        for key in [key for key in self._shared_buffers if key not in wanted]:
            self._shared_buffers.pop(key).end()
        for key, members in wanted.items():
            if key not in self._shared_buffers:
                self._shared_buffers[key] = SharedBuffer(members)
