"""The values of expressions in generated code: source text of their words, and of whether they are
NULL.

Words by form: bool True or False; integers, dates and timestamps one int64; float4 a float32,
float8 a float64; numeric (lo, hi, scale); text, and all that is bytes, (w0, w1, address from which
the offset of a long one counts). The words of a NULL may hold anything.
"""

from __future__ import annotations

from dataclasses import dataclass

from ringbuffer.scalar.texts.compared_bytes import LIST, Form
from sql.types.datatypes import SqlType

NEVER = "False"
ALWAYS = "True"

INTEGERS = frozenset({"int2", "int4", "int8"})
FLOATS = frozenset({"float4", "float8"})
TEXTS = frozenset({"text", "varchar", "unknown"})
TIMES = frozenset({"date", "timestamp", "timestamptz"})
WORDS = INTEGERS | TIMES  # families whose values are one int64
# Families that are compared as their words or bytes are.
COMPARED_WORDS = WORDS | {"bool", "time", "oid"}
COMPARED_BYTES = TEXTS | {"uuid", "name", "bytea"}
# The forms in which values that are kept as bytes are compared (compared_bytes.py).
FORMS: dict[str, Form] = {
    **dict.fromkeys(COMPARED_BYTES | {"char"}, Form.BYTES),
    **dict.fromkeys(("inet", "cidr"), Form.ADDRESS),
    "bpchar": Form.BLANK_PADDED,
    "interval": Form.INTERVAL,
    "jsonb": Form.JSONB,
    "timetz": Form.ZONED_TIME,
}
ELEMENT_FORMS: dict[str, Form] = {
    **FORMS,
    **dict.fromkeys(("int8", "time", "timestamp", "timestamptz", "oid"), Form.INT64),
    **dict.fromkeys(("int4", "date"), Form.INT32),
    "bool": Form.BOOL,
    "int2": Form.INT16,
    "float4": Form.FLOAT32,
    "float8": Form.FLOAT64,
    "numeric": Form.NUMERIC,
}
# Forms of equal values whose bytes may differ.
KEYED = frozenset({Form.BLANK_PADDED, Form.INTERVAL, Form.JSONB, Form.FLOAT32, Form.FLOAT64, Form.NUMERIC})
# Families of which functions know the words; kernels only pass on values of all others.
KNOWN = WORDS | FLOATS | TEXTS | {"bool", "numeric"}


WORD_MAX = (1 << 63) - 1


def is_string(kind: SqlType) -> bool:
    """Tell whether values of a type are 16-byte strings, whatever the bytes stand for."""
    return kind.row.kernel == "TEXT"


def is_known(kind: SqlType) -> bool:
    """Tell whether functions know the words of values of a type."""
    return kind.family in KNOWN or kind.is_enum


def element_form(kind: SqlType) -> Form | None:
    """Return the form of a value or of the elements of an array, None where nothing compares
    them.
    """
    if not kind.is_array:
        return FORMS.get(kind.family)
    if kind.enum is not None:
        return Form.INT64
    return Form.NUMERIC if kind.element.family == "numeric" else ELEMENT_FORMS.get(kind.element.family)


def compared_form(kind: SqlType) -> int | None:
    """Return the form of values that are strings, None where nothing compares them."""
    form = element_form(kind)
    return None if form is None else int(form) + LIST * kind.is_array


def is_plainly_compared(kind: SqlType) -> bool:
    """Tell whether values of a type are compared as their words or bytes are."""
    return kind.family in COMPARED_WORDS | COMPARED_BYTES | FLOATS | {"numeric"} or kind.is_enum


def has_order(kind: SqlType) -> bool:
    """Tell whether kernels know the order of the values of a type."""
    return has_equality(kind) and element_form(kind) is not Form.JSONB


def has_equality(kind: SqlType) -> bool:
    """Tell whether kernels find equal values of a type, so that they can be keys."""
    return is_plainly_compared(kind) or compared_form(kind) is not None


def has_equal_bytes(kind: SqlType) -> bool:
    """Tell whether values that are strings are equal where their bytes are."""
    return element_form(kind) not in (None, *KEYED)


def is_keyed(kind: SqlType) -> bool:
    """Tell whether values that are strings have a key other than their bytes."""
    return is_string(kind) and element_form(kind) in KEYED


def shown_words(kind: SqlType) -> int:
    """Return how many words of a key show its first value, 0 where equal values look alike."""
    if kind.family in FLOATS or kind.is_variable_numeric:
        return 1
    return 2 if is_keyed(kind) else 0


@dataclass(frozen=True, slots=True)
class Value:
    """The source text of an evaluated expression.

    Attributes:
        null: `NEVER`, `ALWAYS`, or an expression without side effects.
        most: a number that no decimal's magnitude exceeds, at its scale; None: it is not known.
    """

    words: tuple[str, ...]
    null: str = NEVER
    most: int | None = None

    @property
    def word(self) -> str:
        """The only word of a value that has one."""
        (word,) = self.words
        return word

    @property
    def known(self) -> str:
        """Source text that is true when the value is not NULL."""
        return negation(self.null)

    @property
    def truth(self) -> str:
        """Source text that is true when a boolean value is true: neither false nor NULL."""
        if self.null == NEVER:
            return self.word
        return NEVER if self.null == ALWAYS else f"{self.word} and {self.known}"


def negation(condition: str) -> str:
    """Return source text of NOT condition."""
    if condition in (NEVER, ALWAYS):
        return ALWAYS if condition == NEVER else NEVER
    return f"not {condition}" if condition.isidentifier() or is_enclosed(condition) else f"not ({condition})"


def is_enclosed(text: str) -> bool:
    """Return whether one pair of parentheses is around all of the text."""
    if not (text.startswith("(") and text.endswith(")")):
        return False
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0 and position < len(text) - 1:
            return False
    return True


def zero_words(kind: SqlType) -> tuple[str, ...]:
    """Return the words with which a variable of a type starts."""
    if kind.family == "bool":
        return ("False",)
    if kind.family == "float8":
        return ("0.0",)
    if kind.family == "float4":
        return ("real(0.0)",)
    if kind.family == "numeric":
        return ("0", "0", "0" if kind.display_scale is None else str(kind.display_scale))
    return ("0", "0", "0") if is_string(kind) else ("0",)


NUMERIC_SUFFIXES = ("_lo", "_hi", "_scale")


def word_suffixes(kind: SqlType) -> tuple[str, ...]:
    """Return the suffixes of the names of the variables of one value."""
    if kind.family == "numeric":
        return NUMERIC_SUFFIXES
    return ("_w0", "_w1", "_heap") if is_string(kind) else ("",)


def has_known_scale(value: Value) -> bool:
    """Tell whether a value is a numeric whose scale is a constant; then it is finite."""
    return len(value.words) == len(NUMERIC_SUFFIXES) and value.words[2].isdigit()


def numeric_function(name: str, *operands: Value, module: str = "scalar.numbers.numeric") -> tuple[str, str]:
    """Return module and name of a function of numerics.

    It is the function of `module`, or the one for operands that may be NaN or infinite.
    """
    if all(map(has_known_scale, operands)):
        return module, "numeric_" + name
    return "scalar.numbers.any_numeric", "any_" + name


def any_null(*values: Value) -> str:
    """Return source text that is true when one of the values is NULL."""
    nulls = dict.fromkeys(value.null for value in values if value.null != NEVER)
    if ALWAYS in nulls:
        return ALWAYS
    return " or ".join(nulls) if nulls else NEVER


def branchless(condition: str) -> str:
    """Return source text of an OR of variables that has no branches."""
    return condition if " and " in condition else condition.replace(" or ", " | ")
