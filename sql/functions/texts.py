"""Functions of texts."""

from __future__ import annotations

import hashlib
import operator
import re

from sql.functions.arguments import literal_integer
from sql.functions.patterns import LOWER, UPPER
from sql.functions.printing import Printer, Rule
from sql.functions.rows import Function, Kernel, Routine, routines
from sql.tree.expressions import Call, Expression, Literal
from sql.values.identifiers import identifier_parts

INT4_MAX = 2**31 - 1
# ASCII letters alone, as in the C locale.
TO_UPPER, TO_LOWER = str.maketrans(LOWER, UPPER), str.maketrans(UPPER, LOWER)
# How much longer than its operands DuckDB may make a text, which it does not count.
GROWTH_MAX = 4
CONSTANT_LENGTH_MAX = 4 * 1024 * 1024
# A longer list of operands is made before the operands are looked at.
JOINED_MAX = 3
JOINED = re.compile(r"texts_joined_(\d)\(\[")


def _substring(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return SUBSTRING, which counts from 1 even when it starts before the text."""
    bounds = node.arguments[1:]
    if all(isinstance(bound, Literal) and isinstance(bound.value, int) for bound in bounds):
        start = literal_integer(bounds[0], "a start")
        if len(bounds) == 1:
            return f"substring({texts[0]}, {max(start, 1)})"
        length = literal_integer(bounds[1], "a length")
        if length >= 0:
            end = max(start + length, 1)
            return f"substring({texts[0]}, {max(start, 1)}, {max(end - max(start, 1), 0)})"
    if len(texts) == 2:
        texts = [texts[0], f"CASE WHEN {texts[1]} < 1 THEN 1 ELSE {texts[1]} END", str(INT4_MAX)]
    return f"text_substring({', '.join(texts)})"


def _ascii_case(source: str, target: str) -> Rule:
    """Return LOWER or UPPER in the C locale, which change ASCII letters alone."""
    return f"translate({{0}}, '{source}', '{target}')"


def _to_array(printer: Printer, node: Call, texts: list[str]) -> str:
    null = [] if len(texts) > 2 else ["CAST(NULL AS VARCHAR)"]
    return f"text_to_array({', '.join([*texts, *null])})"


def _format(printer: Printer, node: Call, texts: list[str]) -> str:
    rest = ", ".join(f"CAST({text} AS VARCHAR)" for text in texts[1:])
    return f"text_format({texts[0]}, CAST([{rest}] AS VARCHAR[]))"


def _growing(name: str) -> Rule:
    """Return a call of repeat, lpad or rpad.

    Long constants are made when the query runs: DuckDB would copy them to every place where they
    are read.
    """

    def rule(printer: Printer, node: Call, texts: list[str]) -> str:
        length = node.arguments[1]
        is_long = isinstance(length, Literal) and isinstance(length.value, int) and length.value > CONSTANT_LENGTH_MAX
        return f"{name}{'_unfolded' if is_long and printer.is_constant(node.arguments[0]) else ''}({', '.join(texts)})"

    return rule


def _replace(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return DuckDB's own replace() where its result can't be longer than its operands, else ours,
    which is bounded.
    """
    part, by = (argument.value if isinstance(argument, Literal) else None for argument in node.arguments[1:])
    # Several of them in each other would multiply what each adds.
    grows = not (isinstance(part, str) and isinstance(by, str) and len(by.encode()) <= len(part.encode()))
    return f"{'text_replaced' if grows else 'replace'}({', '.join(texts)})"


def _concatenated(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return DuckDB's own || of a few operands, else a function of ours on a list of them, which is
    bounded.
    """
    left, right = texts
    joined = JOINED.match(left)
    if joined is not None and int(joined[1]) < JOINED_MAX:
        return f"texts_joined_{int(joined[1]) + 1}{left[joined.end(1) : -2]}, {right}])"
    is_long = joined is not None or JOINED.match(right) is not None or _operands(node, GROWTH_MAX) > GROWTH_MAX
    # Of columns that are such texts themselves.
    is_long = is_long or left.count(" || ") + right.count(" || ") >= GROWTH_MAX
    return f"texts_joined_2([{left}, {right}])" if is_long else f"({left} || {right})"


def _separated(separator: str, texts: list[str]) -> str:
    """Return DuckDB's own concat_ws of a few operands, else ours on lists of them, which is
    bounded.

    separator: used several times.
    """
    if len(texts) <= GROWTH_MAX:
        return f"concat_ws({', '.join((separator, *texts))})"
    while len(texts) > 1:
        pieces = (texts[at : at + JOINED_MAX] for at in range(0, len(texts), JOINED_MAX))
        texts = [f"texts_separated({separator}, [{', '.join(piece)}])" for piece in pieces]
    return f"CASE WHEN {separator} IS NOT NULL THEN coalesce({texts[0]}, '') END"


def _operands(node: Expression, most: int) -> int:
    """Return how many operands of || there are, counted up to a bit more than `most`."""
    if most <= 0 or not isinstance(node, Call) or node.function != "concat_op":
        return 1
    found = _operands(node.arguments[0], most - 1)
    return found + _operands(node.arguments[1], most - found)


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def _trim(left: bool, right: bool) -> Kernel:
    return Kernel("texts.text_functions.text_trim", fallible=True, constants=(str(left), str(right)))


def _overlay(printer: Printer, node: Call, texts: list[str]) -> str:
    return f"text_overlay{'_all' if len(texts) == 3 else ''}({', '.join(texts)})"


def _padded_length(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return the length of a char(n) without the blanks at its end."""
    return f"CAST(length({printer.blank_trimmed(texts[0])}) AS INTEGER)"


def _concat_separated(printer: Printer, node: Call, texts: list[str]) -> str:
    return _separated(texts[0], texts[1:])


def _concat_all(printer: Printer, node: Call, texts: list[str]) -> str:
    return _separated("''", texts)


FUNCTIONS = (
    Function(
        "lower", "lower", "text > text", ("lower('aBC')", "abc"), can_fail=False,
        kernel=Kernel("texts.text_functions.text_lower", fallible=True, scratch=True), duckdb=_ascii_case(UPPER, LOWER),
        plain={"text": lambda text: text.translate(TO_LOWER)},
    ),
    Function(
        "upper", "upper", "text > text", ("upper('aBC')", "ABC"), can_fail=False,
        kernel=Kernel("texts.text_functions.text_upper", fallible=True, scratch=True), duckdb=_ascii_case(LOWER, UPPER),
        plain={"text": lambda text: text.translate(TO_UPPER)},
    ),
    Function(
        "initcap", "initcap", "text > text", ("initcap('hi THOMAS')", "Hi Thomas"), python="text.initcap",
    ),
    Function(
        "length", "length char_length character_length", "text > int4", ("length('jösé')", "4"), can_fail=False,
        kernel=Kernel("texts.text_values.text_char_length"), duckdb="CAST(length({0}) AS INTEGER)",
        plain={"text": len},
    ),
    Function(
        "bpchar_length", "length char_length character_length", "bpchar > int4", ("length('ab '::char(4))", "2"),
        duckdb=_padded_length,
    ),
    Function(
        "octet_length", "octet_length", "text > int4", ("octet_length('jösé')", "6"), can_fail=False,
        kernel=Kernel("texts.text_values.text_octet_length"), duckdb="CAST(strlen({0}) AS INTEGER)",
        sees_blanks="octet_length",
    ),
    Function(
        "bit_length", "bit_length", "text > int4", ("bit_length('jösé')", "48"),
        duckdb="CAST(8 * strlen({0}) AS INTEGER)",
        plain={"text": lambda text: 8 * len(text.encode())},
    ),
    Function(
        "substring", "substring substr", "text int4 > text; text int4 int4 > text",
        ("substring('Thomas' from 2 for 3)", "hom"), duckdb=_substring,
        kernel=Kernel("texts.text_functions.text_substring", fallible=True, left_out=(str(1 << 32),)),
    ),
    Function(
        "overlay", "overlay", "text text int4 > text; text text int4 int4 > text",
        ("overlay('Txxxxas' placing 'hom' from 2 for 4)", "Thomas"), duckdb=_overlay,
    ),
    Function(
        "trim_both", "btrim", "text > text; text text > text", ("btrim('xyxtrimyyx', 'xyz')", "trim"), can_fail=False,
        duckdb="trim({0}, {1})", defaults={1: " "}, kernel=_trim(True, True),
    ),
    Function(
        "trim_left", "ltrim", "text > text; text text > text", ("ltrim('zzzytest', 'xyz')", "test"), can_fail=False,
        duckdb="ltrim({0}, {1})", defaults={1: " "}, kernel=_trim(True, False),
    ),
    Function(
        "trim_right", "rtrim", "text > text; text text > text", ("rtrim('testxxzx', 'xyz')", "test"), can_fail=False,
        duckdb="rtrim({0}, {1})", defaults={1: " "}, kernel=_trim(False, True),
    ),
    Function(
        "replace", "replace", "text text text > text", ("replace('abcdefabcdef', 'cd', 'XX')", "abXXefabXXef"),
        can_fail=False, kernel=Kernel("texts.text_functions.text_replace", fallible=True, scratch=True),
        duckdb=_replace, grows=True,
    ),
    Function(
        "translate", "translate", "text text text > text", ("translate('12345', '143', 'ax')", "a2x5"),
        python="text.translate",
    ),
    Function(
        "left", "left", "text int4 > text", ("left('abcde', -2)", "abc"), can_fail=False,
        kernel=Kernel("texts.text_functions.text_left", fallible=True),
    ),
    Function(
        "right", "right", "text int4 > text", ("right('abcde', 2)", "de"), can_fail=False,
        kernel=Kernel("texts.text_functions.text_right", fallible=True),
    ),
    Function(
        "strpos", "strpos position", "text text > int4", ("strpos('high', 'ig')", "2"), can_fail=False,
        kernel=Kernel("texts.text_values.text_position"),
    ),
    Function(
        "starts_with", "starts_with ^@", "text text > bool", ("starts_with('alphabet', 'alph')", "t"), can_fail=False,
        kernel=Kernel("texts.text_values.text_starts_with"), duckdb="starts_with({0}, {1})",
    ),
    Function(
        "repeat", "repeat", "text int4 > text", ("repeat('Pg', 4)", "PgPgPgPg"),
        kernel=Kernel("texts.text_functions.text_repeat", fallible=True, scratch=True), duckdb=_growing("text_repeat"),
        grows=True, asks_length=True,
    ),
    Function(
        "lpad", "lpad", "text int4 > text; text int4 text > text", ("lpad('hi', 5, 'xy')", "xyxhi"),
        kernel=Kernel("texts.text_functions.text_lpad", fallible=True, scratch=True), duckdb=_growing("text_lpad"),
        defaults={2: " "}, grows=True, asks_length=True,
    ),
    Function(
        "rpad", "rpad", "text int4 > text; text int4 text > text", ("rpad('hi', 5, 'xy')", "hixyx"),
        kernel=Kernel("texts.text_functions.text_rpad", fallible=True, scratch=True), duckdb=_growing("text_rpad"),
        defaults={2: " "}, grows=True, asks_length=True,
    ),
    Function(
        "reverse", "reverse", "text > text", ("reverse('abcde')", "edcba"), can_fail=False,
        kernel=Kernel("texts.text_functions.text_reverse", fallible=True, scratch=True),
    ),
    Function(
        "split_part", "split_part", "text text int4 > text", ("split_part('abc~@~def~@~ghi', '~@~', 2)", "def"),
        kernel=Kernel("texts.text_functions.text_split_part", fallible=True),
    ),
    Function(
        "concat", "concat", "any... > text", ("concat('abcde', 2, NULL, 22, true)", "abcde222t"), strict=False,
        can_fail=False, duckdb=_concat_all, takes_output=True,
        kernel=Kernel("texts.text_functions.text_concat", fallible=True, scratch=True, folds=True),
    ),
    Function(
        "concat_ws", "concat_ws", "text any... > text", ("concat_ws(',', 'abcde', 2, NULL, 22)", "abcde,2,22"),
        strict=False, duckdb=_concat_separated, takes_output=True,
    ),
    Function(
        "format", "format", "text > text; text any... > text",
        ("format('Hello %s, %1$s', 'World')", "Hello World, World"), strict=False, duckdb=_format, takes_output=True,
        grows=True,
    ),
    Function("ascii", "ascii", "text > int4", ("ascii('x')", "120"), kernel=Kernel("texts.codes.text_first_code")),
    Function("chr", "chr", "int4 > text", ("chr(233)", "é"), python="text.character"),
    Function("md5", "md5", "text > text", ("md5('abc')", "900150983cd24fb0d6963f7d28e17f72"), duckdb="md5({0})", plain={"text": _md5}),
    Function(
        "quote_ident", "quote_ident", "text > text", ("quote_ident('Foo bar')", "\"Foo bar\""),
        python="text.quote_ident",
    ),
    Function(
        "quote_literal", "quote_literal", "text > text; element > text as text", ("quote_literal(E'O\\'Reilly')", "'O''Reilly'"),
        python="text.quote_literal",
    ),
    Function(
        "quote_nullable", "quote_nullable", "text > text; element > text as text", ("quote_nullable(NULL)", "NULL"), strict=False,
        duckdb="coalesce(text_quote_literal({0}), 'NULL')",
    ),
    Function(
        "concat_op", "textcat ||", "text text > text; ||: bytea bytea > bytea", ("'Value: ' || 42", "Value: 42"),
        can_fail=False, kernel=Kernel("texts.text_functions.text_concat", fallible=True, scratch=True),
        duckdb={"text": _concatenated, "bytea": "({0} || {1})"}, infix="||", plain={"text": operator.concat},
    ),
    Function(
        "string_to_array", "string_to_array", "text text > text[]; text text text > text[]",
        ("string_to_array('xx~~yy~~zz', '~~', 'yy')", "{xx,NULL,zz}"), strict=False, duckdb=_to_array, defaults={2: None}),
    Function("padded_text", strict=False, can_fail=False, duckdb="{0}"),
    Function("unistr", "unistr", "text > text", ("unistr('d\\0061t\\+000061')", "data"), python="text.unescaped"),
    Function(
        "parse_ident", "parse_ident", "text > text[]; text bool > text[]",
        ("parse_ident('\"SomeSchema\".someTable')", "{SomeSchema,sometable}"), python=identifier_parts,
        defaults={1: True}, parameters="str strict",
    ),
    Function(
        "normalize", "normalize", "text > text; text text > text", ("normalize(U&'a\\0308', NFC)", "ä"),
        python="text.normalized", defaults={1: "NFC"},
    ),
    Function(
        "is_normalized", "is_normalized", "text > bool; text text > bool",
        ("is_normalized(U&'\\0061\\0308', 'NFC')", "f"), python="text.is_normalized", defaults={1: "NFC"},
    ),
)  # fmt: skip
ROUTINES = (
    *routines(
        text_overlay=("text text int4 int4 > text", "text.overlay"),
        text_overlay_all=("text text int4 > text", "text.overlay_all"),
        text_format=("text text[] > text", "text.formatted"),
    ),
    Routine("text_to_array", ("text", "text", "text"), "text[]", "text.to_array", is_strict=False),
    *routines(
        text_substring=("text int4 int4 > text", Kernel("texts.text_functions.text_substring")),
        text_replaced=("text text text > text", Kernel("texts.text_functions.text_replace")),
    ),
)
