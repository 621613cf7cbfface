"""TPC-H: the schema, the 22 queries with the specification's validation parameters, and where the
data comes from.

Q11's fraction is 0.0001 / SF. Q15's view is a WITH item. Order keys that leave ties are compared as
sets of rows.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

SCALE_FACTOR = "0.1"
GOLDEN_FOLDER = Path(__file__).with_name("golden")
QUERIES_FOLDER = Path(__file__).with_name("queries")

TABLES: Mapping[str, str] = {
    "region": "r_regionkey bigint PRIMARY KEY, r_name text NOT NULL, r_comment text",
    "nation": "n_nationkey bigint PRIMARY KEY, n_name text NOT NULL, n_regionkey bigint NOT NULL, n_comment text",
    "supplier": """
        s_suppkey bigint PRIMARY KEY, s_name text NOT NULL, s_address text NOT NULL, s_nationkey bigint NOT NULL,
        s_phone char(15) NOT NULL, s_acctbal numeric(15,2) NOT NULL, s_comment text NOT NULL
    """,
    "part": """
        p_partkey bigint PRIMARY KEY, p_name varchar(55) NOT NULL, p_mfgr text NOT NULL, p_brand text NOT NULL,
        p_type text NOT NULL, p_size integer NOT NULL, p_container text NOT NULL, p_retailprice numeric(15,2) NOT NULL,
        p_comment text NOT NULL
    """,
    "partsupp": """
        ps_partkey bigint NOT NULL, ps_suppkey bigint NOT NULL, ps_availqty integer NOT NULL,
        ps_supplycost numeric(15,2) NOT NULL, ps_comment text NOT NULL, PRIMARY KEY (ps_partkey, ps_suppkey)
    """,
    "customer": """
        c_custkey bigint PRIMARY KEY, c_name text NOT NULL, c_address text NOT NULL, c_nationkey bigint NOT NULL,
        c_phone char(15) NOT NULL, c_acctbal numeric(15,2) NOT NULL, c_mktsegment text NOT NULL, c_comment text NOT NULL
    """,
    "orders": """
        o_orderkey bigint PRIMARY KEY, o_custkey bigint NOT NULL, o_orderstatus text NOT NULL,
        o_totalprice numeric(15,2) NOT NULL, o_orderdate date NOT NULL, o_orderpriority text NOT NULL,
        o_clerk text NOT NULL, o_shippriority integer NOT NULL, o_comment text NOT NULL
    """,
    # No key: as a stream it has none, and both forms share this list.
    "lineitem": """
        l_orderkey bigint, l_partkey bigint, l_suppkey bigint, l_linenumber integer,
        l_quantity numeric(15,2), l_extendedprice numeric(15,2), l_discount numeric(15,2), l_tax numeric(15,2),
        l_returnflag text, l_linestatus text, l_shipdate date, l_commitdate date, l_receiptdate date,
        l_shipinstruct text, l_shipmode text, l_comment text
    """,
}

# The queries that scan lineitem exactly once.
SCANNED_ONCE = ("q01", "q03", "q04", "q05", "q06", "q07", "q08", "q09", "q10", "q12", "q14", "q19", "q20")


def queries() -> dict[str, str]:
    """Return the text of each query by its name, 'q01' to 'q22'."""
    return {path.stem: path.read_text().strip() for path in sorted(QUERIES_FOLDER.glob("q*.sql"))}


def without_order(query: str) -> str:
    """Return the query without its last ORDER BY, unless a LIMIT needs it: a continuous view has no
    order.
    """
    head, found, tail = query.rpartition("\norder by ")
    return head if found and "\nlimit " not in tail else query


def generate(folder: Path, scale_factor: str = SCALE_FACTOR) -> Path:
    """Write <table>.csv (with a header) of every table by the PyPI package tpchgen-cli, where they
    are not there; return the folder.
    """
    missing = [name for name in TABLES if not (folder / f"{name}.csv").exists()]
    if missing:
        program = Path(sys.executable).with_name("tpchgen-cli")
        subprocess.run(
            [program, "csv", "-s", scale_factor, f"--tables={','.join(missing)}", f"--output-dir={folder}"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    return folder
