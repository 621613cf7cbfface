"""The database's own types, which are enums: CREATE, ALTER and DROP TYPE on a catalog image.

Enters: statements whose names are keys, a `TableWork`. Leaves: the work's image, in which every
object with a column of the type knows its present form; rows stay as they are. No text is bound:
the type in a bound tree gives way to the changed one. Raises PostgreSQL's errors, and 0A000 for a
change that would alter what a definition means: texts have labels in them, and continuous views
have the labels of all values built in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from types import MappingProxyType

from engine.catalog.functions import with_functions
from engine.catalog.image import (
    WORDS,
    CatalogImage,
    Entry,
    StateEntry,
    StreamEntry,
    TableEntry,
    ViewEntry,
    in_states,
    states_of,
)
from engine.ddl.dependents import is_of
from engine.ddl.dropping import drop_all, skipped
from engine.ddl.table_work import TableWork
from engine.tables.table_expressions import with_each_column
from sql.errors import SqlError, not_supported
from sql.names.relation_keys import described, name_of, relation_key, schema_of
from sql.names.suggestions import did_you_mean
from sql.parse.statements.types import AlterType, CreateType, DropType
from sql.tree.expressions import Call, Cast, Expression, Literal
from sql.tree.relations import Relation
from sql.tree.retyping import retyped
from sql.tree.walks import all_relations, children, walk
from sql.types.datatypes import SqlType, array_of, enum_type
from sql.types.enums import EnumType, new_enum
from sql.types.records import record_family
from views.upkeep.lifecycle import renamed_view

ACTIONS = {"add value": "ADD VALUE", "rename value": "RENAME VALUE"}
LABEL_FUNCTIONS = frozenset({"enum_first", "enum_last", "enum_range"})


def create_type(statement: CreateType, work: TableWork) -> None:
    """Do CREATE TYPE ... AS ENUM. Raises 42710, 42602 and 23505."""
    require_free_type(work.image, statement.name)
    enum = new_enum(statement.name, work.image.next_oid, statement.labels)
    work.image = replace(work.image, next_oid=enum.oid + 2 + len(enum.labels))
    put(work, [*work.image.types.values(), enum])


def require_free_type(image: CatalogImage, key: str, hint: str | None = None, place: str = "") -> None:
    """Raise 42710 for the name of a type, or of a relation, whose rows have a type of that name."""
    has_rows = key in image.entries and image.entries[key].description.kind != "sequence"
    if key in image.types or has_rows:
        raise SqlError("42710", f'type "{name_of(key)}" already exists{place}', hint=hint)


def alter_type(statement: AlterType, work: TableWork) -> None:
    """Do ALTER TYPE.

    Raises 42704, 42710, 22023, 3F000, and 0A000 where a definition would not mean the same.
    """
    before = named_type(statement.name, work.image)
    match statement.action:
        case "add value":
            changed = _with_value(statement, before, work)
        case "rename value":
            changed = before.with_renamed(statement.label, statement.new_name)
        case "rename":
            changed = replace(before, name=relation_key(schema_of(before.name), statement.new_name))
            require_free_type(work.image, changed.name)
        case _:
            changed = _moved(before, statement.new_name, work.image)
    if changed is not before:
        give_way(before, changed, statement, work)


def named_type(key: str, image: CatalogImage) -> EnumType:
    """Return a type that must exist. Raises 42704."""
    found = image.types.get(key)
    if found is None:
        hint = did_you_mean(name_of(key), [name_of(one) for one in image.types], "the type")
        raise SqlError("42704", f'type "{key}" does not exist', hint=hint)
    return found


def _with_value(statement: AlterType, enum: EnumType, work: TableWork) -> EnumType:
    if statement.label in enum.numbers:
        error = SqlError("42710", f'enum label "{statement.label}" already exists')
        work.skip(error, statement.if_not_exists, error.sqlstate)
        return enum
    changed = enum.with_value(statement.label, work.image.next_oid, statement.neighbor, statement.is_after)
    work.take_oid()
    return changed


def _moved(enum: EnumType, schema: str, image: CatalogImage) -> EnumType:
    if schema not in image.schemas:
        raise SqlError("3F000", f'schema "{schema}" does not exist')
    key = relation_key(schema, name_of(enum.name))
    if key == enum.name:
        return enum
    require_free_type(image, key, place=f' in schema "{schema}"')
    return replace(enum, name=key)


def put(work: TableWork, types: list[EnumType]) -> None:
    """Put these types into the work's image."""
    work.image = with_types(work.image, types)


def with_types(image: CatalogImage, types: list[EnumType]) -> CatalogImage:
    """Return an image with these types."""
    return replace(image, types=MappingProxyType({one.name: one for one in types}), version=image.version + 1)


def give_way(before: EnumType, after: EnumType, statement: AlterType, work: TableWork) -> None:
    """Put a type in the place of another, everywhere.

    Raises 0A000 for a definition that would not mean the same.
    """
    for entry in work.image.entries.values():
        if _holds(entry, before, statement):
            what = f"{WORDS[entry.description.kind]} {described(entry.description.name)}"
            raise not_supported(f"ALTER TYPE ... {ACTIONS[statement.action]} of a type that {what} has in its text")
    image = with_types(work.image, [after if one.oid == after.oid else one for one in work.image.types.values()])

    def present(kind: SqlType) -> SqlType:
        return retyped_type(kind, after)

    image = with_functions(image, [retyped(one, present) for one in image.functions.values()])
    for name, entry in work.image.entries.items():
        image = image.with_replaced(name, _retyped(entry, present))
    work.image = image


def _retyped(entry: Entry, present: Callable[[SqlType], SqlType]) -> Entry:
    match entry:
        case StreamEntry():
            return with_each_column(entry, lambda column: retyped(column, present))
        case ViewEntry():
            states = tuple(_state(state, present) for state in entry.states)
            root = None if entry.root is None else retyped(entry.root, present)
            return in_states(replace(entry, description=retyped(entry.description, present), root=root), states)
        case TableEntry():
            return replace(entry, description=retyped(entry.description, present))
    return entry


def _state(entry: StateEntry, present: Callable[[SqlType], SqlType]) -> StateEntry:
    view = entry.chain
    return replace(entry, chain=renamed_view(view, view.definition, retyped(view.schema, present)))


def retyped_type(kind: SqlType, enum: EnumType) -> SqlType:
    """Return a type with the present form of the enum."""
    if kind.record is not None:
        items = tuple((name, retyped_type(one, enum)) for name, one in kind.record.fields)
        return replace(kind, family=record_family(replace(kind.record, fields=items), kind.is_array))
    if kind.enum is None or kind.enum.oid != enum.oid:
        return kind
    return array_of(enum_type(enum)) if kind.is_array else enum_type(enum)


def _holds(entry: Entry, enum: EnumType, statement: AlterType) -> bool:
    """Tell whether a definition would not mean the same after a change of a type.

    A label that is renamed stands in its text; a continuous view has all labels built in where it
    reads or shows texts of them.
    """
    if statement.action not in ("add value", "rename value"):
        return False
    renamed = enum.numbers.get(statement.label) if statement.action == "rename value" else None
    for node in _trees(entry):
        if isinstance(node, Literal) and is_of(enum, node.type) and _has_number(node.value, renamed):
            return True
        if states_of(entry) and _has_labels(node, enum):
            return True
    return False


def _has_number(value: object, number: int | None) -> bool:
    """Tell whether a constant is a value of an enum, or an array with it."""
    return number is not None and (value == number or (isinstance(value, tuple) and number in value))


def _trees(entry: Entry) -> Iterator[Expression]:
    """Yield every expression of the bound trees of a relation."""
    description = entry.description
    defaults = (column.default for column in description.columns)
    for item in (*defaults, *(one.condition for one in description.constraints)):
        if item is not None:
            yield from walk(item)
    if isinstance(entry, ViewEntry) and entry.root is not None:
        yield from expressions_of(entry.root)
    elif description.query is not None:
        yield from expressions_of(description.query.root)


def _has_labels(node: Expression, enum: EnumType) -> bool:
    """Tell whether an engine that computes this has the labels of the type in it."""
    match node:
        case Cast():
            return node.type.family != node.operand.type.family and is_of(enum, node.type, node.operand.type)
        case Call():
            return node.function in LABEL_FUNCTIONS and is_of(enum, node.type)
    return False


def expressions_of(root: Relation) -> Iterator[Expression]:
    """Yield every expression of a tree, also inside of subqueries."""
    for relation in all_relations(root):
        for item in children(relation):
            yield from walk(item)


def rename_types(schema: str, new_name: str, work: TableWork) -> None:
    """Give the types of a schema that is renamed their new keys."""
    for enum in types_of(schema, work.image):
        changed = replace(enum, name=relation_key(new_name, name_of(enum.name)))
        give_way(enum, changed, AlterType("", enum.name, "set schema"), work)


def types_of(schema: str, image: CatalogImage) -> list[EnumType]:
    """Return the types in a schema."""
    return [one for one in image.types.values() if schema_of(one.name) == schema]


def drop_type(statement: DropType, work: TableWork) -> None:
    """Do DROP TYPE. Raises 42704 and 2BP01."""
    gone: list[EnumType] = []
    for key in statement.names:
        if key in work.image.types or not statement.if_exists:
            gone.append(named_type(key, work.image))
            continue
        work.notice(skipped(f'type "{key}"', key, work))
    drop_all(gone, statement.cascade, work)
