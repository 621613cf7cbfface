"""COMMENT ON relations and their columns: kept in the catalog image, read by what shows them.

Enters: a statement, an image. Leaves: an image. Raises 42P01, 42809, 42703.
"""

from __future__ import annotations

from engine.catalog import CatalogImage, Entry
from engine.dependents import WORDS
from sql.errors import SqlError
from sql.names import did_you_mean
from sql.statements.objects import Comment

KINDS = {"stream": "foreign table"}


def with_comment(statement: Comment, image: CatalogImage) -> CatalogImage:
    """Return the image with the comment."""
    entry = image.entries.get(statement.name)
    if entry is None:
        hint = did_you_mean(statement.name, image.relation_names())
        raise SqlError("42P01", f'relation "{statement.name}" does not exist', hint=hint)
    if statement.column is not None:
        return image.with_comment(entry.description.oid, column_number(entry, statement.column), statement.comment)
    wanted = KINDS.get(statement.kind, statement.kind)
    if WORDS[entry.description.kind] != wanted:
        raise SqlError("42809", f'"{statement.name}" is not a {wanted}')
    return image.with_comment(entry.description.oid, 0, statement.comment)


def column_number(entry: Entry, name: str) -> int:
    """Return the number under which comments know a column. Raises 42703, and 42809 for a relation whose columns have none."""
    description = entry.description
    if description.kind == "sequence":
        raise SqlError(
            "42809",
            f'cannot set comment on relation "{description.name}"',
            detail="This operation is not supported for sequences.",
        )
    for place, column in enumerate(description.columns, 1):
        if column.name == name:
            return column.number or place
    raise SqlError("42703", f'column "{name}" of relation "{description.name}" does not exist')
