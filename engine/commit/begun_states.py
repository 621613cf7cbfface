"""The groups that states begin with: those of the state that a view had before, or of a backfill.

Enters: the catalog of a transaction that commits, while all other commits wait. Leaves: the groups
in their states, and their records for the log, so that a start has them without a checkpoint. Must
not commit.
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager

import numpy as np

from engine.catalog.image import CatalogImage
from engine.commit.arrival_joins import begun_joins, join_payloads
from ringbuffer.pages.log_rows import GROUPS_FORM, ROWS_HEAD
from ringbuffer.pages.pages import Page, write_pages
from views.upkeep.chain import Chain

NOTHING = np.zeros(0, dtype=np.uint8)
# A record has so many numbers or bytes of the groups at most.
PIECE_ITEMS = 1 << 17


def first_payloads(
    before: CatalogImage,
    after: CatalogImage | None,
    created: Collection[int],
    joined: Collection[Chain],
    commit_lock: AbstractContextManager[object],
) -> Iterator[list[bytes]]:
    """Yield the payloads of the records that stand before the rows of a transaction: what new
    states begin with, and the rows that views join with.

    created: the oids of states that begin to take rows. joined: views whose tables change.
    """
    for oid, entry in () if after is None else after.states.items():
        if oid not in before.states:
            state = entry.chain.state
            state.inherit(commit_lock)
            if state.completes is not None:
                state.completes()
            if state.is_filled:
                yield from group_payloads(entry.chain)
    yield from join_payloads({*joined, *begun_joins(after, created)})


def group_payloads(chain: Chain) -> Iterator[list[bytes]]:
    """Yield the payloads of one state: an empty page named by the meaning of the groups, then their
    pages.

    The oid of the state stands in the place of the stream's.
    """
    head = ROWS_HEAD.pack(chain.state_oid, GROUPS_FORM, 0, 0)
    with chain.state.groups.pages() as pages:
        for page in itertools.chain([Page(chain.state.program.fingerprint, NOTHING)], pages):
            for start in range(0, max(1, len(page.array)), PIECE_ITEMS):
                written = io.BytesIO()
                write_pages(written.write, [Page(page.name, page.array[start : start + PIECE_ITEMS])])
                yield [head, written.getvalue()]
