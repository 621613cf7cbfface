"""The command line as a user meets it: help, versions, and each reason not to start as one line
without a traceback.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from engine.__main__ import main
from engine.commands import StartError, listen
from engine.settings.config import ServerConfig
from engine.storage.clock import SystemClock
from engine.storage.storage import FolderLock

pytestmark = pytest.mark.slow


def antumbra(*arguments: str, environment: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "engine", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, **(environment or {})},
    )


def refusal(*arguments: str, environment: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Return the exit status and the one line of a server that does not start."""
    result = antumbra("serve", *arguments, environment=environment)
    assert result.stdout == ""
    assert result.stderr.startswith("antumbra: ")
    assert result.stderr.count("\n") == 1
    return result.returncode, result.stderr


@pytest.mark.parametrize("arguments", [("--help",), ("serve", "--help"), ("recover", "--help"), ("demo", "--help")])
def test_help(arguments: tuple[str, ...]) -> None:
    result = antumbra(*arguments)
    assert result.returncode == 0
    assert result.stdout.startswith("usage: antumbra")


def test_help_names_every_option() -> None:
    serve, recover, demo = (antumbra(command, "--help").stdout for command in ("serve", "recover", "demo"))
    for option in ("--host", "--port", "--data-dir", "--config", "--insecure-trust", "--set"):
        assert option in serve
    for option in ("--data-dir", "--skip-segment", "--yes"):
        assert option in recover
    for option in ("--rate", "--port", "--keep"):
        assert option in demo


def test_help_loads_nothing_heavy() -> None:
    program = (
        "import sys; from engine.__main__ import build_parser; build_parser().format_help(); "
        "print([name for name in ('numpy', 'numba', 'pyarrow', 'pyspark', 'duckdb', 'psycopg', 'asyncio') "
        "if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_recover_without_a_log(tmp_path: Path) -> None:
    result = antumbra("recover", "--data-dir", str(tmp_path))
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == f"antumbra: there is no log in {tmp_path}\n"


def test_recover_confirms_only_what_is_named() -> None:
    result = antumbra("recover", "--yes")
    assert result.returncode == 2
    assert "--yes goes with --skip-segment" in result.stderr


def test_version() -> None:
    assert antumbra("--version").stdout == "antumbra 0.1.0\n"


def test_no_command_prints_the_help() -> None:
    result = antumbra()
    assert result.returncode == 2
    assert "serve" in result.stdout


def test_a_port_in_use(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        status, line = refusal("--port", port, "--data-dir", str(tmp_path))
    assert status == 1
    assert line == f"antumbra: can't listen on 127.0.0.1:{port}: the port is in use\n"


def test_a_port_that_is_taken_while_the_server_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class QuickDatabase:
        clock = SystemClock()
        process_ids = np.zeros(1, dtype=np.int64)
        shared = None

        def __init__(self, config: ServerConfig, *_: object) -> None:
            self.config = config

        def open(self) -> None: ...

        def close(self) -> None: ...

    monkeypatch.setattr("engine.database.Database", QuickDatabase)
    # It would end this process at its next signal.
    monkeypatch.setattr("engine.server.shutdown.end_by_signals", lambda *_: None)
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        config = ServerConfig(port=other.getsockname()[1], data_dir=tmp_path)
        with pytest.raises(StartError, match="the port is in use"):
            asyncio.run(listen(config, None))


def test_ctrl_c_before_the_server_is_ready(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("engine.commands.serve", interrupted)
    assert main(["serve"]) == 130
    assert capsys.readouterr().err == "antumbra: interrupted\n"


def test_an_address_that_is_not_here(tmp_path: Path) -> None:
    status, line = refusal("--host", "192.0.2.1", "--insecure-trust", "--data-dir", str(tmp_path))
    assert status == 1
    assert "can't listen on 192.0.2.1:5433" in line


def test_no_java(tmp_path: Path) -> None:
    status, line = refusal("--data-dir", str(tmp_path), environment={"JAVA_HOME": str(tmp_path)})
    assert status == 1
    assert "Spark needs Java 17 or newer" in line


def test_a_folder_that_can_not_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    status, line = refusal("--data-dir", str(tmp_path / "file"))
    assert status == 1
    assert "can't write to the data folder" in line


def test_a_folder_in_use(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path)
    lock.acquire()
    status, line = refusal("--data-dir", str(tmp_path))
    lock.release()
    assert status == 1
    assert f"in use by another server (process {os.getpid()})" in line


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("hba=host all all all trust", "--insecure-trust"),
        ("spark_memory=3", "there is no setting spark_memory; did you mean spark_memory_mb?"),
    ],
)
def test_a_setting_that_is_refused(setting: str, message: str, tmp_path: Path) -> None:
    status, line = refusal("--set", setting, "--data-dir", str(tmp_path))
    assert status == 2
    assert message in line


def test_without_a_standard_output_the_status_is_the_same(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "engine", "serve", "--set", "spark_memory=3", "--data-dir", str(tmp_path)]
    result = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *command], stderr=subprocess.PIPE, text=True, check=False, timeout=60
    )
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1


def test_translate(tmp_path: Path) -> None:
    path = tmp_path / "views.sql"
    path.write_text(
        "create table t (a int, b numeric);\nselect nvl(a, 0), b / 2 from t;\n\n"
        "select try_cast(b || '' as int) from t;\nselect any_value(a) from t\n"
    )
    result = antumbra("translate", "--from", "snowflake", str(path))
    assert result.returncode == 1
    assert result.stdout.split() == (
        "create table t (a int, b numeric); SELECT COALESCE(a, 0), b / 2 FROM t; SELECT MIN(a) FROM t;".split()
    )
    assert result.stderr.splitlines() == [
        "antumbra: line 4: error: TRY_CAST of Snowflake can't be translated (Cast what a CASE has found to be castable.)",
        "antumbra: line 5: warning: ANY_VALUE takes the smallest value",
    ]
    assert antumbra("translate", "--from", "cobol", str(path)).returncode == 2
    assert antumbra("translate", "--from", "mysql", str(tmp_path / "nosuch.sql")).returncode == 2
