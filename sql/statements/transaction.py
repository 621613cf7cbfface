"""BEGIN, START TRANSACTION, COMMIT, END, ROLLBACK and ABORT."""

from __future__ import annotations

from sql.errors import not_supported
from sql.grammar.cursor import Cursor
from sql.statements.statement import Transaction

STARTS = ("begin", "start", "commit", "end", "rollback", "abort")
LEVELS = (("serializable",), ("repeatable", "read"), ("read", "committed"), ("read", "uncommitted"))


def transaction(cursor: Cursor) -> Transaction:
    """Read the statement from its first word."""
    first = cursor.index
    word = cursor.advance().value
    if word in ("begin", "start"):
        if word == "start":
            cursor.expect("transaction")
        else:
            cursor.accept_any("work", "transaction")
        modes = transaction_modes(cursor)
        return Transaction(cursor.text_since(first), "begin", modes=modes)
    action = "commit" if word in ("commit", "end") else "rollback"
    if cursor.at("prepared"):
        raise not_supported(f"{word.upper()} PREPARED", cursor.position)
    cursor.accept_any("work", "transaction")
    position = cursor.position
    if word == "rollback" and cursor.accept("to"):
        cursor.accept("savepoint")
        cursor.name()
        cursor.refuse("ROLLBACK TO SAVEPOINT", position)
    chain = False
    if cursor.accept("and"):
        chain = not cursor.accept("no")
        cursor.expect("chain")
    return Transaction(cursor.text_since(first), action, chain)


def transaction_modes(cursor: Cursor) -> tuple[str, ...]:
    """Read ISOLATION LEVEL ..., READ ONLY | WRITE, [NOT] DEFERRABLE, with or without commas."""
    modes = []
    while not cursor.at_end_of_statement():
        if cursor.accept("isolation", "level"):
            level = next((words for words in LEVELS if cursor.accept(*words)), None)
            if level is None:
                cursor.fail()
            modes.append("isolation level " + " ".join(level))
        elif cursor.accept("read"):
            access = cursor.accept_any("only", "write")
            if access is None:
                cursor.fail()
            modes.append(f"read {access}")
        elif cursor.accept("not", "deferrable"):
            modes.append("not deferrable")
        elif cursor.accept("deferrable"):
            modes.append("deferrable")
        else:
            cursor.fail()
        if cursor.accept_operator(",") and cursor.at_end_of_statement():
            cursor.fail()
    return tuple(modes)
