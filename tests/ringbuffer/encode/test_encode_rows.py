"""DataRow messages: framing, NULLs, formats per column, and where each row ends."""

from __future__ import annotations

import pyarrow as pa

from ringbuffer.encode.output_forms import Forms
from ringbuffer.encode.rows import encode_data_rows
from tests.ringbuffer.rows import data_row, messages


def test_rows_of_mixed_formats() -> None:
    columns = [pa.array([1, None, -1], pa.int32()), pa.array(["a", "", None]), pa.array([1, 2, None], pa.int32())]
    data, ends = encode_data_rows(columns, ["int4", "text", "int4"], [0, 0, 1], Forms("UTC"), 3)
    rows = [data_row(body) for body in messages(data, b"D")]
    assert rows == [[b"1", b"a", b"\0\0\0\1"], [None, b"", b"\0\0\0\2"], [b"-1", None, None]]
    for first, last in zip([0, *ends], ends, strict=False):
        assert len(messages(data[first:last], b"D")) == 1
    assert ends[-1] == len(data)


def test_no_rows() -> None:
    data, ends = encode_data_rows(
        [pa.array([], pa.int32()), pa.array([], pa.string())], ["int4", "text"], [0, 1], Forms("UTC"), 0
    )
    assert data == b""
    assert len(ends) == 0


def test_chunked_columns_and_slices() -> None:
    table = pa.table({"a": pa.chunked_array([[1, 2], [3, 4]]), "b": pa.chunked_array([["w"], ["x", None, "z"]])}).slice(
        1, 2
    )
    data, _ = encode_data_rows(table.columns, ["int8", "text"], [0, 0], Forms("UTC"), 2)
    assert [data_row(body) for body in messages(data, b"D")] == [[b"2", b"x"], [b"3", None]]


def test_rows_without_columns() -> None:
    data, ends = encode_data_rows([], [], [], Forms("UTC"), 2)
    assert [data_row(body) for body in messages(data, b"D")] == [[], []]
    assert ends.tolist() == [len(data) // 2, len(data)]
