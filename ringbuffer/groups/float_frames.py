"""Sums of floats over frames of rows by PostgreSQL's own steps (Youngs and Cramer), one row after
the other: the digits are its digits.

ys, xs float64[rows]; known uint8[rows], 0 for rows that count nothing; lows, highs int64[frames],
the first row of each frame and the one after its last; out_lows, out_highs the rows among them that
it leaves out, but for its own if `keeps_own`: the row whose number is the frame's. sums
float64[frames, 6] gets count, sum of x, of its squared deviations, of y, of its squared deviations,
of the products of both. A frame that begins where the one before did goes on from there; any other
is added anew, as in PostgreSQL. Must not know SQL.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.error_codes import FLOAT_OVERFLOW, OK

COUNT, X, XX, Y, YY, XY = range(6)
# What is added: floats, reals that are rounded at each step, floats with their squares, or pairs.
PLAIN, REAL, SQUARES, PAIRS = range(4)
Floats = Any
Words = Any


class Frames(NamedTuple):
    """The bounds of frames.

    Attributes:
        lows, highs: int64[], the first row of each frame, and the one after its last.
        out_lows, out_highs: int64[], those of the rows that are left out.
        keeps_own: 1 if the frame's own row is not left out, else 0.
    """

    lows: Words
    highs: Words
    out_lows: Words
    out_highs: Words
    keeps_own: int


@kernel
def float_frames(
    kind: int,
    ys: Floats,
    xs: Floats,
    known: Words,
    frames: Frames,
    begin: int,
    end: int,
    sums: Floats,
) -> int:
    """Write the sums of the frames from `begin` to before `end`; the one before has its sums.

    Returns OK or FLOAT_OVERFLOW.
    """
    lows, highs, out_lows, out_highs, keeps_own = frames
    for frame in range(begin, end):
        row, leaves_out = lows[frame], out_highs[frame] > out_lows[frame]
        goes_on = frame > 0 and not leaves_out and out_highs[frame - 1] <= out_lows[frame - 1]
        if goes_on and row == lows[frame - 1] and row <= highs[frame - 1] <= highs[frame]:
            row = highs[frame - 1]
            for place in range(6):
                sums[frame, place] = sums[frame - 1, place]
        while row < highs[frame]:
            is_out = leaves_out and out_lows[frame] <= row < out_highs[frame] and not (keeps_own and row == frame)
            if known[row] and not is_out and add_floats(kind, ys[row], xs[row], sums, frame) != OK:
                return FLOAT_OVERFLOW
            row += 1
    return OK


@kernel
def add_floats(kind: int, y: float, x: float, sums: Floats, frame: int) -> int:
    """Add a row to the sums of a frame. Returns OK or FLOAT_OVERFLOW."""
    before, was_x, was_y = sums[frame, COUNT], sums[frame, X], sums[frame, Y]
    count = before + 1.0
    sums[frame, COUNT] = count
    sum_x = was_x + x
    if kind == REAL:
        sum_x = np.float64(np.float32(sum_x))
    if before == 0.0:
        # PostgreSQL begins with the first value: -0 stays -0 in sums, and 0 + x is what the others
        # have.
        sums[frame, X] = x if kind <= REAL else sum_x
        if kind > REAL:
            sums[frame, Y] = was_y + y
            sums[frame, XX] = 0.0 if np.isfinite(x) else np.nan
            sums[frame, YY] = 0.0 if np.isfinite(y) else np.nan
            sums[frame, XY] = sums[frame, XX] + sums[frame, YY]
        return OK
    sums[frame, X] = sum_x
    fine_x = not np.isinf(was_x) and not np.isinf(x)
    if kind <= REAL:
        return FLOAT_OVERFLOW if np.isinf(sum_x) and fine_x else OK
    off_x = x * count - sum_x
    if kind == SQUARES:
        squares = sums[frame, XX] + off_x * off_x / (count * before)
        if np.isinf(sum_x) or np.isinf(squares):
            if fine_x:
                return FLOAT_OVERFLOW
            squares = np.nan
        sums[frame, XX] = squares
        return OK
    return add_pair(off_x, fine_x, y, x, sums, frame)


@kernel
def add_pair(off_x: float, fine_x: bool, y: float, x: float, sums: Floats, frame: int) -> int:
    """Add what a pair adds to sums whose count and sum of x have it already.

    Returns OK or FLOAT_OVERFLOW.
    """
    count, was_y = sums[frame, COUNT], sums[frame, Y]
    sum_y = was_y + y
    fine_y = not np.isinf(was_y) and not np.isinf(y)
    off_y, scale = y * count - sum_y, 1.0 / (count * (count - 1.0))
    xx = sums[frame, XX] + off_x * off_x * scale
    yy = sums[frame, YY] + off_y * off_y * scale
    xy = sums[frame, XY] + off_x * off_y * scale
    if (np.isinf(sums[frame, X]) or np.isinf(xx)) and fine_x:
        return FLOAT_OVERFLOW
    if (np.isinf(sum_y) or np.isinf(yy)) and fine_y:
        return FLOAT_OVERFLOW
    if np.isinf(xy) and fine_x and fine_y:
        return FLOAT_OVERFLOW
    sums[frame, Y] = sum_y
    sums[frame, XX] = np.nan if np.isinf(xx) else xx
    sums[frame, YY] = np.nan if np.isinf(yy) else yy
    sums[frame, XY] = np.nan if np.isinf(xy) else xy
    return OK
