"""PostgreSQL's functions of regular expressions, with the matches that `regular_matcher` finds.

Strict: callers handle NULL. Patterns are compiled once. Must not know of Arrow or DuckDB.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from itertools import islice
from threading import Lock, local
from types import TracebackType

from engine.embedded.patterns.machines import MATCHES_AT_ONCE, Span
from engine.embedded.patterns.matcher import Program, Search
from engine.embedded.stopping import go_on
from engine.embedded.value_limits import joined
from sql.errors import SqlError
from sql.patterns.grammar import parsed
from sql.patterns.trees import options_of

Texts = list[str | None]
Key = tuple[str, str]

# The compiled patterns that no thread uses, the most recent one at the end, and the bytes that they
# may take together.
PROGRAMS_MAX, PROGRAMS_BYTES_MAX = 128, 64 << 20
PROGRAMS: OrderedDict[Key, Program] = OrderedDict()
LOCK = Lock()
# The pattern of the batch of rows that a thread is working on.
HELD = local()
GROUP_DIGITS = "123456789"


class Compiled:
    """A pattern that is ready to match, for one thread: for another thread that comes meanwhile the
    pattern is compiled again.
    """

    def __init__(self, pattern: str, letters: str) -> None:
        # The letter g, for all matches, does not change the pattern.
        self.key = pattern, letters.replace("g", "")
        self.is_borrowed = False
        self.program: Program

    def __enter__(self) -> Program:
        go_on()
        held: Compiled | None = getattr(HELD, "compiled", None)
        if held is not None and held.key == self.key:
            self.is_borrowed = True
            program: Program = held.program
            return program
        with LOCK:
            found = PROGRAMS.pop(self.key, None)
        self.program = Program(parsed(*self.key)) if found is None else found
        return self.program

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.is_borrowed:
            return
        with LOCK:
            PROGRAMS[self.key] = self.program
            if self.program.alphabet.has_grown or len(PROGRAMS) > PROGRAMS_MAX:
                self.program.alphabet.has_grown = False
                drop_programs()


def drop_programs() -> None:
    """Drop patterns until the rest is no more than may be kept. Callers hold the lock."""
    size = sum(program.bytes for program in PROGRAMS.values())
    while PROGRAMS and (len(PROGRAMS) > PROGRAMS_MAX or size > PROGRAMS_BYTES_MAX):
        size -= PROGRAMS.popitem(last=False)[1].bytes


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
        """Return the texts that the parentheses captured."""
        spans = self.search.captures((self.start, self.end))
        return [None if span is None else self.text[span[0] : span[1]] for span in spans]

    def whole(self) -> str:
        return self.text[self.start : self.end]

    def parts(self) -> Texts:
        """Return the texts that the parentheses captured, or the whole match if there are no
        parentheses.
        """
        return self.groups() if self.groups_count else [self.whole()]


def all_matches(program: Program, text: str, start: int = 0, count: int = MATCHES_AT_ONCE) -> Iterator[Match]:
    """Yield the matches one after the other; an empty match moves on by a character.

    count: of the matches that are looked for at once.
    """
    search = program.search(text)
    for span in search.spans(start, count):
        yield Match(search, text, span)


def first(program: Program, text: str) -> Match | None:
    """Return the match that PostgreSQL takes."""
    return next(all_matches(program, text, count=1), None)


def matches(text: str, pattern: str, letters: str) -> bool:
    """Return text ~ pattern."""
    with Compiled(pattern, letters) as program:
        return program.matches(text)


def refuse_global(letters: str, name: str, hint: str | None = None) -> None:
    if options_of(letters).is_global:
        raise SqlError("22023", f'{name}() does not support the "global" option', hint=hint)


def like(text: str, pattern: str, letters: str) -> bool:
    refuse_global(letters, "regexp_like")
    return matches(text, pattern, letters)


def part(text: str, pattern: str) -> str | None:
    """Return substring(text from pattern): the first parenthesised part, or the whole match."""
    with Compiled(pattern, "") as program:
        match = first(program, text)
        return None if match is None else match.parts()[0]


def first_match(text: str, pattern: str, letters: str) -> Texts | None:
    """Return regexp_match: the parenthesised parts of the first match, or the whole match."""
    refuse_global(letters, "regexp_match", "Use the regexp_matches function instead.")
    with Compiled(pattern, letters) as program:
        match = first(program, text)
        return None if match is None else match.parts()


def every_match(text: str, pattern: str, letters: str) -> list[Texts]:
    """Return the rows of regexp_matches."""
    with Compiled(pattern, letters) as program:
        if not options_of(letters).is_global:
            match = first(program, text)
            return [] if match is None else [match.parts()]
        return [match.parts() for match in all_matches(program, text)]


def replace(text: str, pattern: str, replacement: str, letters: str) -> str:
    """Return regexp_replace of the first match, or with the letter g of every match."""
    return replaced(text, pattern, replacement, 1, 0 if options_of(letters).is_global else 1, letters)


def replace_from(text: str, pattern: str, replacement: str, start: int, letters: str) -> str:
    """Return regexp_replace of the matches after a place."""
    check_parameter("start", start)
    return replaced(text, pattern, replacement, start, 0 if options_of(letters).is_global else 1, letters)


def replace_one(text: str, pattern: str, replacement: str, start: int, number: int, letters: str) -> str:
    """Return regexp_replace of the match with a number, 0 for every match."""
    check_parameter("start", start)
    check_parameter("n", number, least=0)
    return replaced(text, pattern, replacement, start, number, letters)


def replaced(text: str, pattern: str, replacement: str, start: int, number: int, letters: str) -> str:
    """Return a text with matches replaced. Raises 53200 before the text is too long."""
    template = template_of(replacement) if "\\" in replacement else None

    def pieces(program: Program) -> Iterator[str]:
        done = 0
        matches = all_matches(program, text, start - 1, min(number or MATCHES_AT_ONCE, MATCHES_AT_ONCE))
        for match in islice(matches, number - 1, number) if number else matches:
            yield text[done : match.start]
            yield replacement if template is None else expanded(template, match)
            done = match.end
        yield text[done:]

    with Compiled(pattern, letters) as program:
        return joined(pieces(program))


def template_of(replacement: str) -> list[str | int]:
    """Return the pieces of a replacement; a number is the number of a group, 0 the whole match."""
    pieces: list[str | int] = []
    place, plain = 0, ""
    while place < len(replacement):
        character, following = replacement[place], replacement[place + 1 : place + 2]
        place += 1
        if character != "\\" or not (following in "&\\" or following in GROUP_DIGITS) or not following:
            plain += character
            continue
        place += 1
        if following == "\\":
            plain += following
        else:
            pieces += (plain, 0 if following == "&" else int(following))
            plain = ""
    return [*pieces, plain]


def expanded(template: list[str | int], match: Match) -> str:
    """Return a replacement with \\1 and \\& filled in."""
    groups = [match.whole(), *match.groups()]
    return "".join(
        piece if isinstance(piece, str) else (groups[piece] or "") if piece < len(groups) else "" for piece in template
    )


def split(text: str, pattern: str, letters: str) -> list[str]:
    """Return the texts between the matches.

    Empty matches at the ends or beside another match do not count.
    """
    refuse_global(letters, "regexp_split_to_array")
    out, done, end = [], 0, 0
    with Compiled(pattern, letters) as program:
        for start, stop in program.search(text).spans():
            if start < len(text) and stop > end:
                out.append(text[done:start])
                done = stop
            end = stop
    return [*out, text[done:]]


def count(text: str, pattern: str, start: int, letters: str) -> int:
    """Return regexp_count."""
    refuse_global(letters, "regexp_count")
    check_parameter("start", start)
    with Compiled(pattern, letters) as program:
        return sum(1 for _ in program.search(text).spans(start - 1))


def check_parameter(name: str, value: int, least: int = 1) -> None:
    """Raise 22023 for a number that is too small."""
    if value < least:
        raise SqlError("22023", f'invalid value for parameter "{name}": {value}')


def substring(text: str, pattern: str, start: int, number: int, letters: str, group: int) -> str | None:
    """Return regexp_substr."""
    check_parameter("start", start)
    check_parameter("n", number)
    check_parameter("subexpr", group, least=0)
    refuse_global(letters, "regexp_substr")
    found = span_of(text, pattern, start, number, letters, group)
    return None if found is None else text[slice(*found)]


def position(text: str, pattern: str, start: int, number: int, end: int, letters: str, group: int) -> int:
    """Return regexp_instr: the place of a match, or with an `end` of 1 the one after the match."""
    check_parameter("start", start)
    check_parameter("n", number)
    if end not in (0, 1):
        raise SqlError("22023", f'invalid value for parameter "endoption": {end}')
    check_parameter("subexpr", group, least=0)
    refuse_global(letters, "regexp_instr")
    found = span_of(text, pattern, start, number, letters, group)
    return 0 if found is None else found[end] + 1


def span_of(text: str, pattern: str, start: int, number: int, letters: str, group: int) -> Span | None:
    """Return where a match is, or the part that a group captured there.

    A pattern without groups has its whole match as the first one.
    """
    with Compiled(pattern, letters) as program:
        matches = all_matches(program, text, start - 1, min(number, MATCHES_AT_ONCE))
        match = next(islice(matches, number - 1, None), None)
        if match is None or group > max(match.groups_count, 1):
            return None
        span = match.start, match.end
        return match.search.captures(span)[group - 1] if group and match.groups_count else span
