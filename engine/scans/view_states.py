"""The states of the groups that continuous views keep, as rows of state_of().

Enters: the name of a state. Leaves: an Arrow table, the keys of the groups and their states as
bytes. The groups are those of all commits at the moment of the reading.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

import pyarrow as pa

from engine.catalog.image import CatalogImage, states_of
from engine.commit.transaction import Transaction, stages_among
from sql.errors import not_supported
from sql.names.relation_keys import name_of
from sql.tree.relations import StateRead


def group_states(
    read: StateRead, image: CatalogImage, transaction: Transaction, commit_lock: AbstractContextManager[object]
) -> pa.Table:
    """Return the rows of state_of(). Raises 0A000 where the transaction has rows that the view has
    not counted yet.
    """
    chain = next(one.chain for one in states_of(image.entries[read.view]) if one.chain.name == read.state)
    if any(stage.stream.name == chain.stream_name for stage in stages_among(transaction.operations)):
        raise not_supported(
            f'state_of view "{name_of(read.view)}" after rows of the same transaction', hint="Commit the rows first."
        )
    return chain.state.keys_and_states(commit_lock)
