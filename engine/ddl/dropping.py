"""DROP of streams, views, tables and sequences, with their dependents.

Enters: a statement, a `TableWork`. Leaves: the work's image without the relations, their physical
tables dropped, notices. Raises 42P01 (with a hint) for an unknown name, 42809 for a relation of
another kind, 2BP01 when a relation has dependents and CASCADE is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engine.catalog.functions import with_functions
from engine.catalog.image import WORDS, Entry, SequenceEntry, StreamEntry, TableEntry, states_of
from engine.ddl.dependents import SEVERAL, Dependent, cascade_notice, dependents_of, owned_by, refusal, shown
from engine.ddl.table_names import index_names
from engine.ddl.table_references import drop_constraint
from engine.ddl.table_work import TableWork
from sql.errors import SqlError, not_supported
from sql.names.relation_keys import NOWHERE, name_of, schema_of
from sql.names.suggestions import did_you_mean
from sql.parse.statements.drop import DropRelation

NAMED_MAX = 100  # of views whose loss a notice lists


def drop(statement: DropRelation, work: TableWork) -> None:
    """Drop the named relations."""
    gone = _named(statement, work)
    for entry in gone:
        _refuse_needed_sequence(entry, gone, work)
    found = dependents_of(work.image, gone)
    if found and not statement.cascade:
        if len(gone) > 1:
            raise refusal(SEVERAL, found)
        raise refusal(shown(gone[0]), found)
    if found:
        text, detail = cascade_notice([one.text for one in found])
        work.notice(text, detail=detail)
    drop_with(gone, found, work)


def drop_with(gone: Sequence[Entry], found: Sequence[Dependent], work: TableWork) -> None:
    """Drop relations, and dependents of these or of other objects. Raises 0A000 for the default of
    a stream.
    """
    for one in found:
        if isinstance(one.entry, StreamEntry) and not one.is_whole:
            raise not_supported(f"DROP ... CASCADE to {one.text}")
        if one.column is not None:
            _drop_default(one, work)
    remove([*gone, *(one.relation for one in found if one.is_whole and one.relation is not None)], work)
    functions = {one.oid for one in found if one.relation is None}
    if functions:
        kept = [one for oid, one in work.image.functions.items() if oid not in functions]
        work.image = with_functions(work.image, kept)
    for one in found:
        drop_constraint(one, work)


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


def _drop_default(one: Dependent, work: TableWork) -> None:
    table = work.image.by_oid(one.oid)
    if isinstance(table, TableEntry):
        defaults = {number: source for number, source in table.defaults.items() if number != one.column}
        columns = (
            replace(column, default=None) if column.number == one.column else column
            for column in table.description.columns
        )
        description = replace(table.description, columns=tuple(columns))
        changed = replace(table, defaults=defaults, description=description)
        work.image = work.image.with_replaced(table.description.name, changed)
