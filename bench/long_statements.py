"""The cost of costly statements for others: some 600 shapes of statements, one after the other,
while another client asks `SELECT 1`.

Each shape ends in its answer or in an error of the client's, in a time that is bounded by
`statement_timeout`, and its session goes on. `--scale` makes them smaller, `--only` takes those
whose names have a text. Prints those that cost most, and a table with thresholds; `--write` puts it
into bench/README.md.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from bench.asking import Asking, asking
from bench.figures import Figure, percentile, report, told, write_report
from bench.shapes.every import SETUP, SHAPES
from bench.shapes.table import ANY, LIMITS, Connection, Shape
from engine.demo.child import child_server

PARTS_MIN = 10
TIMEOUT_S = 60
# What an answer may not be.
BUGS = ("XX", "08", "57014")


@dataclass(frozen=True, slots=True)
class Found:
    """One shape: what was answered, whether that is right, and the seconds that it took itself and
    others waited meanwhile.
    """

    name: str
    answer: Any
    is_right: bool
    took_s: float
    waits_s: list[float]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, and return 1 if a threshold is missed or an answer is wrong."""
    parser = argparse.ArgumentParser(prog="bench.long_statements", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--scale", type=float, default=1.0, help="of the sizes (default 1)")
    parser.add_argument("--only", default="", help="take the shapes whose names have this text")
    parser.add_argument("--write", action="store_true", help="put the table into bench/README.md")
    options = parser.parse_args(arguments)
    with (
        tempfile.TemporaryDirectory(prefix="antumbra-bench-") as name,
        child_server(Path(name) / "data", options=("--set", "spark_preload=off")) as child,
        asking(child.port, Path(name) / "asked") as asked,
    ):
        set_up(child.dsn)
        found = []
        for name, shape in SHAPES.items():
            if options.only in name:
                found.append(measured(child.dsn, asked, name, shape, options.scale))
                print(line(found[-1]), file=sys.stderr, flush=True)
    known = told(*figures(found))
    wrong = [one.name for one in found if not one.is_right]
    print("wrong:", ", ".join(wrong) or "none", file=sys.stderr)
    text = report(known, f"{len(found)} shapes, {len(wrong)} wrong", 1)
    print(text)
    if options.write:
        write_report(text, "long statements")
    return 0 if all(figure.holds for figure in known) and not wrong else 1


def set_up(dsn: str) -> None:
    """Make what the shapes look at."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        for text in SETUP:
            connection.execute(text.encode())


def measured(dsn: str, asked: Asking, name: str, shape: Shape, scale: float) -> Found:
    """Send one shape in a session of its own."""
    size = max(min(shape.size, PARTS_MIN), int(shape.size * scale))
    text = None if shape.make is None else shape.make(size).encode()
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(f"SET statement_timeout = '{TIMEOUT_S}s'".encode())
        began = time.monotonic()
        answer = answered(connection, shape, text, size)
        took_s = time.monotonic() - began
        if connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            connection.execute("ROLLBACK")
        goes_on = connection.execute("SELECT 2").fetchone() == (2,)
    waits_s = asked.waits_since(began)
    return Found(name, answer, goes_on and is_right(answer, shape, size), took_s, waits_s)


def answered(connection: Connection, shape: Shape, text: bytes | None, size: int) -> Any:
    """Return the first value of the last answer, or the SQLSTATE of an error."""
    try:
        if text is None:
            assert shape.act is not None
            return shape.act(connection, size)
        result = connection.pgconn.exec_(text)
    except psycopg.Error as error:
        return error.sqlstate
    state = result.error_field(psycopg.pq.DiagnosticField.SQLSTATE)
    if state is not None:
        return state.decode()
    if not result.ntuples or not result.nfields:
        return None
    value = result.get_value(0, 0)
    return None if value is None else value.decode()


def is_right(answer: Any, shape: Shape, size: int) -> bool:
    """Tell whether an answer is the expected one."""
    expected = shape.expected(size)
    if shape.make is not None and expected is not ANY and expected is not None:
        expected = {True: "t", False: "f"}[expected] if isinstance(expected, bool) else str(expected)
    is_limit = shape.limited and isinstance(answer, str) and answer.startswith(LIMITS)
    return is_limit or answer == expected or (expected is ANY and not str(answer).startswith(BUGS))


def line(found: Found) -> str:
    """Return one line about a shape."""
    longest = max(found.waits_s, default=0.0)
    said = "" if found.is_right else f" WRONG: {str(found.answer)[:40]}"
    return f"{found.took_s:7.2f} s, others at most {longest * 1000:7.1f} ms: {found.name}{said}"


def figures(found: Sequence[Found]) -> list[Figure]:
    """Return the waits of others, and the longest statement."""
    waits = [wait for one in found for wait in one.waits_s]
    longest = max(found, key=lambda one: one.took_s)
    worst = max(found, key=lambda one: max(one.waits_s, default=0.0))
    half, most = percentile(waits, 0.5) * 1000, percentile(waits, 0.999) * 1000
    detail = f"median {half:.2f} ms, 99.9% {most:.0f} ms, {max(worst.waits_s):.2f} s beside {worst.name}"
    return [
        Figure("99% of `SELECT 1` beside costly statements", detail, percentile(waits, 0.99) * 1000, "ms", 100, False),
        Figure("longest of these statements", longest.name, longest.took_s, "s", TIMEOUT_S, False),
    ]


if __name__ == "__main__":
    sys.exit(main())
