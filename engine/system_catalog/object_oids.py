"""OIDs of objects that have none of their own in our catalog: constraints, indexes, defaults,
rules.

Row types are in `sql.types.records`. An OID is computed from the OID of the relation and from parts
of the object that do not change, so that it is the same after a restart. All are positive as int4,
and far from OIDs that are given out one by one.
"""

from __future__ import annotations

import zlib

# The built-in types in whose place catalogs see types of the database, and arrays of them: anyenum
# and integer[].
OWN_TYPE, OWN_ARRAY = 3500, 1007
# All other OIDs are above this.
HASHED = 1 << 30

# The OID of a database.
DATABASE = 5
# Both names are one database.
DATABASES = {"antumbra": DATABASE, "postgres": DATABASE + 1}
OWNER = 10
WRAPPER = 15_000
SERVER = 15_001
EXTENSION = 15_002
HEAP = 2
# Access methods of indexes.
METHODS = {"btree": 403, "hash": 405, "gist": 783, "gin": 2742, "brin": 3580, "spgist": 4000}
DEFAULT_TABLESPACE = 1663
# The catalog relations of objects that comments can be on and the whole server has: of those of
# this database, and of those that databases share.
WHOLE_CLASSES = {WRAPPER: "pg_foreign_data_wrapper", SERVER: "pg_foreign_server", EXTENSION: "pg_extension"}
SHARED_CLASSES = {DEFAULT_TABLESPACE: "pg_tablespace", **dict.fromkeys(DATABASES.values(), "pg_database")}


def part_oid(kind: str, relation: int, name: str | int) -> int:
    """Return the OID of a part of a relation. kind: 'index', 'constraint', 'default', 'rule'."""
    return HASHED + zlib.crc32(f"{kind} {relation} {name}".encode()) % HASHED
