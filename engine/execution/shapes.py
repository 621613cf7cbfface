"""Texts of SELECTs that come again, prepared once: those that differ in constants alone are parsed
and bound with parameters in the place of the constants.

Enters: the text of a Query. Leaves: the prepared statement of its shape and the constants, or None:
the text is parsed as any other. Only constants that columns are compared with, in conditions that
are followed by no more than GROUP BY, ORDER BY and LIMIT, are taken for parameters. Must not run
anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from engine.catalog.image import CatalogImage
from engine.execution.names import Names
from engine.execution.prepared import Prepared, prepare
from engine.scans.point_reads import INTEGERS, is_possible
from sql.errors import SqlError
from sql.parse.statements.declaration import Statement
from sql.parse.statements.select import Select
from sql.settings.settings import Settings
from sql.tree.expressions import Literal
from sql.types.datatypes import SqlType
from sql.values.literals import input_value
from sql.wire.messages import Parse
from sql.wire.packets import HEAD_OFFSET

CONSTANT = r"('[^']*'|-?[0-9]{1,18})"
# Of !=- the lexer makes one operator.
OPERATOR = r"(<>|!=(?!-)|<=|>=|=|<|>)"
CONDITION = rf"[\w.]+[ \t\n]*{OPERATOR}[ \t\n]*{CONSTANT}"
# No quote, sign of a comment or parameter stands outside the conditions. What ends the text is read
# once: runs of blanks that could be divided in several ways would be tried in all of them.
SHAPED = re.compile(
    r"[ \t\n]*SELECT\b[^'\"$;/\\-]*?\bWHERE[ \t\n]+(?P<conditions>"
    rf"{CONDITION}(?:[ \t\n]+AND[ \t\n]+{CONDITION})*)"
    r"(?P<rest>(?:[ \t\n]++(?:GROUP|ORDER|LIMIT|OFFSET)\b[\w., \t\n]*+)?)[ \t\n]*+;?[ \t\n]*+\Z",
    re.IGNORECASE | re.ASCII,
)
COMPARED = re.compile(rf"{OPERATOR}([ \t\n]*){CONSTANT}")
# In the bytes of a text whose constants need no look at encoding and settings.
TEXT_CONSTANT, NUMBER_CONSTANT = rb"'([^'\\\0\x80-\xff]*)'", rb"(-?[0-9]{1,18})"
SHAPE_CHARACTERS_MAX = 1_000
# Queries of tools on the catalog are long.
TEXT_CHARACTERS_MAX = 8_192
# Of a session: texts that came once.
ONCE_MAX = 128
# Finds the values of the parameters in a packet, None where it is not the one that is known.
Values = Callable[[bytes], Sequence[bytes | None] | None]
# Types of parameters that are read as constants are, without an error that tells where it is.
QUOTED = frozenset({"text", "varchar", "uuid", "date", "timestamp", "timestamptz"})


class Shaped(NamedTuple):
    """A statement with parameters, and their values as texts."""

    prepared: Prepared
    values: Sequence[bytes]

    def literals(self, settings: Settings) -> tuple[Literal, ...] | None:
        """Return the values of the parameters, None where the text has to be parsed itself."""
        found: list[Literal] = []
        for value, kind in zip(self.values, self.prepared.parameter_types, strict=True):
            if kind.family not in INTEGERS and (kind.family not in QUOTED or kind.length is not None):
                return None
            try:
                found.append(literal(value.decode(), kind, settings))
            except SqlError:
                return None
        return None if any(not is_possible(one.value, one.type) for one in found) else tuple(found)


class Shapes:
    """The shapes, and the whole texts, of one session that have come twice."""

    def __init__(self, settings: Settings, names: Names) -> None:
        self._settings = settings
        self._names, self._known = names, names.plans
        # May not come again.
        self._once: set[str] = set()

    def find(self, text: str, image: CatalogImage) -> Shaped | None:
        """Return the statement of a text, if its shape has come before."""
        match = SHAPED.match(text) if len(text) <= SHAPE_CHARACTERS_MAX else None
        if match is None:
            whole = self._known.get(text)
            return None if whole is None or not whole.is_bound_to(image, self._settings) else Shaped(whole, ())
        begin = match.start("conditions")
        conditions = text[begin : match.end("conditions")]
        shape = text[:begin] + COMPARED.sub(shown_kind, conditions) + match["rest"]
        prepared = self._known.get(shape)
        if prepared is None or not self._is_current(prepared, image):
            if self.has_come(shape):
                self._prepare(shape, text[:begin], conditions, match["rest"], image)
            return None
        constants = [constant for _, _, constant in COMPARED.findall(conditions)]
        types = prepared.parameter_types
        if any(one[0] != "'" and kind.family not in INTEGERS for one, kind in zip(constants, types, strict=True)):
            # A number is no value of another type, where a constant in quotes may be one.
            return None
        return Shaped(prepared, [unquoted(constant).encode() for constant in constants])

    def parsed(self, text: str, statements: Sequence[Statement]) -> Prepared | None:
        """Return the prepared statement of a whole text that has come before, whose statements were
        parsed now; None: it is none to keep.
        """
        if len(statements) != 1 or not isinstance(statements[0], Select) or len(text) > TEXT_CHARACTERS_MAX:
            return None
        if (len(text) <= SHAPE_CHARACTERS_MAX and SHAPED.match(text)) or not self.has_come(text):
            return None
        prepared = Prepared(statements[0], (), is_of_text=True)
        self._names.keep_plan(text, prepared)
        return prepared

    def prepared(self, message: Parse, image: CatalogImage) -> Prepared | None:
        """Return the statement of a Parse without a name like one that has come before, if it would
        be the same now.

        Drivers parse anew what they do not expect again: psycopg five times, JDBC too.
        """
        found = None if message.name else self._known.get(parse_key(message))
        if found is None or found.constants != self._settings.captured().reads_constants:
            return None
        return found if found.is_bound_to(image, self._settings) else None

    def keep_prepared(self, message: Parse, prepared: Prepared) -> None:
        """Keep the statement of a Parse without a name whose text has come before."""
        key = parse_key(message)
        if not message.name and len(message.text) <= SHAPE_CHARACTERS_MAX and self.has_come(key):
            self._names.keep_plan(key, prepared)

    def _is_current(self, prepared: Prepared, image: CatalogImage) -> bool:
        """Tell whether a statement is right for the catalog and the settings of now, if need be
        after it is bound again.
        """
        try:
            prepared.refresh(image, self._settings)
        except SqlError:
            return False
        return True

    def known(self, shape: str) -> Prepared | None:
        """Return the statement of a shape."""
        return self._known.get(shape)

    def keep(self, shape: str, prepared: Prepared) -> None:
        """Keep the statement of a shape."""
        self._names.keep_plan(shape, prepared)

    def has_come(self, shape: str) -> bool:
        """Tell whether a shape or text has come before, and remember it."""
        if shape in self._known or shape in self._once:
            return True
        if len(self._once) >= ONCE_MAX:
            self._once.clear()
        self._once.add(shape)
        return False

    def _prepare(self, shape: str, head: str, conditions: str, rest: str, image: CatalogImage) -> None:
        numbers = iter(range(1, SHAPE_CHARACTERS_MAX))
        given = COMPARED.sub(lambda match: f"{match[1]}{match[2]}${next(numbers)}", conditions)
        try:
            prepared = prepare(self._settings.checked_text(head + given + rest), (), image)
            prepared.is_of_text = True
            prepared.refresh(image, self._settings)
        except SqlError:
            # The text itself will tell.
            self._known.pop(shape, None)
            return
        if isinstance(prepared.statement, Select):
            self._names.keep_plan(shape, prepared)


def packets_like(text: str) -> tuple[bytes, Values]:
    """Return what begins the texts that differ from one with a shape in constants alone, and what
    finds the constants in the packets with these texts.
    """
    match = SHAPED.match(text)
    assert match is not None
    pieces, end = [], 0
    for one in COMPARED.finditer(text, match.start("conditions"), match.end("conditions")):
        constant = TEXT_CONSTANT if one[3][0] == "'" else NUMBER_CONSTANT
        pieces += [re.escape(text[end : one.start(3)].encode()), constant]
        end = one.end(3)
    pattern = re.compile(b"".join((*pieces, re.escape(text[end:].encode()), b"\0")))

    def values(packet: bytes) -> Sequence[bytes] | None:
        found = pattern.fullmatch(packet, HEAD_OFFSET)
        is_whole = found is not None and int.from_bytes(packet[1:HEAD_OFFSET], "big") == len(packet) - 1
        return found.groups() if found is not None and is_whole else None

    return text[: match.start("conditions")].encode(), values


def parse_key(message: Parse) -> str:
    """Return the name of a Parse's text and types, which no text of a client is."""
    return f"\0{message.parameter_oids}{message.text}"


def literal(text: str, kind: SqlType, settings: Settings) -> Literal:
    """Return the value of a parameter. Raises SqlError."""
    return Literal(input_value(text, kind, settings.time_zone, None, settings.input_styles), kind)


def shown_kind(match: re.Match[str]) -> str:
    """Return what stands for a constant in a shape: which kind of constant it is."""
    return match[1] + match[2] + ("''" if match[3][0] == "'" else "0")


def unquoted(constant: str) -> str:
    """Return the text of a constant."""
    return constant[1:-1] if constant[0] == "'" else constant
