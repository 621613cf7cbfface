"""The types regclass and the like: the catalog relation of their objects, and the columns of an
object's name and schema.
"""

from __future__ import annotations

KINDS = {
    "regclass": ("pg_class", "relname", "relnamespace", "relation"),
    "regtype": ("pg_type", "typname", "typnamespace", "type"),
    "regproc": ("pg_proc", "proname", "pronamespace", "function"),
    "regprocedure": ("pg_proc", "proname", "pronamespace", "function"),
    "regoper": ("pg_operator", "oprname", "oprnamespace", "operator"),
    "regoperator": ("pg_operator", "oprname", "oprnamespace", "operator"),
    "regnamespace": ("pg_namespace", "nspname", "", "schema"),
    "regrole": ("pg_authid", "rolname", "", "role"),
    "regcollation": ("pg_collation", "collname", "collnamespace", "collation"),
}
