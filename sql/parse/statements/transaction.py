"""BEGIN, START TRANSACTION, COMMIT, END, ROLLBACK and ABORT, savepoints, and the words of two-phase
commit.
"""

from __future__ import annotations

from dataclasses import dataclass

from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.declaration import Statement
from sql.parse.statements.rules import begins


@dataclass(frozen=True)
class Transaction(Statement):
    """The statements of transactions and savepoints.

    Attributes:
        action: 'begin', 'commit', 'rollback'; 'savepoint', 'release', 'rollback to'; of two-phase
            commit 'prepare', 'commit prepared', 'rollback prepared'.
        name: of the savepoint, or of the transaction in two-phase commit.
        chain: AND CHAIN is written.
    """

    action: str
    chain: bool = False
    modes: tuple[str, ...] = ()
    name: str = ""


STARTS = ("begin", "start", "commit", "end", "rollback", "abort", "savepoint", "release")


@begins(*STARTS)
def transaction(cursor: Cursor) -> Transaction:
    """Read the statement from its first word."""
    word = cursor.advance().value
    if word in ("begin", "start"):
        if word == "start":
            cursor.expect("transaction")
        else:
            cursor.accept_any("work", "transaction")
        modes = transaction_modes(cursor)
        return Transaction(cursor.statement_text, "begin", modes=modes)
    if word in ("savepoint", "release"):
        name = savepoint_name(cursor) if word == "release" else cursor.name()
        return Transaction(cursor.statement_text, word, name=name)
    action = "commit" if word in ("commit", "end") else "rollback"
    if word in ("commit", "rollback") and cursor.accept("prepared"):
        name = cursor.string()
        return Transaction(cursor.statement_text, f"{action} prepared", name=name)
    cursor.accept_any("work", "transaction")
    if word == "rollback" and cursor.accept("to"):
        name = savepoint_name(cursor)
        return Transaction(cursor.statement_text, "rollback to", name=name)
    chain = False
    if cursor.accept("and"):
        chain = not cursor.accept("no")
        cursor.expect("chain")
    return Transaction(cursor.statement_text, action, chain)


def savepoint_name(cursor: Cursor) -> str:
    """Read [SAVEPOINT] name; SAVEPOINT alone is a name."""
    name = cursor.name()
    return name if name != "savepoint" or cursor.at_end_of_statement() else cursor.name()


def prepare_transaction(cursor: Cursor) -> Transaction:
    """Read the identifier of PREPARE TRANSACTION."""
    name = cursor.string()
    return Transaction(cursor.statement_text, "prepare", name=name)


def transaction_modes(cursor: Cursor) -> tuple[str, ...]:
    """Read ISOLATION LEVEL ..., READ ONLY | WRITE, [NOT] DEFERRABLE, with or without commas."""
    modes = []
    while not cursor.at_end_of_statement():
        if cursor.accept("isolation"):
            cursor.expect("level")
            modes.append("isolation level " + isolation_level(cursor))
        elif cursor.accept("read"):
            modes.append(f"read {cursor.one_of('only', 'write')}")
        else:
            negation = "not " * cursor.accept("not")
            cursor.expect("deferrable")
            modes.append(f"{negation}deferrable")
        if cursor.accept_operator(",") and cursor.at_end_of_statement():
            cursor.fail()
    return tuple(modes)


def isolation_level(cursor: Cursor) -> str:
    """Read SERIALIZABLE, REPEATABLE READ, READ COMMITTED or READ UNCOMMITTED."""
    match cursor.one_of("serializable", "repeatable", "read"):
        case "repeatable":
            cursor.expect("read")
            return "repeatable read"
        case "read":
            return f"read {cursor.one_of('committed', 'uncommitted')}"
    return "serializable"
