"""The server's log: whatever a client says, in a message, an exception or its causes, it is within
a line, escaped and cut.
"""

from __future__ import annotations

import logging
import random
import subprocess
import sys

import pytest

from engine.server.log import TEXT_BYTES_MAX, LineFormatter, exception_lines, one_line

FORGED = "2026-11-25 12:00:00,000 CRITICAL engine.log: forged"
ENDS = ["\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]
HOSTILE = [*ENDS, "\0", "\x1b[2J", "\x1b]0;title\x07", "\x9b2J", "\u202e", "\ufeff", "\ud800", "\u200b"]


def formatted(message: str, *arguments: object, error: BaseException | None = None) -> str:
    info = None if error is None else (type(error), error, error.__traceback__)
    record = logging.LogRecord("engine.x", logging.WARNING, "x.py", 1, message, arguments, info)
    return LineFormatter("%(levelname)s %(name)s: %(message)s").format(record)


@pytest.mark.parametrize("end", HOSTILE)
def test_a_message_is_one_line(end: str) -> None:
    line = formatted("a client called %s", f"f{end}{FORGED}")
    assert len(line.splitlines()) == 1 and line.isprintable()
    assert line.startswith("WARNING engine.x: a client called f\\")


def test_texts_of_people_stay_as_they_are() -> None:
    assert one_line("größe 名前 \\n") == "größe 名前 \\n"


def test_a_text_is_cut_at_a_kilobyte() -> None:
    draw = random.Random(20_261_120)
    for _ in range(300):
        text = "".join(draw.choice(["a", "ä", "名", "\n", "\U0001f600", "\x00"]) for _ in range(draw.randrange(3000)))
        line = one_line(text)
        assert len(line.encode()) <= TEXT_BYTES_MAX + 40 and line.isprintable()
        assert ("characters)" in line) == (len(line.encode()) > TEXT_BYTES_MAX)
    assert one_line("x" * TEXT_BYTES_MAX) == "x" * TEXT_BYTES_MAX
    assert one_line("x" * 5000).endswith("x... (5000 characters)")


def raised(text: str) -> BaseException:
    try:
        try:
            raise KeyError(text)
        except KeyError as cause:
            error = ValueError(f"{text}{FORGED}")
            error.add_note(f"a note\n{FORGED}")
            raise error from cause
    except ValueError as error:
        return error


@pytest.mark.parametrize("end", HOSTILE)
def test_exceptions_and_their_causes_are_lines_of_ours(end: str) -> None:
    lines = formatted("a bug", error=raised(end)).split("\n")
    assert lines[0] == "WARNING engine.x: a bug"
    assert all(line.startswith("  ") and line.isprintable() and len(line) < 1200 for line in lines[1:])
    assert any("KeyError" in line for line in lines) and any("ValueError" in line for line in lines)
    assert sum("raise error from cause" in line for line in lines) == 1


def test_a_circle_of_causes_ends() -> None:
    error = raised("x")
    assert error.__cause__ is not None
    error.__cause__.__cause__ = error
    assert len(exception_lines(error)) < 100


def test_what_nobody_catches_is_in_the_log_too() -> None:
    code = (
        "import sys, threading, warnings\n"
        "from engine.server.log import begin_log\n"
        "begin_log()\n"
        f"text = 'x\\n{FORGED}'\n"
        "def fail(): raise ValueError(text)\n"
        "thread = threading.Thread(target=fail); thread.start(); thread.join()\n"
        "warnings.warn(text)\n"
        "class Bad:\n    def __del__(self): raise ValueError(text)\n"
        "bad = Bad(); del bad\n"
        "fail()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.count("forged") == 4
    assert not [line for line in done.stderr.splitlines() if line.startswith(FORGED)]
