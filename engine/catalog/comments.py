"""COMMENT ON relations, their columns and constraints, kept in the catalog image.

Enters: a statement, an image. Leaves: an image. Raises 42P01, 42809, 42703, 42704.
"""

from __future__ import annotations

from dataclasses import replace

from engine.catalog.image import WORDS, CatalogImage, Entry, TableEntry
from sql.errors import SqlError
from sql.names.relation_keys import name_of
from sql.parse.statements.comment import Comment


def with_comment(statement: Comment, image: CatalogImage) -> CatalogImage:
    """Return the image with the comment."""
    entry = image.existing(statement.name)
    if statement.kind == "constraint":
        return image.with_replaced(statement.name, with_constraint_comment(statement, entry))
    if statement.part is not None:
        return image.with_comment(entry.description.oid, column_number(entry, statement.part), statement.comment)
    wanted = WORDS.get(statement.kind, statement.kind)
    if WORDS[entry.description.kind] != wanted:
        raise SqlError("42809", f'"{statement.name}" is not a {wanted}')
    return image.with_comment(entry.description.oid, 0, statement.comment)


def with_constraint_comment(statement: Comment, entry: Entry) -> Entry:
    """Return a table with the comment on one of its constraints. Raises 42704."""
    description = entry.description
    constraints = {one.name: one for one in description.constraints if not one.is_index}
    if not isinstance(entry, TableEntry) or statement.part not in constraints:
        message = f'constraint "{statement.part}" for table "{name_of(description.name)}" does not exist'
        raise SqlError("42704", message)
    after = tuple(
        replace(one, comment=statement.comment or "") if one is constraints[statement.part] else one
        for one in description.constraints
    )
    return replace(entry, description=replace(description, constraints=after))


def column_number(entry: Entry, name: str) -> int:
    """Return the number under which comments know a column.

    Raises 42703, and 42809 for a relation whose columns have no comments.
    """
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
