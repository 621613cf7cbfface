"""PostgreSQL's functions of regular expressions, with the matches that `regular_matcher` finds.

Strict: callers see to NULL. Patterns are compiled once. Must not know of Arrow or DuckDB.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from itertools import islice
from threading import Lock

from engine.embedded.regular_machines import Span
from engine.embedded.regular_matcher import Program, Search
from engine.embedded.stopping import go_on
from engine.embedded.value_limits import joined
from sql.errors import SqlError
from sql.regular_expressions import options_of
from sql.regular_grammar import parsed

Texts = list[str | None]

# The compiled patterns that are kept, and the states of their automata together.
PROGRAMS_MAX, STATES_KEPT_MAX = 128, 50_000
PROGRAMS: OrderedDict[tuple[str, str], Program] = OrderedDict()
LOCK = Lock()


class Match:
    """One match in a text."""

    def __init__(self, search: Search, text: str, span: Span) -> None:
        self.search = search
        self.text = text
        self.start, self.end = span

    @property
    def groups_count(self) -> int:
        return self.search.program.pattern.groups

    def groups(self) -> Texts:
        """Return what the parentheses captured."""
        spans = self.search.captures((self.start, self.end))
        return [None if span is None else self.text[span[0] : span[1]] for span in spans]

    def whole(self) -> str:
        return self.text[self.start : self.end]

    def parts(self) -> Texts:
        """Return what the parentheses captured, or all of the match if there are none."""
        return self.groups() if self.groups_count else [self.whole()]


def compiled(pattern: str, letters: str) -> Program:
    """Return a pattern, ready to match."""
    go_on()
    key = pattern, letters
    with LOCK:
        found = PROGRAMS.get(key)
        if found is not None:
            PROGRAMS.move_to_end(key)
            return found
    found = Program(parsed(pattern, letters))
    with LOCK:
        PROGRAMS[key] = found
        states = sum(program.states_count for program in PROGRAMS.values())
        while len(PROGRAMS) > PROGRAMS_MAX or (states > STATES_KEPT_MAX and len(PROGRAMS) > 1):
            states -= PROGRAMS.popitem(last=False)[1].states_count
    return found


def find(pattern: str, letters: str, text: str) -> Match | None:
    """Return the match that PostgreSQL takes."""
    return next(all_matches(pattern, letters, text), None)


def all_matches(pattern: str, letters: str, text: str, start: int = 0) -> Iterator[Match]:
    """Yield the matches one after the other; an empty one moves on by a character."""
    search = compiled(pattern, letters).search(text)
    place = start
    while place <= len(text):
        go_on()
        span = search.find(place)
        if span is None:
            return
        yield Match(search, text, span)
        place = span[1] + (span[0] == span[1])


def matches(text: str, pattern: str, letters: str) -> bool:
    """Return text ~ pattern."""
    return compiled(pattern, letters).matches(text)


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
    return match.parts()[0]


def whole(text: str, pattern: str) -> str | None:
    """Return regexp_substr(text, pattern)."""
    match = find(pattern, "", text)
    return None if match is None else match.whole()


def first_match(text: str, pattern: str, letters: str) -> Texts | None:
    """Return regexp_match: the parenthesised parts of the first match, or all of it."""
    refuse_global(letters, "regexp_match", "Use the regexp_matches function instead.")
    match = find(pattern, letters, text)
    return None if match is None else match.parts()


def every_match(text: str, pattern: str, letters: str) -> list[Texts]:
    """Return the rows of regexp_matches."""
    found = all_matches(pattern, letters, text)
    return [match.parts() for match in (found if options_of(letters).is_global else islice(found, 1))]


def replace(text: str, pattern: str, replacement: str, letters: str) -> str:
    """Return regexp_replace. Raises 53200 before it is too long."""
    everywhere = options_of(letters).is_global

    def pieces() -> Iterator[str]:
        done = 0
        for match in all_matches(pattern, letters, text):
            yield text[done : match.start]
            yield expanded(replacement, match)
            done = match.end
            if not everywhere:
                break
        yield text[done:]

    return joined(pieces())


def expanded(replacement: str, match: Match) -> str:
    """Return the replacement with \\1 and \\& filled in."""
    if "\\" not in replacement:
        return replacement
    out, place, groups = "", 0, match.groups()
    while place < len(replacement):
        character, following = replacement[place], replacement[place + 1 : place + 2]
        place += 1
        if character != "\\" or not following:
            out += character
            continue
        if following.isdigit() and following != "0":
            out += (groups[int(following) - 1] or "") if int(following) <= match.groups_count else ""
        elif following == "&":
            out += match.whole()
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
        if match.start < len(text) and match.end > end:
            out.append(text[done : match.start])
            done = match.end
        end = match.end
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
    return 0 if match is None else match.start + 1
