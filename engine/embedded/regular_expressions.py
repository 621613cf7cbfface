"""PostgreSQL's functions of regular expressions on Python's matcher, with PostgreSQL's choice among matches: the longest, or the shortest.

Strict: callers see to NULL. Patterns are compiled once. Must not know of Arrow or DuckDB.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from sql.errors import SqlError
from sql.regular_expressions import Expression, options_of, translated

Match = re.Match[str]
Texts = list[str | None]


@lru_cache(maxsize=512)
def compiled(pattern: str, letters: str) -> tuple[Expression, re.Pattern[str]]:
    """Return a pattern, ready to match."""
    expression = translated(pattern, letters.replace("g", ""))
    return expression, re.compile(expression.text("\\Z"), re.ASCII)


def find(pattern: str, letters: str, text: str, start: int = 0) -> Match | None:
    """Return the leftmost match from `start` on, and of those the one that PostgreSQL prefers."""
    expression, regex = compiled(pattern, letters)
    match = regex.search(text, start)
    if match is None or expression.plain or expression.anchored:
        return match
    first = match.start()
    ends = range(first, match.end()) if expression.shortest else range(len(text), match.end(), -1)
    for end in ends:
        other = regex.fullmatch(text, first, end)
        if other is not None:
            return other
    return match


def all_matches(pattern: str, letters: str, text: str, start: int = 0) -> Iterator[Match]:
    """Yield the matches one after the other; an empty one moves on by a character."""
    place = start
    while place <= len(text):
        match = find(pattern, letters, text, place)
        if match is None:
            return
        yield match
        place = match.end() + (match.start() == match.end())


def matches(text: str, pattern: str, letters: str) -> bool:
    """Return text ~ pattern."""
    return compiled(pattern, letters)[1].search(text) is not None


def refuse_global(letters: str, name: str, hint: str | None = None) -> None:
    if options_of(letters).is_global:
        raise SqlError("22023", f'{name}() does not support the "global" option', hint=hint)


def like(text: str, pattern: str, letters: str) -> bool:
    refuse_global(letters, "regexp_like")
    return matches(text, pattern, letters)


def part(text: str, pattern: str) -> str | None:
    """Return substring(text from pattern): the first parenthesised part, or all that matches."""
    match = find(pattern, "", text)
    if match is None:
        return None
    return match[1] if compiled(pattern, "")[0].groups else match[0]


def whole(text: str, pattern: str) -> str | None:
    """Return regexp_substr(text, pattern)."""
    match = find(pattern, "", text)
    return None if match is None else match[0]


def first_match(text: str, pattern: str, letters: str) -> Texts | None:
    """Return regexp_match: the parenthesised parts of the first match, or all of it."""
    refuse_global(letters, "regexp_match", "Use the regexp_matches function instead.")
    match = find(pattern, letters, text)
    return None if match is None else parts(match)


def parts(match: Match) -> Texts:
    return list(match.groups()) if match.re.groups else [match[0]]


def every_match(text: str, pattern: str, letters: str) -> list[Texts]:
    """Return the rows of regexp_matches."""
    found = [parts(match) for match in all_matches(pattern, letters, text)]
    return found if options_of(letters).is_global else found[:1]


def replace(text: str, pattern: str, replacement: str, letters: str) -> str:
    """Return regexp_replace."""
    everywhere = options_of(letters).is_global
    out, done = [], 0
    for match in all_matches(pattern, letters, text):
        out += [text[done : match.start()], expanded(replacement, match)]
        done = match.end()
        if not everywhere:
            break
    return "".join(out) + text[done:]


def expanded(replacement: str, match: Match) -> str:
    """Return the replacement with \\1 and \\& filled in."""
    if "\\" not in replacement:
        return replacement
    out, place = "", 0
    while place < len(replacement):
        character, following = replacement[place], replacement[place + 1 : place + 2]
        place += 1
        if character != "\\" or not following:
            out += character
            continue
        if following.isdigit() and following != "0":
            out += (match[int(following)] or "") if int(following) <= match.re.groups else ""
        elif following == "&":
            out += match[0]
        elif following == "\\":
            out += "\\"
        else:
            out += character
            continue
        place += 1
    return out


def split(text: str, pattern: str, letters: str) -> list[str]:
    """Return what stands between the matches; empty matches at the ends or beside another one do not count."""
    refuse_global(letters, "regexp_split_to_array")
    out, done, end = [], 0, 0
    for match in all_matches(pattern, letters, text):
        if match.start() < len(text) and match.end() > end:
            out.append(text[done : match.start()])
            done = match.end()
        end = match.end()
    return [*out, text[done:]]


def count(text: str, pattern: str, start: int, letters: str) -> int:
    """Return regexp_count."""
    refuse_global(letters, "regexp_count")
    if start <= 0:
        raise SqlError("22023", f'invalid value for parameter "start": {start}')
    return sum(1 for _ in all_matches(pattern, letters, text, start - 1))


def position(text: str, pattern: str) -> int:
    """Return regexp_instr(text, pattern)."""
    match = find(pattern, "", text)
    return 0 if match is None else match.start() + 1
