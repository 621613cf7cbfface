"""Compiling the encoders before the first client waits for them: from the cache on disk this is a
matter of milliseconds each.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa

from ringbuffer.encode.copy import CopyFormat, encode_copy_rows
from ringbuffer.encode.output_forms import Forms
from ringbuffer.encode.records import record_family
from ringbuffer.encode.rows import BINARY_FORMAT, TEXT_FORMAT, encode_data_rows

INTERVAL = pa.struct([("months", pa.int32()), ("days", pa.int32()), ("micros", pa.int64())])
ZONED_TIME = pa.struct([("micros", pa.int64()), ("west", pa.int32())])
MOMENT = datetime(2000, 1, 1, tzinfo=UTC)

# One column of each form that has kernels of its own, with and without NULL alike.
SAMPLES: tuple[tuple[str, pa.Array], ...] = (
    ("int8", pa.array([1, None], pa.int64())),
    ("float4", pa.array([1.0, None], pa.float32())),
    ("float8", pa.array([1.0, None], pa.float64())),
    ("numeric", pa.array([Decimal(1), None], pa.decimal128(38, 0))),
    ("text", pa.array(["a", None], pa.string())),
    ("date", pa.array([date(2000, 1, 1), None], pa.date32())),
    ("timestamp", pa.array([MOMENT.replace(tzinfo=None), None], pa.timestamp("us"))),
    ("timestamptz", pa.array([MOMENT, None], pa.timestamp("us", tz="UTC"))),
    ("time", pa.array([1, None], pa.int64())),
    ("timetz", pa.array([{"micros": 1, "west": 0}, None], ZONED_TIME)),
    ("interval", pa.array([{"months": 1, "days": 1, "micros": 1}, None], INTERVAL)),
    ("uuid", pa.array(["00000000-0000-0000-0000-000000000000", None], pa.string())),
    ("bytea", pa.array([b"a", None], pa.binary())),
    ("jsonb", pa.array(["1", None], pa.string())),
    ("text[]", pa.array([["a", None], None], pa.list_(pa.string()))),
    (
        record_family(2249, [("text", 25)], is_array=False),
        pa.array([{"f1": "a"}, None], pa.struct([("f1", pa.string())])),
    ),
)


def warm_up_encoders() -> None:
    """Compile or load every kernel of the encoders.

    Takes seconds in a new installation; may run on any thread.
    """
    families = [family for family, _ in SAMPLES]
    columns = [column for _, column in SAMPLES]
    for code in (TEXT_FORMAT, BINARY_FORMAT):
        encode_data_rows(columns, families, [code] * len(columns), Forms("UTC"), len(columns[0]))
    for name in ("text", "csv"):
        form = CopyFormat(name, delimiter=",")
        encode_copy_rows(columns, families, families, form, Forms("UTC"), header=False, rows_count=len(columns[0]))
