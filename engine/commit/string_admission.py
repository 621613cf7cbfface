"""The check that the string buffers of streams have room for the texts of a transaction.

The committer asks before anything of the transaction is decided. Enters: staged statements. Leaves:
the places of the rows in each ring. Raises FullBufferError. The caller holds the append lock of the
log, or has the log to itself, so that rows are admitted in the order in which they will be
appended.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from engine.commit.staging import StatementStage
from engine.streams.stream import Stream
from ringbuffer.ring.ring import Ring
from ringbuffer.ring.string_room import NoRoomError, Place, StringRoom
from sql.errors import SqlError

Admitted = Sequence[tuple[StringRoom, Place]]


@dataclass
class FullBufferError(SqlError):
    """A string buffer has no room for the rows of a transaction.

    Attributes:
        is_lasting: true if the buffer will never have room for them.
    """

    is_lasting: bool = False


def admissible(stages: Iterable[StatementStage]) -> Admitted:
    """Return the places of the rows, which `admit` takes.

    Changes nothing. Raises FullBufferError.
    """
    by_ring: dict[Ring, list[StatementStage]] = {}
    for stage in stages:
        if stage.stream.ring.texts:
            by_ring.setdefault(stage.stream.ring, []).append(stage)
    found = []
    for ring, written in by_ring.items():
        try:
            place = ring.string_room.after(chain.from_iterable(stage.string_sizes for stage in written))
        except NoRoomError as error:
            raise full_buffer(written[0].stream, error) from None
        found.append((ring.string_room, place))
    return found


def admit(admitted: Admitted) -> Admitted:
    """Take the room for rows, and return a function that gives it back."""
    before = [(room, room.place) for room, _ in admitted]
    for room, place in admitted:
        room.set(place)
    return before


def full_buffer(stream: Stream, error: NoRoomError) -> FullBufferError:
    """Return the client's error for a transaction whose texts do not fit."""
    if error.is_lasting:
        return FullBufferError(
            "54000",
            f'texts of {error.wanted:,} bytes do not fit into a string buffer of stream "{stream.name}"',
            detail=f"Its string_capacity is {error.limit:,} bytes.",
            hint="Raise string_capacity by ALTER FOREIGN TABLE, or insert fewer rows at a time.",
            is_lasting=True,
        )
    return FullBufferError(
        "53200",
        f'the string buffer of stream "{stream.name}" is full',
        detail=f"The new texts take {error.wanted:,} bytes; {error.used:,} of the {error.limit:,} of string_capacity are in use "
        f"until the ring comes round after {stream.ring.capacity:,} tuples.",
        hint="Raise string_capacity or lower capacity by ALTER FOREIGN TABLE, or wait with SET stream_string_overflow = wait.",
    )
