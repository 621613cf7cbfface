"""A data folder of an older commit opens, with its log and its checkpoint, and answers as before.

`older_folder/written.sql` is what the server of commit f49ce29 was told before it was killed, and
`answers.txt` what it answered. The folder has no kernels: those are made anew.
"""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from tests.oracle.antumbra import AntumbraServer

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parent / "older_folder"
QUESTIONS = (
    "SELECT * FROM v ORDER BY 1",
    "SELECT * FROM w ORDER BY 1",
    "SELECT * FROM u ORDER BY 1, 2",
    "SELECT * FROM d ORDER BY 1",
    "SELECT * FROM k ORDER BY 1",
    "SELECT id, name FROM t ORDER BY 1",
    "SELECT count(*), sum(id), max(m) FROM s",
)


def test_the_folder_of_an_older_commit(tmp_path: Path) -> None:
    with tarfile.open(FOLDER / "written_by_f49ce29.tar.xz") as archive:
        archive.extractall(tmp_path / "data", filter="data")
    server = AntumbraServer(tmp_path / "data").start()
    try:
        with server.connect() as client:
            client.execute("SET timezone = 'UTC'")
            lines = ["|".join(map(str, row)) for text in QUESTIONS for row in client.execute(text).fetchall()]
            assert lines == (FOLDER / "answers.txt").read_text().splitlines()
            client.execute("INSERT INTO s (id, region) VALUES (1, 'r1'), (2, 'r1'), (3, 'r7')")
            assert client.execute("SELECT sum(n) FROM v").fetchall() == [(3503,)]
        assert server.stop() == 0
    finally:
        if not server.has_ended:
            server.kill()
