"""The command `antumbra`: reads the command line and hands over.

Imports nothing heavy, so that --help is there at once.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from engine.server.large_pages import use_large_pages
from sql.names.dialects import DIALECTS

EXIT_INTERRUPTED = 130

DESCRIPTION = "A stream database that every PostgreSQL client can talk to."

SERVE_DESCRIPTION = """\
Run the server until SIGTERM or SIGINT, which end it within shutdown_wait_s_max and five seconds, or SIGQUIT, which ends it at once.

It prints one line when clients can connect, for example with
  psql -h 127.0.0.1 -p 5433 antumbra
On an address that only this machine reaches, any user name is accepted until the first CREATE ROLE, and the names of roles after it.
Where others reach it, clients are asked for a password; that of
the superuser antumbra is made at the first start and written to superuser-password in the data folder."""

SERVE_EPILOG = """\
Settings are read from antumbra.conf in the data folder (or from --config FILE), one `name = value` per line, and then
from the command line. engine/README.md lists them all.

exit status: 0 after a clean stop, 1 when the server can't start, fails, or did not stop in time, 2 for a wrong command line or
setting, 130 when Ctrl-C came before it was ready."""

RECOVER_DESCRIPTION = """\
Say what the log of a data folder holds, file by file: positions, records, transactions, rows of each stream, and where it is
damaged. The server must not be running. Nothing is changed.

With --skip-segment, say what is lost when the damaged part of that file is given up: which transactions and streams, and how
many rows as far as they can be read. With --yes as well, give it up: the server then starts without it. Restoring the file
from a copy, if there is one, loses nothing."""

RECOVER_EPILOG = """\
Records before the damage are kept. A transaction of which some records are lost is left out as a whole; tables stay as they
are. What is given up is noted as NUMBER.skipped in the log folder; a file of which nothing is kept becomes NUMBER.damaged.

exit status: 0 when the log is whole or the part was given up, 1 when it is damaged or nothing was done, 2 for a wrong
command line."""

TRANSLATE_DESCRIPTION = """\
Print the SELECT and CREATE VIEW statements of a file in Antumbra's SQL, which is PostgreSQL's; other statements are taken to be
PostgreSQL's, and stay as they are. Types of columns are known from CREATE TABLE statements in the same file. What may mean
something else is a warning on stderr, with its line; what would is an error there, and the statement is left out.

exit status: 0 when every statement was translated, 1 when one was refused, 2 for a wrong command line or a file that can't be
read."""

DEMO_DESCRIPTION = """\
Start a server in a temporary folder, stream all 336,776 flights that left New York City in 2013 into it, and show
three continuous views while they change. At the end the views are compared with the same questions answered
directly from the file."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    options = build_parser().parse_args(arguments)
    if options.version:
        print(f"antumbra {installed_version()}")
        return 0
    try:
        if options.command == "serve":
            if arguments is None:
                use_large_pages()
            from engine.commands import serve

            status = serve(serve_settings(options), options.config)
            if arguments is None:
                end_process(status)
            return status
        if options.command == "recover":
            from engine.commands import recover

            if options.yes and options.skip_segment is None:
                build_parser().error("--yes goes with --skip-segment")
            return recover(options.data_dir, options.skip_segment, options.yes)
        if options.command == "demo":
            from engine.demo.demo import demo

            return demo(options.rate, options.port, options.keep)
        if options.command == "translate":
            from engine.translating import translate_file

            return translate_file(options.file, options.dialect)
    except KeyboardInterrupt:
        # A server that is ready ends in order instead.
        print("antumbra: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    build_parser().print_help()
    return 2


def end_process(status: int) -> NoReturn:
    """End this process, of which nothing is open any more, with an exit status.

    The interpreter would take down each object of each module before: half a second of a processor
    after a server, for which a supervisor waits.
    """
    for stream in (sys.stdout, sys.stderr):
        # None where the process was started without it.
        if stream is not None:
            stream.flush()
    os._exit(status)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line."""
    parser = argparse.ArgumentParser(prog="antumbra", description=DESCRIPTION)
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    add_serve(commands)
    add_recover(commands)
    add_demo(commands)
    add_translate(commands)
    return parser


def add_serve(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `antumbra serve`.

    Options left out come from the settings file, so they have no defaults here.
    """
    serve = commands.add_parser(
        "serve",
        help="run the server",
        description=SERVE_DESCRIPTION,
        epilog=SERVE_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    serve.add_argument("--host", metavar="HOST", help="address to listen on (default 127.0.0.1)")
    serve.add_argument("--port", metavar="PORT", help="port to listen on (default 5433; 0 takes a free one)")
    serve.add_argument("--data-dir", metavar="DIR", help="folder of this server's files (default ./antumbra-data)")
    serve.add_argument("--config", metavar="FILE", type=Path, help="settings file (default DIR/antumbra.conf)")
    serve.add_argument(
        "--insecure-trust", action="store_true", help="trust other machines, too: nobody is asked for a password"
    )
    serve.add_argument(
        "-c", "--set", metavar="NAME=VALUE", action="append", default=[], help="any setting; may be repeated"
    )


def add_recover(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `antumbra recover`."""
    recover = commands.add_parser(
        "recover",
        help="look into the log of a server that does not start",
        description=RECOVER_DESCRIPTION,
        epilog=RECOVER_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    recover.add_argument(
        "--data-dir",
        metavar="DIR",
        type=Path,
        default=Path("antumbra-data"),
        help="folder of the server's files (default ./antumbra-data)",
    )
    recover.add_argument(
        "--skip-segment",
        metavar="NAME",
        help="the file whose damaged part is to be given up, as in 0000000000000001.log",
    )
    recover.add_argument("--yes", action="store_true", help="give it up now; without this it is only said what is lost")


def add_demo(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `antumbra demo`."""
    demo = commands.add_parser(
        "demo",
        help="stream a year of flights through three continuous views",
        description=DEMO_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    demo.add_argument(
        "--rate",
        metavar="ROWS",
        type=count,
        default=9000,
        help="flights per second (default 9000, about 40 seconds in all; 0: as fast as possible)",
    )
    demo.add_argument("--port", metavar="PORT", type=count, default=0, help="port to use (default: a free one)")
    demo.add_argument("--keep", action="store_true", help="keep the server running afterwards, for psql, until Ctrl-C")


def add_translate(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `antumbra translate`."""
    translate = commands.add_parser(
        "translate",
        help="translate another dialect's SQL",
        description=TRANSLATE_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    translate.add_argument(
        "--from", dest="dialect", required=True, choices=tuple(DIALECTS), metavar="DIALECT", help=", ".join(DIALECTS)
    )
    translate.add_argument(
        "file", nargs="?", default="-", metavar="FILE", help="SQL to read (default -: standard input)"
    )


def count(text: str) -> int:
    """Return the whole number in `text`, 0 or more."""
    number = int(text)
    if number < 0:
        raise ValueError(text)
    return number


def serve_settings(options: argparse.Namespace) -> dict[str, str]:
    """Return the settings given on the command line, as text."""
    settings: dict[str, str] = {}
    for assignment in options.set:
        name, separator, value = assignment.partition("=")
        if not separator:
            build_parser().error(f"--set expects NAME=VALUE, not {assignment!r}")
        settings[name.strip()] = value.strip()
    for name in ("host", "port", "data_dir"):
        value = getattr(options, name)
        if value is not None:
            settings[name] = value
    if options.insecure_trust:
        settings["insecure_trust"] = "on"
    return settings


def installed_version() -> str:
    """Return the version of the installed distribution."""
    from importlib.metadata import version

    return version("antumbra")


if __name__ == "__main__":
    sys.exit(main())
