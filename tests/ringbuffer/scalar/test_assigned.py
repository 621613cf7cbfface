"""Columns of numbers that are assigned to columns of other types, against a model of PostgreSQL's
casts in plain Python.
"""

from __future__ import annotations

import math
import random
import struct
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import numpy as np
import pytest

from ringbuffer.memory.columns import DTYPES, ColumnLayout, PhysicalType
from ringbuffer.memory.error_codes import RowError
from ringbuffer.scalar.numbers.assigned import assigned

SEED = 31
WIDE = Context(prec=400)
BITS = {PhysicalType.INT16: 16, PhysicalType.INT32: 32, PhysicalType.INT64: 64}
FROM = (*BITS, PhysicalType.FLOAT32, PhysicalType.FLOAT64)
ENDS = [float(sign * (2**bits + step)) for bits in (15, 31, 63) for step in (-1, -0.5, 0, 0.5) for sign in (1, -1)]
FLOATS = [0.0, 0.5, 1.5, 2.5, -0.5, 1e-46, 1e-40, 3.4028235e38, 3.5e38, 1e300, math.nan, math.inf, -math.inf, *ENDS]


def model(value: Any, layout: ColumnLayout) -> Any:
    """Return the value of a column, None for one that does not fit."""
    if layout.physical in BITS:
        if isinstance(value, float) and not math.isfinite(value):
            return None
        whole, limit = round(value), 2 ** (BITS[layout.physical] - 1)
        return whole if -limit <= whole < limit else None
    if layout.physical == PhysicalType.NUMERIC:
        if isinstance(value, float) and not math.isfinite(value):
            return None
        exact = Decimal(f"{value:.15g}" if isinstance(value, float) else value)
        rounded = exact.quantize(Decimal(1).scaleb(-layout.scale), ROUND_HALF_UP, WIDE)
        scaled = int(rounded.scaleb(layout.scale, WIDE))
        return scaled if abs(scaled) < 10**layout.precision else None
    if layout.physical == PhysicalType.FLOAT64:
        return float(value)
    try:
        narrow = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return None
    return None if narrow == 0 and value != 0 else narrow


def random_value(draw: random.Random, physical: PhysicalType) -> Any:
    if physical in BITS:
        bits = BITS[physical]
        return draw.choice(
            (draw.randrange(-(2 ** (bits - 1)), 2 ** (bits - 1)), draw.randrange(-99, 99), 2 ** (bits - 1) - 1)
        )
    value = draw.choice(
        (draw.choice(FLOATS), draw.uniform(-1000, 1000), draw.uniform(-1, 1) * 10.0 ** draw.randint(-20, 40))
    )
    with np.errstate(over="ignore"):
        return float(np.float32(value)) if physical == PhysicalType.FLOAT32 else value


@pytest.mark.parametrize("physical", FROM)
def test_against_the_model(physical: PhysicalType) -> None:
    draw = random.Random(SEED)
    numerics = [ColumnLayout("n", PhysicalType.NUMERIC, p, s) for p, s in ((6, 2), (38, 0), (38, 10), (19, 0), (7, 5))]
    plain = [ColumnLayout("c", kind) for kind in FROM if physical not in BITS or kind != PhysicalType.FLOAT32]
    for layout in [*plain, *(numerics if physical != PhysicalType.FLOAT32 else [])]:
        fitting = 0
        for _ in range(150):
            values = [random_value(draw, physical) for _ in range(draw.randint(1, 3))]
            expected = [model(value, layout) for value in values]
            data = np.array(values, dtype=DTYPES[physical])
            if None in expected:
                with pytest.raises(RowError) as caught:
                    assigned(data, layout, 4)
                assert (caught.value.row, caught.value.column) == (expected.index(None), 4), (values, layout)
                assert caught.value.sqlstate == "22003"
                continue
            found = assigned(data, layout, 4)
            if layout.physical == PhysicalType.NUMERIC:
                assert [(int(hi) << 64) + (int(lo) & (1 << 64) - 1) for lo, hi in found] == expected, (values, layout)
            else:
                assert found.dtype == DTYPES[layout.physical]
                assert found.tolist() == pytest.approx(expected, rel=0, abs=0, nan_ok=True), (values, layout)
            fitting += 1
        assert fitting > 5, layout
