"""The grammar of PostgreSQL's advanced regular expressions: tokens, atoms and quantifiers,
brackets.

Enters: a pattern and option letters. Leaves: a `Pattern`. The nodes of a pattern follow the rules
of Spencer's compiler, for they decide how PostgreSQL divides a match. Raises 2201B, and 0A000 for
backward references.
"""

from __future__ import annotations

from functools import lru_cache

from sql.errors import not_supported
from sql.patterns.brackets import Brackets
from sql.patterns.character_sets import ANY, CLASSES, Ranges, between, complement, folded, union
from sql.patterns.tokens import Token, Tokens
from sql.patterns.trees import (
    CAPTURES,
    CHARACTERS_MAX,
    DEPTH_MAX,
    EMPTY,
    LONGER,
    LOOKS_MAX,
    MESSY,
    MIXED,
    PREFERENCE,
    REPEATS_MAX,
    SHORTER,
    TOO_COMPLEX,
    Alternatives,
    Chain,
    Characters,
    Condition,
    Gap,
    Node,
    Options,
    Pattern,
    Plain,
    Repeat,
    bad,
    options_of,
)

NEWLINE: Ranges = ((10, 10),)
Bounds = tuple[int, int | None, int]


@lru_cache(maxsize=64)
def parsed(pattern: str, letters: str = "") -> Pattern:
    """Return a pattern that is ready to be compiled.

    letters: PostgreSQL's options; g does not matter here.
    """
    options = options_of(letters)
    if len(pattern) > CHARACTERS_MAX:
        raise bad(TOO_COMPLEX)
    if options.literal and (options.expanded or options.lines or options.dot_stops):
        raise bad("invalid argument to regex function")
    if not options.literal:
        pattern, options = without_prefix(pattern, options)
    return Reader(pattern, options).whole()


def without_prefix(pattern: str, options: Options) -> tuple[str, Options]:
    """Return a pattern without its director (***:) and embedded options, and the meaning of
    these.
    """
    if pattern.startswith("***") and len(pattern) > 3:
        if pattern[3] == "=":
            return pattern[4:], literal_options(options)
        if pattern[3] != ":":
            raise bad("invalid regexp (reg version 0.8)" if pattern[3] == "?" else "quantifier operand invalid")
        pattern = pattern[4:]
    if pattern.startswith("(?") and pattern[2:3].isalpha() and pattern[2:3].isascii():
        end = 2
        while pattern[end : end + 1].isalpha() and pattern[end : end + 1].isascii():
            end += 1
        options = options_of(pattern[2:end], options)
        if pattern[end : end + 1] != ")":
            raise bad("invalid embedded option")
        pattern = pattern[end + 1 :]
        if options.literal:
            options = literal_options(options)
    return pattern, options


def literal_options(options: Options) -> Options:
    return Options(ignore_case=options.ignore_case, literal=True, is_global=options.is_global)


def combined(first: int, second: int) -> int:
    """Return the flags of two parts, one after the other.

    The first preference counts; two different ones are a mixture.
    """
    return raised(first | second) | (first & PREFERENCE or second & PREFERENCE)


def raised(flags: int) -> int:
    """Return the flags of the whole by those of its parts, without a preference."""
    return flags & ~PREFERENCE | (MIXED if flags & PREFERENCE == PREFERENCE else 0)


class Reader:
    """The reader of one pattern from the left."""

    def __init__(self, pattern: str, options: Options) -> None:
        self.options = options
        self.tokens = Tokens(pattern, options)
        self.groups = 0
        self.depth = 0
        self.closed: set[int] = set()
        self.conditions: list[Condition] = []

    def whole(self) -> Pattern:
        """Read the whole pattern."""
        self.tokens.advance(self.groups)
        root = self.alternatives("end", captures=True)
        return Pattern(root, self.groups, tuple(self.conditions))

    @property
    def token(self) -> Token:
        return self.tokens.token

    def advance(self) -> None:
        self.tokens.advance(self.groups)

    def alternatives(self, stopper: str, captures: bool) -> Node:
        """Read branches up to `stopper`, which stays.

        captures: true where parentheses capture.
        """
        if self.depth > DEPTH_MAX:
            raise bad(TOO_COMPLEX)
        self.depth += 1
        branches = [self.branch(captures)]
        while self.token.kind == "|":
            self.advance()
            branches.append(self.branch(captures))
        self.depth -= 1
        if self.token.kind != stopper:
            raise bad("parentheses () not balanced")
        if len(branches) == 1:
            return branches[0]
        flags = LONGER
        for branch in branches:
            flags |= raised(flags | branch.flags)
        plain = Alternatives(tuple(branch.plain for branch in branches))
        return Node("branches", plain, flags, branches) if flags & MESSY else Node("leaf", plain, flags)

    def branch(self, captures: bool) -> Node:
        """Read the text between two bars.

        Parts in which a match needs no division are one leaf, up to the next part that needs one.
        """
        pieces: list[tuple[Node | None, Node, int]] = []
        parts: list[Plain] = []
        flags, seen = 0, False
        while self.token.kind not in ("|", "end") and not (self.token.kind == ")" and self.depth > 1):
            gap = self.gap()
            if gap is not None:
                parts.append(gap)
                seen = True
                continue
            plain, atom, capture = self.atom(captures)
            low, high, preference = self.bounds()
            if high == 0:
                self.closed.discard(capture)
                seen = True
                continue
            together = flags | preference | (atom.flags if atom is not None else 0)
            if not capture and not raised(together) & MESSY:
                parts.append(repeated(plain, low, high))
                flags, seen = together, True
                continue
            atom = atom or Node("leaf", plain, 0)
            prefix = Node("leaf", chain_of(parts), flags) if seen else None
            pieces.append((prefix, quantified(atom, low, high, preference), combined(preference, atom.flags)))
            parts, flags, seen = [], 0, False
        return folded_pieces(pieces, Node("leaf", chain_of(parts), flags) if seen or not pieces else None)

    def atom(self, captures: bool) -> tuple[Plain, Node | None, int]:
        """Read an atom: the tree that it accepts, its node if it is in parentheses, and their
        number if they capture.
        """
        token = self.token
        match token.kind:
            case "plain":
                ranges = between(token.code, token.code)
                ranges = folded(ranges) if self.options.ignore_case else ranges
            case "class":
                ranges = CLASSES[token.name]
                ranges = ranges if token.flag else complement(ranges)
            case ".":
                ranges = complement(NEWLINE) if self.options.dot_stops else ANY
            case "[":
                ranges = Brackets(self.tokens, self.options.ignore_case).read(self.groups)
                if token.flag:
                    ranges = complement(union([ranges, NEWLINE] if self.options.dot_stops else [ranges]))
            case "(":
                return self.group(token.flag and captures, captures)
            case "reference":
                if not captures or token.code not in self.closed:
                    raise bad("invalid backreference number")
                raise not_supported("a backward reference in a regular expression")
            case ")":
                raise bad("parentheses () not balanced")
            case _:
                raise bad("quantifier operand invalid")
        self.advance()
        return Characters(ranges), None, 0

    def group(self, is_capturing: bool, captures: bool) -> tuple[Plain, Node, int]:
        capture = 0
        if is_capturing:
            self.groups += 1
            capture = self.groups
        self.advance()
        node = self.alternatives(")", captures)
        self.advance()
        if capture:
            if node.capture:
                node = Node("group", node.plain, node.flags, [node])
            node.flags |= CAPTURES
            node.capture = capture
            self.closed.add(capture)
        return node.plain, node, capture

    def gap(self) -> Gap | None:
        """Read a pattern that matches between characters, if one is next."""
        token = self.token
        match token.kind:
            case "^":
                condition = Condition("line_start" if self.options.lines else "text_start")
            case "$":
                condition = Condition("line_end" if self.options.lines else "text_end")
            case "gap":
                condition = Condition(token.name)
            case "look":
                self.advance()
                node = self.alternatives(")", captures=False)
                condition = Condition(token.name, node.plain, token.flag)
            case _:
                return None
        self.advance()
        if condition not in self.conditions:
            self.conditions.append(condition)
            if sum(1 for known in self.conditions if known.part is not None) > LOOKS_MAX:
                raise bad(TOO_COMPLEX)
        return Gap(self.conditions.index(condition))

    def bounds(self) -> Bounds:
        """Read a quantifier, or none: the least and largest number, and its preference."""
        token = self.token
        if token.kind in ("*", "+", "?"):
            self.advance()
            low, high = {"*": (0, None), "+": (1, None), "?": (0, 1)}[token.kind]
            return low, high, LONGER if token.flag else SHORTER
        if token.kind != "{":
            return 1, 1, 0
        tokens = self.tokens
        tokens.advance_in_bounds()
        low = self.number()
        if tokens.token.kind != ",":
            high, has_preference = low, False
        else:
            tokens.advance_in_bounds()
            high, has_preference = self.number() if tokens.token.kind == "digit" else None, True
            if high is not None and low > high:
                raise bad("invalid repetition count(s)")
        if tokens.token.kind != "}":
            raise bad("invalid repetition count(s)")
        greedy = tokens.token.flag
        self.advance()
        return low, high, (LONGER if greedy else SHORTER) if has_preference else 0

    def number(self) -> int:
        value, tokens = 0, self.tokens
        while tokens.token.kind == "digit" and value < REPEATS_MAX:
            value = value * 10 + tokens.token.code
            tokens.advance_in_bounds()
        if tokens.token.kind == "digit" or value > REPEATS_MAX:
            raise bad("invalid repetition count(s)")
        return value


def chain_of(parts: list[Plain]) -> Plain:
    return parts[0] if len(parts) == 1 else Chain(tuple(parts)) if parts else EMPTY


def repeated(plain: Plain, low: int, high: int | None) -> Plain:
    return plain if low == high == 1 else Repeat(plain, low, high)


def quantified(atom: Node, low: int, high: int | None, preference: int) -> Node:
    """Return the node of a repeated atom.

    Of x{2,5} with captures the last x alone captures, so x{2,5} is divided as x{1,4}x.
    """
    known = atom.flags & (PREFERENCE | MIXED)
    if low == high == 1 and (not preference or not known or preference == known):
        return atom
    flags = combined(preference, atom.flags)
    if not atom.flags & CAPTURES:
        return Node("leaf", repeated(atom.plain, low, high), flags)
    if low == 0:
        return Node("loop", repeated(atom.plain, low, high), flags, [atom], high)
    before = Node("leaf", repeated(atom.plain, low - 1, None if high is None else high - 1), flags & PREFERENCE)
    return chain(flags, before, atom)


def chain(flags: int, first: Node, rest: Node) -> Node:
    """Return two parts one after the other; a chain at the end is taken in."""
    children = [first, *rest.children] if rest.kind == "chain" and not rest.capture else [first, rest]
    return Node("chain", chain_of([child.plain for child in children]), flags, children)


def folded_pieces(pieces: list[tuple[Node | None, Node, int]], rest: Node | None) -> Node:
    """Return the node of a branch.

    Each piece: the leaf before a part that divides a match, the part, its flags.
    """
    for prefix, part, own in reversed(pieces):
        before = prefix.flags if prefix is not None else 0
        if rest is None:
            flags = before | combined(before, part.flags)
            rest = part if prefix is None else chain(flags, prefix, part)
            continue
        together = own | combined(own, rest.flags)
        flags = before | combined(before, together)
        if prefix is None:
            rest = chain(flags, part, rest)
        elif part.kind == rest.kind == "leaf" and not raised(part.flags | rest.flags) & MESSY:
            merged = Node("leaf", chain_of([part.plain, rest.plain]), combined(part.flags, rest.flags))
            rest = chain(flags, prefix, merged)
        else:
            rest = chain(flags, prefix, chain(together, part, rest))
    assert rest is not None
    return rest
