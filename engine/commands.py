"""`antumbra serve` and `antumbra recover`: from the command line to what they do, and back to an
exit status.

What keeps them from doing it is one line on stderr. Holds no behaviour of its own: settings are in
`engine.settings.config`, the listening in `engine.server.server`, everything that the sessions
share in `engine.database`, what a log holds in `engine.log.inspection`.
"""

from __future__ import annotations

import asyncio
import errno
import gc
import logging
import os
import socket
import ssl
import sys
from collections.abc import Mapping
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from engine.server.certificate_hash import certificate_hash
from engine.server.log import begin_log, one_line
from engine.server.tls import TlsError, make_context
from engine.settings.config import ConfigError, ServerConfig, load_config
from engine.spark.java import JavaError, find_java
from engine.storage.clock import SystemClock
from engine.storage.data_folder import require_private, take_only_ours
from engine.storage.storage import DiskStorage, FolderLock, StorageError

if TYPE_CHECKING:
    from engine.database import Database
    from engine.server.server import Door, ServerLimits

EXIT_STOPPED = 0
EXIT_FAILED = 1
EXIT_USAGE = 2


class StartError(Exception):
    """The server can't start; the text is one line for a person."""


def serve(given: Mapping[str, str], config_file: Path | None) -> int:
    """Run a server with the settings of the command line until a signal stops it.

    Returns the exit status.
    """
    begin_log()
    logging.getLogger("py4j").setLevel(logging.ERROR)
    # How far a replay is, which may take minutes.
    logging.getLogger("engine.log.recovery").setLevel(logging.INFO)
    try:
        config = load_config(given, config_file)
    except ConfigError as error:
        return refuse(str(error), EXIT_USAGE)
    take_only_ours()
    lock = FolderLock(config.data_dir)
    try:
        require_private(config.data_dir)
        # PySpark looks for Java by itself, and must find the one that was checked.
        os.environ["JAVA_HOME"] = str(find_java())
        lock.acquire()
        check_address(config)
        run_server(config, tls_of(config))
    except (JavaError, StorageError, StartError, TlsError) as error:
        return refuse(str(error), EXIT_FAILED)
    finally:
        lock.release()
    return EXIT_STOPPED


def recover(data_dir: Path, skip_segment: str | None, confirmed: bool) -> int:
    """Say what the log holds, or give up a damaged part of it, once that is confirmed.

    Returns the exit status.
    """
    begin_log("antumbra: %(message)s")
    if not (data_dir / "log").is_dir():
        return refuse(f"there is no log in {data_dir}", EXIT_FAILED)
    take_only_ours()
    lock = FolderLock(data_dir)
    try:
        require_private(data_dir)
        lock.acquire()
        return look_at_log(data_dir, skip_segment, confirmed)
    except StorageError as error:
        return refuse(str(error), EXIT_FAILED)
    except OSError as error:
        return refuse(f"can't read or write the log in {data_dir}: {error}", EXIT_FAILED)
    finally:
        lock.release()


def look_at_log(data_dir: Path, skip_segment: str | None, confirmed: bool) -> int:
    """As `recover`, with the folder held. Raises OSError."""
    from engine.log.checkpoint import newest_header
    from engine.log.inspection import inspect
    from engine.log.inspection_text import inspection_lines, loss_lines
    from engine.log.log_repair import NoSuchSegmentError, give_up, loss_of
    from engine.log.segments import FIRST_SEQUENCE
    from sql.errors import SqlError

    storage = DiskStorage()
    names, decided = known_of_tables(data_dir)
    try:
        newest = newest_header(storage, data_dir / "checkpoints")
        place = (0, FIRST_SEQUENCE) if newest is None else (newest[1].read_position, newest[1].read_sequence)
        inspection = inspect(storage, data_dir / "log", place)
        if skip_segment is None:
            print(*inspection_lines(inspection, newest, names), sep="\n")
            return EXIT_STOPPED if inspection.damaged is None else EXIT_FAILED
        loss = loss_of(inspection, skip_segment, decided)
    except SqlError as error:
        return refuse(error.message, EXIT_FAILED)
    except NoSuchSegmentError as error:
        return refuse(str(error), EXIT_USAGE)
    print(*loss_lines(loss, newest, names), sep="\n")
    if not confirmed:
        print("Nothing has been changed. To give it up, say so with --yes.")
        return EXIT_FAILED
    print(f"Given up: {give_up(storage, loss)}")
    return EXIT_STOPPED


def known_of_tables(data_dir: Path) -> tuple[dict[int, str], frozenset[int]]:
    """Return the names of relations by oid, and which prepared transactions were committed, as far
    as the tables' file can be read.
    """
    from engine.catalog.stored_form import read_plain
    from engine.tables.table_store import FILE_NAME, read_closed
    from sql.errors import SqlError
    from sql.names.relation_keys import dotted

    if not (data_dir / FILE_NAME).exists():
        return {}, frozenset()
    try:
        text, decided = read_closed(data_dir)
        relations = read_plain(text)["relations"] if text else []
    except SqlError as error:
        logging.getLogger(__name__).warning("relations are shown by number: %s", error.message)
        return {}, frozenset()
    return {relation["oid"]: one_line(dotted(relation["name"])) for relation in relations}, decided


def refuse(text: str, status: int) -> int:
    """Say why there is no server."""
    print(f"antumbra: {text}", file=sys.stderr, flush=True)
    return status


def tls_of(config: ServerConfig) -> ssl.SSLContext | None:
    """Return what encrypts connections, None without a certificate. Raises TlsError."""
    if config.ssl_cert_file is None or config.ssl_key_file is None:
        return None
    return make_context(config.ssl_cert_file, config.ssl_key_file)


def run_server(config: ServerConfig, tls: ssl.SSLContext | None) -> None:
    """Open the database, listen, and close it again. The heavy imports happen only here."""
    # A thousand modules are imported, which make no garbage worth looking for.
    gc.disable()
    from engine.server.server import run

    run(listen(config, tls))


async def listen(config: ServerConfig, tls: ssl.SSLContext | None) -> None:
    """Serve until SIGTERM or SIGINT. Raises StartError."""
    from engine.database import Database
    from engine.log.segments import CorruptLogError
    from engine.server.server import serve as serve_clients
    from engine.server.shutdown import end_by_signals
    from engine.sessions.session import open_session
    from sql.errors import SqlError

    # Modules and compiled code stay to the end: a collection that went through them would hold up
    # every client.
    gc.freeze()
    gc.enable()
    stop = asyncio.Event()
    database: Database | None = None
    try:
        try:
            database = Database(config, SystemClock(), DiskStorage())
            end_by_signals(stop.set, config.shutdown_wait_s_max, database.process_ids)
            database.open()
            tell_password(database)
            gc.collect()
            gc.freeze()
        except SqlError as error:
            hint = "" if error.hint is None else f" ({error.hint})"
            raise StartError(f"can't open the database: {error.message}{hint}") from error
        except CorruptLogError as error:
            raise StartError(str(error)) from error
        except OSError as error:
            raise StartError(f"can't open the database in {config.data_dir}: {error}") from error
        try:
            await serve_clients(
                config.host,
                config.port,
                server_limits(config),
                door(database, tls),
                partial(open_session, database.shared),
                partial(announce, database),
                stop,
            )
        except OSError as error:
            # Opening takes its time, and another program may have taken the port meanwhile.
            if error.errno not in (errno.EADDRINUSE, errno.EADDRNOTAVAIL):
                raise
            raise address_refused(config, error) from error
    finally:
        gc.unfreeze()
        if database is not None:
            database.close()


def tell_password(database: Database) -> None:
    """Make the superuser's password where clients are asked for theirs; say where it is."""
    if all(rule.method != "scram-sha-256" for rule in database.config.rules):
        return
    from engine.catalog.roles import BOOTSTRAP_NAME
    from engine.server.first_password import give_password

    path = give_password(database.config, database.storage, database.catalog, database.transactions, database.committer)
    if path is not None:
        print(f"antumbra: the password of the superuser {BOOTSTRAP_NAME} is in {path}", flush=True)


def door(database: Database, tls: ssl.SSLContext | None) -> Door:
    """Return how clients get in."""
    from engine.server.authentication import Authenticator
    from engine.server.server import Door

    config = database.config
    end_point = None if config.ssl_cert_file is None else certificate_hash(config.ssl_cert_file)
    return Door(
        Authenticator(config.rules, lambda: database.catalog.image.roles, database.clock.now_us, end_point), tls
    )


def check_address(config: ServerConfig) -> None:
    """Raise StartError when the address can't be had.

    Asked before Spark and the definitions cost their seconds.
    """
    try:
        found = socket.getaddrinfo(config.host, config.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, kind, protocol, _, address in found:
            with socket.socket(family, kind, protocol) as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(address)
                probe.listen(1)
    except OSError as error:
        raise address_refused(config, error) from error


def address_refused(config: ServerConfig, error: OSError) -> StartError:
    """Return why the address can't be had."""
    reason = "the port is in use" if error.errno == errno.EADDRINUSE else error.strerror
    return StartError(f"can't listen on {config.host}:{config.port}: {reason}")


def announce(database: Database, host: str, port: int) -> None:
    """Print the line that says where clients can connect, once they can."""
    database.shared.listens_on(port)
    shown = f"[{host}]" if ":" in host else host
    print(f"antumbra {version('antumbra')} ready on {shown}:{port} (data in {database.config.data_dir})", flush=True)


def server_limits(config: ServerConfig) -> ServerLimits:
    """Return the wire's share of the settings."""
    from engine.server.server import ServerLimits

    return ServerLimits(
        connections_max=config.connections_max,
        superuser_reserved_connections=config.superuser_reserved_connections,
        strangers_max=config.strangers_max,
        strangers_per_address_max=config.strangers_per_address_max,
        startup_wait_s_max=config.startup_wait_s_max,
        shutdown_wait_s_max=config.shutdown_wait_s_max,
        message_bytes_max=config.message_bytes_max,
        read_high_water_bytes=config.read_high_water_bytes,
        write_high_water_bytes=config.write_high_water_bytes,
    )
