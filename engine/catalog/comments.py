"""COMMENT ON relations, their columns, indexes and constraints, kept in the catalog image.

Enters: a statement, an image. Leaves: an image. Raises 42P01, 42809, 42703, 42704.
"""

from __future__ import annotations

from dataclasses import replace

from engine.catalog.image import WORDS, CatalogImage, Entry, TableEntry
from sql.catalog.catalog import ConstraintDescription
from sql.errors import SqlError
from sql.names.relation_keys import name_of, schema_of
from sql.parse.statements.comment import Comment


def with_comment(statement: Comment, image: CatalogImage) -> CatalogImage:
    """Return the image with the comment."""
    if statement.kind == "index":
        return with_index_comment(statement, image)
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
    return _with(entry, constraints[statement.part], statement.comment)


def with_index_comment(statement: Comment, image: CatalogImage) -> CatalogImage:
    """Return the image with the comment on an index. Raises 42P01 and 42809."""
    name = statement.name
    for entry in image.entries.values():
        if not isinstance(entry, TableEntry) or schema_of(entry.description.name) != schema_of(name):
            continue
        for one in entry.description.constraints:
            if one.name == name_of(name) and one.is_index:
                return image.with_replaced(entry.description.name, _with(entry, one, statement.comment))
            if one.name == name_of(name) and one.is_key:
                changed = replace(one, index_comment=statement.comment or "")
                return image.with_replaced(entry.description.name, _with_part(entry, one, changed))
    image.existing(name)
    raise SqlError("42809", f'"{name_of(name)}" is not an index')


def _with(entry: TableEntry, part: ConstraintDescription, comment: str | None) -> TableEntry:
    """Return a table with a comment on one of its constraints or indexes."""
    return _with_part(entry, part, replace(part, comment=comment or ""))


def _with_part(entry: TableEntry, part: ConstraintDescription, changed: ConstraintDescription) -> TableEntry:
    after = tuple(changed if one is part else one for one in entry.description.constraints)
    return replace(entry, description=replace(entry.description, constraints=after))


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
