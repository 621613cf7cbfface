"""The cursor over a list of tokens, and the small steps that every rule of the grammar is made of.

Enters: text. Leaves: words, names, positions and PostgreSQL's syntax errors. Must not know any
statement.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NoReturn, TypeVar

from sql.errors import SqlError, not_supported
from sql.names.keywords import COLUMN_NAME, KEYWORDS, NEED_AS, RESERVED, TYPE_OR_FUNCTION
from sql.names.relation_keys import as_written
from sql.parse.lexer import Token, scan

# Deeper texts, and higher trees, are refused with 54001, before Python's own stack would end here
# or in a later pass.
NESTING_MAX = 1_000
TREE_HEIGHT_MAX = 6_000
# Characters of an expression's text that are kept for messages: every level of a tree has such a
# text.
SHOWN_MAX = 1_000
RELEASED_AT_ONCE = 20_000
Read = TypeVar("Read")

# Reserved words that may follow a target list.
AFTER_TARGETS = frozenset(
    """
    union intersect except order limit offset fetch for into from where group having window with
    """.split()
)


class Cursor:
    """A cursor over the tokens of one message.

    Attributes:
        deferred: the first error that waits for the end of the text.
        stray_defaults: positions of DEFAULT that no rule has taken yet.
        in_substring: true where SIMILAR may stand without TO.
        target_start: the token at which the item of a target list began that is being read.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = scan(text)
        self.index = 0
        # Where the statement begins.
        self.first = 0
        self.depth = 0
        self.height = 0
        self.parameters_allowed = True
        self.deferred: SqlError | None = None
        self.stray_defaults: list[int] = []
        self.in_substring = False
        self.target_start: int | None = None
        self._opened = (0, 0)

    def release(self) -> None:
        """Let go of the tokens in pieces: to free millions of tokens at once would hold up other
        threads.
        """
        while len(self.tokens) > RELEASED_AT_ONCE:
            del self.tokens[-RELEASED_AT_ONCE:]

    @property
    def token(self) -> Token:
        """The next token."""
        return self.tokens[self.index]

    @property
    def position(self) -> int:
        """The 1-based character position of the next token."""
        return self.tokens[self.index].start + 1

    @property
    def last_position(self) -> int:
        """The 1-based character position of the last token that was read."""
        return self.tokens[self.index - 1].start + 1

    def ahead(self, count: int) -> Token:
        """Return the token `count` tokens after the next one, or the last token."""
        return self.tokens[min(self.index + count, len(self.tokens) - 1)]

    def advance(self) -> Token:
        """Step over the next token and return it."""
        token = self.tokens[self.index]
        if token.kind in ("error", "end"):
            self.fail()
        self.index += 1
        return token

    @property
    def statement_text(self) -> str:
        """The client's text of the statement, up to the last token that was read."""
        return self.text_since(self.first)

    def text_since(self, index: int) -> str:
        """Return the client's text from token `index` up to the last token that was read."""
        if index >= self.index:
            return ""
        return self.text[self.tokens[index].start : self.tokens[self.index - 1].end]

    def shown_since(self, index: int) -> str:
        """Return the beginning of `text_since(index)`, as messages show it."""
        if index >= self.index:
            return ""
        start = self.tokens[index].start
        return self.text[start : min(self.tokens[self.index - 1].end, start + SHOWN_MAX)]

    def fail(self) -> NoReturn:
        """Raise PostgreSQL's syntax error at the next token."""
        raise self.syntax_error()

    def syntax_error(self) -> SqlError:
        """Return PostgreSQL's syntax error at the next token."""
        return self.error_near("syntax error")

    def error_near(self, message: str) -> SqlError:
        """Return an error that names the next token, as PostgreSQL's grammar does."""
        token = self.token
        if token.error is not None:
            return token.error
        if token.kind == "end":
            return SqlError("42601", f"{message} at end of input", position=len(self.text) + 1)
        near = self.text[token.start : token.end]
        return SqlError("42601", f'{message} at or near "{near}"', position=token.start + 1)

    def defer(self, error: SqlError) -> None:
        """Keep an error that PostgreSQL finds only after the whole text is read, so that a syntax
        error comes first.
        """
        if self.deferred is None:
            self.deferred = error

    def refuse(self, what: str, position: int, hint: str | None = None) -> None:
        """Defer the 0A000 error that names a construct which was read to its end, but is not
        supported yet.
        """
        self.defer(not_supported(what, position, hint))

    def finish(self) -> None:
        """Raise the error that was deferred, after the whole text has been read."""
        if self.deferred is not None:
            raise self.deferred
        if self.stray_defaults:
            raise SqlError("42601", "DEFAULT is not allowed in this context", self.stray_defaults[0])

    def enter(self) -> None:
        """Count one more level of nesting; pair it with `leave`."""
        self.depth += 1
        if self.depth > NESTING_MAX:
            raise SqlError("54001", "stack depth limit exceeded", hint=f"Expressions nest at most {NESTING_MAX} deep.")

    def leave(self) -> None:
        """End the level of nesting that `enter` began."""
        self.depth -= 1

    def grow(self, height: int) -> int:
        """Return the height of a node above a tree of `height` and above all that was read since
        `height` was last zero.
        """
        grown = max(height, self.height) + 1
        if grown > TREE_HEIGHT_MAX:
            hint = f"At most {TREE_HEIGHT_MAX} operators follow each other; parentheses can balance them."
            raise SqlError("54001", "stack depth limit exceeded", hint=hint)
        self.height = 0
        return grown

    def after_parentheses(self) -> Token:
        """Return the first token, from the next token on, that opens no parenthesis.

        Each run of parentheses is read once.
        """
        begin, end = self._opened
        if not begin <= self.index < end:
            end = self.index
            while self.tokens[end].kind == "operator" and self.tokens[end].value == "(":
                end += 1
            self._opened = self.index, end
        return self.tokens[max(end, self.index)]

    def at_label_after_target(self) -> bool:
        """Tell whether the next word, although an operator, can only be the label of a target: only
        the target's end follows.
        """
        after = self.ahead(1)
        if self.target_start is None or not (
            after.kind == "end"
            or (after.kind == "operator" and after.value in (",", ")", ";"))
            or (after.kind == "word" and after.value in AFTER_TARGETS)
        ):
            return False
        depth = 0
        for token in self.tokens[self.target_start : self.index]:
            if token.kind == "operator":
                depth += (token.value in ("(", "[")) - (token.value in (")", "]"))
        return depth == 0

    # Words and operators

    def at(self, *words: str) -> bool:
        """Tell whether the next token is one of these unquoted words."""
        token = self.tokens[self.index]
        return token.kind == "word" and token.value in words

    def at_words(self, *words: str) -> bool:
        """Tell whether the next tokens are these words, one after the other."""
        for offset, word in enumerate(words):
            token = self.ahead(offset)
            if token.kind != "word" or token.value != word:
                return False
        return True

    def accept(self, *words: str) -> bool:
        """Step over these words if they are all next."""
        if not self.at_words(*words):
            return False
        self.index += len(words)
        return True

    def accept_any(self, *words: str) -> str | None:
        """Step over one of these words and return the word, or None."""
        if not self.at(*words):
            return None
        return self.advance().value

    def one_of(self, *words: str) -> str:
        """Step over one of these words and return the word; another token is a syntax error."""
        return self.accept_any(*words) or self.fail()

    def expect(self, *words: str) -> None:
        """Step over these words; other tokens are a syntax error."""
        for word in words:
            if not self.at(word):
                self.fail()
            self.index += 1

    def cascade(self) -> bool:
        """Read [CASCADE | RESTRICT], and tell whether it is CASCADE."""
        return self.accept_any("cascade", "restrict") == "cascade"

    def accept_if_not_exists(self) -> bool:
        """Step over IF NOT EXISTS; a bare IF may be a name."""
        if not self.at_words("if", "not"):
            return False
        self.expect("if", "not", "exists")
        return True

    def at_operator(self, *operators: str) -> bool:
        """Tell whether the next token is one of these operators or punctuation marks."""
        token = self.tokens[self.index]
        return token.kind == "operator" and token.value in operators

    def accept_operator(self, operator: str) -> bool:
        """Step over the operator or punctuation mark if it is next."""
        if not self.at_operator(operator):
            return False
        self.index += 1
        return True

    def expect_operator(self, operator: str) -> None:
        """Step over the operator or punctuation mark; another token is a syntax error."""
        if not self.accept_operator(operator):
            self.fail()

    # Rules: functions that read a part of a statement from the cursor.

    def several(self, rule: Callable[[Cursor], Read]) -> tuple[Read, ...]:
        """Read one or more parts with commas between them."""
        found = [rule(self)]
        while self.accept_operator(","):
            found.append(rule(self))
        return tuple(found)

    def enclosed(self, rule: Callable[[Cursor], Read]) -> Read:
        """Read a part in parentheses."""
        self.expect_operator("(")
        found = rule(self)
        self.expect_operator(")")
        return found

    def listed(self, rule: Callable[[Cursor], Read]) -> tuple[Read, ...]:
        """Read one or more parts in parentheses, with commas between them."""
        return self.enclosed(lambda cursor: cursor.several(rule))

    def listed_or_none(self, rule: Callable[[Cursor], Read]) -> tuple[Read, ...]:
        """Read any number of parts in parentheses, with commas between them."""
        return self.enclosed(lambda cursor: () if cursor.at_operator(")") else cursor.several(rule))

    def placed(self, rule: Callable[[Cursor], Read]) -> tuple[Read, int]:
        """Read a part; return it with the position at which it begins."""
        position = self.position
        return rule(self), position

    def with_only(self, name: Callable[[Cursor], Read]) -> tuple[Read, int]:
        """Read [ONLY] name [*] or ONLY (name), with the position of the name.

        No relation inherits, so that ONLY changes nothing.
        """
        if not self.accept("only"):
            found = self.placed(name)
            self.accept_operator("*")
            return found
        return self.enclosed(lambda cursor: cursor.placed(name)) if self.at_operator("(") else self.placed(name)

    def with_text(self, rule: Callable[[Cursor], Read]) -> tuple[Read, str]:
        """Read a part; return it with its text."""
        first = self.index
        return rule(self), self.text_since(first)

    def at_end_of_statement(self) -> bool:
        """Tell whether the statement ends before the next token."""
        return self.token.kind == "end" or self.at_operator(";")

    # Names

    def is_keyword(self) -> bool:
        """Tell whether the next word is a keyword of any class."""
        return self.token.value in KEYWORDS

    def at_name(self) -> bool:
        """Tell whether a column or relation name is next (ColId)."""
        token = self.token
        if token.kind == "quoted":
            return True
        return token.kind == "word" and token.value not in RESERVED and token.value not in TYPE_OR_FUNCTION

    def name(self) -> str:
        """Read a column or relation name (ColId)."""
        if not self.at_name():
            self.fail()
        return self.advance().value

    def label(self) -> str:
        """Read a name where any keyword will do (ColLabel)."""
        if self.token.kind not in ("word", "quoted"):
            self.fail()
        return self.advance().value

    def bare_label(self) -> str | None:
        """Read a column label that is not led by AS, if one is next."""
        token = self.token
        if token.kind == "quoted" or (token.kind == "word" and token.value not in NEED_AS):
            return self.advance().value
        return None

    def function_name(self) -> bool:
        """Tell whether the next word may name a function or a type."""
        token = self.token
        if token.kind == "quoted":
            return True
        return token.kind == "word" and token.value not in RESERVED and token.value not in COLUMN_NAME

    def qualified_name(self) -> tuple[str, ...]:
        """Read name[.name[.name]]."""
        return (self.name(), *self.fields())

    def fields(self) -> list[str]:
        """Read the names that follow a name after points."""
        parts = []
        while self.accept_operator("."):
            parts.append(self.label())
        return parts

    def function_parts(self) -> tuple[str, ...]:
        """Read name or schema.name of a function; a parenthesis must follow."""
        if not (self.function_name() or (self.at_name() and self.ahead(1).value == ".")):
            self.fail()
        return (self.advance().value, *self.fields())

    def relation_name(self) -> str:
        """Read the name of a relation as written: bare, or with its schema."""
        position = self.position
        parts = self.qualified_name()
        try:
            return relation_of(parts, position)
        except SqlError as error:
            if error.sqlstate == "42601":
                raise
            self.defer(replace(error, position=None))
            return parts[-1]

    def placed_name(self) -> tuple[str, int]:
        """Read a column or relation name, with its position."""
        return self.placed(Cursor.name)

    def placed_relation(self) -> tuple[str, int]:
        """Read the name of a relation as written, with its position."""
        return self.placed(Cursor.relation_name)

    def names_in_parentheses(self) -> tuple[tuple[str, int], ...]:
        """Read (name, ...) with the position of each."""
        return self.listed(Cursor.placed_name)

    def string(self) -> str:
        """Read a string constant."""
        if self.token.kind != "string":
            self.fail()
        return self.advance().value

    def skip_statement(self) -> None:
        """Step over all tokens up to the end of the statement."""
        while not self.at_end_of_statement():
            self.advance()


def read_name(text: str) -> str:
    """Return the name of a relation in a string, as nextval takes it. Raises 42602."""
    return relation_of(read_parts(text), 0)


def read_parts(text: str) -> tuple[str, ...]:
    """Return the parts of a name in a string. Raises 42602."""
    try:
        cursor = Cursor(text)
        parts = (cursor.label(), *cursor.fields())
        if cursor.token.kind == "end":
            return parts
    except SqlError as error:
        if error.sqlstate == "0A000":
            raise
    raise SqlError("42602", "invalid name syntax")


def relation_of(parts: tuple[str, ...], position: int) -> str:
    """Return a dotted name as one text (`relation_keys`).

    Raises 42601, and 0A000 for another database and the system's schemas.
    """
    if len(parts) > 3:
        raise SqlError("42601", f"improper qualified name (too many dotted names): {'.'.join(parts)}", position)
    if len(parts) == 3 and parts[0] not in ("antumbra", "postgres"):
        raise SqlError("0A000", f'cross-database references are not implemented: "{".".join(parts)}"', position)
    if len(parts) > 1 and parts[-2] in ("pg_catalog", "information_schema"):
        raise not_supported(f"the catalog relation {parts[-2]}.{parts[-1]}", position)
    return as_written(parts)
