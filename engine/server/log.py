"""The server's log on stderr: no client writes a line of the log, and a line has no more than a
kilobyte of a client's text.

Enters: records of `logging`, warnings, and uncaught exceptions in any thread. Leaves: lines of one
form, in which control characters are escaped, line ends too. An exception takes several lines, of
our own code; the text of the exception is one of them.
"""

from __future__ import annotations

import logging
import sys
import threading
import traceback
from types import TracebackType

FORM = "%(asctime)s %(levelname)s %(name)s: %(message)s"
TEXT_BYTES_MAX = 1024
CHAIN_MAX = 10

log = logging.getLogger(__name__)


def begin_log(form: str = FORM) -> None:
    """Write the log of this process to stderr, from warnings on."""
    handler = logging.StreamHandler()
    handler.setFormatter(LineFormatter(form))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.captureWarnings(True)
    sys.excepthook = _uncaught
    threading.excepthook = _uncaught_in_thread
    sys.unraisablehook = _unraisable


class LineFormatter(logging.Formatter):
    """The formatter of the log: one line per record, and some more for an exception."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the lines of a record."""
        record.message = one_line(record.getMessage())
        if self.usesTime():
            record.asctime = self.formatTime(record, self.datefmt)
        lines = [self.formatMessage(record)]
        if record.exc_info and record.exc_info[1] is not None:
            lines += exception_lines(record.exc_info[1])
        return "\n".join(lines)


def one_line(text: str) -> str:
    """Return a text as a part of a line: unprintable characters are escaped, and the text after a
    kilobyte is left out.
    """
    # Long enough, since an escaped character is longer than itself.
    kept = text[: TEXT_BYTES_MAX + 1]
    escaped = "".join(character if character.isprintable() else _escaped(character) for character in kept)
    data = escaped.encode(errors="backslashreplace")
    if len(data) <= TEXT_BYTES_MAX and len(kept) == len(text):
        return data.decode()
    return f"{data[:TEXT_BYTES_MAX].decode(errors='ignore')}... ({len(text)} characters)"


def exception_lines(error: BaseException) -> list[str]:
    """Return the lines of an exception and its causes, the first cause first: our code, and one
    line for each text.
    """
    lines: list[str] = []
    found: BaseException | None = error
    for _ in range(CHAIN_MAX):
        if found is None:
            break
        frames = "".join(traceback.format_tb(found.__traceback__)).splitlines()
        text = "".join(traceback.format_exception_only(found)).rstrip("\n")
        lines = [*(f"  {one_line(frame)}" for frame in frames), f"  {one_line(text)}", *lines]
        found = found.__cause__ or (None if found.__suppress_context__ else found.__context__)
    return lines


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", errors="backslashreplace").decode()


def _uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
        return
    log.critical("an error that nobody has caught", exc_info=(kind, error, trace))


def _uncaught_in_thread(told: threading.ExceptHookArgs) -> None:
    if told.exc_value is None or issubclass(told.exc_type, SystemExit):
        return
    name = "?" if told.thread is None else told.thread.name
    log.error("an error that nobody has caught in thread %s", name, exc_info=told.exc_value)


def _unraisable(told: sys.UnraisableHookArgs) -> None:
    log.error("an error that could not be raised: %s", told.err_msg, exc_info=told.exc_value)
