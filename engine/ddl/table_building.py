"""CREATE TABLE and the sequences of its columns: from a statement to an entry and a physical table.

Enters: statements, a `TableWork`. Leaves: entries in the work's image. Raises PostgreSQL's errors
for impossible tables.
"""

from __future__ import annotations

from dataclasses import replace

from engine.catalog.image import SequenceEntry, SourceText, TableData, TableEntry
from engine.catalog.kept_properties import with_parameters
from engine.catalog.sequences import SequenceCounter, SequenceDefinition, resolve
from engine.ddl.definitions import require_free
from engine.ddl.table_constraints import with_check, with_key, without_repeated
from engine.ddl.table_names import relation_names, sequence_name
from engine.ddl.table_references import with_reference
from engine.ddl.table_work import TableWork
from engine.tables.table_expressions import bound_default, new_default, sequence_description
from sql.catalog.catalog import ColumnDescription, RelationDescription
from sql.errors import SqlError
from sql.names.relation_keys import name_of, quoted_key, relation_key, schema_of, written_schema
from sql.parse.statements.create_table import CreateTable
from sql.parse.statements.parts import TableColumn
from sql.tree.relations import Schema
from sql.types.datatypes import TEXT, SqlType
from sql.types.records import require_stored

COLUMNS_MAX = 1600
SYSTEM_COLUMNS = frozenset({"tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"})


def build_table(statement: CreateTable, work: TableWork) -> TableEntry:
    """Create a table with everything that belongs to it."""
    entry = with_parameters(empty_table(statement.name, work), statement.parameters)
    for column in statement.columns:
        entry = with_column(entry, column, work)
    constraints = [one for column in statement.columns for one in column.constraints] + list(statement.constraints)
    for constraint in constraints:
        if constraint.kind == "check":
            entry = with_check(entry, constraint, work)
    for key in without_repeated([one for one in constraints if one.kind in ("primary key", "unique")]):
        entry = with_key(entry, key, work)
    for constraint in constraints:
        if constraint.reference is not None:
            entry = with_reference(entry, constraint, work)
    work.image = work.image.with_entry(entry)
    work.create(entry)
    return entry


def build_table_as(statement: CreateTable, schema: Schema, work: TableWork) -> TableEntry:
    """Create an empty table with the columns of a query.

    Raises 42601 for too many names and 42701 for a name that comes twice.
    """
    if len(statement.column_names) > len(schema):
        raise SqlError("42601", "too many column names were specified")
    names = [*statement.column_names, *(column.name for column in schema[len(statement.column_names) :])]
    entry = with_parameters(empty_table(statement.name, work), statement.parameters)
    for name, column in zip(names, schema, strict=True):
        require_stored(name, column.type)
        entry = with_column(entry, TableColumn(name, stored_type(column.type)), work)
    work.image = work.image.with_entry(entry)
    work.create(entry)
    return entry


def empty_table(name: str, work: TableWork) -> TableEntry:
    """Return the entry of a table without columns."""
    oid = work.take_oid()
    return TableEntry(RelationDescription(name, "table", oid, ()), f"r{oid}", 1, {}, {}, {}, TableData())


def with_column(entry: TableEntry, column: TableColumn, work: TableWork) -> TableEntry:
    """Return the entry with one more column, and its sequence in the work's image.

    The caller adds its other constraints.
    """
    description = entry.description
    number = entry.next_number
    if column.name in SYSTEM_COLUMNS:
        raise SqlError("42701", f'column name "{column.name}" conflicts with a system column name')
    if any(known.name == column.name for known in description.columns):
        raise SqlError("42701", f'column "{column.name}" specified more than once')
    if len(description.columns) >= COLUMNS_MAX:
        raise SqlError("54011", f"tables can have at most {COLUMNS_MAX} columns")
    require_stored(column.name, column.type)
    source: SourceText | None = None
    default = None
    if column.default is not None:
        default, source = new_default(column, work.image, work.settings)
    made = ColumnDescription(
        column.name,
        column.type,
        column.not_null or column.serial or column.identity is not None,
        default,
        number,
        column.identity,
    )
    if column.serial or column.identity is not None:
        source = next_value(own_sequence(description, column, number, work), work.settings.time_zone)
        default, source = bound_default(made, source, work.image)
        made = replace(made, default=default)
    return replace(
        entry,
        description=replace(description, columns=(*description.columns, made)),
        next_number=number + 1,
        defaults=entry.defaults if source is None else {**entry.defaults, number: source},
    )


def own_sequence(table: RelationDescription, column: TableColumn, number: int, work: TableWork) -> SequenceEntry:
    """Create the sequence of a serial or identity column in the work's image."""
    options = column.identity_options
    if options.owned_by is not None:
        raise SqlError("42601", "invalid OWNED BY option")
    if options.name is None:
        name = sequence_name(table.name, column.name, relation_names(work.image) | {table.name})
    else:
        schema = written_schema(options.name)
        name = relation_key(schema_of(table.name) if schema is None else schema, name_of(options.name))
    definition = resolve(options, column.type)
    return create_sequence(name, definition, work, (table.oid, number), identity=column.identity is not None)


def create_sequence(
    name: str,
    definition: SequenceDefinition,
    work: TableWork,
    owner: tuple[int, int] | None = None,
    identity: bool = False,
) -> SequenceEntry:
    """Create a sequence in the work's image; its last value is stored at COMMIT."""
    require_free(work.image, name)
    description = sequence_description(name, work.take_oid())
    counter = SequenceCounter(work.take_oid(), definition.start)
    entry = SequenceEntry(description, definition, counter, owner, identity)
    work.image = work.image.with_entry(entry)
    return entry


def restarted(entry: SequenceEntry, work: TableWork, value: int | None = None) -> SequenceEntry:
    """Return a sequence that begins again, with a counter of its own, so that ROLLBACK finds the
    old one as it was.
    """
    first = entry.definition.start if value is None else value
    return replace(entry, counter=SequenceCounter(work.take_oid(), first))


def stored_type(kind: SqlType) -> SqlType:
    """Return the type of a column that holds values of `kind`: text for an unknown type, any scale
    for a plain numeric.
    """
    if kind.family == "unknown":
        return TEXT
    if kind.family == "numeric" and kind.precision is None:
        return SqlType("numeric")
    return kind


def next_value(sequence: SequenceEntry, time_zone: str) -> SourceText:
    """Return the default of a column that has a sequence of its own."""
    name = quoted_key(sequence.description.name)
    quoted = name.replace("'", "''")
    return SourceText(f"nextval('{quoted}')", time_zone, sequences=((name, sequence.description.oid),))
