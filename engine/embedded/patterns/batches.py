"""Functions of regular expressions over columns: a batch of short texts with one pattern is matched
at once.

A function looks at its rows one by one as before, and finds its matches made. Must not know what
the functions do with matches.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pyarrow as pa

from engine.embedded.functions.regular_expressions import HELD, Compiled
from engine.embedded.stopping import in_run
from sql.errors import SqlError
from sql.functions.rows import LookAhead

ArrowFunction = Callable[..., pa.Array]

# Fewer rows, longer texts and more characters together are not worth the work ahead.
ROWS_MIN, TEXT_CHARACTERS_MAX, CHARACTERS_MAX = 8, 512, 1 << 18


def in_batches(ahead: LookAhead | None, function: ArrowFunction) -> ArrowFunction:
    """Return a function that looks ahead, with the number of its run as a further argument."""
    if ahead is None:
        return in_run(function)
    place, wants_all = ahead.options, ahead.wants_all

    def run(*columns: pa.ChunkedArray) -> pa.Array:
        compiled = pattern_of(columns[1], None if place is None else columns[place])
        if compiled is None:
            return function(*columns)
        try:
            program = compiled.__enter__()
        except SqlError:
            # The rows themselves raise the error.
            return function(*columns)
        HELD.compiled = compiled
        try:
            texts = short_texts(columns[0])
            if texts:
                is_global = place is not None and "g" in columns[place][0].as_py()
                # An error that stops the work ahead stops the rows, too.
                with suppress(SqlError):
                    program.look_ahead(texts, is_first=not (is_global if wants_all is None else wants_all))
            return function(*columns)
        finally:
            HELD.compiled = None
            program.ahead.clear()
            compiled.__exit__(None, None, None)

    return in_run(run)


def pattern_of(patterns: pa.ChunkedArray, options: pa.ChunkedArray | None) -> Compiled | None:
    """Return the pattern of all rows, None if there are several patterns, or few rows."""
    if len(patterns) < ROWS_MIN:
        return None
    known = [(column.unique() if column is not None else EMPTY).to_pylist() for column in (patterns, options)]
    if any(len(values) != 1 or values[0] is None for values in known):
        return None
    return Compiled(known[0][0], known[1][0])


EMPTY = pa.array([""])


def short_texts(column: pa.ChunkedArray) -> list[str]:
    """Return the different short texts of a column, if there are not too many characters in it."""
    if column.nbytes > CHARACTERS_MAX:
        return []
    return [text for text in dict.fromkeys(column.to_pylist()) if text is not None and len(text) <= TEXT_CHARACTERS_MAX]
