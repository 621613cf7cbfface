"""The state of pairs of floats: the six sums that float_frames.py adds, as bits of floats, and a
word that is 1 after an overflow.

rows: int64[...], the rows of a hash table; `at`: where the state begins. Must not know SQL.
"""

from __future__ import annotations

import numpy as np

from ringbuffer.compile.jit import kernel
from ringbuffer.groups.float_frames import PAIRS, XX, XY, YY, X, Y, add_floats
from ringbuffer.groups.hash_table import Words
from ringbuffer.memory.error_codes import OK

PAIR_SUMS = 6


@kernel
def add_pairs(rows: Words, at: int, y: float, x: float) -> None:
    """Add a pair of floats to a state: PostgreSQL's float8_regr_accum."""
    sums = rows[at : at + PAIR_SUMS].view(np.float64).reshape((1, PAIR_SUMS))
    if add_floats(PAIRS, y, x, sums, 0) != OK:
        rows[at + PAIR_SUMS] = 1


@kernel
def merge_pairs(rows: Words, at: int, source: Words, start: int) -> None:
    """Add another state of pairs: float8_regr_combine. One pair is added as the pair itself."""
    mine, theirs = rows[at : at + PAIR_SUMS].view(np.float64), source[start : start + PAIR_SUMS].view(np.float64)
    ours, added = mine[0], theirs[0]
    if added == 1.0:
        add_pairs(rows, at, theirs[Y], theirs[X])
        return
    if ours == 0.0:
        for word in range(PAIR_SUMS + 1):
            rows[at + word] = source[start + word]
        return
    count = ours + added
    off_x = mine[X] / ours - theirs[X] / added
    off_y = mine[Y] / ours - theirs[Y] / added
    rows[at + PAIR_SUMS] |= source[start + PAIR_SUMS]
    for place in range(1, PAIR_SUMS):
        total = mine[place] + theirs[place]
        if place == XX:
            total += ours * added * off_x * off_x / count
        elif place == YY:
            total += ours * added * off_y * off_y / count
        elif place == XY:
            total += ours * added * off_x * off_y / count
        if np.isinf(total) and not np.isinf(mine[place]) and not np.isinf(theirs[place]):
            rows[at + PAIR_SUMS] = 1
        mine[place] = total
    mine[0] = count
