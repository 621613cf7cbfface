"""Writes engine/system_catalog/static/: what a new PostgreSQL 15 has in its catalog and we have,
too.

`python -m tests.system_catalog.write_static` starts a PostgreSQL of its own. relations.json: all
relations of pg_catalog and information_schema with their columns. settings.json: what PostgreSQL
says of settings that we have; `sql/settings/kept_settings.json` has those without effect.
rows.json: rows of types, functions, operators and the like that only use types of ours.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row

from sql.settings.table import OWN_SETTINGS
from tests.system_catalog.write_golden import USER, same_cluster

FOLDER = Path(__file__).parents[2] / "engine" / "system_catalog" / "static"

# Base types that a client can meet, beside the pseudo-types, and the domains of information_schema.
TYPES = """
bool int2 int4 int8 float4 float8 numeric text varchar bpchar date time timetz timestamp timestamptz interval uuid bytea json jsonb unknown
name char oid xid xid8 cid tid int2vector oidvector regproc regprocedure regoper regoperator regclass regcollation regtype regrole
regnamespace aclitem pg_node_tree pg_lsn inet cidr pg_ndistinct pg_dependencies pg_mcv_list refcursor
""".split()

RELATIONS = """
SELECT c.oid::int8, n.nspname AS schema, c.relname AS name, c.relkind::text AS kind, c.reltype::int8 AS type,
  (SELECT json_agg(json_build_array(a.attname, a.atttypid::int8, a.attnotnull) ORDER BY a.attnum)
   FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname IN ('pg_catalog', 'information_schema') AND c.relkind IN ('r', 'v')
ORDER BY c.oid
"""
KNOWN_TYPES = """
SELECT t.oid FROM pg_type t LEFT JOIN pg_type e ON e.oid = t.typelem AND t.typcategory = 'A'
WHERE t.typnamespace = 'pg_catalog'::regnamespace
    AND (coalesce(e.typname, t.typname) = ANY (%(types)s) OR t.typtype = 'p' AND t.typname !~ 'range')
  OR t.typtype = 'd' AND t.typnamespace = 'information_schema'::regnamespace
"""
# What is kept of each relation; `known` are the types above.
ROWS = {
    "pg_type": "oid IN (SELECT oid FROM known)",
    "pg_proc": """oid IN (SELECT unnest(ARRAY[typmodin::oid, typmodout, typsubscript, typanalyze]) FROM pg_type
            WHERE oid IN (SELECT oid FROM known))
        OR prorettype IN (SELECT oid FROM known) AND NOT EXISTS
        (SELECT FROM unnest(proargtypes) AS t (oid) WHERE t.oid NOT IN (SELECT oid FROM known)) AND pronamespace = 11""",
    "pg_operator": """(oprleft = 0 OR oprleft IN (SELECT oid FROM known)) AND (oprright = 0 OR oprright IN (SELECT oid FROM known))
        AND oprresult IN (SELECT oid FROM known)""",
    "pg_cast": "castsource IN (SELECT oid FROM known) AND casttarget IN (SELECT oid FROM known)",
    "pg_aggregate": """aggfnoid IN (SELECT p.oid FROM pg_proc p WHERE prorettype IN (SELECT oid FROM known) AND NOT EXISTS
        (SELECT FROM unnest(proargtypes) AS t (oid) WHERE t.oid NOT IN (SELECT oid FROM known)))""",
    "pg_am": "true",
    "pg_collation": "collname IN ('default', 'C', 'POSIX', 'ucs_basic')",
    "pg_language": "lanname IN ('internal', 'c', 'sql')",
    "pg_namespace": "nspname IN ('pg_catalog', 'pg_toast', 'information_schema', 'public')",
    "pg_opclass": "opcintype IN (SELECT oid FROM known)",
    "pg_opfamily": "oid IN (SELECT opcfamily FROM pg_opclass WHERE opcintype IN (SELECT oid FROM known)) OR opfmethod IN (403, 405)",
    "pg_amop": """amopmethod = 403 AND amoplefttype IN (SELECT oid FROM known) AND amoprighttype IN (SELECT oid FROM known)""",
    "pg_amproc": """amprocfamily IN (SELECT oid FROM pg_opfamily WHERE opfmethod = 403)
        AND amproclefttype IN (SELECT oid FROM known) AND amprocrighttype IN (SELECT oid FROM known)""",
    "pg_tablespace": "true",
}
# Columns that no client asks for, and that would be half of the file.
EMPTY = {"pg_proc": ("prosrc", "proacl", "probin")}
# Settings of PostgreSQL's planner, memory, statistics and log that a session can set; none of them
# would change an answer.
KEPT_FILE = Path(__file__).parents[2] / "sql" / "settings" / "kept_settings.json"
KEPT_SETTINGS = """
SELECT name, boot_val, vartype, short_desc, coalesce(unit, '') AS unit, coalesce(min_val, '0')::float8 AS low,
  coalesce(max_val, '0')::float8 AS high, coalesce(enumvals, '{}') AS choices, context
FROM pg_settings
WHERE context IN ('user', 'superuser') AND name !~ '\\.' AND (
    category ~ '^(Query Tuning|Resource Usage|Statistics|Reporting and Logging|Lock Management|Write-Ahead Log / Settings)'
    OR name ~ '^(vacuum|tcp|gin|jit|trace|wal|synchronize_seqscans|force_parallel|client_connection_check)'
    OR name IN ('default_text_search_config', 'default_toast_compression'))
  AND name NOT IN ('application_name', 'client_min_messages', 'lock_timeout', 'synchronous_commit', 'default_transaction_isolation')
ORDER BY name
"""
SETTING_TEXTS = "SELECT name, category, extra_desc FROM pg_settings WHERE name = ANY (%s) ORDER BY name"
DESCRIPTIONS = """
SELECT objoid::int8, classoid::int8, objsubid, description FROM pg_description
WHERE classoid::regclass::text IN ('pg_type', 'pg_proc', 'pg_am', 'pg_namespace', 'pg_language')
ORDER BY classoid, objoid, objsubid
"""
PLAIN = {
    "oid": "int8",
    "regproc": "oid::int8",
    "xid": "text::int8",
    "oidvector": "oid[]::int8[]",
    "int2vector": "int2[]",
}


def main() -> None:
    """Write both files."""
    with same_cluster() as cluster:
        dsn = f"host=127.0.0.1 port={cluster.port} user={USER} dbname=postgres"
        with psycopg.connect(dsn, row_factory=dict_row) as connection:
            write(connection)


def write(connection: psycopg.Connection[dict[str, Any]]) -> None:
    """Ask PostgreSQL, and write what it says."""
    FOLDER.mkdir(exist_ok=True)
    relations = connection.execute(RELATIONS).fetchall()
    lines = [json.dumps(list(row.values())) for row in relations]
    (FOLDER / "relations.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")
    connection.execute("CREATE TEMP TABLE known AS " + KNOWN_TYPES, {"types": TYPES})
    parts = []
    for name, condition in ROWS.items():
        columns, query = rows_query(connection, name, condition)
        parts.append((name, columns, connection.execute(query).fetchall()))
    parts.append(("pg_description", ["objoid", "classoid", "objsubid", "description"], described(connection, parts)))
    texts = []
    for name, columns, rows in parts:
        body = ",\n".join(json.dumps(list(row.values())) for row in rows)
        texts.append(f'"{name}": {{"columns": {json.dumps(columns)}, "rows": [\n{body}\n]}}')
    (FOLDER / "rows.json").write_text("{\n" + ",\n".join(texts) + "\n}\n")
    kept = [list(row.values()) for row in connection.execute(KEPT_SETTINGS).fetchall()]
    KEPT_FILE.write_text("[\n" + ",\n".join(map(json.dumps, kept)) + "\n]\n")
    known = [*(setting.name for setting in OWN_SETTINGS), *(row[0] for row in kept)]
    rows = connection.execute(SETTING_TEXTS, [sorted(set(known))]).fetchall()
    lines = [f"{json.dumps(row['name'])}: {json.dumps([row['category'], row['extra_desc']])}" for row in rows]
    (FOLDER / "settings.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def rows_query(connection: psycopg.Connection[dict[str, Any]], name: str, condition: str) -> tuple[list[str], str]:
    """Return the columns of a relation that are kept, and the query of its rows, all of them values
    that JSON has.
    """
    found = connection.execute(
        "SELECT a.attname, t.typname FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid"
        " WHERE a.attrelid = %s::regclass AND a.attnum > 0 ORDER BY a.attnum",
        [name],
    ).fetchall()
    columns = [row["attname"] for row in found if row["attname"] not in EMPTY.get(name, ())]
    items = []
    for row in found:
        if row["attname"] not in EMPTY.get(name, ()):
            plain = PLAIN.get(row["typname"], "")
            if row["typname"] in ("char", "name", "pg_node_tree"):
                plain = "text"
            elif row["typname"].startswith("_"):
                plain = "int8[]" if row["typname"] == "_oid" else "text[]"
            items.append(f"{row['attname']}{'::' + plain if plain else ''} AS {row['attname']}")
    return columns, f"SELECT {', '.join(items)} FROM {name} WHERE {condition} ORDER BY 1, 2, 3"


def described(connection: psycopg.Connection[dict[str, Any]], parts: list[Any]) -> list[dict[str, Any]]:
    """Return the descriptions of what is kept."""
    kept = {row["oid"] for _, columns, rows in parts for row in rows if "oid" in columns}
    return [row for row in connection.execute(DESCRIPTIONS).fetchall() if row["objoid"] in kept]


if __name__ == "__main__":
    main()
