"""A server that asks for passwords, as psql, psycopg and asyncpg meet it: first start, TLS, roles,
rights, and a kill in between.
"""

from __future__ import annotations

import asyncio
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer

HBA = """
    host    all  intruder   all        reject
    hostssl all  courier    localhost  scram-sha-256
    host    all  antumbra,writer,reader  localhost  scram-sha-256
    host    elsewhere  all  localhost  scram-sha-256
"""


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    files = ["-keyout", str(folder / "server.key"), "-out", str(folder / "server.crt")]
    subprocess.run([*command, *names, *files], check=True, capture_output=True)
    (folder / "server.key").chmod(0o600)
    return folder / "server.crt"


class Guarded:
    """The server, and who can log in."""

    def __init__(self, server: AntumbraServer, certificate: Path) -> None:
        self.server = server
        self.certificate = certificate
        self.passwords = {"writer": "wörd ʃ", "reader": "read'er", "courier": "with tls only"}

    def dsn(self, user: str, **options: str) -> str:
        password = self.passwords.get(user) or (self.server.folder / "superuser-password").read_text().strip()
        parts = {"host": "localhost", "port": str(self.server.port), "dbname": "antumbra", "user": user}
        return psycopg.conninfo.make_conninfo(**{**parts, "password": password, **options})

    def connect(self, user: str, **options: str) -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(self.dsn(user, **options), autocommit=True)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory, certificate: Path) -> Iterator[Guarded]:
    folder = tmp_path_factory.mktemp("guarded") / "data"
    folder.mkdir()
    rules = "".join(f"hba = '{line.strip()}'\n" for line in HBA.strip().splitlines())
    key = certificate.with_suffix(".key")
    text = f"{rules}ssl_cert_file = '{certificate}'\nssl_key_file = '{key}'\n"
    (folder / "antumbra.conf").write_text(text)
    world = Guarded(AntumbraServer(folder).start(), certificate)
    with world.connect("antumbra") as superuser:
        superuser.execute("CREATE FOREIGN TABLE s (k int, t text) SERVER stream")
        superuser.execute("CREATE VIEW v AS SELECT k, count(*) AS n FROM s GROUP BY k")
        for user, password in world.passwords.items():
            quoted = password.replace("'", "''")
            superuser.execute(f"CREATE ROLE {user} LOGIN PASSWORD '{quoted}'".encode())
        superuser.execute("GRANT INSERT ON s TO writer")
        superuser.execute("GRANT SELECT ON v TO reader")
    yield world
    assert world.server.stop() == 0
    log = world.server.log_path.read_text()
    assert all(password not in log for password in world.passwords.values())
    assert "SCRAM-SHA-256$" not in log


def test_a_client_writes_no_line_of_the_log(guarded: Guarded) -> None:
    forged = "2026-11-25 12:00:00,000 CRITICAL engine.log: forged"
    # Nobody who asks for this database is known, so that any name is told to the log.
    users = [f"x\n{forged}", f"x\r\n{forged}\x1b[2J", f"x\x85{forged}\u2028{forged}", "y" * 5000]
    for user in users:
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            guarded.connect(user, dbname="elsewhere", password="wrong", application_name=f"x\n{forged}")
    log = guarded.server.log_path.read_text()
    lines = log.split("\n")
    told = " ".join(line for line in lines if "password authentication failed for user" in line)
    assert all(text in told for text in ("x\\n2026", "x\\r\\n2026", "\\x1b[2J", "\\x85", "\\u2028", "yyy"))
    assert not [line for line in log.splitlines() if line.startswith(forged)]
    assert all(line.isprintable() and len(line) < 1200 for line in lines)


def test_the_first_start_makes_a_password_that_only_the_owner_can_read(guarded: Guarded) -> None:
    path = guarded.server.folder / "superuser-password"
    assert path.stat().st_mode & 0o777 == 0o600
    with guarded.connect("antumbra") as connection:
        assert connection.execute("SELECT current_user::text").fetchone() == ("antumbra",)


@pytest.mark.parametrize(
    ("user", "options", "sqlstate", "text"),
    [
        ("writer", {"password": "wrong"}, "28P01", 'password authentication failed for user "writer"'),
        ("nobody", {"password": "any"}, "28000", "no pg_hba.conf entry for host"),
        ("intruder", {"password": "any"}, "28000", "pg_hba.conf rejects connection for host"),
        ("courier", {"sslmode": "disable"}, "28000", 'user "courier", database "antumbra", no encryption'),
        ("writer", {"dbname": "other"}, "3D000", 'database "other" does not exist'),
        ("writer", {"channel_binding": "require", "sslmode": "disable"}, None, "channel binding"),
        ("writer", {"sslmode": "verify-full", "sslrootcert": "/dev/null"}, None, "SSL|certificate"),
    ],
)
def test_who_does_not_get_in(
    guarded: Guarded, user: str, options: dict[str, str], sqlstate: str | None, text: str
) -> None:
    guarded.passwords.setdefault("nobody", "any")
    guarded.passwords.setdefault("intruder", "any")
    with pytest.raises(psycopg.OperationalError, match=text) as caught:
        guarded.connect(user, **options)
    if sqlstate is not None:
        arguments = ["psql", guarded.dsn(user, **options), "-v", "VERBOSITY=sqlstate", "-c", "SELECT 1"]
        told = subprocess.run(arguments, capture_output=True, text=True, check=False)
        assert told.returncode == 2
    assert caught.value.__class__ is psycopg.OperationalError


@pytest.mark.parametrize("binding", ["require", "prefer", "disable"])
def test_psql_with_channel_binding(guarded: Guarded, binding: str) -> None:
    dsn = guarded.dsn("courier", channel_binding=binding)
    done = subprocess.run(["psql", dsn, "-Atc", "SELECT 1"], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("1\n", "")


def test_psql_over_tls_with_a_verified_certificate(guarded: Guarded) -> None:
    dsn = guarded.dsn("courier", sslmode="verify-full", sslrootcert=str(guarded.certificate))
    told = subprocess.run(
        ["psql", dsn, "-Atc", "SELECT 1", "-c", "\\conninfo"], capture_output=True, text=True, check=True
    )
    assert told.stdout.startswith("1\n")
    assert "TLSv1.3" in told.stdout


def test_asyncpg_over_tls(guarded: Guarded) -> None:
    async def run() -> None:
        context = ssl.create_default_context(cafile=str(guarded.certificate))
        options = {"host": "localhost", "port": guarded.server.port, "database": "antumbra", "ssl": context}
        connection = await asyncpg.connect(user="writer", password=guarded.passwords["writer"], **options)
        await connection.executemany("INSERT INTO s VALUES ($1, $2)", [(7, "x" * 1000)] * 500)
        with pytest.raises(asyncpg.InsufficientPrivilegeError, match="permission denied for view v"):
            await connection.fetch("SELECT * FROM v")
        await connection.close()
        with pytest.raises(asyncpg.InvalidPasswordError):
            await asyncpg.connect(user="writer", password="wrong", **options)
        with pytest.raises(asyncpg.InvalidAuthorizationSpecificationError, match="no pg_hba"):
            await asyncpg.connect(user="nobody", password="wrong", **options)

    asyncio.run(run())
    with guarded.connect("reader") as reader:
        assert reader.execute("SELECT n FROM v WHERE k = 7").fetchone() == (500,)


def test_rights_over_the_wire_and_after_a_kill(guarded: Guarded) -> None:
    for _ in range(2):
        with guarded.connect("writer") as writer, guarded.connect("reader") as reader:
            for _ in range(10):
                writer.execute("INSERT INTO s VALUES (%s, %s)", (1, "a"))
            with writer.cursor().copy("COPY s FROM STDIN") as copy:
                copy.write_row((1, "b"))
            (count,) = reader.execute("SELECT n FROM v WHERE k = 1").fetchone() or (None,)
            for connection, text in (
                (writer, "SELECT * FROM v"),
                (writer, "SELECT * FROM s"),
                (reader, "INSERT INTO s VALUES (1, 'c')"),
                (reader, "COPY s FROM STDIN"),
                (reader, "DROP VIEW v"),
                (reader, "GRANT INSERT ON s TO reader"),
                (reader, "SET ROLE antumbra"),
                (reader, "CREATE ROLE mine"),
                (reader, "COPY v TO '/tmp/out'"),
            ):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(text.encode())
        guarded.server.kill()
        guarded.server.start()
    assert count == 22


def test_a_cancel_needs_the_right_key(guarded: Guarded) -> None:
    with guarded.connect("writer", sslmode="require") as connection:
        pid = connection.info.backend_pid
        with guarded.connect("reader") as other, pytest.raises(psycopg.errors.InsufficientPrivilege):
            other.execute("SELECT pg_terminate_backend(%s)", (pid,))
        connection.execute("INSERT INTO s VALUES (3, 'still there')")


def test_a_name_that_is_no_role_comes_in_only_while_nobody_has_made_a_role(server: AntumbraServer) -> None:
    dsn = f"host=127.0.0.1 port={server.port} dbname=antumbra user="
    with psycopg.connect(dsn + "passing", autocommit=True) as before, server.connect() as superuser:
        assert before.info.parameter_status("is_superuser") == "on"
        superuser.execute("CREATE ROLE resident LOGIN")
        with pytest.raises(psycopg.OperationalError, match='FATAL:  role "passing" does not exist'):
            psycopg.connect(dsn + "passing")
        with psycopg.connect(dsn + "resident") as resident:
            assert resident.info.parameter_status("is_superuser") == "off"
            assert resident.execute("SELECT current_setting('is_superuser'), current_user").fetchone() == (
                "off",
                "resident",
            )
        # Who is there already goes on.
        assert before.execute("SELECT current_setting('is_superuser')").fetchone() == ("on",)
        superuser.execute("DROP ROLE resident")
        psycopg.connect(dsn + "passing").close()
