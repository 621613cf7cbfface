"""DROP of objects with their dependents.

Enters: a statement, a `TableWork`. Leaves: the work's image without the relations, their physical
tables dropped, notices. Raises 42P01 (with a hint) for an unknown name, 42809 for a relation of
another kind, 2BP01 when a relation has dependents and CASCADE is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from engine.catalog.image import WORDS, Entry, SequenceEntry, StreamEntry, TableEntry, states_of
from engine.ddl.definitions import stream_description
from engine.ddl.dependents import (
    SEVERAL,
    Dependent,
    Object,
    dependents_of,
    oid_of,
    owned_by,
    refusal,
    refuse_in_use,
    shown,
    used_by,
)
from engine.ddl.query_views import carried_over
from engine.ddl.table_names import index_names
from engine.ddl.table_references import drop_constraint
from engine.ddl.table_work import TableWork
from engine.tables.table_expressions import with_columns
from sql.catalog.functions import FunctionDescription
from sql.errors import SqlError, not_supported
from sql.names.relation_keys import NOWHERE, name_of, output_keys, schema_of
from sql.names.suggestions import did_you_mean
from sql.parse.statements.drop import DropRelation
from sql.types.enums import EnumType

NAMED_MAX = 100  # of views whose loss a notice lists


def drop(statement: DropRelation, work: TableWork) -> None:
    """Drop the named relations."""
    gone = _named(statement, work)
    for entry in gone:
        _refuse_needed_sequence(entry, gone, work)
    drop_all(gone, statement.cascade, work)


def drop_all(gone: Sequence[Object], cascade: bool, work: TableWork) -> None:
    """Drop objects, with their dependents if CASCADE is said. Raises 2BP01."""
    found = dependents_of(work.image, gone)
    if found:
        tell_dropped(shown(gone[0]) if len(gone) == 1 else SEVERAL, found, cascade, work)
    drop_with(gone, found, work)


def tell_dropped(what: str, found: Sequence[Dependent], cascade: bool, work: TableWork) -> None:
    """Tell the client of what CASCADE drops. Raises 2BP01 without it."""
    if not cascade:
        raise refusal(what, found)
    lines = [f"drop cascades to {one.text}" for one in found]
    several = f"drop cascades to {len(lines)} other objects", "\n".join(lines)
    text, detail = (lines[0], None) if len(lines) == 1 else several
    work.notice(text, detail=detail)


def drop_with(gone: Sequence[Object], found: Sequence[Dependent], work: TableWork) -> None:
    """Drop objects, and dependents of these or of other objects."""
    before = work.image
    whole = [*gone, *(one.entry for one in found if one.is_whole)]
    for one in found:
        if one.column is not None:
            _drop_default(one.oid, one.column, work)
    remove([one for one in whole if not isinstance(one, FunctionDescription | EnumType)], work)
    for one in found:
        drop_constraint(one, work)
    typed = [(one.oid, one.typed) for one in found if one.typed is not None]
    for oid, number in typed:
        _drop_column(oid, number, work)
    work.image = carried_over(before, work.image, dict(typed))
    oids = {oid_of(one) for one in whole}
    functions = {oid: one for oid, one in work.image.functions.items() if oid not in oids}
    types = {key: one for key, one in work.image.types.items() if one.oid not in oids}
    work.image = replace(work.image, functions=MappingProxyType(functions), types=MappingProxyType(types)).without(())


def _drop_column(oid: int, number: int, work: TableWork) -> None:
    """Drop a column on which nothing depends any more. Raises 0A000 for the only one of a stream,
    and for a table that the pipelines of a view have built in.
    """
    entry = work.image.by_oid(oid)
    if isinstance(entry, TableEntry):
        refuse_in_use(work.image, entry)
        work.put(without_column(entry, number, work))
    elif isinstance(entry, StreamEntry):
        work.put(stream_without_column(entry, number))


def without_column(entry: TableEntry, number: int, work: TableWork) -> TableEntry:
    """Return a table without a column, and without the keys, checks and indexes with it; its
    sequences are dropped.

    The physical column stays, unseen, until the table is built anew.
    """
    description = entry.description
    kept = [one for one in description.constraints if number not in used_by(one, description.columns)]
    for lost in description.constraints:
        if lost.is_key and lost not in kept:
            work.tables.execute_ddl(f"DROP INDEX stored.{entry.indexes[lost.name]}")
    work.image = work.image.without([one.description.name for one in owned_by(work.image, description.oid, number)])
    defaults = {known: source for known, source in entry.defaults.items() if known != number}
    changed = replace(entry.with_constraints(kept), defaults=defaults)
    return with_columns(changed, tuple(one for one in description.columns if one.number != number))


def stream_without_column(entry: StreamEntry, number: int) -> StreamEntry:
    """Return a stream without a column, whose place in the ring stays. Raises 0A000 for the only
    one.
    """
    stream = entry.stream
    if len(stream.columns) == 1:
        raise not_supported("a stream without columns")
    changed = stream_without_default(entry, number, not_null=False)
    stream = replace(changed.stream, dropped=stream.dropped | {number})
    return replace(changed, stream=stream, description=stream_description(stream))


def stream_without_default(entry: StreamEntry, number: int, **changes: Any) -> StreamEntry:
    """Return a stream with a column without a default. changes: others of the column."""
    stored = (replace(one, default=None, **changes) if one.number == number else one for one in entry.stream.stored)
    stream = replace(entry.stream, stored=tuple(stored))
    defaults = {known: source for known, source in entry.defaults.items() if known != number}
    return StreamEntry(stream_description(stream), stream, entry.options, defaults)


def counted(entry: Entry) -> tuple[str, int]:
    """Return the name of a view and how many tuples it has counted, 0 for other relations and for
    views that have counted none.

    Several states of one stream have counted the same tuples.
    """
    by_stream: dict[str, int] = {}
    for state in states_of(entry):
        known = by_stream.get(state.stream_name, 0)
        by_stream[state.stream_name] = max(known, state.chain.state.groups.counts.tuples_in)
    return name_of(entry.description.name), sum(by_stream.values())


def tell_lost(lost: Sequence[tuple[str, int]], work: TableWork) -> None:
    """Put a notice about counted tuples into the work, if there are any."""
    if len(lost) == 1:
        ((name, count),) = lost
        work.notice(
            f'continuous view "{name}" had counted {tuples(count)}, {"which is" if count == 1 else "which are"} gone with it'
        )
    elif lost:
        listed = "\n".join(f"view {name}: {tuples(count)}" for name, count in lost[:NAMED_MAX])
        more = f"\nand {len(lost) - NAMED_MAX} more views" if len(lost) > NAMED_MAX else ""
        work.notice(f"{len(lost)} continuous views had counted tuples, which are gone with them", detail=listed + more)


def tuples(count: int) -> str:
    """Return a number of tuples in words."""
    return f"{count} tuple" if count == 1 else f"{count} tuples"


def remove(entries: Sequence[Entry], work: TableWork) -> None:
    """Take relations out of the catalog, tables with their rows and sequences.

    A notice tells what views have counted: nothing brings it back.
    """
    lost = [counted(entry) for entry in entries]
    tell_lost([(name, count) for name, count in lost if count], work)
    keys = [key for entry in entries for key in output_keys(entry.description.oid)]
    entries = [*entries, *(work.image.entries[key] for key in keys if key in work.image.entries)]
    names = [entry.description.name for entry in entries]
    for entry in entries:
        if isinstance(entry, TableEntry):
            work.drop(entry)
            names += [one.description.name for one in owned_by(work.image, entry.description.oid)]
    work.image = work.image.without(names)


def _named(statement: DropRelation, work: TableWork) -> list[Entry]:
    word = WORDS[statement.kind]
    gone: list[Entry] = []
    for name, position in statement.names:
        entry = work.image.entries.get(name)
        if entry is None:
            if name in index_names(work.image):
                use = "Use DROP INDEX to remove an index."
                raise SqlError("42809", f'"{name}" is not a {word}', hint=use, position=position or None)
            if not statement.if_exists:
                alike = [other for other, one in work.image.entries.items() if WORDS[one.description.kind] == word]
                hint = did_you_mean(name, alike, f"the {word}")
                raise SqlError("42P01", f'{word} "{name}" does not exist', hint=hint, position=position or None)
            work.notice(skipped(f'{word} "{name}"', name, work))
            continue
        actual = WORDS[entry.description.kind]
        if actual != word:
            article = "a" if word != "index" else "an"
            raise SqlError(
                "42809",
                f'"{name}" is not {article} {word}',
                hint=f"Use DROP {actual.upper()} to remove a {actual}.",
                position=position or None,
            )
        if entry not in gone:
            gone.append(entry)
    return gone


def skipped(what: str, name: str, work: TableWork) -> str:
    """Return the notice about the object that IF EXISTS has not found, or about its schema."""
    schema = schema_of(name)
    what = what if schema == NOWHERE or schema in work.image.schemas else f'schema "{schema}"'
    return f"{what} does not exist, skipping"


def _refuse_needed_sequence(entry: Entry, gone: Sequence[Entry], work: TableWork) -> None:
    """Raise 2BP01 for the sequence of an identity column, which is dropped with its column only."""
    if not isinstance(entry, SequenceEntry) or not entry.identity or entry.owner is None:
        return
    table = work.image.by_oid(entry.owner[0])
    if table is None or table in gone:
        return
    column = next(one.name for one in table.description.columns if one.number == entry.owner[1])
    what = f"column {column} of {shown(table)}"
    raise SqlError(
        "2BP01",
        f"cannot drop {shown(entry)} because {what} requires it",
        hint=f"You can drop {what} instead.",
    )


def _drop_default(oid: int, number: int, work: TableWork) -> None:
    entry = work.image.by_oid(oid)
    if isinstance(entry, StreamEntry):
        work.put(stream_without_default(entry, number))
    elif isinstance(entry, TableEntry):
        defaults = {known: source for known, source in entry.defaults.items() if known != number}
        columns = (
            replace(column, default=None) if column.number == number else column for column in entry.description.columns
        )
        work.put(replace(entry, defaults=defaults, description=replace(entry.description, columns=tuple(columns))))
