"""Text functions and regular expressions as SQL: DuckDB's table, and the functions that Spark has
as well.

RE2 in DuckDB matches a constant pattern if it knows the forms in the pattern; in Spark a matcher of
our own gets the automaton; both take a time that is linear in the text. All other matching is done
by functions of our own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from sql.emit.rules.arguments import RUN, literal_text
from sql.errors import not_supported
from sql.functions.printing import Printer, Rule
from sql.functions.volatility import is_constant
from sql.patterns.automaton_text import automaton_text
from sql.patterns.grammar import parsed
from sql.patterns.re2 import re2_text
from sql.patterns.similar import similar_pattern
from sql.patterns.trees import Pattern, options_of
from sql.tree.expressions import Call, Expression, Literal

# A call with places for text and pattern, and a function that writes a pattern down for the call,
# None if it can't.
Native = tuple[str, Callable[[Pattern], str | None]]
# A longer pattern is read where it is used, not where a statement is planned.
CONSTANT_CHARACTERS_MAX = 1_000
# The length of a part of bytes that goes on to their end.
LENGTH_MAX = str(2**31 - 1)


def _constant_pattern(node: Expression) -> str | None:
    """Return a pattern that is a constant, also one of SIMILAR TO."""
    match node:
        case Literal(value=str(pattern)):
            return pattern
        case Call(function="similar_to_escape", arguments=(Literal(value=str(pattern)),)):
            return similar_pattern(pattern, None)
        case Call(function="similar_to_escape", arguments=(Literal(value=str(pattern)), Literal(value=str(escape)))):
            return similar_pattern(pattern, escape)
    return None


def _match(native: Native, letters: str = "") -> Rule:
    """Return text ~ pattern.

    native: the engine's own way for a constant pattern.
    """
    call, pattern_text = native

    def rule(printer: Printer, node: Call, texts: list[str]) -> str:
        pattern = _constant_pattern(node.arguments[1])
        if pattern is not None and len(pattern) <= CONSTANT_CHARACTERS_MAX:
            written = pattern_text(parsed(pattern, letters))
            if written is not None:
                return call.format(texts[0], printer.quoted(written))
        if printer.rules.get(("regexp_replace", "text")) is None:
            raise not_supported(
                f"this pattern of {node.function} in the upper part of a continuous view", node.position
            )
        return f"regexp_matches_any({texts[0]}, {texts[1]}, {printer.quoted(letters)}, {RUN})"

    return rule


def _like(native: Native) -> Rule:
    """Return regexp_like(text, pattern [, options])."""

    def rule(printer: Printer, node: Call, texts: list[str]) -> str:
        letters = "" if len(node.arguments) < 3 else literal_text(node.arguments[2], "regular expression options")
        if options_of(letters).is_global:
            return f"regexp_like_any({', '.join(texts)}, {RUN})"
        return _as_text(_match(native, letters), printer, node, texts)

    return rule


def _as_text(rule: Rule, printer: Printer, node: Call, texts: list[str]) -> str:
    return rule.format(*texts) if isinstance(rule, str) else rule(printer, node, texts)


def _similar_pattern(printer: Printer, node: Call, texts: list[str]) -> str:
    return f"similar_pattern{'_escaped' if len(texts) > 1 else ''}({', '.join(texts)})"


def _with_options(name: str, arguments_count: int) -> Rule:
    """Return a call of a function of ours whose options may be left out."""

    def rule(printer: Printer, node: Call, texts: list[str]) -> str:
        options = [] if len(texts) > arguments_count else [printer.quoted("")]
        return f"{name}({', '.join([*texts, *options, RUN])})"

    return rule


def _count(printer: Printer, node: Call, texts: list[str]) -> str:
    defaults = ["1", printer.quoted("")]
    return f"regexp_counted({', '.join([*texts, *defaults[len(texts) - 2 :], RUN])})"


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
        return f"{name}{'_unfolded' if is_long and is_constant(node.arguments[0]) else ''}({', '.join(texts)})"

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


def _overlay(printer: Printer, node: Call, texts: list[str]) -> str:
    return f"text_overlay{'_all' if len(texts) == 3 else ''}({', '.join(texts)})"


# How much longer than its operands DuckDB may make a text, which it does not count.
GROWTH_MAX = 4
CONSTANT_LENGTH_MAX = 4 * 1024 * 1024
# A longer list of operands is made before the operands are looked at.
JOINED_MAX = 3
JOINED = re.compile(r"texts_joined_(\d)\(\[")
RE2: Native = ("regexp_matches({0}, {1})", re2_text)
AUTOMATON: Native = ("text_matches({0}, {1})", automaton_text)

SHARED_TEXT_RULES: Mapping[str, Mapping[str, Rule]] = {
    "concat_ws": {"text": lambda printer, node, texts: _separated(texts[0], texts[1:])},
    "md5": {"text": "md5({0})"},
    "bit_length": {"text": "(8 * octet_length({0}))"},
    "initcap": {"text": "text_initcap({0})"},
    "translate": {"text": "text_translate({0}, {1}, {2})"},
    "overlay": {"text": _overlay},
    "ascii": {"text": "text_code({0})"},
    "chr": {"int4": "text_character({0})"},
    "to_hex": {"int4": "int4_hex({0})", "int8": "int8_hex({0})"},
    "bpchar_length": {
        "bpchar": lambda printer, node, texts: (
            f"CAST(char_length({printer.blank_trimmed(texts[0])}) AS INTEGER)"
            if printer.type_name(node.type) == "INT"
            else f"CAST(length({printer.blank_trimmed(texts[0])}) AS INTEGER)"
        )
    },
}

DUCKDB_TEXT_RULES: Mapping[str, Mapping[str, Rule]] = {
    **SHARED_TEXT_RULES,
    "reverse": {"text": "text_reverse({0})"},
    "quote_ident": {"text": "text_quote_ident({0})"},
    "quote_literal": {"text": "text_quote_literal({0})"},
    "quote_nullable": {"text": "coalesce(text_quote_literal({0}), 'NULL')"},
    "bit_length": {"text": "CAST(8 * strlen({0}) AS INTEGER)"},
    "bytea_length": {"bytea": "CAST(octet_length({0}) AS INTEGER)"},
    "bytea_bits": {"bytea": "CAST(8 * octet_length({0}) AS INTEGER)"},
    "bytea_part": {"bytea": lambda printer, node, texts: f"bytes_part({', '.join([*texts, '2147483647'][:3])})"},
    "bytea_position": {"bytea": "bytes_position({0}, {1})"},
    "bytea_md5": {"bytea": "bytes_md5({0})"},
    "get_byte": {"bytea": "bytes_get({0}, {1})"},
    "set_byte": {"bytea": "bytes_set({0}, {1}, {2})"},
    **{f"sha{bits}": {"bytea": f"bytes_sha{bits}({{0}})"} for bits in (224, 256, 384, 512)},
    "format": {"text": _format},
    "replace": {"text": _replace},
    **{name: {"text": _growing(f"text_{name}")} for name in ("repeat", "lpad", "rpad")},
    "concat_op": {"text": _concatenated},
    "concat": {"any": lambda printer, node, texts: _separated("''", texts)},
    "encode": {"bytea": "bytes_encode({0}, {1})"},
    "decode": {"text": "bytes_decode({0}, {1})"},
    "matches": {"text": _match(RE2)},
    "imatches": {"text": _match(RE2, "i")},
    "regexp_like": {"text": _like(RE2)},
    "similar_to_escape": {"text": _similar_pattern},
    "regexp_replace": {"text": _with_options("regexp_replaced", 3)},
    "regexp_match": {"text": _with_options("regexp_first_match", 2)},
    "regexp_split": {"text": _with_options("regexp_split", 2)},
    "regexp_count": {"text": _count},
    "regexp_instr": {"text": f"regexp_position({{0}}, {{1}}, {RUN})"},
    "regexp_part": {"text": f"regexp_part({{0}}, {{1}}, {RUN})"},
    "regexp_substr": {"text": f"regexp_whole({{0}}, {{1}}, {RUN})"},
    "string_to_array": {"text": _to_array},
}

SPARK_TEXT_RULES: Mapping[str, Mapping[str, Rule]] = {
    **SHARED_TEXT_RULES,
    "bytea_length": {"bytea": "octet_length({0})"},
    "matches": {"text": _match(AUTOMATON)},
    "imatches": {"text": _match(AUTOMATON, "i")},
    "regexp_like": {"text": _like(AUTOMATON)},
}
