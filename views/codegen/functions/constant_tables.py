"""Many constants as tables that a kernel looks values up in (`ringbuffer.scalar.texts`): IN lists,
and the results of a long CASE.

Enters: constants, and the value that is compared with them. Leaves: lines that look it up; the
tables are in the kernel's block of constants, so that neither their number nor their values make
its code longer. Must not know which expressions they come from.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from decimal import Decimal

from ringbuffer.groups.aggregates import NAN_KEY
from sql.tree.expressions import Cast, Expression, Literal
from sql.types.datatypes import NUMERIC_DIGITS_MAX as DIGITS_MAX
from sql.types.datatypes import SqlType, scaled_numeric
from views.codegen.expressions import ExpressionWriter
from views.codegen.literals import CONSTANTS, numeric_words, text_words
from views.codegen.values import FLOATS, INTEGERS, TEXTS, WORDS, Value, has_known_scale
from views.model.equalities import SIZES

WORD_BYTES = 8
RESULT_WORDS = 4
RESULTS = TEXTS | WORDS | FLOATS | {"bool", "numeric"}

Key = tuple[int, ...]


def write_lookup(writer: ExpressionWriter, kind: SqlType, needle: Value, items: Sequence[Literal]) -> str:
    """Write the search of a value among constants, neither NULL.

    Return the variable with the place of the first equal one, or -1.
    """
    out = writer.writer
    words: tuple[str, ...] = needle.words
    if kind.family in TEXTS:
        table = _address(_text_table(items, writer.long_texts))
        call = f"{out.use('scalar.texts.constant_tables', 'find_text')}({table}, {CONSTANTS}, {', '.join(words)})"
    elif kind.family == "numeric":
        scale = int(needle.words[2]) if has_known_scale(needle) else None
        if scale is None:
            names = [out.name("looked_up" + suffix) for suffix in ("_lo", "_hi", "_scale")]
            out.line(
                f"{', '.join(names)} = {out.use('scalar.numbers.numeric', 'numeric_normalise')}({', '.join(words)})"
            )
            words = tuple(names)
        table = _address(_table(_numeric_keys(items, scale), writer.long_texts))
        call = f"{out.use('scalar.texts.constant_tables', 'find_words')}({table}, {', '.join(words)})"
    else:
        word = needle.word
        if kind.family in FLOATS:
            word = f"{out.use('groups.aggregates', 'float_key')}(np.float64({word}))"
        table = _address(_table(_word_keys(items, kind), writer.long_texts))
        call = f"{out.use('scalar.texts.constant_tables', 'find_word')}({table}, {word})"
    return out.assign("place", call)


def constant_of(expression: Expression, kind: SqlType) -> Literal | None:
    """Return a constant of the form of values of a type, which `write_results` may load; None: it
    is none, or of another form.
    """
    if isinstance(expression, Cast) and isinstance(expression.operand, Literal):
        value = expression.operand.value
        is_integer = expression.operand.type.family in INTEGERS and isinstance(value, int)
        if is_integer and kind.family == "numeric" and kind.display_scale is None and kind.precision is None:
            return Literal(value, scaled_numeric(0))
        if is_integer and SIZES.get(kind.family, 0) >= SIZES[expression.operand.type.family]:
            return Literal(value, kind)
    if not isinstance(expression, Literal):
        return None
    if expression.value is None:
        return expression
    same = expression.type.family == kind.family and not kind.is_enum and kind.family in RESULTS
    # One of a scale that each value has by itself may have any.
    return expression if same and kind.display_scale in (None, expression.type.display_scale) else None


def write_results(writer: ExpressionWriter, kind: SqlType, results: Sequence[Literal], place: str) -> Value:
    """Write the loads of constant number `place` of these, of which some may be NULL, and return
    its value.
    """
    out, block = writer.writer, writer.long_texts
    rows = [_result_words(kind, literal, block) for literal in results]
    start = _append(block, [word for row in rows for word in row])
    row = out.assign("result", f"{_address(start)} + {RESULT_WORDS * WORD_BYTES} * {place}")
    load = out.use("memory.addresses", "load_word")

    def word(number: int) -> str:
        return f"{load}({row} + {WORD_BYTES * number})"

    null = out.assign("result_null", f"{word(RESULT_WORDS - 1)} != 0")
    if kind.family in TEXTS:
        return Value((out.assign("result_w0", word(0)), out.assign("result_w1", word(1)), CONSTANTS), null)
    if kind.family == "numeric":
        scale = out.assign("result_scale", word(2)) if kind.display_scale is None else str(kind.display_scale)
        return Value((out.assign("result_lo", word(0)), out.assign("result_hi", word(1)), scale), null)
    text = word(0)
    if kind.family in FLOATS:
        text = f"{out.use('memory.addresses', 'float_from_bits')}({text})"
        text = text if kind.family == "float8" else f"real({text})"
    elif kind.family == "bool":
        text += " != 0"
    return Value((out.assign("result_value", text),), null)


def _address(offset: int) -> str:
    return f"{CONSTANTS} + {offset}"


def _append(block: bytearray, words: Sequence[int]) -> int:
    """Append words where they are aligned, and return the offset."""
    block.extend(bytes(-len(block) % WORD_BYTES))
    offset = len(block)
    block.extend(struct.pack(f"<{len(words)}q", *words))
    return offset


def _table(keys: Sequence[Key | None], block: bytearray) -> int:
    """Append a table of these keys, each with its place in the sequence, and return its offset.

    None: nothing is equal to it.
    """
    first: dict[Key, int] = {}
    for place, key in enumerate(keys):
        if key is not None:
            first.setdefault(key, place)
    ordered = sorted(first)
    return _append(block, [len(ordered), *(word for key in ordered for word in key), *(first[key] for key in ordered)])


def _text_table(items: Sequence[Literal], block: bytearray) -> int:
    """Append a table of texts and return its offset; the bytes of long ones come before it."""
    first: dict[str, int] = {}
    for place, item in enumerate(items):
        assert isinstance(item.value, str)
        first.setdefault(item.value, place)
    rows = []
    for text, place in first.items():
        w0, w1, heap = text_words(text, block)
        order: int | bytes = text.encode() if heap == CONSTANTS else int(w1)
        rows.append((int(w0), order, int(w1), place))
    # Equal first words have equal lengths, so both are long or neither is.
    rows.sort(key=lambda row: row[:2])
    return _append(block, [len(rows), *(word for row in rows for word in (row[0], row[2])), *(row[3] for row in rows)])


def _word_keys(items: Sequence[Literal], kind: SqlType) -> list[Key | None]:
    keys: list[Key | None] = []
    for item in items:
        value = item.value
        assert isinstance(value, int | float)
        keys.append((_float_key(float(value)),) if kind.family in FLOATS else (int(value),))
    return keys


def _float_key(value: float) -> int:
    """Return what `float_key` of ringbuffer's aggregates does."""
    if value != value:
        return NAN_KEY
    bits: int
    (bits,) = struct.unpack("<q", struct.pack("<d", value or 0.0))
    return bits


def _numeric_keys(items: Sequence[Literal], scale: int | None) -> list[Key | None]:
    """Return the words of decimals at a scale, where what has more digits equals nothing; None:
    those without trailing zeros.
    """
    keys: list[Key | None] = []
    for item in items:
        assert isinstance(item.value, Decimal | int)
        value = Decimal(item.value)
        if scale is None:
            keys.append(_words(numeric_words(_without_zeros(value), None)))
        elif value.is_finite() and _places(_without_zeros(value)) <= scale and value.adjusted() + scale < DIGITS_MAX:
            lo, hi, _ = _words(numeric_words(_without_zeros(value), scale))
            keys.append((lo, hi, scale))
        else:
            keys.append(None)
    return keys


def _words(texts: tuple[str, ...]) -> Key:
    return tuple(map(int, texts))


def _without_zeros(value: Decimal) -> Decimal:
    """Return a decimal without zeros at the end of its fraction, with all its digits."""
    if not value.is_finite():
        return value
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    while exponent < 0 and digits[-1] == 0:
        digits, exponent = digits[:-1] or (0,), exponent + 1
    return Decimal((sign if any(digits) else 0, digits, exponent if any(digits) else 0))


def _places(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    return max(-exponent, 0)


def _result_words(kind: SqlType, literal: Literal, block: bytearray) -> Key:
    value = literal.value
    if value is None:
        return 0, 0, 0, 1
    if kind.family in TEXTS:
        assert isinstance(value, str)
        w0, w1, _ = text_words(value, block)
        return int(w0), int(w1), 0, 0
    if kind.family == "numeric":
        assert isinstance(value, Decimal | int)
        return (*_words(numeric_words(Decimal(value), literal.type.display_scale)), 0)
    if kind.family in FLOATS:
        assert isinstance(value, int | float)
        return (*struct.unpack("<q", struct.pack("<d", value)), 0, 0, 0)
    assert isinstance(value, int)
    return int(value), 0, 0, 0
