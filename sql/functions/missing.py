"""Functions that PostgreSQL has and Antumbra does not have yet: they are 0A000, not 42883.

Missing overloads of functions that Antumbra has are in the rows of these. A function that is in
neither place does not exist.
"""

from __future__ import annotations

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
