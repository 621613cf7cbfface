"""OIDs of what has none of its own in our catalog, besides row types (`sql.types.records`): constraints, indexes, defaults, rules.

They are computed from the OID of the relation and what does not change about the object, so that they are the same after a restart. All
are positive as int4, and far from those that are given out one by one.
"""

from __future__ import annotations

import zlib

# What types of the database look like to catalogs, and arrays of them: anyenum and integer[].
OWN_TYPE, OWN_ARRAY = 3500, 1007
# Everything else lies behind it.
HASHED = 1 << 30

# What every database has.
DATABASE = 5
# Both names are one database.
DATABASES = {"antumbra": DATABASE, "postgres": DATABASE + 1}
OWNER = 10
WRAPPER = 15_000
SERVER = 15_001
HEAP, BTREE = 2, 403
DEFAULT_TABLESPACE = 1663


def part_oid(kind: str, relation: int, name: str | int) -> int:
    """Return the OID of a part of a relation. kind: 'index', 'constraint', 'default', 'rule'."""
    return HASHED + zlib.crc32(f"{kind} {relation} {name}".encode()) % HASHED
