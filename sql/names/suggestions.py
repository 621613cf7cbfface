"""Names in messages: 'did you mean' for relations, columns, functions, types and settings, and
lists of names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sql.names.relation_keys import dotted, name_of, schema_of, written_schema


def did_you_mean(wanted: str, names: Iterable[str], what: str = "the relation") -> str | None:
    """Return a hint with the closest of `names`, None when none is close.

    A relation that was written with a schema is looked for in that schema.
    """
    schema = written_schema(wanted)
    if schema:
        names = [name for name in names if schema_of(name) == schema]
    known = {name_of(name): name if schema else dotted(name) for name in sorted(names)}
    close = close_names(name_of(wanted), known)
    return f'Perhaps you meant {what} "{name_of(known[close[0]])}".' if close else None


def close_names(wanted: str, names: Iterable[str]) -> list[str]:
    """Return the names that are close to `wanted`, closest first.

    No name is close when more than a third of the letters differ.
    """
    limit = len(wanted) // 3 if len(wanted) > 2 else len(wanted) - 1
    scored = sorted(
        (distance(wanted, name, swaps=True), name) for name in names if abs(len(name) - len(wanted)) <= limit
    )
    return [name for score, name in scored if score <= limit]


def distance(left: str, right: str, swaps: bool = False) -> int:
    """Return the Levenshtein distance, which PostgreSQL takes for columns.

    swaps: two letters that changed places count once.
    """
    before: list[int] = []
    previous = list(range(len(right) + 1))
    for row, letter in enumerate(left, 1):
        current = [row]
        for column, other in enumerate(right, 1):
            best = min(previous[column] + 1, current[-1] + 1, previous[column - 1] + (letter != other))
            if swaps and row > 1 and column > 1 and letter == right[column - 2] and left[row - 2] == other:
                best = min(best, before[column - 2] + 1)
            current.append(best)
        before, previous = previous, current
    return previous[-1]


def quoted_list(names: Sequence[str]) -> str:
    """Return names in double quotes as an English list."""
    quoted = [f'"{name}"' for name in names]
    if len(quoted) < 3:
        return " and ".join(quoted)
    return ", ".join(quoted[:-1]) + ", and " + quoted[-1]
