"""A PostgreSQL 15 of the tests' own: the oracle that gets the same SQL text over all tuples.

Enters: a folder. Leaves: a running cluster (C locale, UTF8, UTC, no fsync unless asked for) on a
free loopback port. A missing PostgreSQL is a failure, never a skip. Raises RuntimeError with what
to install.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from pathlib import Path

import psycopg

PROGRAM_FOLDERS = ("/usr/lib/postgresql/15/bin", "/usr/lib/postgresql/16/bin", "/usr/lib/postgresql/17/bin")
VOLATILE = "-c fsync=off -c full_page_writes=off -c synchronous_commit=off -c jit=off"
MISSING = "PostgreSQL 15 is needed as the tests' oracle: apt-get install postgresql-15"


class PostgresCluster:
    """A cluster in `folder`; start() before use, stop() at the end. durable: with PostgreSQL's
    defaults in all that concerns the disk.

    autovacuum: False where answers must not depend on what ran before. Some of PostgreSQL's
    messages name the dependent whose row lies first in pg_depend, and a vacuum makes room for later
    rows before earlier ones.
    """

    def __init__(self, folder: Path, durable: bool = False, autovacuum: bool = True) -> None:
        self.folder = folder
        self.durable = durable
        self.autovacuum = autovacuum
        self.port = free_port()
        self._programs = find_programs()
        # PostgreSQL refuses to run as root; Debian's package brings the user.
        self._user = "postgres" if os.geteuid() == 0 else None

    @property
    def dsn(self) -> str:
        """Connection string of the superuser."""
        return f"host=127.0.0.1 port={self.port} user=postgres dbname=postgres"

    def start(self) -> None:
        """Create the cluster and start it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if self._user is not None:
            shutil.chown(self.folder, self._user)
        data = self.folder / "data"
        self._run(
            "initdb", "-D", str(data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "-N"
        )
        options = (
            f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c timezone=UTC -c log_timezone=UTC "
            f"-c max_connections=60 {'' if self.durable else VOLATILE} {'' if self.autovacuum else '-c autovacuum=off'}"
        )
        log_path = self.folder / "log"
        self._run("pg_ctl", "-D", str(data), "-w", "-l", str(log_path), "-o", options, "start")

    def stop(self) -> None:
        """Stop the cluster at once; its folder can be removed then."""
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-m", "immediate", "-w", "stop")

    def connect(self) -> psycopg.Connection[tuple[object, ...]]:
        """Return an autocommit connection."""
        return psycopg.connect(self.dsn, autocommit=True)

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [str(self._programs / program), *arguments],
            user=self._user,
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=self.folder,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
        )


def find_programs() -> Path:
    """Return the folder of initdb and pg_ctl."""
    for folder in PROGRAM_FOLDERS:
        if Path(folder, "initdb").exists():
            return Path(folder)
    found = shutil.which("initdb")
    if found is None:
        raise RuntimeError(MISSING)
    return Path(found).resolve().parent


def free_port() -> int:
    """Return a loopback port that nobody listens on at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
