"""WITH (name = value, ...): how PostgreSQL keeps a table or index.

Tools write them (pgbench: fillfactor). They are checked as there, and change nothing here; those of
indexes are shown. TABLESPACE is one of them: there is the tablespace pg_default alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sql.errors import SqlError
from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.options import option_value
from sql.values.booleans import parse_bool

# The least and the greatest value of a storage parameter.
Bounds = tuple[int, int]
BOOLEAN: Bounds = (0, 1)
CLEANUP: Bounds = (0, 2)
INT_MAX = 2**31 - 1
FILLFACTOR: tuple[str, Bounds] = ("fillfactor", (10, 100))
OF_INDEX: Mapping[str, Bounds] = MappingProxyType(dict([FILLFACTOR, ("deduplicate_items", BOOLEAN)]))
# By the access method of an index, of those that have others than a btree.
OF_METHODS: Mapping[str, Mapping[str, Bounds]] = MappingProxyType({
    "btree": OF_INDEX,
    "hash": dict([FILLFACTOR]),
    "gist": dict([FILLFACTOR, ("buffering", CLEANUP)]),
    "spgist": dict([FILLFACTOR]),
    "gin": {"fastupdate": BOOLEAN, "gin_pending_list_limit": (64, INT_MAX)},
    "brin": {"pages_per_range": (1, 131_072), "autosummarize": BOOLEAN},
})  # fmt: skip
OF_TABLE: Mapping[str, Bounds] = MappingProxyType({
    "fillfactor": (10, 100),
    "toast_tuple_target": (128, 8160),
    "parallel_workers": (0, 1024),
    "user_catalog_table": BOOLEAN,
    "vacuum_index_cleanup": CLEANUP,
    "vacuum_truncate": BOOLEAN,
    "log_autovacuum_min_duration": (-1, INT_MAX),
    "autovacuum_enabled": BOOLEAN,
    "autovacuum_vacuum_threshold": (0, INT_MAX),
    "autovacuum_vacuum_scale_factor": (0, 100),
    "autovacuum_vacuum_insert_threshold": (-1, INT_MAX),
    "autovacuum_vacuum_insert_scale_factor": (0, 100),
    "autovacuum_vacuum_cost_delay": (-1, 100),
    "autovacuum_vacuum_cost_limit": (1, 10_000),
    "autovacuum_analyze_threshold": (0, INT_MAX),
    "autovacuum_analyze_scale_factor": (0, 100),
    "autovacuum_freeze_min_age": (0, 1_000_000_000),
    "autovacuum_freeze_max_age": (100_000, 2_000_000_000),
    "autovacuum_freeze_table_age": (0, 2_000_000_000),
    "autovacuum_multixact_freeze_min_age": (0, 1_000_000_000),
    "autovacuum_multixact_freeze_max_age": (10_000, 2_000_000_000),
    "autovacuum_multixact_freeze_table_age": (0, 2_000_000_000),
})  # fmt: skip
OF_COLUMN: Mapping[str, Bounds] = MappingProxyType({
    "n_distinct": (-1, INT_MAX),
    "n_distinct_inherited": (-1, INT_MAX),
})  # fmt: skip
OF_ANY_INDEX: Mapping[str, Bounds] = MappingProxyType(
    {name: bounds for valid in OF_METHODS.values() for name, bounds in valid.items()}
)
# What the names of those end with that are no integers.
REAL = ("_scale_factor", "_cost_delay", "n_distinct", "_inherited")
# What the names begin with that TOAST tables have, too.
OF_TOAST = ("vacuum_", "autovacuum_", "log_autovacuum_")


def storage_parameters(cursor: Cursor, valid: Mapping[str, Bounds] = OF_TABLE, reset: bool = False) -> tuple[str, ...]:
    """Read (name[.name] [= value], ...) of how PostgreSQL keeps a table or index; return them as
    texts name=value.

    They change nothing here. Names and values are checked as there: 22023.

    reset: no value may follow a name, and every name is taken.
    """
    found: dict[str, str] = {}

    def parameter(cursor: Cursor) -> None:
        name, value = cursor.label(), None
        space = name if cursor.accept_operator(".") else ""
        name = cursor.label() if space else name
        if not reset and cursor.accept_operator("="):
            value = option_value(cursor)
        shown = f"{space}.{name}" if space else name
        if shown in found:
            cursor.defer(SqlError("22023", f'parameter "{name}" specified more than once'))
        found[shown] = shown if reset else f"{shown}={value or 'true'}"
        if space not in ("", "toast") or (space and valid is not OF_TABLE):
            cursor.defer(SqlError("22023", f'unrecognized parameter namespace "{space}"'))
        elif name == "oids" and valid is OF_TABLE and not space:
            if parse_bool(value or "true"):
                cursor.defer(SqlError("0A000", "tables declared WITH OIDS are not supported"))
        elif reset:
            return
        elif name not in valid or (space and not name.startswith(OF_TOAST)):
            cursor.defer(SqlError("22023", f'unrecognized parameter "{name}"'))
        else:
            check_storage_value(cursor, name, value or "true", valid[name])

    cursor.listed(parameter)
    return tuple(found.values())


def tablespace(cursor: Cursor) -> None:
    """Read the name of a tablespace; defer 42704 for one that is not there."""
    require_tablespace(cursor, cursor.name())


def require_tablespace(cursor: Cursor, name: str | None) -> None:
    """Defer 22023 for the tablespace of roles and databases, 42704 for one that is not there."""
    if name == "pg_global":
        cursor.defer(SqlError("22023", "only shared relations can be placed in pg_global tablespace"))
    elif name not in (None, "pg_default"):
        cursor.defer(SqlError("42704", f'tablespace "{name}" does not exist'))


def check_storage_value(cursor: Cursor, name: str, value: str, bounds: Bounds) -> None:
    """Defer 22023 for a value that a storage parameter can't have."""
    is_switch = bounds in (BOOLEAN, CLEANUP)
    is_real = name.endswith(REAL)
    detail = None
    if is_switch:
        if parse_bool(value) is not None or (bounds == CLEANUP and value.lower() == "auto"):
            return
        kind = "boolean" if bounds == BOOLEAN else "enum"
        detail = None if bounds == BOOLEAN else 'Valid values are "on", "off", and "auto".'
    else:
        kind = "floating point" if is_real else "integer"
    message = f'invalid value for {kind} option "{name}": {value}'
    if not is_switch:
        try:
            number = float(value) if is_real else int(value)
        except ValueError:
            pass
        else:
            low, high = bounds
            if low <= number <= high:
                return
            form = "f" if is_real else "d"
            message = f'value {value} out of bounds for option "{name}"'
            detail = f'Valid values are between "{low:{form}}" and "{high:{form}}".'
    cursor.defer(SqlError("22023", message, detail=detail))
