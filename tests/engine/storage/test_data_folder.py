"""Rights on the data folder: refused or set right as PostgreSQL does; no file of the server is
anybody else's.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import pytest

from engine.ingest.server_files import open_to_write
from engine.storage.data_folder import require_private
from engine.storage.storage import LOCK_FILE_NAME, StorageError
from tests.oracle.antumbra import AntumbraServer

PERMISSIONS = "Permissions should be u=rwx (0700) or u=rwx,g=rx (0750)."


def made(folder: Path, mode: int, used: bool) -> Path:
    folder.mkdir()
    folder.chmod(mode)
    if used:
        (folder / LOCK_FILE_NAME).touch()
    return folder


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("used", [False, True])
@pytest.mark.parametrize("mode", [0o700, 0o750])
def test_right_permissions_stay(mode: int, used: bool, tmp_path: Path) -> None:
    folder = made(tmp_path / "data", mode, used)
    require_private(folder)
    assert mode_of(folder) == mode
    require_private(tmp_path / "none")


@pytest.mark.parametrize(
    ("mode", "used"), [(0o755, False), (0o777, False), (0o1777, False), (0o755, True), (0o751, True), (0o704, True)]
)
def test_what_others_may_not_do_with_ours_is_taken_from_them(
    mode: int, used: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = made(tmp_path / "data", mode, used)
    require_private(folder)
    assert mode_of(folder) == 0o700
    assert "had permissions" in caplog.text


@pytest.mark.parametrize("mode", [0o770, 0o702, 0o777, 0o720])
def test_a_database_where_others_may_have_written_is_refused(mode: int, tmp_path: Path) -> None:
    folder = made(tmp_path / "data", mode, used=True)
    with pytest.raises(
        StorageError, match=re.escape(f'data directory "{folder}" has invalid permissions. {PERMISSIONS}')
    ):
        require_private(folder)
    assert mode_of(folder) == mode


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give folders away")
@pytest.mark.parametrize("used", [False, True])
def test_the_folder_of_somebody_else_is_refused(used: bool, tmp_path: Path) -> None:
    folder = made(tmp_path / "data", 0o700, used)
    os.chown(folder, 12345, 12345)
    with pytest.raises(StorageError, match=f'data directory "{folder}" has wrong ownership'):
        require_private(folder)


def test_a_copied_file_is_the_clients(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        with open_to_write(tmp_path, "new.csv") as file:
            file.write(b"1")
        (tmp_path / "old.csv").touch(mode=0o640)
        (tmp_path / "old.csv").chmod(0o640)
        with open_to_write(tmp_path, "old.csv") as file:
            file.write(b"1")
    finally:
        os.umask(before)
    assert (mode_of(tmp_path / "new.csv"), mode_of(tmp_path / "old.csv")) == (0o644, 0o640)


@pytest.mark.turns(3, 2)
@pytest.mark.slow
def test_every_file_is_the_servers_alone(tmp_path: Path) -> None:
    before = os.umask(0o002)
    try:
        folder = made(tmp_path / "data", 0o775, used=False)
        server = AntumbraServer(folder, "--set", "stage_memory_bytes_max=1048576").start()
    finally:
        os.umask(before)
    with server.connect() as connection:
        connection.execute("CREATE FOREIGN TABLE s (a int, b text) SERVER stream")
        connection.execute("CREATE VIEW v AS SELECT b, count(*) AS n FROM s GROUP BY b ORDER BY n DESC LIMIT 3")
        connection.execute("INSERT INTO s SELECT i, 't' || i % 7 FROM generate_series(1, 100000) i")
        assert len(connection.execute("SELECT * FROM v").fetchall()) == 3
        connection.execute("SELECT a, count(*) FROM s GROUP BY a LIMIT 1")
        connection.execute("CREATE TABLE t AS SELECT i FROM generate_series(1, 1000) i")
        connection.execute("CHECKPOINT")
        found = [folder, *folder.rglob("*")]
        open_to_all = {str(path.relative_to(folder)) for path in found if path.lstat().st_mode & 0o077}
    assert server.stop() == 0
    found += folder.rglob("*")
    open_to_all |= {str(path.relative_to(folder)) for path in found if path.exists() and path.lstat().st_mode & 0o077}
    assert open_to_all == set()
    names = {path.name.rpartition(".")[2] for path in found}
    assert {"py", "code", "duckdb", "log", "lock"} <= names
    folder.chmod(0o777)
    refused = AntumbraServer(folder)
    with pytest.raises(RuntimeError, match="has invalid permissions"):
        refused.start()
