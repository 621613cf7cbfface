"""Functions and overloads that PostgreSQL has and Antumbra does not have yet.

They are 0A000, not 42883.

The overloads also take part in the choice among all of them, as PostgreSQL's do. A function that is
neither here nor in `sql.functions.table` does not exist.
"""

from __future__ import annotations

from collections.abc import Mapping

from sql.functions.signatures import Signature

# Name -> the types of the arguments of each overload.
OVERLOADS: Mapping[str, str] = {
    "array_position": "array element int4",
    "like": "bytea bytea",
    "notlike": "bytea bytea",
    "overlay": "bytea bytea int4 | bytea bytea int4 int4",
    "quote_literal": "element",
    "quote_nullable": "element",
    "pg_terminate_backend": "int4 int8",
    "substring": "text text text",
    "to_char": "float4 text | interval text",
    "date_part": "text timetz",
    "extract": "text timetz",
    "timezone": "interval timestamp | interval timestamptz | text timetz | interval timetz",
    "array_fill": "element int4[] int4[]",
    # Aggregates and functions that return rows.
    "generate_subscripts": "array int4 bool",
    "percentile_cont": "float8 interval",
    "string_agg": "bytea bytea",
    # Operators.
    "~~": "bytea bytea",
    "!~~": "bytea bytea",
}

NAMES = frozenset(
    """
    setseed
    to_ascii
    timeofday pg_sleep_for pg_sleep_until
    json_populate_record json_populate_recordset json_to_record json_to_recordset jsonb_path_exists
    jsonb_path_exists_tz jsonb_path_match jsonb_path_match_tz jsonb_path_query jsonb_path_query_array jsonb_path_query_array_tz
    jsonb_path_query_first jsonb_path_query_first_tz jsonb_path_query_tz jsonb_populate_record jsonb_populate_recordset
    jsonb_to_record jsonb_to_recordset
    datemultirange daterange int4multirange int4range int8multirange int8range isempty lower_inc lower_inf nummultirange numrange
    range_merge tsmultirange tsrange tstzmultirange tstzrange upper_inc upper_inf
    array_to_tsvector get_current_ts_config json_to_tsvector jsonb_to_tsvector numnode phraseto_tsquery plainto_tsquery querytree setweight
    strip to_tsquery to_tsvector ts_debug ts_delete ts_filter ts_headline ts_lexize ts_parse ts_rank ts_rank_cd ts_rewrite ts_stat
    ts_token_type tsquery_phrase tsvector_to_array websearch_to_tsquery
    area bound_box box center circle diagonal diameter height isclosed isopen lseg npoints path pclose point polygon popen radius
    slope width
    cursor_to_xml database_to_xml query_to_xml schema_to_xml table_to_xml xpath xpath_exists
    current_query txid_current_snapshot txid_status pg_collation_for pg_column_compression pg_column_size pg_current_snapshot
    pg_current_wal_lsn pg_current_xact_id pg_reload_conf pg_stat_get_activity
    """.split()
)
AGGREGATE_NAMES = frozenset("range_agg range_intersect_agg xmlagg".split())


def missing(name: str) -> tuple[Signature, ...]:
    """Return the missing overloads of a function or an operator."""
    written = OVERLOADS.get(name)
    if written is None:
        return ()
    return tuple(Signature("", tuple(arguments.split()), "text") for arguments in written.split("|"))
