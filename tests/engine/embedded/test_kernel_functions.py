"""Functions that are kernels, as DuckDB calls them: vectors of all forms, errors, limits.

What each function computes is held to PostgreSQL by `tests/engine/functions.txt`.
"""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pyarrow as pa
import pytest

from engine.embedded.c_interface import KERNEL_SYMBOLS, library
from engine.embedded.duckdb_errors import sql_error
from engine.embedded.functions.kernels import KERNELS
from engine.embedded.functions.registration import open_database
from engine.embedded.kernel_functions import kernel_functions
from engine.embedded.warm_up import warm_up_functions
from ringbuffer.vectors import driver
from sql.errors import SqlError
from sql.functions.rows import Kernel, of_form
from sql.functions.table import ROUTINES, ROWS

BYTES_MAX = 1 << 20
NUMERIC = "{{unscaled: {}::DECIMAL(38,0), scale: {}::SMALLINT}}"


@pytest.fixture(scope="module")
def engine() -> Iterator[duckdb.DuckDBPyConnection]:
    connection = open_database(":memory:", {"threads": 2}, BYTES_MAX)
    yield connection
    connection.close()


def failure(engine: duckdb.DuckDBPyConnection, text: str) -> SqlError:
    with pytest.raises(duckdb.Error) as raised:
        engine.execute(text).fetchall()
    found = sql_error(raised.value)
    assert isinstance(found, SqlError), found
    return found


def test_names_are_functions_once(engine: duckdb.DuckDBPyConnection) -> None:
    names = [row.name for row in KERNELS]
    assert len(set(names)) == len(names)
    known = engine.execute("SELECT DISTINCT function_name FROM duckdb_functions()").fetchall()
    assert {(name,) for name in names} <= set(known)


def test_duckdb_has_the_symbols_of_the_driver() -> None:
    assert set(KERNEL_SYMBOLS) == set(driver.SYMBOLS) - {"antumbra_load", "antumbra_fail", "antumbra_look_up"}
    assert library().duckdb_vector_size() == duckdb.__standard_vector_size__


@pytest.mark.parametrize("long", ["", "x" * 40])
def test_vectors_of_all_forms(engine: duckdb.DuckDBPyConnection, long: str) -> None:
    """Constants, NULLs, rows after a filter, rows of a join: three thousand, so more than one
    vector.
    """
    texts = [None if row % 7 == 3 else f"{long}{row}|tail-{row}-{long}" for row in range(3_000)]
    engine.register("rows", pa.table({"id": range(3_000), "t": texts}))
    expected = [(row, None if text is None else text.split("|")[1]) for row, text in enumerate(texts)]
    split = "SELECT id, text_split_part(t, '|', 2) FROM rows"
    assert engine.execute(f"{split} ORDER BY id").fetchall() == expected
    assert engine.execute(f"{split} WHERE id % 3 = 1 ORDER BY id").fetchall() == expected[1::3]
    joined = "SELECT n, text_split_part(t, '|', 2) FROM range(5000) AS m(n) JOIN rows ON id = n % 10 ORDER BY n"
    assert engine.execute(joined).fetchall() == [(n, expected[n % 10][1]) for n in range(5_000)]
    assert engine.execute(f"SELECT text_split_part('{long}a|b{long}', '|', 2)").fetchall() == [(f"b{long}",)]
    assert engine.execute("SELECT text_split_part(NULL, '|', 2), text_split_part('a', NULL, 2)").fetchall() == [
        (None, None)
    ]
    engine.unregister("rows")


def test_numerics_of_all_scales(engine: duckdb.DuckDBPyConnection) -> None:
    packed = "numeric_add(numeric_pack_2(n::DECIMAL(38,2)), numeric_pack_5((n / 8)::DECIMAL(38,5)))"
    table = "(SELECT CASE WHEN n % 5 = 2 THEN NULL ELSE n END AS n FROM range(5000) AS m(n))"
    rows = engine.execute(
        f"SELECT n, numeric_to_5({packed}), numeric_text({packed}) FROM {table} ORDER BY n"
    ).fetchall()
    for n, value, text in rows:
        assert (value, text) == ((None, None) if n is None else (n + value.__class__(n) / 8, f"{n + n / 8:.5f}"))


@pytest.mark.parametrize(
    ("call", "sqlstate", "message"),
    [
        ("text_split_part('a' || n, ',', n::INTEGER - 2500)", "22023", "field position must not be zero"),
        ("int4_from_text('x' || n)", "22P02", 'invalid input syntax for type integer: "x0"'),
        ("text_limit('abc' || n, 3)", "22001", "value too long for type character varying(3)"),
        (f"numeric_divide({NUMERIC.format(1, 0)}, {NUMERIC.format('n - 7', 0)})", "22012", "division by zero"),
        ("float8_ln((n - 9)::DOUBLE)", "2201E", "cannot take logarithm of a negative number"),
        (f"numeric_to_2({NUMERIC.format(2, -1)})", "0A000", "NaN as a numeric of known scale is not supported yet"),
    ],
)
def test_an_error_is_that_of_its_row(engine: duckdb.DuckDBPyConnection, call: str, sqlstate: str, message: str) -> None:
    error = failure(engine, f"SELECT max({call}) FROM range(5000) AS m(n)")
    assert (error.sqlstate, error.message) == (sqlstate, message)


def test_too_many_digits_have_their_detail(engine: duckdb.DuckDBPyConnection) -> None:
    large = NUMERIC.format("9" * 38, 0)
    error = failure(engine, f"SELECT numeric_add({large}, {large})")
    assert (error.sqlstate, error.detail) == ("22003", "A numeric holds at most 38 digits.")


def test_texts_of_a_batch_are_bounded(engine: duckdb.DuckDBPyConnection) -> None:
    """The limit holds for what is made, and for what is kept of a long argument."""
    assert engine.execute("SELECT length(text_repeat('a', 1000000))").fetchall() == [(1_000_000,)]
    assert (
        failure(engine, "SELECT max(text_repeat('a', 20000 + n::INTEGER)) FROM range(60) AS m(n)").sqlstate == "54000"
    )
    # What is left over of a piece of room, because the next text did not fit, does not count.
    fits = "SELECT max(length(text_repeat('a', 40000 + n::INTEGER))) FROM range(20) AS m(n)"
    assert engine.execute(fits).fetchall() == [(40_019,)]
    engine.register("long", pa.table({"t": ["a" * 20_000]}))
    assert (
        failure(engine, "SELECT max(text_left(t, 19000 + n::INTEGER)) FROM long, range(60) AS m(n)").sqlstate == "53200"
    )
    engine.unregister("long")


def test_the_layout_of_strings(engine: duckdb.DuckDBPyConnection) -> None:
    """Bytes that a short string does not use are zero, in DuckDB as here: equal strings have equal
    words.
    """
    both = "text_left('abcdefghijkl', k) = left('abcdefghijkl', k)"
    text = f"SELECT count(*) FROM (SELECT n::INTEGER % 13 AS k FROM range(3000) AS m(n)) WHERE {both}"
    assert engine.execute(text).fetchall() == [(3_000,)]


def test_every_loop_is_compiled_before_its_first_call(monkeypatch: pytest.MonkeyPatch) -> None:
    warm_up_functions()
    compiled: list[str] = []
    monkeypatch.setattr("ringbuffer.compile.loader.compile_kernel", lambda name, *_, **__: compiled.append(name))
    for row in KERNELS:
        kernel_functions().compile(row.loop)
    assert compiled == []


def test_names_of_zones_and_fields_change_from_row_to_row(engine: duckdb.DuckDBPyConnection) -> None:
    zones = ["UTC", "Europe/Berlin", "<+0530>-05:30", "America/New_York"]
    hours = {"UTC": 0.0, "Europe/Berlin": 2.0, "<+0530>-05:30": 5.5, "America/New_York": -4.0}
    rows = engine.execute(
        "SELECT z, (timestamp_us(zone_local(u, z)) - timestamptz_us(u)) / 3600e6, zone_utc(zone_local(u, z), z) = u, "
        "timestamp_field(f, zone_local(u, 'UTC')) "
        f"FROM (SELECT {zones}[i % 4 + 1] z, ['century', 'decade'][i % 2 + 1] f, "
        "timestamptz_moment(992000000000000 + i) u FROM range(5000) r(i))"
    ).fetchall()
    assert len(rows) == 5000
    assert all(row[1:] == (hours[row[0]], True, 21 if row[0] in ("UTC", "<+0530>-05:30") else 200) for row in rows)
    assert engine.execute("SELECT zone_local(timestamptz_moment(1), NULL), zone_local(NULL, 'UTC')").fetchall() == [
        (None, None)
    ]
    assert failure(engine, "SELECT zone_local(timestamptz_moment(1), 'nowhere')").sqlstate == "22023"
    assert failure(engine, "SELECT timestamp_trunc('', timestamp_moment(1))").sqlstate == "22023"


def test_rows_that_a_kernel_does_not_read_are_computed(engine: duckdb.DuckDBPyConnection) -> None:
    written = "CASE WHEN n % 3 = 0 THEN '2024-02-29' WHEN n % 3 = 1 THEN 'Feb 3 2021' END"
    days = f"SELECT date_us(date_from_text({written})) // 86400000000 FROM range(5000) AS m(n) ORDER BY n"
    assert engine.execute(days).fetchall() == [((19_782,), (18_661,), (None,))[n % 3] for n in range(5000)]
    wrong = failure(engine, "SELECT date_from_text('Feb ' || n) FROM range(28, 40) AS m(n)")
    assert (wrong.sqlstate, wrong.message) == ("22007", 'invalid input syntax for type date: "Feb 28"')


def test_no_room_for_a_template_is_an_error(engine: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.embedded.kernel_functions.allocate", lambda size: None)
    error = failure(engine, "SELECT timestamp_format(timestamp_moment(n), 'YYYY') FROM range(3) AS m(n)")
    assert (error.sqlstate, error.message) == ("53200", "out of memory")


def test_no_kernel_has_a_twin_in_python() -> None:
    """A kernel that streams compute with is what DuckDB calls, where it has no rule of its own."""
    twins = [
        f"{row.canonical} of {form}"
        for row in ROWS.values()
        for form, routine in row.routines.items()
        if not isinstance(routine.implementation, Kernel) and of_form(row.kernel, form.replace("numeric", "variable"))
    ]
    assert not twins
    assert sum(isinstance(routine.implementation, Kernel) for routine in ROUTINES) > 130
