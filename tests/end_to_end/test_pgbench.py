"""pgbench's own scripts in its three modes: every transaction arrives, none fails."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.oracle.antumbra import AntumbraServer
from tests.oracle.postgres import find_programs

SCRIPT = """
\\set key random(1, 100)
\\set amount random(-500, 500)
BEGIN;
INSERT INTO pgb_history VALUES (:key, :amount, now());
UPDATE pgb_accounts SET balance = balance + :amount WHERE key = :client_id * 1000 + :key;
SELECT balance FROM pgb_accounts WHERE key = :client_id * 1000 + :key;
END;
INSERT INTO pgb_events VALUES (:key, :amount);
SELECT n FROM pgb_sums WHERE key = :key;
"""
CLIENTS, TRANSACTIONS = 2, 25


@pytest.mark.turns(3)
@pytest.mark.parametrize("mode", ["simple", "extended", "prepared"])
def test_custom_script(server: AntumbraServer, tmp_path: Path, mode: str) -> None:
    script = tmp_path / "script.sql"
    script.write_text(SCRIPT)
    with server.connect() as connection:
        connection.execute("CREATE TABLE pgb_history (key int, amount int, at timestamptz)")
        connection.execute("CREATE TABLE pgb_accounts (key int PRIMARY KEY, balance bigint NOT NULL)")
        connection.execute(
            "INSERT INTO pgb_accounts SELECT c * 1000 + k, 0 FROM generate_series(0, 1) c(c), generate_series(1, 100) k(k)"
        )
        connection.execute("CREATE FOREIGN TABLE pgb_events (key int, amount int) SERVER stream")
        connection.execute(
            "CREATE VIEW pgb_sums AS SELECT key, count(*) AS n, sum(amount) AS total FROM pgb_events GROUP BY key"
        )
    program = shutil.which("pgbench") or str(find_programs() / "pgbench")
    target = ("-h", "127.0.0.1", "-p", str(server.port), "-U", "bench", "antumbra")
    command = [program, "-n", "-M", mode, "-f", str(script), "-c", str(CLIENTS), "-t", str(TRANSACTIONS), *target]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert (
        f"number of transactions actually processed: {CLIENTS * TRANSACTIONS}/{CLIENTS * TRANSACTIONS}" in done.stdout
    ), done.stderr
    with server.connect() as connection:
        history = connection.execute("SELECT count(*), sum(amount) FROM pgb_history").fetchone()
        assert history is not None and history[0] == CLIENTS * TRANSACTIONS
        assert connection.execute("SELECT sum(balance) FROM pgb_accounts").fetchone() == (history[1],)
        assert connection.execute("SELECT sum(n), sum(total) FROM pgb_sums").fetchone() == history
        connection.execute("DROP FOREIGN TABLE pgb_events CASCADE")
        connection.execute("DROP TABLE pgb_history, pgb_accounts")
