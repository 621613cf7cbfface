"""Calls of a definition's syntax as pieces to print: functions, aggregates, windows, and SQL's own
forms.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.system_catalog.deparse import signatures
from engine.system_catalog.deparse.pieces import Part, Piece, beside
from sql.bind.expressions.time_functions import BUCKET_CALLS
from sql.bind.expressions.user_overloads import OwnSignature
from sql.names.relation_keys import name_of, quoted, schema_of
from sql.parse import syntax
from sql.parse.grammar.spelled_calls import WITHOUT_PARENTHESES
from sql.types.datatypes import INT8, INTERVAL, SqlType

if TYPE_CHECKING:
    from engine.system_catalog.deparse.expressions import Expressions

WORDS = frozenset({"coalesce", "greatest", "least", "nullif", "grouping"})
OWN_SYNTAX = frozenset(
    """
    extract substring position overlay btrim ltrim rtrim timezone overlaps normalize is_normalized
    """.split()
)
BETWEEN_ARGUMENTS = {"substring": (" FROM ", " FOR "), "overlay": (" PLACING ", " FROM ", " FOR ")}
SIDES = {"btrim": "BOTH", "ltrim": "LEADING", "rtrim": "TRAILING"}
OFFSET_TYPES = dict.fromkeys(("date", "timestamp", "timestamptz", "time", "timetz"), INTERVAL)


def call(query: Expressions, node: syntax.FunctionCall) -> Piece:
    """Return a call."""
    name, kind = node.name, query.type_of(node)
    if name in WITHOUT_PARENTHESES and not node.spelled and not node.text.rstrip().endswith("()"):
        digits = "".join(f"({one.value})" for one in node.arguments if isinstance(one, syntax.Constant))
        return Piece("words", kind, (name.upper() + digits,))
    arguments = [query.read(argument) for argument in node.arguments]
    if name in WORDS and node.spelled:
        if name == "nullif":
            arguments = query.operator("=", *arguments).operands
        elif name != "grouping":
            arguments = [query.coerced(one, kind) for one in arguments]
        return Piece("words", kind, (f"{name.upper()}(", beside(arguments, True, ", "), ")"))
    own = query.meaning.notes.calls.get(id(node))
    if isinstance(own, OwnSignature) and own.function is not None:
        function = query.meaning.functions(own.function.oid) or own.function
        arguments = query.taken(arguments, own.taken)
        if function.is_variadic and (node.variadic or own.spreads):
            last = arguments[-1]
            if own.spreads:
                fixed, kind = len(own.function.inputs) - 1, own.function.inputs[-1].type
                last = Piece("syntax", kind, ("ARRAY[", beside(arguments[fixed:], True, ", "), "]"))
                arguments = arguments[:fixed]
            else:
                arguments = arguments[:-1]
            arguments = [*arguments, beside(["VARIADIC ", last])]
        shown = query.style.function_name(schema_of(function.name), name_of(function.name))
        return _decorated(query, node, shown, arguments, [])
    if name in BUCKET_CALLS:
        # The width is an interval, all others have the type of the time or of the value.
        place = int(name.startswith("time_bucket"))
        types = [INTERVAL, *[arguments[place].type] * 3][1 - place :]
        untyped = [one.type.family == "unknown" for one in arguments]
        items = zip(arguments, types, untyped, strict=False)
        return _decorated(query, node, name, [query.coerced(one, to) if bare else one for one, to, bare in items], [])
    keys = [query.read(item.expression) for item in node.within_group]
    given = [*arguments, *keys]
    kinds = None if node.star else signatures.function(name, [one.type for one in given])
    coerced = query.taken(given, kinds)
    arguments, keys = coerced[: len(arguments)], coerced[len(arguments) :]
    is_pattern = name == "substring" and len(arguments) > 1 and arguments[1].type.family == "text"
    if node.spelled and name in OWN_SYNTAX and not is_pattern:
        return _own_syntax(query, name, arguments, kind)
    return _decorated(query, node, quoted(name), arguments, keys)


def _decorated(
    query: Expressions, node: syntax.FunctionCall, name: str, arguments: Sequence[Piece], keys: Sequence[Piece]
) -> Piece:
    """Return a call with DISTINCT, ORDER BY, WITHIN GROUP, FILTER and OVER."""
    parts: list[Part] = [f"{name}(" + "DISTINCT " * node.distinct + "*" * node.star, beside(arguments, True, ", ")]
    items = node.within_group or node.order_by
    if items:
        order = list(keys) or [query.value(item.expression) for item in items]
        parts += [") WITHIN GROUP (ORDER BY " if node.within_group else " ORDER BY "]
        parts += [query.order(items, [query.key(one) for one in order])]
    parts += [")"]
    if node.filter is not None:
        parts += [" FILTER (WHERE ", query.condition(node.filter), ")"]
    if node.over is not None:
        parts += [" OVER ", quoted(node.over.base or "") if node.over.exact else window(query, node.over)]
    return Piece("call", query.type_of(node), tuple(parts))


def _own_syntax(query: Expressions, name: str, items: Sequence[Piece], kind: SqlType) -> Piece:
    """Return a call in the form that SQL has for it."""
    parts: list[Part]
    match name:
        case "extract":
            parts = [f"EXTRACT({items[0].value} FROM ", items[1], ")"]
        case "position":
            parts = ["POSITION((", items[1], ") IN (", items[0], "))"]
        case "overlaps":
            parts = ["((", items[0], ", ", items[1], ") OVERLAPS (", items[2], ", ", items[3], "))"]
        case "normalize" | "is_normalized":
            form = "".join(f" {item.value}" for item in items[1:])
            is_test = name == "is_normalized"
            parts = ["(" if is_test else "NORMALIZE(", items[0]]
            parts.append(f" IS{form} NORMALIZED)" if is_test else f"{',' * bool(form)}{form})")
        case "btrim" | "ltrim" | "rtrim":
            parts = [
                f"TRIM({SIDES[name]}",
                *(one for item in items[1:] for one in (" ", item)),
                " FROM ",
                items[0],
                ")",
            ]
        case "timezone":
            found = Piece("syntax", kind, (items[1], " AT TIME ZONE ", items[0]), True)
            pretty = query.style.pretty
            return Piece("syntax", kind, ("(" * pretty, found, ")" * pretty))
        case _:
            words = zip(BETWEEN_ARGUMENTS[name], items[1:], strict=False)
            parts = [f"{name.upper()}(", items[0], *(one for pair in words for one in pair), ")"]
    return Piece("syntax", kind, tuple(parts))


def window(query: Expressions, node: syntax.WindowDefinition) -> Piece:
    """Return a window in its parentheses."""
    parts: list[Part] = [] if node.base is None else [quoted(node.base)]
    order = [query.value(item.expression) for item in node.order_by]
    if node.partition_by:
        keys = [query.key(query.value(item)) for item in node.partition_by]
        parts.append(beside(["PARTITION BY ", beside(keys, between=", ")]))
    if order:
        parts.append(beside(["ORDER BY ", query.order(node.order_by, [query.key(one) for one in order])]))
    if node.frame is not None:
        parts.append(beside(_frame(query, node.frame, order), between=" "))
    return beside(["(", beside(parts, between=" "), ")"])


def _frame(
    query: Expressions, frame: tuple[str, syntax.FrameBound, syntax.FrameBound, str], order: Sequence[Piece]
) -> list[Part]:
    """Return the words of a frame, and its offsets between them."""
    unit, start, end, exclusion = frame
    # A frame without BETWEEN ends where its text begins.
    is_short = end.kind == "current" and end.position <= start.position
    parts: list[Part] = [unit.upper()] if is_short else [unit.upper(), "BETWEEN"]
    kind = INT8
    if unit == "range" and order:
        kind = OFFSET_TYPES.get(order[0].type.family, order[0].type)
    for number, bound in enumerate((start,) if is_short else (start, end)):
        parts += ["AND"] * number
        if bound.offset is not None:
            offset = query.read(bound.offset)
            parts.append(query.settled(offset, kind) if unit == "range" else query.coerced(offset, kind))
        parts.append("CURRENT ROW" if bound.kind == "current" else bound.kind.replace("_", " ").upper())
    return [*parts, f"EXCLUDE {exclusion.upper()}"] if exclusion else parts
