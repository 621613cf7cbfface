"""A data folder of an older commit opens, with its log and its checkpoint, and answers as before.

`older_folder/<commit>.sql` is what the server of that commit was told before it was killed, and
`<commit>.txt` what it answered. The folders have no kernels: those are made anew.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parent / "older_folder"
QUESTIONS = {
    "f49ce29": (
        "SELECT * FROM v ORDER BY 1",
        "SELECT * FROM w ORDER BY 1",
        "SELECT * FROM u ORDER BY 1, 2",
        "SELECT * FROM d ORDER BY 1",
        "SELECT * FROM k ORDER BY 1",
        "SELECT id, name FROM t ORDER BY 1",
        "SELECT count(*), sum(id), max(m) FROM s",
    ),
    "481cbdc": (
        "SELECT * FROM both_kinds ORDER BY 1",
        "SELECT * FROM sides ORDER BY 1",
        "SELECT * FROM owned ORDER BY 1",
        "SELECT * FROM days ORDER BY 1",
        "SELECT * FROM above",
        "SELECT * FROM totals",
        "SELECT * FROM replaced ORDER BY 1",
        "SELECT * FROM left_alone ORDER BY 1",
    ),
    "9b8aaa0": (
        "SELECT code, sold, n, note FROM frozen ORDER BY 1",
        "SELECT * FROM places ORDER BY 1, 2, 3",
        "SELECT * FROM at_arrival ORDER BY 1, 2",
        "SELECT * FROM pairs ORDER BY 1, 2",
        "SELECT * FROM first_kinds ORDER BY 1",
        "SELECT * FROM first_notes WHERE shop <> 5 ORDER BY 1",
    ),
}


@contextmanager
def opened(data: Path) -> Iterator[psycopg.Connection]:
    """Yield a client of a server on the folder, which is stopped in the end."""
    server = AntumbraServer(data).start()
    try:
        with server.connect() as client:
            client.execute("SET timezone = 'UTC'")
            yield client
        assert server.stop() == 0
    finally:
        if not server.has_ended:
            server.kill()


def extracted(commit: str, data: Path) -> Path:
    with tarfile.open(FOLDER / f"written_by_{commit}.tar.xz") as archive:
        archive.extractall(data, filter="data")
    return data


def answers(client: psycopg.Connection, commit: str) -> list[str]:
    return ["|".join(map(str, row)) for text in QUESTIONS[commit] for row in client.execute(text).fetchall()]


def told(commit: str) -> list[str]:
    return (FOLDER / f"{commit}.txt").read_text().splitlines()


def test_the_folder_of_an_older_commit(tmp_path: Path) -> None:
    with opened(extracted("f49ce29", tmp_path / "data")) as client:
        assert answers(client, "f49ce29") == told("f49ce29")
        client.execute("INSERT INTO s (id, region) VALUES (1, 'r1'), (2, 'r1'), (3, 'r7')")
        assert client.execute("SELECT sum(n) FROM v").fetchall() == [(3503,)]


@pytest.mark.turns(3, 1)
def test_parts_of_views_in_a_folder_become_states(tmp_path: Path) -> None:
    """The older commit had a hidden relation for each stream of a view."""
    data = extracted("481cbdc", tmp_path / "data")
    with opened(data) as client:
        assert answers(client, "481cbdc") == told("481cbdc")
        client.execute("ALTER VIEW both_kinds RENAME TO kinds")
        client.execute("CHECKPOINT")
        client.execute("INSERT INTO clicks VALUES ('late', 1, NULL)")
        client.execute("INSERT INTO sales VALUES ('late', 2, 'here')")
    with opened(data) as client:
        assert client.execute("SELECT * FROM kinds WHERE page IN ('late', 'p1') ORDER BY 1").fetchall() == [
            *client.execute("SELECT 'late', 1::bigint, 2.00"),
            *client.execute("SELECT 'p1', 11::bigint, 255.01"),
        ]
        assert client.execute("SELECT count(*) FROM kinds").fetchone() == (9,)
        assert client.execute("SELECT * FROM totals").fetchall() == [(54, 103, 12)]
        assert client.execute("SELECT * FROM left_alone WHERE page = 'late'").fetchall() == []


@pytest.mark.turns(3, 2)
def test_states_of_another_form_are_converted(tmp_path: Path) -> None:
    """The older commit kept keys of type char(n) from tables as text, without blanks, and compared
    what orders first rows as bytes.
    """
    data = extracted("9b8aaa0", tmp_path / "data")
    with opened(data) as client:
        assert answers(client, "9b8aaa0") == told("9b8aaa0")
        client.execute("INSERT INTO sales VALUES (1, 1, 'a', 0, 'b'), (3, 1, 'a', 0, 'b')")
        client.execute("UPDATE stores SET code = 'cc' WHERE id = 1")
        client.execute("INSERT INTO sales VALUES (1, 1, 'a', 0, 'b')")
        went_on = answers(client, "9b8aaa0")
        frozen = client.execute("SELECT code, octet_length(code), sold FROM frozen WHERE code IN ('a', 'full5')")
        assert sorted(frozen.fetchall()) == [("a    ", 5, 21), ("full5", 5, 10)]
    with opened(data) as client:
        assert answers(client, "9b8aaa0") == went_on
