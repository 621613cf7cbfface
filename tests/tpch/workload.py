"""TPC-H with lineitem as the stream: its columns, the queries (without ORDER BY: a view has no order), and where the data comes from."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCALE_FACTOR = "0.1"
GOLDEN_FOLDER = Path(__file__).with_name("golden")

LINEITEM_COLUMNS = """
    l_orderkey bigint, l_partkey bigint, l_suppkey bigint, l_linenumber integer,
    l_quantity numeric(15,2), l_extendedprice numeric(15,2), l_discount numeric(15,2), l_tax numeric(15,2),
    l_returnflag text, l_linestatus text, l_shipdate date, l_commitdate date, l_receiptdate date,
    l_shipinstruct text, l_shipmode text, l_comment text
"""

QUERIES = {
    "q1": """
        select l_returnflag, l_linestatus, sum(l_quantity) as sum_qty, sum(l_extendedprice) as sum_base_price,
            sum(l_extendedprice * (1 - l_discount)) as sum_disc_price,
            sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) as sum_charge,
            avg(l_quantity) as avg_qty, avg(l_extendedprice) as avg_price, avg(l_discount) as avg_disc,
            count(*) as count_order
        from lineitem
        where l_shipdate <= date '1998-12-01' - interval '90' day
        group by l_returnflag, l_linestatus
    """,
    "q6": """
        select sum(l_extendedprice * l_discount) as revenue
        from lineitem
        where l_shipdate >= date '1994-01-01' and l_shipdate < date '1994-01-01' + interval '1' year
            and l_discount between 0.06 - 0.01 and 0.06 + 0.01 and l_quantity < 24
    """,
}


def generate_lineitem(folder: Path, scale_factor: str = SCALE_FACTOR) -> Path:
    """Write lineitem.csv (with a header) by the PyPI package tpchgen-cli, if it is not there; return its path."""
    path = folder / "lineitem.csv"
    if not path.exists():
        program = Path(sys.executable).with_name("tpchgen-cli")
        subprocess.run(
            [program, "csv", "-s", scale_factor, "--tables=lineitem", f"--output-dir={folder}"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    return path
