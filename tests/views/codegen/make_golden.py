"""The golden copies of generated kernels: a few views that show every shape of code. They are .txt
so that no tool mistakes them for ours.

`python -m tests.views.codegen.make_golden` rewrites them; the diff is the review.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from sql.tree.expressions import AggregateCall, Call, Case, Cast, Column, Expression, Literal, SortKey
from sql.tree.relations import OutputColumn, Scan, Schema
from sql.types.datatypes import (
    BOOL,
    DATE,
    FLOAT8,
    INT4,
    INT8,
    TEXT,
    TIMESTAMP,
    TIMESTAMPTZ,
    SqlType,
    array_of,
    numeric,
    scaled_numeric,
)
from views.codegen.finish_kernel import generate_finish_kernel
from views.codegen.grouping import make_grouping
from views.codegen.stream_kernel import generate_stream_kernel
from views.model.nodes import FIRST_ROWS, FinishStep, Probe, StreamPipeline

FOLDER = Path(__file__).parent / "golden"

SALES: Schema = (
    OutputColumn("shop", TEXT),
    OutputColumn("n", INT4),
    OutputColumn("price", numeric(10, 2)),
    OutputColumn("discount", numeric(4, 2)),
    OutputColumn("weight", FLOAT8),
    OutputColumn("at", TIMESTAMPTZ),
    OutputColumn("due", DATE),
)
SHOP, N, PRICE, DISCOUNT, WEIGHT, AT, DUE = (Column(index, item.name, item.type) for index, item in enumerate(SALES))


def call(function: str, kind: SqlType, *arguments: Expression) -> Call:
    return Call(function, arguments, kind)


def integer(value: int) -> Literal:
    return Literal(value, INT4)


def text(value: str) -> Literal:
    return Literal(value, TEXT)


def pipeline(
    filters: tuple[Expression, ...],
    keys: tuple[tuple[str, Expression], ...],
    aggregates: tuple[tuple[str, AggregateCall], ...],
    on_error: str = "reject",
) -> StreamPipeline:
    groups = tuple(OutputColumn(name, item.type) for name, item in (*keys, *aggregates))
    return StreamPipeline("sales", SALES, filters, keys, aggregates, groups, on_error)


REVENUE = call(
    "multiply",
    scaled_numeric(4),
    PRICE,
    call("subtract", scaled_numeric(2), Literal(Decimal(1), scaled_numeric(0)), DISCOUNT),
)
COUNT = AggregateCall("count_star", (), INT8)

STREAMS: dict[str, StreamPipeline] = {
    "totals": pipeline((), (), (("count", COUNT), ("sum", AggregateCall("sum", (N,), INT8)))),
    "revenue": pipeline(
        (call("ge", BOOL, DUE, Literal(15_000, DATE)), call("like", BOOL, SHOP, text("shop number 1%"), text("\\"))),
        (("shop", SHOP), ("day", call("date_trunc", TIMESTAMPTZ, text("day"), AT, text("Europe/Berlin")))),
        (
            ("revenue", AggregateCall("sum", (REVENUE,), scaled_numeric(4))),
            ("mean", AggregateCall("avg", (REVENUE,), scaled_numeric(None))),
            ("least", AggregateCall("min", (SHOP,), TEXT)),
            ("heavy", AggregateCall("sum", (WEIGHT,), FLOAT8, call("gt", BOOL, WEIGHT, Literal(10.5, FLOAT8)))),
            ("count", COUNT),
        ),
    ),
    "numbers": pipeline(
        (call("gt", BOOL, N, integer(0)),),
        (("n", N), ("due", DUE)),
        (("count", COUNT), ("sum", AggregateCall("sum", (PRICE,), scaled_numeric(2)))),
    ),
    "several_first_rows": pipeline(
        (),
        (("shop", SHOP),),
        (
            (
                "prices",
                AggregateCall(
                    FIRST_ROWS,
                    (PRICE, Literal(3, INT8)),
                    array_of(PRICE.type),
                    order_by=(SortKey(AT, descending=True), SortKey(N)),
                ),
            ),
        ),
    ),
    "skipping": pipeline(
        (call("or", BOOL, call("is_null", BOOL, N), call("ne", BOOL, N, integer(0))),),
        (
            (
                "size",
                Case(
                    ((call("gt", BOOL, call("divide", INT4, integer(100), N), integer(5)), text("small")),),
                    call("lower", TEXT, SHOP),
                    TEXT,
                ),
            ),
            ("ratio", call("divide", scaled_numeric(None), PRICE, DISCOUNT)),
        ),
        (("most", AggregateCall("max", (Cast(AT, TIMESTAMP, zone="Europe/Berlin"),), TIMESTAMP)),),
        "skip",
    ),
}

SHOPS: Schema = (
    OutputColumn("region", INT4),
    OutputColumn("title", TEXT),
    OutputColumn("share", numeric(6, 4)),
    OutputColumn("name", TEXT),
)
DUES: Schema = (OutputColumn("grace", INT4), OutputColumn("day", DATE), OutputColumn("least", numeric(8, 1)))
REGION, TITLE, SHARE = (Column(len(SALES) + place, SHOPS[place].name, SHOPS[place].type) for place in range(3))
GRACE = Column(len(SALES) + len(SHOPS), "grace", INT4)
JOINED = replace(
    pipeline(
        (call("gt", BOOL, N, integer(0)),),
        (("title", TITLE), ("late", call("add", INT4, GRACE, N))),
        (
            ("part", AggregateCall("sum", (call("multiply", scaled_numeric(6), PRICE, SHARE),), scaled_numeric(6))),
            ("count", COUNT),
        ),
    ),
    probes=(
        Probe("shops", Scan("shops", "table", SHOPS), 3, "inner", ((SHOP, 3),), (), (call("ne", BOOL, REGION, N),)),
        Probe("dues", Scan("dues", "table", DUES), 1, "left", ((DUE, 1),), (call("lt", BOOL, N, integer(9)),), ()),
        Probe("limits", Scan("limits", "table", DUES), 0, "inner", ((PRICE, 2), (GRACE, 0)), (), ()),
    ),
)
STREAMS["joined"] = JOINED

GROUPS: Schema = (OutputColumn("shop", TEXT), OutputColumn("revenue", scaled_numeric(2)), OutputColumn("count", INT8))
AVERAGE = call(
    "divide",
    scaled_numeric(None),
    Column(1, "revenue", GROUPS[1].type),
    Cast(Column(2, "count", INT8), scaled_numeric(0)),
)
ITEMS: tuple[tuple[str, Expression], ...] = (
    ("label", call("concat_op", TEXT, Column(0, "shop", TEXT), text(": the average of all sales"))),
    ("average", AVERAGE),
)
FINISH = FinishStep(
    GROUPS,
    (call("gt", BOOL, Column(2, "count", INT8), Literal(10, INT8)),),
    ITEMS,
    tuple(OutputColumn(name, item.type) for name, item in ITEMS),
)


def golden_texts() -> dict[str, str]:
    """Return the text of every golden file by its name."""
    texts = {
        f"{name}.py.txt": generate_stream_kernel(stream, make_grouping(stream)).text for name, stream in STREAMS.items()
    }
    texts["finish.py.txt"] = generate_finish_kernel(FINISH).text
    return texts


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, content in golden_texts().items():
        (FOLDER / name).write_text(content)
