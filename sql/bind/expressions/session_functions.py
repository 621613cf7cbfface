"""Functions whose value the session knows: bound to literals; and the sequences of a session's
functions, by name.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sql.bind.expressions.coerce import coerce
from sql.bind.expressions.context import DEFAULTS
from sql.catalog.catalog import KnowsSchemas, SessionSettings
from sql.catalog.functions import KnowsThen
from sql.catalog.schemas import SYSTEM, meant_schema
from sql.errors import SqlError, not_supported
from sql.parse.syntax import Constant, FunctionCall, TypeCast
from sql.settings.settings import default_value
from sql.settings.table import PRIVATE, private
from sql.settings.version import VERSION_TEXT
from sql.tree.expressions import Expression, Literal
from sql.types.datatypes import BOOL, INT4, NAME, TEXT, SqlType

if TYPE_CHECKING:
    from sql.bind.expressions.binder import Binder

SESSION_FUNCTIONS = frozenset(
    """
    version current_database current_catalog current_schema current_user session_user user current_role current_setting
    pg_backend_pid pg_is_in_recovery pg_typeof
    """.split()
)
# Functions of which a definition would show its maker's values to everybody.
OWN_VALUES = frozenset(
    "current_schema current_user session_user user current_role current_setting pg_backend_pid".split()
)
# Functions whose first argument names a sequence.
SEQUENCES = frozenset({"nextval", "currval", "setval"})


def is_known(node: FunctionCall) -> bool:
    """Tell whether the value is known when a statement is bound: that of a setting whose name is a
    constant.
    """
    return node.name != "current_setting" or all(isinstance(one, Constant) for one in node.arguments)


def session_function(binder: Binder, node: FunctionCall) -> Expression:
    """Return the literal that the call means in this session."""
    settings = binder.context.settings
    if settings.is_shared and node.name in OWN_VALUES:
        raise not_supported(f"{node.name} in a definition that other sessions use", node.position)
    if node.name == "pg_typeof":
        return type_of(binder, node)
    if node.name == "current_setting":
        return current_setting(binder, node)
    if node.arguments:
        types = ", ".join("unknown" for _ in node.arguments)
        raise SqlError("42883", f"function {node.name}({types}) does not exist", node.position)
    match node.name:
        case "version":
            return Literal(VERSION_TEXT, TEXT, node.position)
        case "current_database" | "current_catalog":
            return Literal(settings.database, NAME, node.position)
        case "current_schema":
            return Literal(current_schema(binder), NAME, node.position)
        case "pg_backend_pid":
            return Literal(settings.process_id, INT4, node.position)
        case "pg_is_in_recovery":
            return Literal(False, BOOL, node.position)
        case "session_user":
            return Literal(settings.session_user, NAME, node.position)
    return Literal(settings.user, NAME, node.position)


def current_schema(binder: Binder) -> str | None:
    """Return the first existing schema of the search_path."""
    catalog, settings = binder.context.catalog, binder.context.settings
    path = (meant_schema(name, settings) for name in settings.named_path)
    known = (
        name for name in path if name == SYSTEM or not isinstance(catalog, KnowsSchemas) or catalog.has_schema(name)
    )
    return next(known, None)


def type_of(binder: Binder, node: FunctionCall) -> Expression:
    """Return the argument's type as a regtype."""
    if len(node.arguments) != 1:
        raise SqlError("42883", "function pg_typeof() does not exist", node.position)
    operand = binder.bind(node.arguments[0])
    return Literal(operand.type.oid, SqlType("regtype"), node.position)


def current_setting(binder: Binder, node: FunctionCall) -> Expression:
    operands = [binder.bind(argument) for argument in node.arguments]
    if len(operands) not in (1, 2) or not all(isinstance(operand, Literal) for operand in operands):
        raise not_supported("current_setting of anything but a constant", node.position)
    name = operands[0]
    assert isinstance(name, Literal)
    wanted = str(name.value)
    value = setting_value(binder.context.settings, wanted.lower())
    if value is None and wanted.lower() in PRIVATE:
        raise private(wanted.lower())
    if value is None and len(operands) == 1:
        raise SqlError("42704", f'unrecognized configuration parameter "{wanted}"')
    return Literal(value, TEXT, node.position)


def setting_value(settings: SessionSettings, name: str) -> str | None:
    """Return a setting as SHOW prints it, None when there is no such setting."""
    known = {"timezone": settings.time_zone, "search_path": settings.search_path, **dict(settings.variables)}
    return known.get(name, default_value(name))


def with_sequence(node: FunctionCall) -> FunctionCall:
    """Return a call of nextval and the like with its sequence as a string, where it is written as
    'name'::regclass, as PostgreSQL prints it.
    """
    first = node.arguments[0] if node.arguments and node.name in SEQUENCES else None
    if not isinstance(first, TypeCast) or not isinstance(first.operand, Constant) or first.type.name != "regclass":
        return node
    return replace(node, arguments=(first.operand, *node.arguments[1:]))


def sequence_name(binder: Binder, sequence: Expression) -> Expression:
    """Return the name of a sequence as a text; in a view or a body, that of the sequence which the
    name meant when it was made.
    """
    context = binder.context
    is_name = isinstance(sequence, Literal) and sequence.type.family == "unknown" and sequence.value is not None
    references = context.references
    is_defined = isinstance(context.catalog, KnowsThen) or (references.in_body and references.is_text)
    if is_name and (context.settings.is_shared or is_defined) and binder.clause != DEFAULTS:
        sequence = coerce(sequence, SqlType("regclass"), context)
    return coerce(sequence, TEXT, context) if sequence.type.family == "regclass" else sequence
