"""TPC-H 1, 3, 6, 15 and 20 for peers that have no continuous views, each query in two.

Enters: a peer. Leaves: its tables, and what keeps the groups: ClickHouse's materialized views, or
Spark's memory sinks. Answers are read by one SELECT per query.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from bench.race.peers import Peer
from bench.race.splits import Split, make_clickhouse_view
from bench.spark_csv import spark_schema
from tests.tpch.workload import TABLES

STREAM = "lineitem"


DISCOUNTED = "l_extendedprice * (1 - l_discount)"
SPLITS: Mapping[str, Split] = {
    "q01": Split(
        STREAM,
        "l_returnflag, l_linestatus",
        {
            "qty": "sum(l_quantity)",
            "base": "sum(l_extendedprice)",
            "disc_price": f"sum({DISCOUNTED})",
            "charge": f"sum({DISCOUNTED} * (1 + l_tax))",
            "disc": "sum(l_discount)",
            "n": "sum(1)",
        },
        "l_shipdate <= DATE '1998-09-02'",
        "SELECT l_returnflag, l_linestatus, qty, base, disc_price, charge, CAST(qty AS Double) / n, CAST(base AS Double) / n, "
        "CAST(disc AS Double) / n, n FROM {groups} g",
    ),
    "q03": Split(
        STREAM,
        "l_orderkey",
        {"revenue": f"sum({DISCOUNTED})"},
        "l_shipdate > DATE '1995-03-15' AND l_orderkey IN {orders}",
        "SELECT l_orderkey, revenue, o_orderdate, o_shippriority FROM {groups} g JOIN orders ON l_orderkey = o_orderkey "
        "ORDER BY revenue DESC, o_orderdate LIMIT 10",
    ),
    "q06": Split(
        STREAM,
        "",
        {"revenue": "sum(l_extendedprice * l_discount)"},
        "l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01' AND l_discount >= 0.05 AND l_discount <= 0.07 "
        "AND l_quantity < 24",
        "SELECT revenue FROM {groups} g",
    ),
    "q15": Split(
        STREAM,
        "l_suppkey",
        {"revenue": f"sum({DISCOUNTED})"},
        "l_shipdate >= DATE '1996-01-01' AND l_shipdate < DATE '1996-04-01'",
        "WITH revenues AS (SELECT * FROM {groups} g) SELECT s_suppkey, s_name, s_address, s_phone, revenue "
        "FROM supplier JOIN revenues ON s_suppkey = l_suppkey WHERE revenue = (SELECT max(revenue) FROM revenues)",
    ),
    "q20": Split(
        STREAM,
        "l_partkey, l_suppkey",
        {"quantity": "sum(l_quantity)"},
        "l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01'",
        "SELECT s_name, s_address FROM supplier JOIN nation ON s_nationkey = n_nationkey WHERE n_name = 'CANADA' "
        "AND s_suppkey IN (SELECT ps_suppkey FROM partsupp JOIN {groups} g ON l_partkey = ps_partkey "
        "AND l_suppkey = ps_suppkey WHERE ps_partkey IN (SELECT p_partkey FROM part WHERE p_name LIKE 'forest%') "
        "AND ps_availqty * 2 > quantity)",
    ),
}
# The orders that query 3 is about.
ORDERS = (
    "(SELECT o_orderkey FROM orders JOIN customer ON c_custkey = o_custkey "
    "WHERE c_mktsegment = 'BUILDING' AND o_orderdate < DATE '1995-03-15')"
)
CLICKHOUSE_TYPES = {
    r"varchar\(\d+\)|char\(\d+\)|text": "String",
    r"numeric": "Decimal",
    r"bigint": "Int64",
    r"integer": "Int32",
    r"date\b": "Date32",
}


def clickhouse_columns(table: str) -> str:
    """Return a table's columns as ClickHouse takes them."""
    text = re.sub(r",\s*PRIMARY KEY \([^)]*\)| PRIMARY KEY| NOT NULL", "", TABLES[table])
    for pattern, name in CLICKHOUSE_TYPES.items():
        text = re.sub(rf"\b(?:{pattern})", name, text)
    return " ".join(text.split())


def make_clickhouse(peer: Peer, data: Path, queries: list[str]) -> None:
    """Make the tables, lineitem as one that keeps no rows, and a materialized view per query."""
    for table in TABLES:
        columns = clickhouse_columns(table)
        if table == STREAM:
            peer.ask("run", f"CREATE TABLE {table} ({columns}) ENGINE = Null")
        else:
            first = columns.split()[0]
            peer.ask("run", f"CREATE TABLE {table} ({columns}) ENGINE = MergeTree ORDER BY {first}")
            peer.ask("run", f"INSERT INTO {table} SELECT * FROM file('{data}/{table}.csv', CSVWithNames)")
    peer.ask("run", "CREATE TABLE building (o_orderkey Int64) ENGINE = Set")
    peer.ask("run", f"INSERT INTO building {ORDERS[1:-1]}")
    for name in queries:
        split = SPLITS[name]
        make_clickhouse_view(peer, name, replace(split, where=split.where.format(orders="building")))


def clickhouse_insert(file: Path) -> str:
    """Return the INSERT of a file of lineitem."""
    return f"INSERT INTO {STREAM} SELECT * FROM file('{file}', TSV, '{clickhouse_columns(STREAM)}')"


def make_spark(peer: Peer, data: Path, files: Path, queries: list[str]) -> None:
    """Make the tables, lineitem as the stream of a folder of files, and a memory sink per query."""
    for table in TABLES:
        if table != STREAM:
            peer.ask(
                "run",
                f"CREATE TEMPORARY VIEW {table}_csv ({spark_schema(TABLES[table])}) "
                f"USING csv OPTIONS (path '{data}/{table}.csv', header 'true')",
            )
            peer.ask("run", f"CREATE TABLE {table} USING parquet AS SELECT * FROM {table}_csv")
    peer.ask("source", STREAM, spark_schema(TABLES[STREAM]), str(files))
    for name in queries:
        peer.ask("keep", name, replace(SPLITS[name], where=SPLITS[name].where.format(orders=ORDERS)).groups)
