"""`antumbra translate`: SQL of another dialect in, Antumbra's out, statement by statement.

What can't be translated, and what may mean something else, is told on stderr with its line.
"""

from __future__ import annotations

import sys
from pathlib import Path
from threading import Thread

from engine.scheduler.deep_trees import make_room
from sql.dialects.translation import Piece, pieces
from sql.errors import SqlError
from sql.parse.parse import parse
from sql.parse.statements.create_foreign_table import CreateStream
from sql.parse.statements.create_table import CreateTable

EXIT_TRANSLATED = 0
EXIT_REFUSED = 1
EXIT_USAGE = 2


def translate_file(name: str, dialect: str) -> int:
    """Print the statements of a file, or of standard input for '-', in Antumbra's SQL.

    Returns the exit status: 1 where a statement was refused.
    """
    try:
        text = sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        print(f"antumbra: can't read {name}: {error}", file=sys.stderr)
        return EXIT_USAGE
    make_room()
    statuses: list[int] = []
    # A thread of its own has room for deep statements.
    thread = Thread(target=lambda: statuses.append(translate_text(text, dialect)))
    thread.start()
    thread.join()
    return statuses[0] if statuses else EXIT_REFUSED


def translate_text(text: str, dialect: str) -> int:
    """Print the statements of a text. Returns the exit status."""
    status = EXIT_TRANSLATED
    known: dict[str, dict[str, str]] = {}
    try:
        for piece in pieces(text, dialect):
            status = max(status, translate_piece(piece, known))
    except SqlError as error:
        tell(text, error, 1)
        return EXIT_REFUSED
    return status


def translate_piece(piece: Piece, known: dict[str, dict[str, str]]) -> int:
    """Print one statement. Returns the exit status.

    known: columns of tables that the statements before have made; those of this one are added.
    """
    try:
        found = piece.translated(lambda parts: known.get(parts[-1]), pretty=True)
        for statement in () if found.is_changed else parse(found.text):
            if isinstance(statement, CreateTable | CreateStream):
                known[statement.name] = {column.name: column.type.family for column in statement.columns}
    except SqlError as error:
        tell(piece.text, error, piece.line)
        return EXIT_REFUSED
    for note in found.notes:
        print(f"antumbra: line {piece.line}: warning: {note}", file=sys.stderr)
    print(f"{found.text};\n")
    return EXIT_TRANSLATED


def tell(text: str, error: SqlError, line: int) -> None:
    """Print an error with its line."""
    place = line if error.position is None else text.count("\n", 0, error.position - 1) + 1
    hint = "" if error.hint is None else f" ({error.hint})"
    print(f"antumbra: line {place}: error: {error.message}{hint}", file=sys.stderr)
