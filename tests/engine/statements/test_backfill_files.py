"""CREATE VIEW ... WITH (backfill = file): rows of CSV and Parquet files of the server, by COPY's
rules; who may read them, and what is told of a file that is wrong.

The oracle is a sum over lists in Python.
"""

from __future__ import annotations

import decimal
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from tests.engine.ddl.test_view_life_cycle import STREAM
from tests.engine.session_client import World

VIEW = "SELECT k, count(*) AS n, sum(x) AS t FROM s GROUP BY k"
ROWS = [(number % 4, number % 11) for number in range(500)]
EXPECTED = [f"D [b'{k}', b'125', b'{sum(x for key, x in ROWS if key == k)}']" for k in range(4)]


class Files:
    """A world, and the folder whose files it may read."""

    def __init__(self, tmp_path: Path) -> None:
        self.folder = tmp_path / "files"
        self.folder.mkdir()
        self.path = tmp_path / "data"
        self.open()
        self.client.run(STREAM)

    def open(self) -> None:
        self.world = World(self.path, copy_directory=self.folder)
        self.client = self.world.client()

    def crash(self) -> None:
        self.world.abandon()
        self.open()

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, newline="\r\n" if name == "part-1.csv" else None)

    def parquet(self, name: str, table: pa.Table, **options: object) -> None:
        pa.parquet.write_table(table, self.folder / name, **options)

    def view(self, source: str, query: str = VIEW) -> tuple[str, dict[str, str]]:
        """Return how CREATE VIEW was answered, with the fields of its error."""
        answers = self.client.ask_in_full(f"CREATE VIEW v WITH (backfill = '{source}') AS {query}")
        return next((answer, fields) for answer, fields in answers if answer[0] in "EC")


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def pairs(kind: pa.DataType) -> pa.Table:
    k, x = zip(*ROWS, strict=True)
    return pa.table({"x": pa.array(x, kind), "k": pa.array(k, pa.int64())})


@pytest.mark.parametrize("name", ["a.csv", "b.PARQUET", "sub/c.parquet", "part-*.parquet", "part-*.csv"])
def test_rows_of_files(files: Files, name: str) -> None:
    (files.folder / "sub").mkdir()
    lines = [f'"{x}",{k}\n' for k, x in ROWS]
    files.write("a.csv", "x,k\n" + "".join(lines))
    files.write("part-1.csv", "x,k\n" + "".join(lines[:77]))
    files.write("part-2.csv", "k,x\n" + "".join(f"{k},{x}\n" for k, x in ROWS[77:]))
    files.write("other.csv", "x,k\n1,1\n")
    files.parquet("b.PARQUET", pairs(pa.int16()), row_group_size=60)
    files.parquet("sub/c.parquet", pairs(pa.uint8()), compression="zstd", use_dictionary=True)
    files.parquet("part-1.parquet", pairs(pa.int32())[:99])
    files.parquet("part-2.parquet", pairs(pa.int64())[99:])
    assert files.view(name)[0] == "C CREATE VIEW"
    for _ in range(2):
        assert files.client.rows("SELECT * FROM v ORDER BY k") == EXPECTED
        files.crash()
    files.client.run("INSERT INTO s VALUES (1, 1)")
    assert files.client.rows("SELECT n FROM v WHERE k = 1") == ["D [b'126']"]
    files.world.close()


def test_values_of_all_kinds_and_defaults(files: Files) -> None:
    columns = "a numeric(9,2), b date, c timestamptz, d text, e jsonb, f float8, g bool, h int DEFAULT 7"
    files.client.run(f"CREATE FOREIGN TABLE w ({columns}) SERVER stream")
    shown = "SELECT a, b, c, d, e, f, g, h, count(*) FROM w GROUP BY 1, 2, 3, 4, 5, 6, 7, 8"
    table = pa.table(
        {
            "a": pa.array([decimal.Decimal("1.50"), None]),
            "b": pa.array([19_000, None], pa.date32()),
            "c": pa.array([1_700_000_000_000_000, None], pa.timestamp("us", "UTC")),
            "d": ['it\'s; \\ "x"', None],
            "e": ['{"a":  1}', None],
            "f": [0.5, None],
            "g": [True, None],
        }
    )
    files.parquet("w.parquet", table)
    files.write(
        "w.csv", 'e,a,b,c,d,f,g\n"{""a"":  1}",1.50,2022-01-08,2023-11-14 22:13:20Z,"it\'s; \\ ""x""",0.5,t\n,,,,,,\n'
    )
    answers = []
    for name in ("w.parquet", "w.csv"):
        assert files.view(name, shown)[0] == "C CREATE VIEW"
        answers.append(files.client.rows("SELECT * FROM v ORDER BY a"))
        files.client.run("DROP VIEW v")
    assert answers[0] == answers[1]
    assert answers[0][1] == "D [None, None, None, None, None, None, None, b'7', b'1']"
    assert "b'2022-01-08', b'2023-11-14 22:13:20+00'" in answers[0][0]
    files.world.close()


@pytest.mark.parametrize(
    ("name", "error", "context"),
    [
        ("bad-field.csv", "E 22P02", 'COPY s, line 3, column x: "one"\nfile "bad-field.csv"'),
        ("two-*.csv", "E 22P04", 'COPY s, line 2: "1"\nfile "two-2.csv"'),
        ("strange.csv", 'E 42703: column "y" of relation "s" does not exist', 'file "strange.csv"'),
        ("twice.csv", 'E 42701: column "k" specified more than once', 'file "twice.csv"'),
        ("empty.csv", "E 22P04", 'file "empty.csv"'),
        ("range.parquet", "E 22003", 'COPY s, line 2, column x: "2147483648"\nfile "range.parquet"'),
        ("text.parquet", 'E 42804: column "x" is of type integer', 'file "text.parquet"'),
        ("strange.parquet", 'E 42703: column "y" of relation "s" does not exist', 'file "strange.parquet"'),
        ("none.parquet", "E 22P04: could not read file", None),
        ("cut.parquet", "E 22P04: could not read file", None),
        ("not-there.csv", "E 58P01", None),
        ("not-there-*.csv", "E 58P01", None),
        ("/etc/passwd.csv", "E 42501", None),
        ("../a.csv", "E 42501", None),
        ("out/passwd.csv", "E 42501", None),
        ("link.csv", "E 42501", None),
        ("folder.csv", "E 42809", None),
        ("x''; DROP TABLE s; --.csv", "E 58P01", None),
    ],
)
def test_what_is_wrong_is_told_with_its_file(files: Files, name: str, error: str, context: str | None) -> None:
    files.write("bad-field.csv", "k,x\n1,1\n1,one\n")
    files.write("two-1.csv", "k,x\n1,1\n")
    files.write("two-2.csv", "k,x\n1\n")
    files.write("strange.csv", "k,y\n1,1\n")
    files.write("twice.csv", "k,k\n1,1\n")
    files.write("empty.csv", "")
    files.write("none.parquet", "k,x\n1,1\n")
    files.parquet("range.parquet", pa.table({"k": [1, 1], "x": [1, 1 << 31]}))
    files.parquet("text.parquet", pa.table({"k": [1], "x": ["1"]}))
    files.parquet("strange.parquet", pa.table({"k": [1], "y": [1]}))
    files.parquet("whole.parquet", pairs(pa.int32()))
    whole = (files.folder / "whole.parquet").read_bytes()
    (files.folder / "cut.parquet").write_bytes(whole[: len(whole) // 2] + bytes(64) + whole[len(whole) // 2 + 64 :])
    os.symlink("/etc/passwd", files.folder / "link.csv")
    os.symlink("/etc", files.folder / "out")
    (files.folder / "folder.csv").mkdir()
    answer, fields = files.view(name)
    assert answer.startswith(error), (answer, fields)
    if context is not None:
        assert fields["context"] == context
    assert "42P01" in files.client.ask("SELECT * FROM v")[0]
    assert files.client.rows("SELECT * FROM pg_stat_progress_backfill") == []
    files.world.close()


def test_who_may_read_files(files: Files) -> None:
    files.write("a.csv", "k,x\n1,1\n")
    client = files.client
    client.run("CREATE ROLE ann", "GRANT SELECT ON s TO ann", "GRANT CREATE ON SCHEMA public TO ann", "SET ROLE ann")
    assert files.view("a.csv")[0].startswith("E 42501: must be superuser or have privileges of the pg_read_server")
    client.run("RESET ROLE", "GRANT pg_read_server_files TO ann", "SET ROLE ann")
    assert files.view("a.csv")[0] == "C CREATE VIEW"
    client.run("RESET ROLE", 'CREATE TABLE "b.csv" AS SELECT 2 AS k', "DROP VIEW v")
    assert files.view('"b.csv"')[0] == "C CREATE VIEW", "a table, in quotes"
    client.run("DROP VIEW v")
    assert files.view('SELECT k FROM "b.csv" AS public')[0] == "C CREATE VIEW"
    files.world.close()


def test_without_a_copy_directory(tmp_path: Path) -> None:
    world = World(tmp_path / "data")
    client = world.client()
    client.run(STREAM)
    assert client.ask(f"CREATE VIEW v WITH (backfill = 'a.csv') AS {VIEW}")[0].startswith("E ERROR 42501")
    world.close()
