"""What every DuckDB database of ours is once it is open: without a way to files and extensions, and without a way to change that.

Enters: an open connection, configured. Leaves: the same, for good. The database's own file, its log and its folder for what does not fit
into memory stay usable. Must not set anything else: after this nothing can be.
"""

from __future__ import annotations

import duckdb

SETTINGS = (
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET allow_community_extensions = false",
    # Variables of Python are no tables.
    "SET python_enable_replacements = false",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)


def lock_down(connection: duckdb.DuckDBPyConnection) -> None:
    """Take external access from a database, all its cursors, and all that will be made."""
    for setting in SETTINGS:
        connection.execute(setting)
