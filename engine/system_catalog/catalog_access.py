"""The relations of the catalog that only superusers may read, as in PostgreSQL.

Every role may read all others.

Enters: the relations that a query names itself; a view of the catalog shows what is below it.
Leaves: 42501, or nothing.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from engine.catalog.roles import PREDEFINED, READ_ALL
from engine.system_catalog.static_rows import CatalogRelation, relations
from sql.errors import SqlError
from sql.names.relation_keys import name_of, schema_of

if TYPE_CHECKING:
    from engine.catalog.roles import Roles

# The tables on which a new PostgreSQL 15 gives PUBLIC no SELECT. pg_subscription, of which only one
# column is secret, is empty.
CLOSED_TABLES = frozenset(
    "pg_authid pg_shadow pg_statistic pg_statistic_ext_data pg_user_mapping pg_largeobject".split()
)
# Other functions there call a function that is closed, too.
CLOSED_FUNCTIONS = {
    "pg_backend_memory_contexts": "pg_get_backend_memory_contexts",
    "pg_config": "pg_config",
    "pg_file_settings": "pg_show_all_file_settings",
    "pg_hba_file_rules": "pg_hba_file_rules",
    "pg_ident_file_mappings": "pg_ident_file_mappings",
    "pg_replication_origin_status": "pg_show_replication_origin_status",
    "pg_shmem_allocations": "pg_get_shmem_allocations",
}


def is_closed(relation: CatalogRelation) -> bool:
    """Tell whether a relation of the catalog is read only by superusers and by roles that may read
    everything.
    """
    return relation.schema == "pg_catalog" and (relation.name in CLOSED_TABLES or relation.name in CLOSED_FUNCTIONS)


@cache
def closed_oids() -> frozenset[int]:
    """Return the OIDs of the relations that not every role may read."""
    return frozenset(one.oid for one in relations().values() if is_closed(one))


def may_read_closed(roles: Roles, role: int) -> bool:
    """Tell whether a role may read all of the catalog."""
    return roles.has_privileges_of(role, PREDEFINED[READ_ALL])


def require_readable(name: str, roles: Roles, role: int) -> None:
    """Raise 42501 for a relation of the catalog that a role, no superuser, may not read.

    name: the relation's key.
    """
    found = relations().get((schema_of(name), name_of(name)))
    if found is None or not is_closed(found):
        return
    if may_read_closed(roles, role):
        if found.name in CLOSED_FUNCTIONS:
            raise SqlError("42501", f"permission denied for function {CLOSED_FUNCTIONS[found.name]}")
    else:
        raise SqlError("42501", f"permission denied for {'view' if found.kind == 'v' else 'table'} {found.name}")
