"""SET, RESET and SHOW."""

from __future__ import annotations

from dataclasses import dataclass

from sql.errors import SqlError, not_supported
from sql.parse.grammar.cursor import Cursor
from sql.parse.grammar.types import integer_modifiers, interval_fields
from sql.parse.statements.declaration import Statement
from sql.parse.statements.options import boolean_or_string, signed_number
from sql.parse.statements.roles import nonreserved_word
from sql.parse.statements.rules import begins
from sql.parse.statements.transaction import transaction_modes
from sql.times.interval_input import interval_value
from sql.times.interval_values import Interval, interval_text, within


@dataclass(frozen=True)
class SetVariable(Statement):
    """The statements SET [SESSION | LOCAL] name = value, and RESET name.

    SET TRANSACTION modes has the name 'transaction' and the modes as value, SESSION CHARACTERISTICS
    the name 'session characteristics'.

    Attributes:
        name: 'all' with the value None is RESET ALL.
        value: None is DEFAULT, and RESET name.
    """

    name: str
    value: str | None
    local: bool = False

    @property
    def tag(self) -> str:
        """See Statement."""
        return "RESET" if self.text[:5].lower() == "reset" else "SET"


@dataclass(frozen=True)
class Show(Statement, tag="SHOW"):
    """SHOW name | ALL."""

    name: str


@dataclass(frozen=True)
class SetConstraints(Statement, tag="SET CONSTRAINTS"):
    """The statement SET CONSTRAINTS.

    Attributes:
        names: as written, None for ALL.
        deferred: DEFERRED, not IMMEDIATE.
    """

    names: tuple[str, ...] | None
    deferred: bool


# Words after SET that stand for a setting, and the setting.
PATH = "search_path"
SPELLED = {"names": "client_encoding", "schema": PATH, "role": "role"}


@begins("set")
def set_variable(cursor: Cursor) -> SetVariable | SetConstraints:
    """Read SET from its first word."""
    cursor.expect("set")
    if cursor.accept("session", "characteristics"):
        cursor.expect("as", "transaction")
        modes = required_modes(cursor)
        return SetVariable(cursor.statement_text, "session characteristics", modes)
    local = False
    if (
        cursor.at("session", "local")
        and cursor.ahead(1).value not in ("=", "to")
        and not cursor.at_words("session", "authorization")
    ):
        local = cursor.advance().value == "local"
    if cursor.accept("transaction"):
        if cursor.at("snapshot"):
            raise not_supported("SET TRANSACTION SNAPSHOT", cursor.position)
        modes = required_modes(cursor)
        return SetVariable(cursor.statement_text, "transaction", modes, local=True)
    if cursor.at("constraints") and not local and cursor.ahead(1).value not in ("=", "to", "."):
        return set_constraints(cursor)
    if cursor.accept("session", "authorization"):
        name, value = "session_authorization", role_value(cursor)
    elif cursor.accept("time", "zone"):
        name, value = "timezone", zone_value(cursor)
    elif cursor.accept("xml", "option"):
        name, value = "xmloption", cursor.one_of("document", "content")
    elif cursor.at(*SPELLED) and cursor.ahead(1).value not in ("=", "to"):
        name = SPELLED[cursor.advance().value]
        value = role_value(cursor) if name == "role" else quoted_value(cursor, name == "client_encoding")
        value = quote_if_needed(value) if name == PATH and value is not None else value
    else:
        name = variable_name(cursor)
        if not (cursor.accept_operator("=") or cursor.accept("to")):
            cursor.fail()
        value = values(cursor, are_names=name == PATH)
    return SetVariable(cursor.statement_text, name, value, local)


def set_constraints(cursor: Cursor) -> SetConstraints:
    """Read CONSTRAINTS ALL | names, and DEFERRED | IMMEDIATE."""
    cursor.expect("constraints")
    names = None if cursor.accept("all") else cursor.several(Cursor.relation_name)
    word = cursor.one_of("deferred", "immediate")
    return SetConstraints(cursor.statement_text, names, word == "deferred")


def required_modes(cursor: Cursor) -> str:
    """Read at least one transaction mode."""
    modes = transaction_modes(cursor)
    if not modes:
        cursor.fail()
    return ", ".join(modes)


def variable_name(cursor: Cursor) -> str:
    """Read name[.name]; settings are found without regard to case."""
    parts = [cursor.name()]
    while cursor.accept_operator("."):
        parts.append(cursor.name())
    return ".".join(parts).lower()


def values(cursor: Cursor, are_names: bool) -> str | None:
    """Read DEFAULT (None) or a list of values.

    Where the setting is a list of names the values are quoted again, so that a comma in a name
    divides nothing.
    """
    if cursor.accept("default"):
        return None
    items = cursor.several(one_value)
    return items[0] if len(items) == 1 and not are_names else ", ".join(quote_if_needed(item) for item in items)


def one_value(cursor: Cursor) -> str:
    if cursor.token.kind in ("string", "quoted", "word"):
        return boolean_or_string(cursor)
    return signed_number(cursor)


def quote_if_needed(item: str) -> str:
    if item and item.replace("_", "a").isalnum() and item == item.lower() and not item[0].isdigit():
        return item
    return '"' + item.replace('"', '""') + '"'


def role_value(cursor: Cursor) -> str | None:
    """Read a role: a string, a word that is not reserved, or DEFAULT (None)."""
    if cursor.accept("default"):
        return None
    return cursor.string() if cursor.token.kind == "string" else nonreserved_word(cursor)


def quoted_value(cursor: Cursor, is_optional: bool) -> str | None:
    """Read a string.

    Where the string is optional, None is returned for no string and for DEFAULT.
    """
    if is_optional and (cursor.at_end_of_statement() or cursor.accept("default")):
        return None
    return cursor.string()


def zone_value(cursor: Cursor) -> str | None:
    """Read the value of SET TIME ZONE: a name, LOCAL, DEFAULT, a number of hours, or an
    interval.
    """
    if cursor.accept_any("local", "default") is not None:
        return None
    if cursor.at("interval"):
        return f"INTERVAL '{interval_text(zone_interval(cursor))}'"
    if cursor.token.kind == "word" and cursor.is_keyword():
        cursor.fail()
    return one_value(cursor)


def zone_interval(cursor: Cursor) -> Interval:
    """Read the distance from UTC: an interval of hours, or of hours and minutes."""
    cursor.expect("interval")
    modifiers, position, text = integer_modifiers(cursor), cursor.position, cursor.string()
    field_position = cursor.position
    fields = "" if modifiers else interval_fields(cursor)[0]
    if fields not in ("", "hour", "hour to minute"):
        raise SqlError("42601", "time zone interval must be HOUR or HOUR TO MINUTE", field_position)
    return within(interval_value(text, fields, position), fields, modifiers[0] if modifiers else None)


@begins("reset")
def reset(cursor: Cursor) -> SetVariable:
    """Read RESET from its first word."""
    cursor.expect("reset")
    name = asked_name(cursor)
    return SetVariable(cursor.statement_text, name, None)


@begins("show")
def show(cursor: Cursor) -> Show:
    """Read SHOW from its first word."""
    cursor.expect("show")
    name = asked_name(cursor)
    return Show(cursor.statement_text, name)


def asked_name(cursor: Cursor) -> str:
    """Read the name after RESET or SHOW: a setting, words that stand for a setting, or ALL."""
    if cursor.accept("all"):
        return "all"
    if cursor.accept("time", "zone"):
        return "timezone"
    if cursor.accept("transaction", "isolation", "level"):
        return "transaction_isolation"
    if cursor.accept("session", "authorization"):
        return "session_authorization"
    return variable_name(cursor)
