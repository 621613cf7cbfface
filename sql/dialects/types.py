"""Types of casts: those of each dialect as PostgreSQL writes them."""

from __future__ import annotations

from sqlglot import exp

from sql.dialects.context import POSTGRES_LIKE, Context

PLAIN = {
    "BOOLEAN": "BOOLEAN",
    "SMALLINT": "SMALLINT",
    "TINYINT": "SMALLINT",
    "INT": "INTEGER",
    "BIGINT": "BIGINT",
    "MEDIUMINT": "INTEGER",
    "UTINYINT": "SMALLINT",
    "USMALLINT": "INTEGER",
    "UINT": "BIGINT",
    "DOUBLE": "DOUBLE PRECISION",
    "FLOAT": "REAL",
    "TEXT": "TEXT",
    "VARCHAR": "VARCHAR",
    "NVARCHAR": "VARCHAR",
    "CHAR": "VARCHAR",
    "NCHAR": "VARCHAR",
    "DATE": "DATE",
    "TIMESTAMP": "TIMESTAMP",
    "TIMESTAMPNTZ": "TIMESTAMP",
    "DATETIME": "TIMESTAMP",
    "DATETIME2": "TIMESTAMP",
    "TIMESTAMPTZ": "TIMESTAMPTZ",
    "TIMESTAMPLTZ": "TIMESTAMPTZ",
    "DECIMAL": "NUMERIC",
    "INTERVAL": "INTERVAL",
    "UUID": "UUID",
    "JSON": "JSON",
    "JSONB": "JSONB",
    "TIME": "TIME",
    "BIGDECIMAL": "NUMERIC",
    "SMALLDATETIME": "TIMESTAMP(0)",
    "MEDIUMTEXT": "TEXT",
    "LONGTEXT": "TEXT",
    "TINYTEXT": "TEXT",
    "BIT": "BOOLEAN",
    "MONEY": "NUMERIC(19, 4)",
    "NAME": "NAME",
    "DATE32": "DATE",
    "DATETIME64": "TIMESTAMP",
    "INT128": "NUMERIC(38, 0)",
    "UBIGINT": "NUMERIC(20, 0)",
}
# DECIMAL without precision and scale.
DECIMALS = {
    "snowflake": "NUMERIC(38, 0)",
    "mysql": "NUMERIC(10, 0)",
    "bigquery": "NUMERIC(38, 9)",
    "spark": "NUMERIC(10, 0)",
    "databricks": "NUMERIC(10, 0)",
    "tsql": "NUMERIC(18, 0)",
    "trino": "NUMERIC(38, 0)",
    "duckdb": "NUMERIC(18, 3)",
    "clickhouse": "NUMERIC(10, 0)",
}
# FLOAT of eight bytes.
LONG_FLOATS = frozenset({"bigquery", "snowflake", "tsql", "oracle"})
WITH_LENGTH = frozenset("VARCHAR NVARCHAR CHAR NCHAR DECIMAL TIMESTAMP TIMESTAMPNTZ TIMESTAMPTZ DATETIME2 TIME".split())


def written_type(node: exp.Expr, context: Context) -> str:
    """Return a type as PostgreSQL writes it. Raises 0A000."""
    if not isinstance(node, exp.DataType) or not isinstance(node.this, exp.DType):
        raise context.refusal(f"the type {node.sql()}", node)
    name, dialect = node.this.name, context.dialect
    modifiers = [one.this for one in node.expressions if isinstance(one, exp.DataTypeParam)]
    if name == "NULLABLE" or (name in ("NULLABLE", "LOWCARDINALITY") and node.expressions):
        return written_type(node.expressions[0], context)
    plain = PLAIN.get(name)
    if plain is None or node.args.get("values") or len(modifiers) != len(node.expressions):
        if name == "ARRAY" and len(node.expressions) == 1:
            return f"{written_type(node.expressions[0], context)}[]"
        raise context.refusal(f"the type {node.sql()}", node)
    if dialect == "oracle" and name == "DATE":
        return "TIMESTAMP(0)"
    if name == "FLOAT" and dialect in LONG_FLOATS and not modifiers:
        return "DOUBLE PRECISION"
    if name == "DECIMAL" and not modifiers:
        return DECIMALS.get(dialect, "NUMERIC")
    if name in ("CHAR", "NCHAR") and dialect not in ("mysql", "bigquery", "duckdb", "spark", "databricks", "snowflake"):
        # Filled up with blanks there.
        plain = "CHAR"
    if name in ("VARCHAR", "NVARCHAR", "CHAR", "NCHAR") and not modifiers:
        if dialect == "tsql":
            return f"{plain}(30)"
        return (
            "CHAR(1)" if plain == "CHAR" else "TEXT" if plain == "VARCHAR" and dialect not in POSTGRES_LIKE else plain
        )
    if not modifiers or name not in WITH_LENGTH:
        return plain
    if not all(isinstance(one, exp.Literal) and not one.is_string and one.name.isdigit() for one in modifiers):
        if len(modifiers) == 1 and modifiers[0].name.upper() == "MAX":
            return "TEXT"
        raise context.refusal(f"the type {node.sql()}", node)
    digits = [int(one.name) for one in modifiers]
    if name.startswith(("TIME", "DATETIME")):
        digits = [min(digits[0], 6)]
    return f"{plain}({', '.join(map(str, digits))})"
