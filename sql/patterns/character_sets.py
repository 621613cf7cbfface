"""Sets of characters as PostgreSQL's regular expressions know them in the C locale.

A set is sorted ranges of code points, both ends included. Letters, their two cases and all named
classes are those of ASCII. Must not know patterns.
"""

from __future__ import annotations

from collections.abc import Iterable

Ranges = tuple[tuple[int, int], ...]

CODE_POINT_MAX = 0x10FFFF
ANY: Ranges = ((0, CODE_POINT_MAX),)
CLASSES: dict[str, Ranges] = {
    "alnum": ((48, 57), (65, 90), (97, 122)),
    "alpha": ((65, 90), (97, 122)),
    "ascii": ((0, 127),),
    "blank": ((9, 9), (32, 32)),
    "cntrl": ((0, 31), (127, 127)),
    "digit": ((48, 57),),
    "graph": ((33, 126),),
    "lower": ((97, 122),),
    "print": ((32, 126),),
    "punct": ((33, 47), (58, 64), (91, 96), (123, 126)),
    "space": ((9, 13), (32, 32)),
    "upper": ((65, 90),),
    "word": ((48, 57), (65, 90), (95, 95), (97, 122)),
    "xdigit": ((48, 57), (65, 70), (97, 102)),
}
# Characters by the names that POSIX gives them; letters have none.
_NAMES = """NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC IS4 IS3 IS2 IS1
space exclamation-mark quotation-mark number-sign dollar-sign percent-sign ampersand apostrophe left-parenthesis right-parenthesis asterisk
plus-sign comma hyphen period slash zero one two three four five six seven eight nine colon semicolon less-than-sign equals-sign
greater-than-sign question-mark commercial-at"""
ELEMENTS: dict[str, int] = {
    **{name: code for code, name in enumerate(_NAMES.split())},
    "alert": 7, "backspace": 8, "tab": 9, "newline": 10, "vertical-tab": 11, "form-feed": 12, "carriage-return": 13,
    "FS": 28, "GS": 29, "RS": 30, "US": 31, "hyphen-minus": 45, "full-stop": 46, "solidus": 47,
    "left-square-bracket": 91, "backslash": 92, "reverse-solidus": 92, "right-square-bracket": 93, "circumflex": 94,
    "circumflex-accent": 94, "underscore": 95, "low-line": 95, "grave-accent": 96, "left-brace": 123, "left-curly-bracket": 123,
    "vertical-line": 124, "right-brace": 125, "right-curly-bracket": 125, "tilde": 126, "DEL": 127,
}  # fmt: skip


def union(sets: Iterable[Ranges]) -> Ranges:
    """Return the characters of all sets."""
    merged: list[tuple[int, int]] = []
    for low, high in sorted(one for ranges in sets for one in ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return tuple(merged)


def complement(ranges: Ranges) -> Ranges:
    """Return the characters that are not in a set."""
    out, start = [], 0
    for low, high in ranges:
        if low > start:
            out.append((start, low - 1))
        start = high + 1
    if start <= CODE_POINT_MAX:
        out.append((start, CODE_POINT_MAX))
    return tuple(out)


def folded(ranges: Ranges) -> Ranges:
    """Return a set with both cases of its letters."""
    out = list(ranges)
    for low, high in ranges:
        for first, last, other in ((65, 90, 32), (97, 122, -32)):
            if max(low, first) <= min(high, last):
                out.append((max(low, first) + other, min(high, last) + other))
    return union([tuple(out)])


def between(low: int, high: int) -> Ranges:
    """Return a range; code points beyond Unicode are cut off."""
    return ((low, min(high, CODE_POINT_MAX)),) if low <= CODE_POINT_MAX else ()
