"""The lockdown of every DuckDB database of ours once it is open: no way to files and extensions,
and none to change that.

Enters: an open connection, configured. Leaves: the same connection, locked for good. The database's
own file, its log and its folder for data that does not fit into memory stay usable. Must not set
anything else: after this nothing can be set.
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
    """Take external access from a database, from all its cursors, and from all cursors that will be
    made.
    """
    for setting in SETTINGS:
        connection.execute(setting)
