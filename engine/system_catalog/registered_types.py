"""regclass and its like: the catalog relation that each names the rows of, the columns of its name and schema, and what it is called."""

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
