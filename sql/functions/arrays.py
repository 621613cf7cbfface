"""Functions and operators of arrays as DuckDB's SQL over its lists.

Elements compare by `comparable_text`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from decimal import Decimal
from itertools import permutations

from sql.functions.comparisons import COMPARISONS, EQUAL, NEGATED
from sql.functions.printing import Printer, Rule, outside, raising
from sql.functions.rows import Function
from sql.functions.signatures import NUMBERS, wider
from sql.tree.expressions import Call, Case, Cast, Column, Expression, Literal
from sql.types.datatypes import TEXT, LiteralValue, SqlType, scaled_numeric

ARRAY_ITEMS_MAX = 134_217_727


def element(printer: Printer, node: Expression) -> str:
    """Return an element beside an array: in an array a numeric has its own digits."""
    return printer.fit(node, scaled_numeric(None)) if node.type.family == "numeric" else printer.text(node)


def each(name: str, *places: str) -> Rule:
    """Return a DuckDB function of arrays ('a') and elements ('e')."""

    def rule(printer: Printer, node: Call, texts: list[str]) -> str:
        found = [
            element(printer, argument) if place == "e" else text
            for place, argument, text in zip(places, node.arguments, texts, strict=True)
        ]
        return f"{name}({', '.join(found)})"

    return rule


def _concatenated(name: str, *places: str) -> Rule:
    """Return a concatenation, which is NULL only when both sides are no arrays at all."""

    def rule(printer: Printer, node: Call, texts: list[str]) -> str:
        text = each(name, *places)
        assert not isinstance(text, str)
        joined = text(printer, node, texts)
        if places != ("a", "a"):
            return joined
        return f"CASE WHEN {texts[0]} IS NOT NULL OR {texts[1]} IS NOT NULL THEN {joined} END"

    return rule


def _length(printer: Printer, node: Call, texts: list[str]) -> str:
    return f"CASE WHEN {texts[1]} = 1 AND len({texts[0]}) > 0 THEN CAST(len({texts[0]}) AS INTEGER) END"


def _lower_bound(printer: Printer, node: Call, texts: list[str]) -> str:
    return f"CASE WHEN {texts[1]} = 1 AND len({texts[0]}) > 0 THEN 1 END"


def _keys(printer: Printer, node: Call, texts: list[str]) -> tuple[str, str]:
    """Return an array and an element as the keys that compare them."""
    array = node.arguments[0].type
    kind = array.element
    return printer.comparable_text(texts[0], array), printer.comparable_text(element(printer, node.arguments[1]), kind)


def _position(printer: Printer, node: Call, texts: list[str]) -> str:
    array, item = _keys(printer, node, texts)
    return f"CAST(list_position({array}, {item}) AS INTEGER)"


def _position_from(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return array_position of items from a place on."""
    array, item = _keys(printer, node, texts)
    start = f"greatest({texts[2]}, 1)"
    found = f"list_position({array}[{start}:len({array})], {item}) + {start} - 1"
    refused = raising("22004", "initial position must not be null")
    return (
        f"CASE WHEN {array} IS NULL THEN NULL WHEN {texts[2]} IS NULL THEN {refused} ELSE CAST({found} AS INTEGER) END"
    )


def _positions(printer: Printer, node: Call, texts: list[str]) -> str:
    array, item = _keys(printer, node, texts)

    def found(array: str, item: str) -> str:
        places = (
            f"list_filter(generate_series(1, len({array})), lambda place: {array}[place] IS NOT DISTINCT FROM {item})"
        )
        return f"CASE WHEN {array} IS NOT NULL THEN CAST({places} AS INTEGER[]) END"

    return outside((array, item), found)


def _remove(printer: Printer, node: Call, texts: list[str]) -> str:
    kind = node.arguments[0].type.element
    item = printer.comparable_text(element(printer, node.arguments[1]), kind)
    key = printer.comparable_text("item", kind)
    return outside((item,), lambda other: f"list_filter({texts[0]}, lambda item: {key} IS DISTINCT FROM {other})")


def _replace(printer: Printer, node: Call, texts: list[str]) -> str:
    kind = node.arguments[0].type.element
    old, new = (element(printer, argument) for argument in node.arguments[1:])

    def replaced(old: str, new: str) -> str:
        same = f"{printer.comparable_text('item', kind)} IS NOT DISTINCT FROM {printer.comparable_text(old, kind)}"
        return printer.mapped(texts[0], lambda item: f"CASE WHEN {same} THEN {new} ELSE {item} END")

    return outside((old, new), replaced)


def _contains(first: int, second: int) -> Rule:
    """Return array @> array: a NULL is in no array."""

    def rule(printer: Printer, node: Call, texts: list[str]) -> str:
        keys = [
            printer.comparable_text(text, argument.type) for text, argument in zip(texts, node.arguments, strict=True)
        ]
        whole, part = keys[first], keys[second]
        has_all = f"list_has_all({whole}, {part}) AND len(list_filter({part}, lambda item: item IS NULL)) = 0"
        return f"CASE WHEN {whole} IS NOT NULL THEN {has_all} END"

    return rule


def _overlaps(printer: Printer, node: Call, texts: list[str]) -> str:
    keys = [printer.comparable_text(text, argument.type) for text, argument in zip(texts, node.arguments, strict=True)]
    return f"list_has_any({', '.join(keys)})"


def _trimmed(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return trim_array: the array without as many elements at the end."""
    array, count = texts
    refused = f"'antumbra error 2202E: number of elements to trim must be between 0 and ' || len({array}) || ' (end)'"
    kept = f"{array}[1:len({array}) - {count}]"
    wrong = f"{count} < 0 OR {count} > len({array})"
    return f"CASE WHEN {array} IS NULL OR {count} IS NULL THEN NULL WHEN {wrong} THEN error({refused}) ELSE {kept} END"


def _array_filled(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return array_fill(value, array[count])."""
    too_many = f"array size exceeds the maximum allowed ({ARRAY_ITEMS_MAX})"
    dimensions = "array_fill with more than one dimension is not supported yet"
    value = element(printer, node.arguments[0])

    def filled(value: str, sizes: str) -> str:
        count = f"{sizes}[1]"
        items = f"list_transform(generate_series(series_start(1, {count}, 1), {count}), lambda place: {value})"
        return (
            f"CASE WHEN {sizes} IS NULL THEN {raising('22004', 'dimension array or low bound array cannot be null')} "
            f"WHEN list_count({sizes}) < len({sizes}) THEN {raising('22004', 'dimension values cannot be null')} "
            f"WHEN len({sizes}) > 1 THEN {raising('0A000', dimensions)} "
            f"WHEN {count} NOT BETWEEN 0 AND {ARRAY_ITEMS_MAX} THEN {raising('54000', too_many)} "
            f"ELSE CAST(coalesce({items}, []) AS {printer.type_name(node.type)}) END"
        )

    return outside((value, texts[1]), filled)


def _bucket(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return how many of the sorted thresholds are not greater than an operand."""
    kind = node.arguments[1].type
    operand = printer.comparable_text(element(printer, node.arguments[0]), kind.element)
    nulls = raising("22004", "thresholds array must not contain NULLs")

    def bucket(operand: str, keys: str) -> str:
        below = f"CAST(len(list_filter({keys}, lambda item: item <= {operand})) AS INTEGER)"
        return (
            f"CASE WHEN {operand} IS NULL OR {keys} IS NULL THEN NULL "
            f"WHEN list_count({keys}) < len({keys}) THEN {nulls} ELSE {below} END"
        )

    return outside((operand, printer.comparable_text(texts[1], kind)), bucket)


def _to_string(printer: Printer, node: Call, texts: list[str]) -> str:
    kind = node.arguments[0].type.element
    values = printer.mapped(texts[0], lambda item: _output(printer, item, kind))
    if len(texts) > 2:
        shown = values
        values = outside((texts[2],), lambda null: printer.mapped(shown, lambda item: f"coalesce({item}, {null})"))
    kept = f"list_filter({values}, lambda item: item IS NOT NULL)"
    # DuckDB's own takes only a constant as separator.
    join = "array_to_string" if isinstance(node.arguments[1], Literal) else "texts_separated"
    operands = (kept, texts[1]) if join == "array_to_string" else (texts[1], kept)
    joined = f"coalesce({join}({', '.join(operands)}), '')"
    return f"CASE WHEN {texts[1]} IS NOT NULL AND {texts[0]} IS NOT NULL THEN {joined} END"


def _output(printer: Printer, item: str, kind: SqlType) -> str:
    """Return an element as its output function prints it."""
    column: Expression = Column(0, "", kind)
    if kind.family == "bool":
        words = Literal("t", TEXT), Literal("f", TEXT)
        negated = Call("not", (column,), kind)
        text: Expression = Case(((column, words[0]), (negated, words[1])), Literal(None, TEXT), TEXT)
    else:
        text = column if kind.family in ("text", "varchar") else Cast(column, TEXT)
    return printer.over([item]).text(text)


def _made(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return ARRAY[...]."""
    items = ", ".join(element(printer, item) for item in node.arguments)
    return f"CAST([{items}] AS {printer.type_name(node.type)})"


def _subscript(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return an element by its number; DuckDB counts negative numbers from the end."""
    place = node.arguments[1]
    found = f"{texts[0]}[{texts[1]}]"
    if isinstance(place, Literal) and isinstance(place.value, int) and place.value > 0:
        return found
    return f"CASE WHEN {texts[1]} >= 1 THEN {found} END"


def _slice(printer: Printer, node: Call, texts: list[str]) -> str:
    array = texts[0]
    low, high = (
        None if is_left_out(bound) else text for bound, text in zip(node.arguments[1:], texts[1:], strict=True)
    )
    given = [f"{text} IS NOT NULL" for text in (array, low, high) if text is not None]
    start = "1" if low is None else f"greatest({low}, 1)"
    cut = f"{array}[{start}:{f'len({array})' if high is None else f'greatest({high}, 0)'}]"
    empty = "" if high is None else f" WHEN {high} < {start} THEN CAST([] AS {printer.type_name(node.type)})"
    return f"CASE WHEN NOT ({' AND '.join(given)}) THEN NULL{empty} ELSE {cut} END"


def is_left_out(bound: Expression) -> bool:
    """True for a bound of a slice that is not written."""
    return isinstance(bound, Literal) and bound.value is None and bound.type.family == "unknown"


def items_of(node: Expression) -> tuple[Expression, ...] | None:
    """Return the elements of an array that is written out."""
    match node:
        case Literal(value=tuple(values)):
            kind = node.type.element
            return tuple(Literal(value, literal_type(value, kind)) for value in values)
        case Call(function="array"):
            return node.arguments
        case Cast(operand=operand, type=kind) if kind.is_array and operand.type.is_array:
            items = items_of(operand)
            if items is not None:
                return tuple(
                    item if item.type == kind.element else replace(node, operand=item, type=kind.element)
                    for item in items
                )
    return None


def literal_type(value: LiteralValue, kind: SqlType) -> SqlType:
    """Return the type of an array's constant element, with the digits of a numeric."""
    if not isinstance(value, Decimal):
        return kind
    exponent = value.as_tuple().exponent
    return scaled_numeric(max(-exponent, 0) if isinstance(exponent, int) else None)


def compared_with_any(quantifier: str, comparison: str) -> Rule:
    """Return operand operator ANY | ALL (array): ALL is true where no element contradicts."""

    def rule(printer: Printer, node: Call, texts: list[str]) -> str:
        wanted = comparison if quantifier == "any" else NEGATED[comparison]
        left, array = node.arguments
        items = items_of(array)
        if items is not None and wanted == EQUAL:
            arguments = (left, *items)
            found = printer.text(Call("in_list", arguments, node.type)) if items else "FALSE"
        else:
            found = _any_item(printer, left, array, texts[1], wanted)
        return found if quantifier == "any" else f"(NOT {found})"

    return rule


def _any_item(printer: Printer, left: Expression, array: Expression, text: str, comparison: str) -> str:
    kind = array.type.element
    operand = printer.comparable_text(element(printer, left), kind)
    test = COMPARISONS[comparison]
    return _any_test(printer, operand, text, lambda one, item: f"{one} {test} {printer.comparable_text(item, kind)}")


def operator_with_any(quantifier: str, name: str) -> Rule:
    """Return operand operator ANY | ALL (array) for any operator of two operands."""

    def rule(printer: Printer, node: Call, texts: list[str]) -> str:
        left, array, *rest = node.arguments
        operands = (Column(0, "", left.type), Column(1, "", array.type.element), *rest)
        test: Expression = Call(name, operands, node.type)
        if quantifier == "all":
            test = Call("not", (test,), node.type)
        operand = element(printer, left)
        found = _any_test(printer, operand, texts[1], lambda one, item: printer.over((one, item)).text(test))
        return found if quantifier == "any" else f"(NOT {found})"

    return rule


def quantified(rows: Iterable[Function]) -> Iterator[Function]:
    """Yield a row for every operator of a table that may stand before ANY and ALL (array): those
    with two operands that yield boolean. The order of values has rows of its own.
    """
    for row in rows:
        is_test = any(len(one.cast_to) == 2 and one.result == "bool" for one in row.overloads)
        is_operator = any(not name.isidentifier() for name in row.names.split())
        if is_test and is_operator and row.canonical not in COMPARISONS:
            for quantifier in ("any", "all"):
                rule = operator_with_any(quantifier, row.canonical)
                yield Function(f"{quantifier}_{row.canonical}", strict=False, duckdb=rule)


def _any_test(printer: Printer, operand: str, text: str, test: Callable[[str, str], str]) -> str:
    """Return whether a test of an operand and an item holds for an item of an array."""
    tests = outside((operand,), lambda one: printer.mapped(text, lambda item: test(one, item)))
    unknown = f"len({tests}) > list_count({tests})"
    return f"CASE WHEN list_bool_or({tests}) THEN TRUE WHEN {unknown} THEN NULL WHEN {text} IS NOT NULL THEN FALSE END"


# A number beside thresholds of another type of numbers.
THRESHOLDS = "; ".join(
    f"{one} {other}[] > int4 as {wide} {wide}[]"
    for one, other in permutations(("int4", "int8", "numeric", "float8"), 2)
    for wide in (wider(one, other, NUMBERS),)
)
FUNCTIONS = (
    Function(
        "cardinality", "cardinality", "array > int4", ("cardinality(array[1,2])", "2"),
        duckdb="CAST(len({0}) AS INTEGER)",
    ),
    Function(
        "array_length", "array_length array_upper", "array int4 > int4", ("array_length(array[1,2,3], 1)", "3"),
        duckdb=_length,
    ),
    Function(
        "array_lower", "array_lower", "array int4 > int4", ("array_lower(array[1,2,3], 1)", "1"), duckdb=_lower_bound,
    ),
    Function(
        "array_ndims", "array_ndims", "array > int4", ("array_ndims(array[1,2])", "1"),
        duckdb="CASE WHEN len({0}) > 0 THEN 1 END",
    ),
    Function(
        "array_dims", "array_dims", "array > text", ("array_dims(array[1,2])", "[1:2]"),
        duckdb="CASE WHEN len({0}) > 0 THEN concat('[1:', len({0}), ']') END",
    ),
    Function(
        "trim_array", "trim_array", "array int4 > array", ("trim_array(array[1,2,3,4], 2)", "{1,2}"), duckdb=_trimmed,
    ),
    Function(
        "array_append", "array_append ||", "array element > array", ("array_append(array[1,2], 3)", "{1,2,3}"),
        strict=False, duckdb=_concatenated("list_append", "a", "e"),
    ),
    Function(
        "array_prepend", "array_prepend ||", "element array > array", ("array_prepend(1, array[2,3])", "{1,2,3}"),
        strict=False, duckdb=_concatenated("list_prepend", "e", "a"),
    ),
    Function(
        "array_cat", "array_cat ||", "array array > array", ("array_cat(array[1,2], array[3])", "{1,2,3}"),
        strict=False, duckdb=_concatenated("list_concat", "a", "a"),
    ),
    Function(
        "array_position", "array_position", "array element > int4",
        ("array_position(array['sun','mon','tue'], 'mon')", "2"), strict=False, duckdb=_position,
    ),
    Function(
        "array_position_from", "array_position", "array element int4 > int4",
        ("array_position(array[1,2,1], 1, 2)", "3"), strict=False, duckdb=_position_from,
    ),
    Function(
        "array_positions", "array_positions", "array element > int4[]",
        ("array_positions(array['a','b','a'], 'a')", "{1,3}"), strict=False, duckdb=_positions,
    ),
    Function(
        "array_remove", "array_remove", "array element > array", ("array_remove(array[1,2,3,2], 2)", "{1,3}"),
        strict=False, duckdb=_remove,
    ),
    Function(
        "array_replace", "array_replace", "array element element > array",
        ("array_replace(array[1,2,5,4], 5, 3)", "{1,2,3,4}"), strict=False, duckdb=_replace,
    ),
    Function(
        "array_to_string", "array_to_string", "array text > text; array text text > text",
        ("array_to_string(array[1,NULL,3], ',', '*')", "1,*,3"), strict=False, duckdb=_to_string, prints=True,
    ),
    Function(
        "array_fill", "array_fill", "element int4[] > array", ("array_fill(7, array[3])", "{7,7,7}"), strict=False,
        duckdb=_array_filled, missing="element int4[] int4[]",
    ),
    Function(
        "width_bucket_of", "width_bucket", f"element array > int4; {THRESHOLDS}",
        ("width_bucket(5, array[1,3,4,6])", "3"), duckdb=_bucket,
    ),
    Function("array_contains", "@>", "array array > bool", ("array[1,4,3] @> array[3,1]", "t"), duckdb=_contains(0, 1)),
    Function("array_contained", "<@", "array array > bool", ("array[2] <@ array[1,7]", "f"), duckdb=_contains(1, 0)),
    Function("array_overlaps", "&&", "array array > bool", ("array[1,4,3] && array[2,1]", "t"), duckdb=_overlaps),
    Function("array", strict=False, duckdb=_made),
    Function("slice", strict=False, duckdb=_slice),
    Function("subscript", duckdb=_subscript),
    *(
        Function(f"{quantifier}_{comparison}", strict=False, duckdb=compared_with_any(quantifier, comparison))
        for quantifier in ("any", "all")
        for comparison in COMPARISONS
    ),
)  # fmt: skip
