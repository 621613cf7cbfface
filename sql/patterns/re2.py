"""Regular expressions in RE2's syntax, for the question whether there is a match, which RE2 answers
in time linear in the text.

Characters are written as the ranges that the grammar made of them, so that nothing is left to RE2's
own classes, cases or options.
"""

from __future__ import annotations

from sql.patterns.character_sets import ANY, Ranges
from sql.patterns.trees import Alternatives, Chain, Characters, Condition, Gap, Pattern, Plain, Repeat, copies

# RE2 counts the repetitions of a pattern, and is slow where it has many.
COPIES_MAX = 200
CONDITIONS = {"text_start": r"\A", "text_end": r"\z", "line_start": "(?m:^)", "line_end": "(?m:$)"}


def re2_text(pattern: Pattern) -> str | None:
    """Return a pattern as RE2 reads it, or None if it asks for what RE2 does not know, or is
    large.
    """
    if any(condition.kind not in CONDITIONS for condition in pattern.conditions):
        return None
    plain = pattern.root.plain
    return printed(plain, pattern.conditions) if copies(plain) <= COPIES_MAX else None


def printed(plain: Plain, conditions: tuple[Condition, ...]) -> str:
    """Return a tree as an atom of RE2's syntax."""
    match plain:
        case Characters(ranges):
            return characters(ranges)
        case Gap(condition):
            return CONDITIONS[conditions[condition].kind]
        case Chain(parts):
            return f"(?:{''.join(printed(part, conditions) for part in parts)})"
        case Alternatives(parts):
            return f"(?:{'|'.join(printed(part, conditions) for part in parts)})"
        case Repeat(part, low, high):
            bounds = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((low, high))
            if bounds is None:
                bounds = f"{{{low},{'' if high is None else high}}}"
            return f"(?:{printed(part, conditions)}{bounds})"


def characters(ranges: Ranges) -> str:
    if ranges == ANY:
        return "(?s:.)"
    if not ranges:
        return r"[^\x{0}-\x{10FFFF}]"
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return code(ranges[0][0])
    return f"[{''.join(code(low) if low == high else f'{code(low)}-{code(high)}' for low, high in ranges)}]"


def code(point: int) -> str:
    character = chr(point)
    return character if character.isascii() and character.isalnum() else f"\\x{{{point:x}}}"
