"""CREATE SEQUENCE and ALTER SEQUENCE on the catalog image.

Enters: statements, a `TableWork`. Leaves: entries in the work's image. A restart is undone by
ROLLBACK, as in PostgreSQL.
"""

from __future__ import annotations

from dataclasses import replace

from engine.catalog.image import SequenceEntry, TableEntry
from engine.catalog.sequences import LIMITS, SequenceDefinition, check, no, require_within, resolve
from engine.ddl.definitions import require_free
from engine.ddl.table_building import create_sequence, restarted
from engine.ddl.table_work import TableWork
from sql.errors import SqlError
from sql.names.relation_keys import schema_of
from sql.parse.statements.parts import SequenceOptions
from sql.parse.statements.sequences import AlterSequence, CreateSequence


def make_sequence(statement: CreateSequence, work: TableWork) -> None:
    """Create a sequence."""
    require_free(work.image, statement.name)
    if statement.options.restart is not None:
        raise SqlError("42601", "syntax error: RESTART is an option of ALTER SEQUENCE")
    owner = _owner(statement.options, statement.name, work)
    create_sequence(statement.name, resolve(statement.options), work, owner)


def alter_sequence(statement: AlterSequence, entry: SequenceEntry, work: TableWork) -> None:
    """Change a sequence.

    Options that are not written stay; the next value must lie within the new limits.
    """
    options = statement.options
    definition = _changed(entry.definition, options)
    check(definition, options.cache)
    changed = replace(entry, definition=definition)
    if options.restart is not None and options.restart is not False:
        value = definition.start if options.restart is True else int(options.restart)
        require_within(definition, value, "RESTART")
        changed = restarted(changed, work, value)
    else:
        require_within(definition, entry.counter.last, "RESTART")
    if options.owned_by is not None:
        if entry.identity:
            raise SqlError(
                "0A000", "cannot change ownership of identity sequence", detail=_identity_detail(entry, work)
            )
        changed = replace(changed, owner=_owner(options, statement.name, work))
    work.put(changed)


def _changed(before: SequenceDefinition, options: SequenceOptions) -> SequenceDefinition:
    kind = options.type or before.type
    increment = before.increment if options.increment is None else options.increment
    minimum, maximum = before.minimum, before.maximum
    limit, old_limit = LIMITS[kind.family], LIMITS[before.type.family]
    if maximum == old_limit - 1:
        maximum = limit - 1
    if minimum == -old_limit:
        minimum = -limit
    if options.minimum is not None:
        minimum = (1 if increment > 0 else -limit) if no(options.minimum) else options.minimum
    if options.maximum is not None:
        maximum = (limit - 1 if increment > 0 else -1) if no(options.maximum) else options.maximum
    return SequenceDefinition(
        kind,
        before.start if options.start is None else options.start,
        increment,
        minimum,
        maximum,
        before.cache if options.cache is None else options.cache,
        before.cycle if options.cycle is None else bool(options.cycle),
    )


def _owner(options: SequenceOptions, sequence: str, work: TableWork) -> tuple[int, int] | None:
    if not options.owned_by:
        return None
    table, column = options.owned_by
    entry = work.image.entries.get(table)
    if entry is None:
        raise SqlError("42P01", f'relation "{table}" does not exist')
    if not isinstance(entry, TableEntry):
        raise SqlError("42809", f'sequence cannot be owned by relation "{table}"')
    if schema_of(table) != schema_of(sequence):
        raise SqlError("55000", "sequence must be in same schema as table it is linked to")
    for known in entry.description.columns:
        if known.name == column:
            return entry.description.oid, known.number
    raise SqlError("42703", f'column "{column}" of relation "{table}" does not exist')


def _identity_detail(entry: SequenceEntry, work: TableWork) -> str | None:
    table = None if entry.owner is None else work.image.by_oid(entry.owner[0])
    if table is None:
        return None
    return f'Sequence "{entry.description.name}" is linked to table "{table.description.name}".'
