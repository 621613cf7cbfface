"""Names of columns in printed SQL: each relation's output gets names that are unique whatever case
an engine folds.

Enters: a schema. Leaves: one name per column, the client's own where it is the first of its kind.
Engines register inputs under the same names, and read results by position.
"""

from __future__ import annotations

from typing import NamedTuple

from sql.tree.relations import Schema

ANONYMOUS = "?column?"


class StoredTable(NamedTuple):
    """A table as an engine stores it: its text in FROM, and the names of its columns, of which each
    scan reads the first ones.
    """

    text: str
    columns: tuple[str, ...]


def column_names(schema: Schema) -> tuple[str, ...]:
    """Return a unique name for each column of `schema`; a repeated name gets the suffix _2, _3,
    ...
    """
    taken = {column.name.lower() for column in schema}
    seen: set[str] = set()
    numbers: dict[str, int] = {}
    names = []
    for column in schema:
        name = "column" if column.name in ("", ANONYMOUS) else column.name
        number = numbers.get(name, 1)
        candidate = name if number == 1 else f"{name}_{number}"
        while candidate.lower() in seen or (number > 1 and candidate.lower() in taken):
            number += 1
            candidate = f"{name}_{number}"
        numbers[name] = number
        seen.add(candidate.lower())
        names.append(candidate)
    return tuple(names)
