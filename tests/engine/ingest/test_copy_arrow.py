"""COPY ... (FORMAT arrow): the same rows as by COPY in text, and clear errors for all that is no
stream of these rows.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from engine.catalog.image import StreamEntry
from engine.ingest import arrow_columns, arrow_stream
from engine.ingest.arrow_messages import (
    CHILDREN,
    HEADER,
    MESSAGE_PAIRS,
    SCHEMA_FIELDS,
    field,
    place_after,
    tables_in,
)
from engine.ingest.arrow_stream import ArrowStream
from engine.ingest.copy_arrow import ArrowDecoder
from engine.ingest.insert import make_target
from ringbuffer.memory.arrow import morsel_to_arrow
from ringbuffer.memory.columns import Morsel
from sql.errors import SqlError
from tests.end_to_end.raw_client import COPY_DONE, copy_data
from tests.engine.session_client import SessionClient, World

SEED = 5
DAMAGED_STREAMS = 500
COLUMNS = (
    "i2 smallint, i4 integer NOT NULL, i8 bigint, f4 real, f8 double precision, b boolean, n numeric(12,3), "
    "v varchar(5), t text, d date, ts timestamp, tz timestamptz, mood mood, u uuid, j jsonb, plain numeric"
)
NAMES = [item.split()[0] for item in COLUMNS.split(", ")]
TYPES: dict[str, list[pa.DataType]] = {
    "i2": [pa.int16(), pa.int8(), pa.int64(), pa.uint8(), pa.null()],
    "i4": [pa.int32(), pa.int64(), pa.uint16(), pa.uint64()],
    "i8": [pa.int64(), pa.int32(), pa.uint64()],
    "f4": [pa.float32(), pa.float64(), pa.int8()],
    "f8": [pa.float64(), pa.float32(), pa.int64()],
    "b": [pa.bool_(), pa.null()],
    "n": [pa.decimal128(20, 4), pa.decimal128(10, 1), pa.decimal256(40, 6), pa.decimal64(12, 3), pa.int32()],
    "v": [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())],
    "t": [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.large_string())],
    "d": [pa.date32(), pa.date64()],
    "ts": [pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")],
    "tz": [pa.timestamp("us", "UTC"), pa.timestamp("ns", "Europe/Berlin"), pa.timestamp("ms", "+03:00")],
    "mood": [pa.string(), pa.dictionary(pa.int16(), pa.string())],
    "u": [pa.string()],
    "j": [pa.string(), pa.large_string()],
    "plain": [pa.decimal128(20, 4), pa.int64(), pa.string()],
}


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    made = World(tmp_path_factory.mktemp("world"), copy_block_bytes=4096)
    made.client().after(
        "CREATE TYPE mood AS ENUM ('sad', 'so so', 'happy')",
        *(f"CREATE FOREIGN TABLE {name} ({COLUMNS}) SERVER stream" for name in ("by_arrow", "by_text")),
        f"CREATE TABLE stored ({COLUMNS})",
        "CREATE FOREIGN TABLE s (k integer NOT NULL, t text, n numeric(5,2), tz timestamptz) SERVER stream",
        "CREATE VIEW counted AS SELECT count(*) AS n FROM s",
    )
    yield made
    made.close()


@pytest.fixture
def client(world: World) -> SessionClient:
    return world.client()


def sent(table: pa.Table, rows_max: int = 1 << 20) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=rows_max)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def copy(client: SessionClient, data: bytes, into: str = "s", pieces: int = 1) -> list[str]:
    size = len(data) // pieces + 1
    parts = [copy_data(data[start : start + size]) for start in range(0, len(data), size)]
    return client.ask(f"COPY {into} FROM STDIN (FORMAT arrow)", *parts, COPY_DONE)


def value_of(draw: random.Random, name: str, kind: pa.DataType) -> Any:
    if name != "i4" and draw.random() < 0.15:
        return None
    if pa.types.is_null(kind):
        return None
    if name in ("i2", "i4", "i8", "plain", "n") or pa.types.is_integer(kind):
        if pa.types.is_decimal(kind):
            return Decimal(draw.randint(-99999, 99999)).scaleb(-kind.scale)
        if kind == pa.string():
            return f"{draw.randint(-99, 99)}.{draw.randint(0, 999)}"
        return draw.randint(0, 127)
    if name in ("f4", "f8"):
        return draw.choice([0.5, -1.25, float("nan"), float("inf"), 3.0])
    if name == "b":
        return draw.random() < 0.5
    if name in ("v", "t"):
        return draw.choice(
            ["", "a", "äöüäö", "abc  "] + (["abc   ", "no"] if name == "v" else ["a longer string", "tab\t\\"])
        )
    if name == "d":
        return date(2020, 1, 1) + timedelta(days=draw.randint(-400_000, 400_000))
    if name in ("ts", "tz"):
        moment = datetime(2020, 1, 1, tzinfo=UTC if name == "tz" else None)
        return moment + timedelta(seconds=draw.randint(-(10**9), 10**9))
    return {
        "mood": draw.choice(["sad", "so so", "happy"]),
        "u": "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
        "j": draw.choice(['{"a": 1}', "null", '["it\'s"]']),
    }[name]


def text_of(value: Any) -> str:
    if value is None:
        return "\\N"
    if isinstance(value, datetime):
        return value.isoformat(" ")
    return str(value).replace("\\", "\\\\").replace("\t", "\\t")


@pytest.mark.parametrize("into", ["by_arrow", "stored"])
def test_the_same_rows_as_by_text(client: SessionClient, into: str) -> None:
    draw = random.Random(SEED)
    names = ", ".join(f"{name}::text" for name in NAMES)
    for number in range(10 if into == "stored" else 0, 20 if into == "stored" else 10):
        schema = pa.schema([pa.field(name, draw.choice(TYPES[name])) for name in draw.sample(NAMES, len(NAMES))])
        rows = [{f.name: value_of(draw, f.name, f.type) for f in schema} for _ in range(draw.choice([0, 1, 300]))]
        for row in rows:
            row["i8"] = number
        table = pa.Table.from_pylist(rows, schema=schema)
        lines = "".join("\t".join(text_of(row[name]) for name in NAMES) + "\n" for row in rows)
        answer = copy(client, sent(table, draw.choice([7, 1000])), into, draw.choice([1, 50]))
        assert answer[1:] == [f"C COPY {len(rows)}", "Z I"], (schema, answer)
        answer = client.ask("COPY by_text FROM STDIN", copy_data(lines.encode()), COPY_DONE)
        assert answer[1:] == [f"C COPY {len(rows)}", "Z I"], answer
        select = f"SELECT {names} FROM {{}} WHERE i8 = {number} ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12"
        found = sorted(client.rows(select.format(into)))
        assert found == sorted(client.rows(select.format("by_text"))) and len(found) == len(rows), schema


def row(
    k: Any = 1, t: Any = "a", n: Any = Decimal("1.00"), tz: Any = datetime(2020, 1, 1, tzinfo=UTC)
) -> dict[str, Any]:
    return {"k": k, "t": t, "n": n, "tz": tz}


SCHEMA = pa.schema(
    [("k", pa.int64()), ("t", pa.string()), ("n", pa.decimal128(10, 3)), ("tz", pa.timestamp("us", "UTC"))]
)


@pytest.mark.parametrize(
    ("second", "error"),
    [
        (row(k=2**31), "E ERROR 22003: integer out of range"),
        (row(k=None), 'E ERROR 23502: null value in column "k" of relation "s" violates not-null constraint'),
        (row(n=Decimal("999.995")), "E ERROR 22003: numeric field overflow"),
        (row(t="a\0"), 'E ERROR 22021: invalid byte sequence for encoding "UTF8": 0x00'),
    ],
)
def test_errors_of_values(client: SessionClient, second: dict[str, Any], error: str) -> None:
    table = pa.Table.from_pylist([row(), row(), second, row()], schema=SCHEMA)
    for rows_max in (1, 100):
        assert copy(client, sent(table, rows_max))[1:] == [error, "Z I"]
    assert client.rows("SELECT n FROM counted") == ["D [b'0']"]


def test_an_error_tells_its_row_and_column(client: SessionClient) -> None:
    client.ask("COPY s FROM STDIN (FORMAT arrow)")
    running = client.session._copy._copy
    assert running is not None
    running.take(sent(pa.Table.from_pylist([row(), row(), row(k=2**40)], schema=SCHEMA), 2))
    with pytest.raises(SqlError) as caught:
        running.finish()
    assert caught.value.context == f'COPY s, line 3, column k: "{2**40}"'


@pytest.mark.parametrize(
    ("field", "types"),
    [
        (pa.field("k", pa.string()), "integer but the Arrow field is of type string"),
        (pa.field("k", pa.float64()), "integer but the Arrow field is of type double"),
        (pa.field("tz", pa.timestamp("us")), "timestamp with time zone but the Arrow field is of type timestamp[us]"),
        (pa.field("t", pa.list_(pa.string())), "text but the Arrow field is of type list<item: string>"),
        (pa.field("other", pa.int32()), None),
        (None, None),
    ],
)
def test_errors_of_schemas(client: SessionClient, field: pa.Field | None, types: str | None) -> None:
    if field is None:
        schema, error = pa.schema(list(SCHEMA)[:3]), '22P04: missing Arrow field for column "tz"'
    else:
        schema = pa.schema([*(one for one in SCHEMA if one.name != field.name), field])
        error = f'42804: column "{field.name}" is of type {types}'
        if types is None:
            error = f'22P04: Arrow field "{field.name}" is no column of the COPY'
    assert copy(client, sent(schema.empty_table()))[1:] == [f"E ERROR {error}", "Z I"]


def test_what_is_no_stream(client: SessionClient) -> None:
    good = sent(pa.Table.from_pylist([row()] * 50, schema=SCHEMA), 10)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, SCHEMA) as writer:
        writer.write_table(pa.Table.from_pylist([row()], schema=SCHEMA))
    compressed = pa.BufferOutputStream()
    with pa.ipc.new_stream(compressed, SCHEMA, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(pa.Table.from_pylist([row()] * 1000, schema=SCHEMA))
    for data, error in (
        (b"", "22P04: unexpected end of the Arrow stream"),
        (b"k\tt\n1\ta\n", "22P04: COPY data is not an Arrow stream"),
        (sink.getvalue().to_pybytes(), "22P04: COPY data is not an Arrow stream"),
        (good[:-20], "22P04: unexpected end of the Arrow stream"),
        (good + b"x", "22P04: received copy data after the end of the Arrow stream"),
        (good + good, "22P04: received copy data after the end of the Arrow stream"),
        (b"\xff\xff\xff\xff\xff\xff\xff\x7f", "22P04: invalid size of an Arrow message"),
        (compressed.getvalue().to_pybytes(), "0A000: a compressed Arrow batch is not supported yet"),
    ):
        assert copy(client, data)[1:] == [f"E ERROR {error}", "Z I"], data[:20]
    assert client.rows("SELECT n FROM counted") == ["D [b'0']"]


def test_damaged_streams_end_in_errors(world: World, client: SessionClient) -> None:
    """Whatever bytes are wrong: rows that may be read, or an error of the client, and nothing
    else.
    """
    client.run(
        "CREATE FOREIGN TABLE damaged (k integer, t text, n numeric(5,2), tz timestamptz, words mood, "
        "seen varchar(40), d date, ts timestamp, f4 real, b boolean, late numeric) SERVER stream"
    )
    entry = world.database.catalog.image.entries["damaged"]
    assert isinstance(entry, StreamEntry)
    target = make_target(entry, None, world.database.engines.tables, 0, "UTC")
    more = [
        pa.field("words", pa.dictionary(pa.int8(), pa.string())),
        pa.field("seen", pa.string_view()),
        pa.field("d", pa.date64()),
        pa.field("ts", pa.timestamp("ns")),
        pa.field("f4", pa.float64()),
        pa.field("b", pa.bool_()),
        pa.field("late", pa.decimal256(40, 3)),
    ]
    given = {
        "seen": "a string that is no inline one",
        "d": date(2020, 1, 1),
        "ts": datetime(2020, 1, 1, tzinfo=UTC),
        "f4": 1.5,
    }
    rows = [{**row(), **given, "words": word, "b": True, "late": Decimal("1.5")} for word in ("sad", None, "happy")]
    good = sent(pa.Table.from_pylist(rows, schema=pa.schema([*SCHEMA, *more])), 2)
    draw = random.Random(SEED)
    errors_count = 0
    for _ in range(DAMAGED_STREAMS):
        damaged = bytearray(good)
        for _ in range(draw.choice([1, 1, 4])):
            damaged[draw.randrange(len(damaged))] = draw.choice([0, 1, 0x7F, 0x80, 0xFF, draw.randrange(256)])
        try:
            for morsel in ArrowDecoder("damaged", target.columns, target.arriving).feed(bytes(damaged)):
                morsel_to_arrow(morsel, target.arriving).validate(full=True)
        except SqlError:
            errors_count += 1
    assert errors_count > DAMAGED_STREAMS / 10


def test_memory_is_bounded(client: SessionClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow_stream, "MESSAGE_BYTES_MAX", 1 << 16)
    monkeypatch.setattr(arrow_columns, "TEXT_BYTES_MAX", 1 << 16)
    large = pa.Table.from_pylist([row(t="x" * 100)] * 1000, schema=SCHEMA)
    assert copy(client, sent(large))[1] == "E ERROR 54000: an Arrow message is too large"
    assert copy(client, sent(large, 100))[1] == "C COPY 1000"
    # Many rows of one long word.
    for kind in (pa.dictionary(pa.int8(), pa.string()), pa.string_view()):
        column = pa.array(["x" * 1000], pa.string()).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string()))
        words: Any = pa.DictionaryArray.from_arrays(pa.array([0] * 1000, pa.int8()), column.dictionary)
        if kind == pa.string_view():
            view = pa.array(["x" * 1000], kind)
            words = pa.Array.from_buffers(
                kind, 1000, [None, pa.py_buffer(view.buffers()[1].to_pybytes()[:16] * 1000), *view.buffers()[2:]]
            )
        rows = large.set_column(1, pa.field("t", kind), words)
        assert copy(client, sent(rows))[1] == "E ERROR 54000: the strings of an Arrow batch are too long together", kind
    nothing = pa.record_batch([pa.nulls(1 << 20)], ["t"])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, nothing.schema) as writer:
        writer.write_batch(nothing)
    with pytest.raises(SqlError, match="more rows than bytes"):
        list(ArrowStream(lambda _: None).feed(sink.getvalue().to_pybytes()))


def test_views_of_the_same_bytes_in_a_dictionary(client: SessionClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow_columns, "TEXT_BYTES_MAX", 1 << 16)
    view = pa.array(["x" * 1000], pa.string_view())
    repeated = pa.py_buffer(view.buffers()[1].to_pybytes() * 100)
    words = pa.Array.from_buffers(pa.string_view(), 100, [None, repeated, *view.buffers()[2:]])
    one = pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), words)
    table = pa.table({"k": [1], "t": one})
    error = "E ERROR 54000: the strings of an Arrow batch are too long together"
    assert copy(client, sent(table), "s (k, t)")[1:] == [error, "Z I"]


def test_a_dictionary_of_views(client: SessionClient) -> None:
    long = "x" * 100
    words = pa.array(["no word of it", "a", None, long], pa.string_view()).slice(1)
    client.run("CREATE TABLE viewed (t text)")
    for places in ([2, None, 1, 0, 2, 2], [None], []):
        column = pa.DictionaryArray.from_arrays(pa.array(places, pa.int8()), words)
        assert copy(client, sent(pa.table({"t": column}), 4), "viewed")[1] == f"C COPY {len(places)}"
    found = client.ask("SELECT t, count(*) FROM viewed GROUP BY t ORDER BY t")
    assert [line for line in found if line[0] == "D"] == [
        "D [b'a', b'1']",
        f"D [b'{long}', b'3']",
        "D [None, b'3']",
    ]


def test_a_dictionary_is_read_once(client: SessionClient, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Any] = []
    monkeypatch.setattr(arrow_stream, "require_readable", read.append)
    words = pa.array(["one", "two", None])

    def data(*indices: Sequence[int | None], more: pa.Array | None = None) -> bytes:
        sink = pa.BufferOutputStream()
        schema = pa.schema([("k", pa.int32()), ("t", pa.dictionary(pa.int8(), pa.string()))])
        with pa.ipc.new_stream(sink, schema) as writer:
            for number, places in enumerate(indices):
                dictionary = words if more is None or number < 2 else more
                column = pa.DictionaryArray.from_arrays(pa.array(places, pa.int8()), dictionary, safe=False)
                writer.write_batch(pa.record_batch([pa.array([number] * len(places), pa.int32()), column], schema))
        return bytes(sink.getvalue().to_pybytes())

    three = data([0, 1], [1, None, 2], [], more=words.slice(0, 1))
    batches = list(ArrowStream(lambda _: None).feed(three))
    assert [batch.column(1).to_pylist() for batch in batches] == [["one", "two"], ["two", None, None], []]
    assert [len(column.dictionary) for column in read if pa.types.is_dictionary(column.type)] == [3, 1]
    for bad in ([3], [-1], [0, 127]):
        for batches_before in ([], [[0]]):
            error = "index of an Arrow batch is not in its dictionary" if batches_before else "invalid Arrow message"
            with pytest.raises(SqlError, match=error):
                list(ArrowStream(lambda _: None).feed(data(*batches_before, bad)))


def repeated(metadata: bytes, table: int, index: int) -> bytes:
    """Return the head of a message in which all entries of a vector of tables are the first."""
    first, *_ = places = list(tables_in(metadata, table, index))
    start = 4 + place_after(metadata, field(metadata, table, index))
    offsets = b"".join((first - start - 4 * number).to_bytes(4, "little") for number, _ in enumerate(places))
    return metadata[:start] + offsets + metadata[start + len(offsets) :]


def schema_of(metadata: bytes) -> int:
    return place_after(metadata, field(metadata, place_after(metadata, 0), HEADER))


def test_heads_that_say_more_than_they_hold(client: SessionClient) -> None:
    error = "E ERROR 54000: the head of an Arrow message is too large"
    # 2^40 fields within fields.
    kind: pa.DataType = pa.int32()
    for _ in range(40):
        kind = pa.struct([("a", kind), ("b", pa.int32())])
    data = sent(pa.schema([("k", kind)]).empty_table())
    head, metadata = data[:8], data[8:]
    one = next(tables_in(metadata, schema_of(metadata), SCHEMA_FIELDS))
    for _ in range(40):
        metadata = repeated(metadata, one, CHILDREN)
        one = next(tables_in(metadata, one, CHILDREN))
    assert copy(client, head + metadata)[1:] == [error, "Z I"]
    # 20 MB of names.
    names = ["k" * 10_000, *(f"k{number}" for number in range(2000))]
    data = sent(pa.schema([(name, pa.int32()) for name in names]).empty_table())
    head, metadata = data[:8], data[8:]
    assert copy(client, head + repeated(metadata, schema_of(metadata), SCHEMA_FIELDS))[1:] == [error, "Z I"]
    # 20 MB of texts beside a batch.
    batch = pa.record_batch({"k": pa.array([1], pa.int32())})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch, custom_metadata=dict.fromkeys(names, ""))
    data = sink.getvalue().to_pybytes()
    # After the schema, which has no body.
    start = 16 + int.from_bytes(data[4:8], "little")
    head, metadata = data[:start], data[start:]
    assert copy(client, data, "s (k)")[1:] == ["C COPY 1", "Z I"]
    bomb = repeated(metadata, place_after(metadata, 0), MESSAGE_PAIRS)
    assert copy(client, head + bomb, "s (k)")[1:] == [error, "Z I"]


@pytest.mark.parametrize(
    ("kind", "number", "found"),
    [
        (pa.decimal256(76, 1), "9" * 75 + ".9", None),
        (pa.decimal256(76, 37), "9" * 39 + "." + "9" * 37, None),
        (pa.decimal256(76, 37), "999.99" + "4" * 35, "999.99"),
        (pa.decimal128(38, 37), "-9." + "9" * 37, "-10.00"),
    ],
)
def test_numbers_of_all_digits(client: SessionClient, kind: pa.DataType, number: str, found: str | None) -> None:
    table = pa.table({"k": pa.array([77], pa.int32()), "n": pa.array([Decimal(number)], kind)})
    answer = copy(client, sent(table), "s (k, n)")[1]
    assert answer == ("E ERROR 22003: numeric field overflow" if found is None else "C COPY 1")
    if found is not None:
        assert f"D [b'{found}']" in client.rows("SELECT n FROM s WHERE k = 77")


@pytest.mark.parametrize("into", ["s", "stored (t)"])
def test_what_is_dropped_is_not_read_to_its_end(
    client: SessionClient, monkeypatch: pytest.MonkeyPatch, into: str
) -> None:
    """A few bytes may be many rows: a cancel does not wait for all of a block."""
    client.ask(f"COPY {into} FROM STDIN (FORMAT arrow)")
    running: Any = client.session._copy._copy
    made = running._decoder._morsel

    def then_drop(batch: pa.RecordBatch) -> Morsel:
        running._dropped.set()
        morsel: Morsel = made(batch)
        return morsel

    monkeypatch.setattr(running._decoder, "_morsel", then_drop)
    table = pa.Table.from_pylist([row()] * 50, schema=SCHEMA)
    running.take(sent(table if into == "s" else table.select(["t"]), 5))
    running.decode()
    assert running._decoder.rows_count == 5
    client.session._copy.drop()


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ("FORMAT arrow, DELIMITER ','", "42601: cannot specify DELIMITER in ARROW mode"),
        ("FORMAT arrow, HEADER", "0A000: cannot specify HEADER in ARROW mode"),
        ("FORMAT arrow, ENCODING 'latin1'", "0A000: cannot specify ENCODING in ARROW mode"),
    ],
)
def test_options(client: SessionClient, options: str, error: str) -> None:
    assert client.ask(f"COPY s FROM STDIN ({options})")[0] == f"E ERROR {error}"
    assert client.ask("COPY (SELECT 1) TO STDOUT (FORMAT arrow)")[0].endswith(
        "COPY TO in the format arrow is not supported yet"
    )


def test_named_columns_and_a_file_of_the_server(world: World, client: SessionClient, tmp_path: Path) -> None:
    table = pa.table({"t": ["a"], "k": [7]})
    assert copy(client, sent(table), "s (k, t)")[1] == "C COPY 1"
    assert client.rows("SELECT k, t, n FROM s WHERE k = 7") == ["D [b'7', b'a', None]"]
