"""LIKE, SIMILAR TO and regular expressions.

RE2 in DuckDB matches a constant pattern if it knows the forms in the pattern, in a time that is
linear in the text. All other matching is done by functions of our own.
"""

from __future__ import annotations

from dataclasses import replace

from sql.errors import not_supported
from sql.functions.arguments import RUN, literal_text
from sql.functions.printing import Printer, Rule, computed_once
from sql.functions.rows import Function, Kernel, LookAhead, Routine, routines
from sql.patterns.grammar import parsed
from sql.patterns.like import is_quick, is_unended, like_escape, like_pattern
from sql.patterns.re2 import re2_text
from sql.patterns.similar import similar_pattern
from sql.patterns.trees import options_of
from sql.tree.expressions import Call, Column, Expression, Literal
from sql.types.datatypes import TEXT

# A longer pattern is read where it is used, not where a statement is planned.
CONSTANT_CHARACTERS_MAX = 1_000
LIKE_STEPS_MAX = 65_536
LOWER, UPPER = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


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


def _match(letters: str = "") -> Rule:
    """Return text ~ pattern."""

    def rule(printer: Printer, node: Call, texts: list[str]) -> str:
        pattern = _constant_pattern(node.arguments[1])
        if pattern is not None and len(pattern) <= CONSTANT_CHARACTERS_MAX:
            written = re2_text(parsed(pattern, letters))
            if written is not None:
                return f"regexp_matches({texts[0]}, {printer.quoted(written)})"
        return f"regexp_matches_any({texts[0]}, {texts[1]}, {printer.quoted(letters)}, {RUN})"

    return rule


def _like(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return regexp_like(text, pattern [, options])."""
    letters = "" if len(node.arguments) < 3 else literal_text(node.arguments[2], "regular expression options")
    if options_of(letters).is_global:
        return f"regexp_like_any({', '.join(texts)}, {RUN})"
    return _as_text(_match(letters), printer, node, texts)


def _as_text(rule: Rule, printer: Printer, node: Call, texts: list[str]) -> str:
    return rule.format(*texts) if isinstance(rule, str) else rule(printer, node, texts)


def _similar_pattern(printer: Printer, node: Call, texts: list[str]) -> str:
    return f"similar_pattern{'_escaped' if len(texts) > 1 else ''}({', '.join(texts)})"


def _filled(name: str, arguments_count: int, *defaults: int | str) -> Rule:
    """Return a call of a function of ours with the values of arguments that are left out."""

    def rule(printer: Printer, node: Call, texts: list[str]) -> str:
        left_out = defaults[len(texts) - arguments_count :]
        values = [printer.quoted(value) if isinstance(value, str) else str(value) for value in left_out]
        return f"{name}({', '.join([*texts, *values, RUN])})"

    return rule


def _text_like(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return LIKE: with a constant pattern DuckDB's own, which reads escapes of other patterns in
    its own way.
    """
    text, pattern = texts[0], node.arguments[1]
    escape = literal_text(node.arguments[2], "an escape character") if len(node.arguments) > 2 else "\\"
    if isinstance(pattern, Literal) and isinstance(pattern.value, str):
        written = like_pattern(pattern.value, escape)
        printed, escape, quick = printer.quoted(written), "\\", is_quick(written)
    else:
        printed, quick = texts[1], False
    template = f"text_like({{0}}, {{1}}, {printer.quoted(escape)}, {RUN})"
    if quick:
        template = f"({{0}} LIKE {{1}} ESCAPE {printer.quoted(escape)})"
    elif escape == "\\":
        # The kernel tries places one after the other, and can't be stopped.
        few = f"strlen({{0}}) * strlen({{1}}) <= {LIKE_STEPS_MAX}"
        template = f"CASE WHEN {few} THEN text_like_short({{0}}, {{1}}) ELSE {template} END"
    if node.function == "ilike":
        text, printed = (f"translate({part}, '{UPPER}', '{LOWER}')" for part in (text, printed))
    if template.count("{0}") == 1 or all(isinstance(one, Column | Literal) for one in node.arguments[:2]):
        return template.format(text, printed)
    return computed_once((text, printed), template.format)


def _like_fails(node: Call) -> bool:
    """Tell whether LIKE may raise: where its pattern may end with the escape."""
    pattern, escape = node.arguments[1], node.arguments[2] if len(node.arguments) > 2 else Literal("\\", TEXT)
    if not isinstance(pattern, Literal) or not isinstance(escape, Literal):
        return True
    return isinstance(pattern.value, str) and is_unended(like_pattern(pattern.value, str(escape.value)))


def _with_backslash(node: Call) -> Call:
    """Return LIKE as the kernel takes it: a text, and a pattern whose escape is a backslash.

    Raises 0A000 for a pattern with an escape of its own that is no constant.
    """
    text, pattern = node.arguments[:2]
    escape = literal_text(node.arguments[2], "an escape character")
    if isinstance(pattern, Literal) and isinstance(pattern.value, str):
        pattern = replace(pattern, value=like_pattern(pattern.value, escape))
    elif escape != "\\":
        raise not_supported("LIKE with a pattern that is not a constant and an ESCAPE of its own", node.position)
    return replace(node, arguments=(text, pattern))


FUNCTIONS = (
    Function(
        "regexp_part", "substring", "text text > text", ("substring('foobar' from 'o(.)b')", "o"),
        duckdb=f"regexp_part({{0}}, {{1}}, {RUN})",
    ),
    Function(
        "similar_part", "substring", "text text text > text",
        ("substring('foobar' similar '%#\"o_b#\"%' escape '#')", "oob"),
        duckdb=f"regexp_part({{0}}, similar_pattern_escaped({{1}}, {{2}}), {RUN})",
    ),
    Function(
        "bytea_like", "like ~~", "bytea bytea > bool", ("'\\x00ff'::bytea LIKE '\\x00'::bytea || '_'", "t"),
        duckdb=f"bytea_like({{0}}, {{1}}, {RUN})", infix="LIKE",
    ),
    Function(
        "bytea_not_like", "notlike !~~", "bytea bytea > bool", ("'\\x00ff'::bytea !~~ '%'::bytea", "f"), negates="bytea_like",
    ),
    Function(
        "like_escape", "like_escape", "text text > text", ("like_escape('a#_c', '#')", "a\\_c"), python=like_escape,
    ),
    Function(
        "like", "like ~~", "text text > bool", ("'abc' LIKE '_b_'", "t"), can_fail=_like_fails, duckdb=_text_like,
        kernel=Kernel("texts.text_like.text_like", fallible=True), kernel_call=_with_backslash,
        infix="LIKE", third="ESCAPE", sees_blanks="~~", defaults={2: "\\"}, constants={1: "'a%'"},
    ),
    Function(
        "not_like", "notlike !~~", "text text > bool", ("'abc' !~~ 'a%'", "f"), negates="like", sees_blanks="!~~",
        constants={1: "'a%'"},
    ),
    Function(
        "similar_escape", "similar_escape", "text text > text", ("similar_escape('a_c', NULL)", "^(?:a.c)$"), strict=False,
        duckdb="coalesce(similar_pattern_escaped({0}, {1}), similar_pattern({0}))",
    ),
    Function(
        "similar_to_escape", "similar_to_escape", "text > text; text text > text",
        ("similar_to_escape('a_c')", "^(?:a.c)$"), duckdb=_similar_pattern,
    ),
    Function(
        "regexp_like", "regexp_like", "text text > bool; text text text > bool",
        ("regexp_like('Hello World', 'world$', 'i')", "t"), duckdb=_like,
        constants={1: "'a+'"},
    ),
    Function(
        "regexp_replace", "regexp_replace", "text text text > text; text text text text > text",
        ("regexp_replace('Thomas', '.[mN]a.', 'M')", "ThM"), duckdb=_filled("regexp_replaced", 3, ""), grows=True,
    ),
    Function(
        "regexp_replace_from", "regexp_replace", "text text text int4 > text",
        ("regexp_replace('Thomas hates tomatoes', '[aeiou]', 'X', 5)", "ThomXs hates tomatoes"),
        duckdb=_filled("regexp_replaced_from", 4, ""), grows=True,
    ),
    Function(
        "regexp_replace_one", "regexp_replace",
        "text text text int4 int4 > text; text text text int4 int4 text > text",
        ("regexp_replace('A PostgreSQL function', 'a|e|i|o|u', 'X', 1, 3, 'i')", "A PostgrXSQL function"),
        duckdb=_filled("regexp_replaced_one", 5, ""), grows=True,
    ),
    Function(
        "regexp_match", "regexp_match", "text text > text[]; text text text > text[]",
        ("regexp_match('foobarbequebaz', '(bar)(beque)')", "{bar,beque}"),
        duckdb=_filled("regexp_first_match", 2, ""),
    ),
    Function(
        "regexp_split", "regexp_split_to_array", "text text > text[]; text text text > text[]",
        ("regexp_split_to_array('hello world', '\\s+')", "{hello,world}"), duckdb=_filled("regexp_split", 2, ""),
    ),
    Function(
        "regexp_count", "regexp_count", "text text > int4; text text int4 > int4; text text int4 text > int4",
        ("regexp_count('123456789012', '\\d\\d\\d', 2)", "3"), duckdb=_filled("regexp_counted", 2, 1, ""),
    ),
    Function(
        "regexp_instr", "regexp_instr",
        "text text > int4; text text int4 > int4; text text int4 int4 > int4; text text int4 int4 int4 > int4; "
        "text text int4 int4 int4 text > int4; text text int4 int4 int4 text int4 > int4",
        ("regexp_instr('number of your street', '[^ ]+ ', 1, 2, 1)", "11"),
        duckdb=_filled("regexp_position", 2, 1, 1, 0, "", 0),
    ),
    Function(
        "regexp_substr", "regexp_substr",
        "text text > text; text text int4 > text; text text int4 int4 > text; text text int4 int4 text > text; "
        "text text int4 int4 text int4 > text",
        ("regexp_substr('ABCDEFGHI', '(c..)(...)', 1, 1, 'i', 2)", "FGH"),
        duckdb=_filled("regexp_substring", 2, 1, 1, "", 0),
    ),
    Function(
        "ilike", "~~*", "text text > bool", ("'ABC' ~~* 'a%'", "t"), can_fail=_like_fails, duckdb=_text_like,
        kernel=Kernel("texts.text_like.text_ilike", fallible=True), kernel_call=_with_backslash,
        infix="ILIKE", third="ESCAPE", sees_blanks="~~*", defaults={2: "\\"}, constants={1: "'a%'"},
    ),
    Function(
        "not_ilike", "!~~*", "text text > bool", ("'ABC' !~~* 'a%'", "f"), negates="ilike", sees_blanks="!~~*",
        constants={1: "'a%'"},
    ),
    Function(
        "matches", "~", "text text > bool", ("'thomas' ~ 't.*ma'", "t"), duckdb=_match(), sees_blanks="~",
        constants={1: "'a+'"},
    ),
    Function(
        "imatches", "~*", "text text > bool", ("'thomas' ~* 'T.*ma'", "t"), duckdb=_match("i"), sees_blanks="~*",
        constants={1: "'a+'"},
    ),
    Function(
        "not_matches", "!~", "text text > bool", ("'thomas' !~ 't.*max'", "t"), negates="matches", sees_blanks="!~",
        constants={1: "'a+'"},
    ),
    Function(
        "not_imatches", "!~*", "text text > bool", ("'thomas' !~* 'T.*ma'", "f"), negates="imatches", sees_blanks="!~*",
        constants={1: "'a+'"},
    ),
)  # fmt: skip
FIRST = LookAhead(2, False)


def _of_run(name: str, arguments: str, implementation: str, ahead: LookAhead | None = None) -> Routine:
    """Return a function that can be stopped."""
    (routine,) = routines(**{name: (arguments, implementation)})
    return replace(routine, takes_run=True, ahead=ahead)


ROUTINES = (
    _of_run("text_like", "text text text > bool", "like.like"),
    _of_run("bytea_like", "bytea bytea > bool", "like.of_bytes"),
    _of_run("regexp_matches_any", "text text text > bool", "regular_expressions.matches", FIRST),
    _of_run("regexp_like_any", "text text text > bool", "regular_expressions.like", FIRST),
    _of_run("regexp_part", "text text > text", "regular_expressions.part", LookAhead(None, False)),
    _of_run(
        "regexp_substring", "text text int4 int4 text int4 > text", "regular_expressions.substring", LookAhead(4, True)
    ),
    _of_run("regexp_first_match", "text text text > text[]", "regular_expressions.first_match", FIRST),
    _of_run("regexp_every_match", "text text text > text[][]", "regular_expressions.every_match", LookAhead(2, None)),
    _of_run("regexp_replaced", "text text text text > text", "regular_expressions.replace", LookAhead(3, None)),
    _of_run("regexp_replaced_from", "text text text int4 text > text", "regular_expressions.replace_from"),
    _of_run("regexp_replaced_one", "text text text int4 int4 text > text", "regular_expressions.replace_one"),
    _of_run("regexp_split", "text text text > text[]", "regular_expressions.split", LookAhead(2, True)),
    _of_run("regexp_counted", "text text int4 text > int4", "regular_expressions.count", LookAhead(3, True)),
    _of_run(
        "regexp_position",
        "text text int4 int4 int4 text int4 > int4",
        "regular_expressions.position",
        LookAhead(5, True),
    ),
    *routines(
        similar_pattern=("text > text", lambda pattern: similar_pattern(pattern, None)),
        similar_pattern_escaped=("text text > text", similar_pattern),
    ),
)
