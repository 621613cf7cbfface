"""The dialects of SQL that a client may write, by the name of each, with what people call it.

Must not know how they are translated (`sql.dialects`).
"""

from __future__ import annotations

from collections.abc import Mapping

DIALECTS: Mapping[str, str] = {
    "bigquery": "BigQuery",
    "clickhouse": "ClickHouse",
    "databricks": "Databricks",
    "duckdb": "DuckDB",
    "materialize": "Materialize",
    "mysql": "MySQL",
    "oracle": "Oracle",
    "risingwave": "RisingWave",
    "snowflake": "Snowflake",
    "spark": "Spark",
    "trino": "Trino",
    "tsql": "T-SQL",
}
# The setting's value for PostgreSQL's own SQL, which nothing translates.
POSTGRES = "postgres"
