"""The client's error for a disk that refuses: SQLSTATE and message.

Enters: an OSError of `engine.storage.storage`. Leaves: an SqlError, 53100 for a full disk or a file
that may not grow, and 58030 for all other errors.
"""

from __future__ import annotations

import errno

from sql.errors import SqlError

DISK_FULL = "53100"
IO_ERROR = "58030"
# EFBIG: of a limit for files, as by ulimit -f.
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def disk_error(error: OSError, doing: str, hint: str | None = None) -> SqlError:
    """Return the client's error. doing: the action that failed, as in 'write to file "x"'."""
    sqlstate = DISK_FULL if error.errno in FULL else IO_ERROR
    return SqlError(sqlstate, f"could not {doing}: {error.strerror or error}", hint=hint)
