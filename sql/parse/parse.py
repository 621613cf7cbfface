"""Text to statements. Enters: the text of a Query or Parse message. Leaves: `sql.parse.statements.statement` dataclasses.

Statements have our own grammar (`sql.grammar` and one file per statement here in `sql.statements`): every node knows its position, and
what PostgreSQL refuses is refused. Must not know relations or types' meanings.
"""

from __future__ import annotations

from collections.abc import Callable

from sql.parse.grammar import common_tables, queries
from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.alter_table import alter_table
from sql.parse.statements.alter_view import alter_view
from sql.parse.statements.checkpoint import checkpoint
from sql.parse.statements.comment import comment
from sql.parse.statements.copy import copy
from sql.parse.statements.create_foreign_table import create_foreign_table
from sql.parse.statements.create_table import create_table
from sql.parse.statements.create_view import create_view
from sql.parse.statements.cursors import close, declare, fetch
from sql.parse.statements.delete import delete, delete_after_with, truncate
from sql.parse.statements.drop import drop
from sql.parse.statements.explain import explain
from sql.parse.statements.grants import alter_default, grant
from sql.parse.statements.indexes import alter_index, create_index, drop_index
from sql.parse.statements.insert import insert, insert_after_with
from sql.parse.statements.lock import lock
from sql.parse.statements.maintenance import analyze, vacuum
from sql.parse.statements.notifications import listen, notify, unlisten
from sql.parse.statements.options import object_kind
from sql.parse.statements.owners import drop_owned, or_owner, reassign
from sql.parse.statements.prepared import execute, prepare
from sql.parse.statements.roles import alter_role, create_role, drop_role
from sql.parse.statements.schemas import alter_schema, create_schema, drop_schema
from sql.parse.statements.sequences import alter_sequence, create_sequence
from sql.parse.statements.session_state import deallocate, discard
from sql.parse.statements.statement import Delete, Empty, Insert, Select, Statement, Update
from sql.parse.statements.transaction import STARTS, transaction
from sql.parse.statements.types import alter_type, create_type, drop_type
from sql.parse.statements.unsupported import refusal
from sql.parse.statements.update import update, update_after_with
from sql.parse.statements.variables import reset, set_variable, show

RULES: dict[str, Callable[[Cursor], Statement]] = {
    "analyse": analyze,
    "analyze": analyze,
    "checkpoint": checkpoint,
    "close": close,
    "comment": comment,
    "copy": copy,
    "deallocate": deallocate,
    "declare": declare,
    "delete": delete,
    "discard": discard,
    "execute": execute,
    "explain": explain,
    "grant": grant,
    "fetch": fetch,
    "insert": insert,
    "listen": listen,
    "lock": lock,
    "move": fetch,
    "notify": notify,
    "prepare": lambda cursor: prepare(cursor, statement),
    "reassign": reassign,
    "reset": reset,
    "revoke": grant,
    "set": set_variable,
    "show": show,
    "truncate": truncate,
    "unlisten": unlisten,
    "update": update,
    "vacuum": vacuum,
    **dict.fromkeys(STARTS, transaction),
}


OBJECT_RULES: dict[tuple[str, str], Callable[[Cursor], Statement]] = {
    ("create", "foreign"): create_foreign_table,
    ("create", "index"): create_index,
    ("create", "schema"): create_schema,
    ("create", "sequence"): create_sequence,
    ("create", "table"): create_table,
    ("create", "type"): create_type,
    ("create", "view"): create_view,
    ("alter", "default"): alter_default,
    ("alter", "foreign"): or_owner(alter_table),
    ("alter", "schema"): or_owner(alter_schema),
    ("alter", "index"): alter_index,
    ("alter", "sequence"): or_owner(alter_sequence),
    ("alter", "table"): or_owner(alter_table),
    ("alter", "type"): or_owner(alter_type),
    ("alter", "view"): or_owner(alter_view),
    **{("create", kind): create_role for kind in ("role", "user", "group")},
    **{("alter", kind): alter_role for kind in ("role", "user", "group")},
    **{("drop", kind): drop_role for kind in ("role", "user", "group")},
    ("drop", "foreign"): drop,
    ("drop", "index"): drop_index,
    ("drop", "owned"): drop_owned,
    ("drop", "schema"): drop_schema,
    ("drop", "sequence"): drop,
    ("drop", "table"): drop,
    ("drop", "type"): drop_type,
    ("drop", "view"): drop,
}


def parse(text: str) -> tuple[Statement, ...]:
    """Return the statements of `text`, at least one (`Empty`); positions count characters of the whole text from 1."""
    cursor = Cursor(text)
    try:
        return statements_of(cursor)
    finally:
        cursor.release()


def statements_of(cursor: Cursor) -> tuple[Statement, ...]:
    """Read all that there is."""
    statements: list[Statement] = []
    while True:
        while cursor.accept_operator(";"):
            pass
        if cursor.token.kind == "end":
            break
        statements.append(statement(cursor))
        if not cursor.at_end_of_statement():
            cursor.fail()
    cursor.finish()
    return tuple(statements) or (Empty(),)


def statement(cursor: Cursor) -> Statement:
    """Read one statement."""
    if queries.at_query(cursor) or cursor.at_operator("("):
        return query_statement(cursor)
    if cursor.token.kind != "word":
        cursor.fail()
    rule = RULES.get(cursor.token.value)
    if rule is not None:
        return rule(cursor)
    rule = OBJECT_RULES.get((cursor.token.value, object_kind(cursor)))
    if rule is not None:
        return rule(cursor)
    raise refusal(cursor)


def query_statement(cursor: Cursor) -> Select | Insert | Update | Delete:
    """Read a query, or what else may begin with WITH."""
    first = cursor.index
    position = cursor.position
    common = common_tables.common_tables(cursor)
    if common and cursor.at("insert"):
        return insert_after_with(cursor, common, first)
    if common and cursor.at("update"):
        return update_after_with(cursor, common, first)
    if common and cursor.at("delete"):
        return delete_after_with(cursor, common, first)
    query = queries.query_after_with(cursor, common, position)
    return Select(cursor.text_since(first), query)
