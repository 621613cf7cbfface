"""Conversations that Antumbra and PostgreSQL must answer alike, read from `protocol/*.txt`: the
messages of one client each, by name.

One message per line, by the letter of its type; values are Python's bytes literals:

    Q text                                          P [name=] [types=oid,oid] : text
    B [statement=] [portal=] [formats=] [results=] [: value NULL ...]
    E [portal=] [limit=]                            D statement|portal [name], and C the same
    S, H, c                                         d data, f reason, raw letter body
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.end_to_end.raw_client import (
    COPY_DONE,
    FLUSH,
    SYNC,
    bind,
    close,
    copy_data,
    copy_fail,
    describe,
    execute,
    frame,
    parse,
    query,
)

FOLDER = Path(__file__).with_name("protocol")
BODILESS = {"S": SYNC, "H": FLUSH, "c": COPY_DONE}
LITERAL = re.compile(r"""b'(?:[^'\\]|\\.)*'|b"(?:[^"\\]|\\.)*"|NULL""")


def read_cases() -> dict[str, list[bytes]]:
    """Return the messages of each case."""
    cases: dict[str, list[bytes]] = {}
    for path in sorted(FOLDER.glob("*.txt")):
        for line in path.read_text().splitlines():
            if line.startswith("== "):
                messages = cases[f"{path.stem}: {line[3:]}"] = []
            elif line and not line.startswith("#"):
                messages.append(message(line))
    return cases


def message(line: str) -> bytes:
    """Return the message that a line stands for."""
    letter, _, rest = line.partition(" ")
    head, _, body = rest.partition(": ") if not rest.endswith(":") else (rest[:-1], "", "")
    options = dict(word.partition("=")[::2] for word in head.split() if "=" in word)
    match letter:
        case "Q":
            return query(rest)
        case "P":
            return parse(body, options.get("name", ""), numbers(options.get("types", "")))
        case "B":
            values = [None if word == "NULL" else literal(word) for word in LITERAL.findall(body)]
            formats, results = numbers(options.get("formats", "")), numbers(options.get("results", ""))
            return bind(values, options.get("statement", ""), options.get("portal", ""), formats, results)
        case "E":
            return execute(options.get("portal", ""), int(options.get("limit", "0")))
        case "D" | "C":
            kind, _, name = rest.partition(" ")
            return (describe if letter == "D" else close)(kind[0].upper(), name)
        case "d":
            return copy_data(literal(rest))
        case "f":
            return copy_fail(rest)
        case "raw":
            kind, _, text = rest.partition(" ")
            return frame(kind.encode(), literal(text))
        case _:
            return BODILESS[line]


def numbers(text: str) -> list[int]:
    """Return the numbers in a comma-separated list."""
    return [int(number) for number in text.split(",") if number]


def literal(text: str) -> bytes:
    """Return the value of a bytes literal."""
    value = ast.literal_eval(text)
    assert isinstance(value, bytes), text
    return value


CASES = read_cases()
