"""Sums, averages, deviations and regressions of floats with OVER, added by a function of ours in
the order of each frame's rows.

An engine's own window aggregates add in trees and segments, whose last digits are not PostgreSQL's.
Enters: the block below a window and its calls. Leaves: a block over a query of three steps: the
rows with a number, and where each one's frame begins and ends; one list per partition, of which
`float8_window` makes a list of results; and both joined again by the row's number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sql.emit.blocks.aggregates import over_clause, prepared, window_text
from sql.emit.blocks.block import Block
from sql.emit.expressions import ExpressionPrinter
from sql.emit.rules.added_floats import added_name
from sql.functions.arguments import RUN
from sql.functions.table import added_in_order
from sql.tree.expressions import WindowCall, WindowFrame
from sql.tree.relations import Window
from sql.types.datatypes import FLOAT4

WHOLE = ("unbounded", None)
# The fields of a row that `float8_window` reads.
FIELDS = ("id", "y", "x", "low", "high", "out_low", "out_high")
PEERS = WindowFrame("range", ("current", None), ("current", None))
UP_TO_PEERS = WindowFrame("range", WHOLE, ("current", None))


@dataclass(frozen=True)
class _Frames:
    """The texts of one window: its partition keys, each row's number, the bounds of the frame, and
    the rows that the frame leaves out.
    """

    keys: tuple[str, ...]
    number: str
    bounds: tuple[str, str, str, str]
    ties: str


def is_added_in_order(node: Window) -> bool:
    """Tell whether a call of this window adds floats."""
    return any(added_in_order(call) for _, call in node.calls)


def float_windows(block: Block, printer: ExpressionPrinter, node: Window, alias: str) -> Block:
    """Return the rows of `block` with the calls of `node`."""
    calls = [call for _, call in node.calls]
    items = [*block.columns, *("" if added_in_order(call) else window_text(printer, call) for call in calls)]
    columns = [f"r.c{index}" for index in range(len(items))]
    helpers: dict[str, str] = {"row_number() OVER ()": "id"}
    joins = []
    for index, call in enumerate(calls, len(block.columns)):
        if not added_in_order(call):
            continue
        frames = _frames(printer, call)
        values = [f"CAST({text} AS DOUBLE)" for text in prepared(printer, call, "", str).texts]
        number, *others = (
            helpers.setdefault(text, f"h{len(helpers)}")
            for text in (frames.number, *frames.bounds, values[0], values[-1], *frames.keys)
        )
        bounds, (y, x), keys = others[:4], others[4:6], others[6:]
        fields = zip(FIELDS, ("id", y, x, *bounds), strict=True)
        row = "{" + ", ".join(f"'{field}': {name}" for field, name in fields) + "}"
        name = printer.quoted(added_name(call) + frames.ties)
        group = f" GROUP BY {', '.join(keys)}" if keys else ""
        found = f"SELECT unnest(float8_window(list({row} ORDER BY {number}), {name}, {RUN})) AS f FROM r{group}"
        joins.append(f"JOIN (SELECT f.id AS id, f.v AS v FROM ({found})) AS j{index} ON j{index}.id = r.id")
        columns[index] = f"CAST(j{index}.v AS {printer.type_name(call.type)})" if call.type == FLOAT4 else f"j{index}.v"
    texts = [f"{text} AS c{index}" for index, text in enumerate(items) if text]
    texts += [f"{text} AS {name}" for text, name in helpers.items()]
    query = _query(block, texts)
    named = ", ".join(f"{text} AS c{index}" for index, text in enumerate(columns))
    source = (
        f"(\nWITH r AS MATERIALIZED (\n{query}\n)\nSELECT {named} FROM r\n"
        + "\n".join(joins)
        + f"\nORDER BY r.id\n) AS {alias}"
    )
    return Block(source, tuple(f"{alias}.c{index}" for index in range(len(items))), node.schema)


def _query(block: Block, items: Sequence[str]) -> str:
    where = f"\nWHERE {' AND '.join(block.where)}" if block.where else ""
    return f"SELECT {', '.join(items)}" + (f"\nFROM {block.source}" if block.source else "") + where


def _frames(printer: ExpressionPrinter, call: WindowCall) -> _Frames:
    frame = call.frame or (UP_TO_PEERS if call.order_by else WindowFrame("rows", WHOLE, WHOLE))

    def counted(within: WindowFrame) -> str:
        return f"count(*) {over_clause(printer, replace(call, function='count', frame=within))}"

    number = f"row_number() {over_clause(printer, replace(call, function='row_number'))}"
    total = counted(replace(frame, start=WHOLE, end=WHOLE, exclusion=""))
    low = (
        "0::BIGINT"
        if frame.start[0] == "unbounded"
        else f"{total} - {counted(replace(frame, end=WHOLE, exclusion=''))}"
    )
    high = total if frame.end[0] == "unbounded" else counted(replace(frame, start=WHOLE, exclusion=""))
    out = ("0::BIGINT", "0::BIGINT")
    if frame.exclusion == "current row":
        out = (f"{number} - 1", number)
    elif frame.exclusion:
        out = (f"{counted(UP_TO_PEERS)} - {counted(PEERS)}", counted(UP_TO_PEERS))
    ties = " ties" if frame.exclusion == "ties" else ""
    return _Frames(tuple(map(printer.comparable, call.partition_by)), number, (low, high, *out), ties)
