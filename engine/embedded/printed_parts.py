"""Parts of texts that `sql/emit` prints for DuckDB, as functions of a row: operators, casts, and
calls of functions of ours and of DuckDB's own which mean the same on Python's values.

Enters: parts, each with the type that DuckDB gives it, since values of Python do not tell a bigint
from an integer. Leaves: a part. Raises LookupError for what is not known to mean the same.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from engine.embedded.error_mark import own_error
from engine.embedded.functions.routines import VARIABLE
from engine.embedded.own_functions import RowFunction, called_with, own_function, types_of
from engine.embedded.value_limits import joined
from ringbuffer.vectors.loops import FIELD, TEMPLATE, ZONE
from sql.errors import SqlError
from sql.times.civil import DATE_INFINITY, TIMESTAMP_INFINITY

TEXT, BYTES, BOOL, DOUBLE, BIGINT, INTEGER = "VARCHAR", "BLOB", "BOOLEAN", "DOUBLE", "BIGINT", "INTEGER"
# What has any type: NULL, and an empty list.
NULL, EMPTY = "", "[]"
# Bits of the types of integers.
BITS = {"SMALLINT": 16, INTEGER: 32, BIGINT: 64}
NAMES = {"SMALLINT": "smallint", INTEGER: "integer", BIGINT: "bigint"}
FLOATS = frozenset({"FLOAT", DOUBLE})
INFINITE = {"DATE": DATE_INFINITY, "TIMESTAMP": TIMESTAMP_INFINITY, "TIMESTAMPTZ": TIMESTAMP_INFINITY}
FIELDS = re.compile(r"(\w+) ([\w\[\]]+(?:\([^()]*\))?)")
WHOLE: dict[str, Callable[[int, int], int]] = {
    "&": operator.and_,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    "%": lambda a, b: abs(a) % abs(b) * (-1 if a < 0 else 1),
}
REAL: dict[str, Callable[[float, float], float]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a text.

    Attributes:
        value: its function.
        kind: DuckDB's type.
        constant: the value of a constant.
    """

    value: RowFunction
    kind: str
    constant: Any = None


def constant(value: Any, kind: str) -> Part:
    """Return a constant."""
    return Part(lambda row: value, kind, value)


def number(value: int) -> Part:
    """Return an integer that is written out, of the smallest type that DuckDB gives one."""
    return constant(value, INTEGER if value < 1 << 31 else BIGINT)


def decided(decisive: bool, parts: Sequence[RowFunction]) -> RowFunction:
    """Return OR (true decides) or AND (false does); NULL where nothing decides and a part is
    NULL.
    """

    def run(row: Sequence[Any]) -> bool | None:
        result: bool | None = not decisive
        for part in parts:
            value: bool | None = part(row)
            if value is decisive:
                return value
            result = None if value is None else result
        return result

    return run


def bool_of(part: Part) -> RowFunction:
    """Return a condition."""
    if part.kind not in (BOOL, NULL):
        raise LookupError(part.kind)
    return part.value


def whole(part: Part) -> RowFunction:
    """Return an integer."""
    if part.kind not in BITS:
        raise LookupError(part.kind)
    return part.value


def element_of(items: Part) -> str:
    """Return the type of a list's items."""
    if not items.kind.endswith("[]"):
        raise LookupError(items.kind)
    return items.kind[:-2]


def item_at(items: list[Any], place: int) -> Any:
    """Return the item at a place from 1 on, or from the end."""
    index = place - 1 if place > 0 else len(items) + place
    return items[index] if place and 0 <= index < len(items) else None


def sliced(items: list[Any], low: int, high: int) -> list[Any]:
    """Return the items between two places, of which none counts from the end."""
    return items[max(low, 1) - 1 : max(high, 0)]


def field_of(part: Part, name: str | int) -> Part:
    """Return a part of a struct."""
    fields = FIELDS.findall(part.kind.removeprefix("STRUCT(").removesuffix(")")) if part.kind[:7] == "STRUCT(" else []
    names = [field for field, _ in fields]
    place = name - 1 if isinstance(name, int) else names.index(name) if name in names else len(names)
    if place >= len(fields):
        raise LookupError(name)
    return Part(called_with(lambda value: value[place], [part.value], True), fields[place][1])


def common(kinds: Sequence[str]) -> str:
    """Return the type of values of several parts."""
    known = {kind for kind in kinds if kind != NULL}
    if known <= BITS.keys() and known:
        return max(known, key=lambda kind: BITS[kind])
    lists = {kind for kind in known if kind.endswith("[]") and kind != EMPTY}
    if len(known) > 1 and known - lists == {EMPTY} and len(lists) == 1:
        return lists.pop()
    if len(known) > 1:
        raise LookupError(str(known))
    return known.pop() if known else NULL


def comparable(left: Part, right: Part) -> Callable[[Any], Any] | None:
    """Return the key by which values of two parts are compared, None for themselves.

    Raises LookupError for values of which DuckDB has an order of its own.
    """
    kind = common([left.kind, right.kind])
    if kind.endswith("[]") or kind == VARIABLE or ("DECIMAL" in kind and kind[:7] != "STRUCT("):
        raise LookupError(kind)
    return placed if kind in FLOATS else None


def placed(value: float) -> tuple[bool, float]:
    """Return what orders a float as PostgreSQL does: NaN is equal to itself, and the largest."""
    return (True, 0.0) if value != value else (False, value)


def comparison(compare: Callable[[Any, Any], bool], left: Part, right: Part) -> Part:
    """Return whether two values are in an order."""
    key = comparable(left, right)
    if key is None:
        return Part(called_with(compare, [left.value, right.value], True), BOOL)
    return Part(called_with(lambda one, other: compare(key(one), key(other)), [left.value, right.value], True), BOOL)


def identity(left: Part, right: Part, is_same: bool) -> Part:
    """Return whether two values are the same one, or two NULLs; or that they are not."""
    key = comparable(left, right) or (lambda value: value)

    def run(row: Sequence[Any]) -> bool:
        one, other = left.value(row), right.value(row)
        same: bool = one is other if one is None or other is None else key(one) == key(other)
        return same is is_same

    return Part(run, BOOL)


def combined(symbol: str, left: Part, right: Part) -> Part:
    """Return an operator of two values."""
    kinds = {left.kind, right.kind}
    values = [left.value, right.value]
    if symbol == "||" and (kinds == {BYTES} or (TEXT in kinds and kinds <= {TEXT, *BITS})):
        added = operator.add if len(kinds) == 1 else lambda one, other: f"{one}{other}"
        return Part(called_with(added, values, True), BYTES if kinds == {BYTES} else TEXT)
    if kinds <= BITS.keys() and symbol in WHOLE and (symbol not in ("//", "%") or right.constant):
        kind = common([left.kind, right.kind])
        return Part(called_with(in_range(kind, WHOLE[symbol]), values, True), kind)
    if kinds <= FLOATS and symbol in REAL and (symbol != "/" or right.constant):
        return Part(called_with(REAL[symbol], values, True), DOUBLE)
    raise LookupError(symbol)


def in_range(kind: str, function: Callable[..., int]) -> Callable[..., int]:
    """Return a function that raises 22003 for results which are not of a type."""
    bound, name = 1 << BITS[kind] - 1, NAMES[kind]

    def run(*values: int) -> int:
        value = function(*values)
        if not -bound <= value < bound:
            raise SqlError("22003", f"{name} out of range")
        return value

    return run


def cast(part: Part, target: str) -> Part:
    """Return a value as another type."""
    kind, value = part.kind, part.value
    if kind in (target, NULL) or (kind == EMPTY and target.endswith("[]")):
        return Part(value, target)
    if kind in BITS and target in BITS:
        narrow = BITS[target] < BITS[kind] and not isinstance(part.constant, int)
        return Part(called_with(in_range(target, int), [value], True) if narrow else value, target, part.constant)
    if kind == "FLOAT" and target == DOUBLE:
        return Part(value, target)
    if kind in BITS and target in (TEXT, DOUBLE):
        return Part(called_with(str if target == TEXT else float, [value], True), target)
    if isinstance(part.constant, str) and target == DOUBLE:
        return constant(float(part.constant), DOUBLE)
    if target.endswith("[]") and kind.endswith("[]"):
        item = cast(Part(lambda row: row[0], kind[:-2]), target[:-2]).value
        return Part(called_with(lambda items: [item((one,)) for one in items], [value], True), target)
    if target[:7] == kind[:7] == "STRUCT(":
        one, other = dict(FIELDS.findall(kind[7:-1])), dict(FIELDS.findall(target[7:-1]))
        if list(one) == list(other) and {*one.values(), *other.values()} <= BITS.keys():
            return Part(value, target)
    raise LookupError(f"{kind} as {target}")


def listed(parts: Sequence[Part]) -> Part:
    """Return a list that is written out."""
    functions = [part.value for part in parts]
    return Part(lambda row: [function(row) for function in functions], f"{common([part.kind for part in parts])}[]")


def call(name: str, parts: Sequence[Part]) -> Part:
    """Return a call of a function of ours, or of one that means the same in Python."""
    values = [part.value for part in parts]
    if name == "error" and isinstance(parts[0].constant, str | None) and parts[0].kind == TEXT:
        return Part(called_with(raised, values, True), NULL)
    if name == "struct_extract":
        return field_of(parts[0], parts[1].constant)
    if name == "row":
        fields = ", ".join(f"f{place} {part.kind}" for place, part in enumerate(parts))
        return Part(lambda row: tuple(value(row) for value in values), f"STRUCT({fields})")
    if name.startswith("numeric_pack_"):
        return packed(parts[0], int(name.rpartition("_")[2]))
    if name in BUILT_IN and [part.kind for part in parts] != [NULL] * len(parts):
        return BUILT_IN[name](parts)
    arguments, result = types_of(name)
    if len(arguments) != len(parts) or not all(map(takes, arguments, parts)):
        raise LookupError(name)
    function, strict = own_function(name)
    return Part(called_with(function, values, strict), result)


def packed(part: Part, scale: int) -> Part:
    """Return a numeric of one scale, or an integer, with its scale; the former is so in Python."""
    if scale == 0 and part.kind in BITS:
        return Part(called_with(lambda value: (value, 0), [part.value], True), VARIABLE)
    if part.kind != f"DECIMAL(38,{scale})":
        raise LookupError(part.kind)
    return Part(part.value, VARIABLE)


def takes(argument: str, part: Part) -> bool:
    """Tell whether a function of ours takes a value as it is."""
    if part.kind in (argument, NULL) or argument in (ZONE, FIELD, TEMPLATE):
        return True
    if argument in BITS and part.kind in BITS:
        return BITS[part.kind] <= BITS[argument] or part.constant is not None
    return (argument.endswith("[]") and part.kind == EMPTY) or (argument == DOUBLE and part.kind == "FLOAT")


def raised(text: str) -> Any:
    """Raise the error that a text carries."""
    error = own_error(text)
    assert error is not None, text
    raise error


def _strict(result: str, function: Callable[..., Any], *kinds: str) -> Callable[[Sequence[Part]], Part]:
    """Return a function of DuckDB's that takes values of some types ('[]': lists)."""

    def made(parts: Sequence[Part]) -> Part:
        given = [
            "[]" if kind == "[]" and part.kind.endswith("[]") else part.kind
            for kind, part in zip(kinds, parts, strict=False)
        ]
        if len(kinds) != len(parts) or any(one not in (kind, NULL) for kind, one in zip(kinds, given, strict=False)):
            raise LookupError(str(given))
        return Part(called_with(function, [part.value for part in parts], True), result)

    return made


def _coalesce(parts: Sequence[Part]) -> Part:
    values = [part.value for part in parts]

    def first(row: Sequence[Any]) -> Any:
        return next((value for value in (function(row) for function in values) if value is not None), None)

    return Part(first, common([part.kind for part in parts]))


def _length(parts: Sequence[Part]) -> Part:
    if parts[0].kind != TEXT:
        element_of(parts[0])
    return Part(called_with(len, [parts[0].value], True), BIGINT)


def _isfinite(parts: Sequence[Part]) -> Part:
    infinity = INFINITE[parts[0].kind]
    return Part(called_with(lambda value: abs(value) != infinity, [parts[0].value], True), BOOL)


def _extreme(choose: Callable[..., int]) -> Callable[[Sequence[Part]], Part]:
    """Return greatest or least of integers, which skip NULLs."""

    def made(parts: Sequence[Part]) -> Part:
        values, kind = [whole(part) for part in parts], common([part.kind for part in parts])

        def run(row: Sequence[Any]) -> int | None:
            return choose(
                (value for value in (function(row) for function in values) if value is not None), default=None
            )

        return Part(run, kind)

    return made


def _position(parts: Sequence[Part]) -> Part:
    items, item = parts
    key = comparable(Part(items.value, element_of(items)), item) or (lambda value: value)

    def run(row: Sequence[Any]) -> int | None:
        values, wanted = items.value(row), item.value(row)
        if values is None:
            return None
        wanted = wanted if wanted is None else key(wanted)
        found = (place for place, one in enumerate(values, 1) if (one if one is None else key(one)) == wanted)
        return next(found, None)

    return Part(run, INTEGER)


def _together(*places: str) -> Callable[[Sequence[Part]], Part]:
    """Return a list of elements ('e') and of the elements of lists ('l'); NULL has none."""

    def made(parts: Sequence[Part]) -> Part:
        kinds = [element_of(part) if place == "l" else part.kind for place, part in zip(places, parts, strict=False)]
        values = [part.value for part in parts]

        def run(row: Sequence[Any]) -> list[Any]:
            pairs = [(place, value(row)) for place, value in zip(places, values, strict=True)]
            return [item for place, value in pairs for item in ([value] if place == "e" else value or ())]

        return Part(run, f"{common(kinds)}[]")

    return made


def _among(every: bool) -> Callable[[Sequence[Part]], Part]:
    """Return list_has_all or list_has_any, of which NULLs are no items."""

    def made(parts: Sequence[Part]) -> Part:
        whole, some = parts
        one, other = (Part(part.value, element_of(part)) for part in parts)
        key = comparable(one, other) or (lambda value: value)

        def run(values: list[Any], wanted: list[Any]) -> bool:
            known = {key(value) for value in values if value is not None}
            found = (key(value) in known for value in wanted if value is not None)
            return all(found) if every else any(found)

        return Part(called_with(run, [whole.value, some.value], True), BOOL)

    return made


def _separated(items: list[str | None], separator: str) -> str | None:
    known = [item for item in items if item is not None]
    pieces = (piece for place, item in enumerate(known) for piece in ((separator, item) if place else (item,)))
    return joined(pieces) if known else None


def _concat_ws(parts: Sequence[Part]) -> Part:
    if any(part.kind not in (TEXT, NULL) for part in parts):
        raise LookupError("concat_ws")
    separator, *items = (part.value for part in parts)
    texts = Part(lambda row: [item(row) for item in items], "VARCHAR[]")
    return Part(
        called_with(lambda between, known: _separated(known, between) or "", [separator, texts.value], True), TEXT
    )


def _concat(parts: Sequence[Part]) -> Part:
    if any(part.kind not in (TEXT, *BITS) for part in parts):
        raise LookupError("concat")
    values = [part.value for part in parts]
    return Part(lambda row: joined(str(item) for item in (value(row) for value in values) if item is not None), TEXT)


def _kept(values: list[Any], keeps: list[Any]) -> list[Any]:
    return [value for value, keep in zip(values, keeps, strict=True) if keep]


# Functions that look at each item of a list, by what they make of the items and of what the lambda
# makes of these.
MAPPED: dict[str, Callable[[list[Any], list[Any]], list[Any]]] = {
    "list_transform": lambda values, made: made,
    "list_filter": _kept,
}
BUILT_IN: dict[str, Callable[[Sequence[Part]], Part]] = {
    "coalesce": _coalesce,
    "nullif": _strict(INTEGER, lambda value, none: None if value == none else value, INTEGER, INTEGER),
    "len": _length,
    "length": _length,
    "list_count": _strict(BIGINT, lambda items: sum(item is not None for item in items), "[]"),
    "strlen": _strict(BIGINT, lambda text: len(text.encode()), TEXT),
    "translate": _strict(TEXT, lambda text, old, new: text.translate(str.maketrans(old, new)), TEXT, TEXT, TEXT),
    "trim": _strict(TEXT, str.strip, TEXT, TEXT),
    "ltrim": _strict(TEXT, str.lstrip, TEXT, TEXT),
    "rtrim": _strict(TEXT, str.rstrip, TEXT, TEXT),
    "starts_with": _strict(BOOL, str.startswith, TEXT, TEXT),
    "isfinite": _isfinite,
    "greatest": _extreme(max),
    "least": _extreme(min),
    "generate_series": _strict("BIGINT[]", lambda low, high: list(range(low, high + 1)), INTEGER, BIGINT),
    "list_position": _position,
    "list_prepend": _together("e", "l"),
    "list_append": _together("l", "e"),
    "list_concat": _together("l", "l"),
    "list_has_all": _among(True),
    "list_has_any": _among(False),
    "list_bool_or": _strict(
        BOOL, lambda items: any(items) if any(item is not None for item in items) else None, "BOOLEAN[]"
    ),
    "array_to_string": _strict(TEXT, _separated, "VARCHAR[]", TEXT),
    "texts_separated": _strict(TEXT, lambda between, items: _separated(items, between), TEXT, "VARCHAR[]"),
    "concat": _concat,
    "concat_ws": _concat_ws,
}
