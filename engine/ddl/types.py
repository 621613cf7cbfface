"""The database's own types, which are enums: CREATE, ALTER and DROP TYPE on a catalog image.

Enters: statements whose names are keys, a `TableWork`. Leaves: the work's image, in which every
object with a column of the type knows its present form; rows stay as they are. Raises PostgreSQL's
errors, and 0A000 for a change that would alter what a definition means: texts of definitions are
bound again, and continuous views have their labels built in.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import MappingProxyType

from engine.catalog.functions import with_functions
from engine.catalog.image import WORDS, CatalogImage, QueryViewEntry, StreamEntry, TableEntry, ViewEntry, states_of
from engine.ddl.dependents import SEVERAL, refusal_of
from engine.ddl.query_views import StreamsAsThen, bound_anew, statement_of
from engine.ddl.table_work import TableWork
from engine.ddl.view_alterations import with_view
from engine.tables.table_expressions import bound_default, bound_description
from sql.bind.queries.query import bind_query
from sql.catalog.catalog import ColumnDescription
from sql.catalog.functions import FunctionDescription
from sql.errors import SqlError, not_supported
from sql.names.relation_keys import NOWHERE, described, name_of, relation_key, schema_of
from sql.names.suggestions import did_you_mean
from sql.parse.statements.types import AlterType, CreateType, DropType, TypeStatement
from sql.tree.expressions import Call, Cast, Expression
from sql.tree.relations import Relation
from sql.tree.walks import all_relations, operator_expressions, walk
from sql.types.datatypes import SqlType, array_of, enum_type
from sql.types.enums import EnumType, new_enum
from views.upkeep.lifecycle import renamed_view

LABEL_FUNCTIONS = frozenset({"enum_first", "enum_last", "enum_range"})


def change_types(statement: TypeStatement, work: TableWork) -> None:
    """Do CREATE, ALTER or DROP TYPE."""
    match statement:
        case CreateType():
            create_type(statement, work)
        case AlterType():
            alter_type(statement, work)
        case DropType():
            drop_type(statement, work)


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
        message = f'enum label "{statement.label}" already exists'
        if not statement.if_not_exists:
            raise SqlError("42710", message)
        work.notice(f"{message}, skipping", "42710")
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
    work.tables.image = work.image


def with_types(image: CatalogImage, types: list[EnumType]) -> CatalogImage:
    """Return an image with these types."""
    return replace(image, types=MappingProxyType({one.name: one for one in types}), version=image.version + 1)


def give_way(before: EnumType, after: EnumType, statement: AlterType, work: TableWork) -> None:
    """Put a type in the place of another, everywhere.

    Raises 0A000 for a definition that would not mean the same.
    """
    image = with_types(work.image, [after if one.oid == after.oid else one for one in work.image.types.values()])
    image = with_functions(image, [_function(one, after) for one in image.functions.values()])
    for entry in tuple(image.entries.values()):
        name = entry.description.name
        try:
            match entry:
                case TableEntry():
                    image = image.with_replaced(name, bound_description(_table(entry, after), image))
                case StreamEntry():
                    image = image.with_replaced(name, _stream(entry, after, image))
                case ViewEntry():
                    image = image.with_replaced(name, _view(entry, work.image, image, before, after))
                case QueryViewEntry():
                    states = tuple(_view(state, work.image, image, before, after) for state in entry.states)
                    image = image.with_replaced(name, bound_anew(replace(entry, states=states), image))
        except SqlError as error:
            what = f"{WORDS[entry.description.kind]} {described(name)}"
            done = {"add value": "ADD VALUE", "rename value": "RENAME VALUE", "rename": "RENAME TO"}
            action = done.get(statement.action, "SET SCHEMA")
            raise not_supported(f"ALTER TYPE ... {action} of a type that {what} has in its text") from error
    work.image = work.tables.image = image


def _function(function: FunctionDescription, enum: EnumType) -> FunctionDescription:
    arguments = tuple(replace(one, type=retyped_type(one.type, enum)) for one in function.arguments)
    result = None if function.result is None else retyped_type(function.result, enum)
    return replace(function, arguments=arguments, result=result)


def _table(entry: TableEntry, enum: EnumType) -> TableEntry:
    description = entry.description
    return replace(entry, description=replace(description, columns=retyped(description.columns, enum)))


def _stream(entry: StreamEntry, enum: EnumType, image: CatalogImage) -> StreamEntry:
    if not any(column.type.enum is not None for column in entry.stream.stored):
        return entry
    stored = tuple(
        replace(column, default=bound_default(column, entry.defaults.get(column.number), image))
        for column in retyped(entry.stream.stored, enum)
    )
    stream = replace(entry.stream, stored=stored)
    return replace(entry, stream=stream, description=replace(entry.description, columns=stream.columns))


def _view(entry: ViewEntry, image: CatalogImage, changed: CatalogImage, before: EnumType, after: EnumType) -> ViewEntry:
    _require_same(entry, image, changed, before)
    view = entry.view
    schema = tuple(replace(column, type=retyped_type(column.type, after)) for column in view.schema)
    return with_view(entry, renamed_view(view, view.definition, schema))


def retyped(columns: tuple[ColumnDescription, ...], enum: EnumType) -> tuple[ColumnDescription, ...]:
    """Return columns that know the present form of the type."""
    return tuple(replace(column, type=retyped_type(column.type, enum)) for column in columns)


def retyped_type(kind: SqlType, enum: EnumType) -> SqlType:
    """Return a column's type with the present form of the enum."""
    if kind.enum is None or kind.enum.oid != enum.oid:
        return kind
    return array_of(enum_type(enum)) if kind.is_array else enum_type(enum)


def _require_same(entry: ViewEntry, before: CatalogImage, after: CatalogImage, enum: EnumType) -> None:
    """Raise an error unless a continuous view's text means the same in both images, labels
    included.
    """
    roots = [_root(entry, image) for image in (before, after)]
    if roots[0] != roots[1] or any(_has_labels(node, enum) for node in expressions_of(roots[0])):
        raise not_supported("another meaning of a continuous view")


def _root(entry: ViewEntry, image: CatalogImage) -> Relation:
    definition = entry.view.definition
    return bind_query(
        statement_of(definition.text).query,
        StreamsAsThen(image, entry.used, entry.named, entry.functions),
        definition.settings,
    ).root


def _has_labels(node: Expression, enum: EnumType) -> bool:
    """Tell whether an engine that computes this has the labels of the type in it."""
    match node:
        case Cast():
            return node.type.family != node.operand.type.family and _is_of(enum, node.type, node.operand.type)
        case Call():
            return node.function in LABEL_FUNCTIONS and _is_of(enum, node.type)
    return False


def _is_of(enum: EnumType, *kinds: SqlType) -> bool:
    return any(kind.enum is not None and kind.enum.oid == enum.oid for kind in kinds)


def expressions_of(root: Relation) -> Iterator[Expression]:
    """Yield every expression of a tree, also inside of subqueries."""
    for relation in all_relations(root):
        for item in operator_expressions(relation):
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
    """Do DROP TYPE. Raises 42704, 2BP01, and 0A000 for CASCADE where something depends on one."""
    gone: list[EnumType] = []
    for key in statement.names:
        if key in work.image.types or not statement.if_exists:
            gone.append(named_type(key, work.image))
            continue
        schema = schema_of(key)
        known = schema == NOWHERE or schema in work.image.schemas
        work.notice(
            f'type "{key}" does not exist, skipping' if known else f'schema "{schema}" does not exist, skipping'
        )
    lines = [line for enum in gone for line in type_dependents(enum, work.image)]
    if lines and not statement.cascade:
        what = f"type {gone[0].shown}" if len(gone) == 1 else SEVERAL
        raise refusal_of(what, (f"{text} depends on {on}" for text, on in lines))
    remove_types(gone, work)


def remove_types(gone: Sequence[EnumType], work: TableWork) -> None:
    """Take types out of the catalog. Raises 0A000 where something depends on one."""
    for text, on in (line for enum in gone for line in type_dependents(enum, work.image)):
        raise not_supported(f"DROP ... CASCADE of {on}, which {text} depends on,")
    put(work, [one for one in work.image.types.values() if one not in gone])
    work.image = work.tables.image = work.image.without(())


def type_dependents(enum: EnumType, image: CatalogImage) -> list[tuple[str, str]]:
    """Return the objects that need a type, as messages call them, and whether they need the type
    itself or its arrays.

    Objects that need the arrays come first.
    """
    of_arrays = [
        (
            f"column {column.name} of {WORDS[entry.description.kind]} {described(entry.description.name)}",
            f"type {enum.shown}[]",
        )
        for entry in image.entries.values()
        if isinstance(entry, TableEntry | StreamEntry)
        for column in entry.description.columns
        if column.type.is_array and _is_of(enum, column.type)
    ]
    return [*of_arrays, *((text, f"type {enum.shown}") for text in _of_type_itself(enum, image))]


def _of_type_itself(enum: EnumType, image: CatalogImage) -> Iterator[str]:
    for function in image.functions.values():
        kinds = [one.type for one in function.arguments]
        if _is_of(enum, *kinds, *([] if function.result is None else [function.result])):
            yield f"function {function.signature}"
    for entry in image.entries.values():
        what = f"{WORDS[entry.description.kind]} {described(entry.description.name)}"
        match entry:
            case TableEntry() | StreamEntry():
                columns = entry.description.columns
                own = (one for one in columns if _is_of(enum, one.type) and not one.type.is_array)
                yield from (f"column {one.name} of {what}" for one in own)
                named = [one for one in columns if one.default is not None and _names(enum, [one.default])]
                yield from (
                    f"default value for column {one.name} of {what}" for one in named if not _is_of(enum, one.type)
                )
                for constraint in entry.description.constraints:
                    if constraint.condition is not None and _names(enum, [constraint.condition]):
                        yield f"constraint {constraint.name} on {what}"
            case ViewEntry() | QueryViewEntry():
                roots = [_root(state, image) for state in states_of(entry)]
                if entry.description.query is not None:
                    roots.append(entry.description.query.root)
                if any(_names(enum, expressions_of(root)) for root in roots):
                    yield what


def _names(enum: EnumType, expressions: Iterator[Expression] | list[Expression]) -> bool:
    return any(_is_of(enum, node.type) for item in expressions for node in walk(item))
