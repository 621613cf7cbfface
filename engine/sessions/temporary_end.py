"""The end of a session's temporary relations, soon after the end of the session.

Enters: the session that is over. Leaves: its schema dropped, in a transaction of its own.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from sql.errors import SqlError

if TYPE_CHECKING:
    from engine.sessions.session import Session

log = logging.getLogger(__name__)
# Without this set nothing would hold the tasks.
_ending: set[asyncio.Task[None]] = set()


def end_temporary(session: Session) -> None:
    """Drop the session's temporary relations, soon."""
    if session.runner.temporary.schema in session.server.catalog.image.schemas:
        task = asyncio.get_running_loop().create_task(_end(session))
        _ending.add(task)
        task.add_done_callback(_ending.discard)


async def _end(session: Session) -> None:
    block = session.block
    session.begin_message(simple=True)
    try:
        await session.runner.drop_temporary(block.current())
        await block.commit()
    except SqlError as error:
        log.warning("temporary relations stay until the next start: %s", error)
        block.roll_back()
