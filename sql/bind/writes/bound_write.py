"""The common part of bound INSERTs, UPDATEs and DELETEs, and the last step of binding them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

from sql.bind.expressions.coerce import refuse_wide_numbers
from sql.bind.expressions.context import BindContext
from sql.bind.queries.locking import locked_reads
from sql.bind.sharing import settled
from sql.bind.writes.write_target import reads_columns
from sql.catalog.catalog import RelationDescription
from sql.tree.relations import LockedRead, Project, Relation, VersionRead
from sql.tree.walks import scans
from sql.types.datatypes import SqlType


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundWrite:
    """A bound statement that writes to a relation.

    Attributes:
        source: what is written, see the statements.
        returning: what the client gets of the written rows, None without RETURNING.
        parameters: the types of the statement's parameters.
        relations: names of all that is scanned, but for the rows of the statement itself.
        stable: it uses now() or the like, or locks rows.
        named: the relations that the text reads, ordinary views among them.
        needed: the letters of the privileges that it takes to do this to `relation`, as
            PostgreSQL's access lists have them.
        functions: as of a BoundQuery, those below views among them.
        versions: reads of views as versions before it writes.
    """

    relation: RelationDescription
    source: Relation
    returning: Relation | None
    parameters: tuple[SqlType, ...]
    relations: frozenset[str]
    stable: bool
    locked: tuple[LockedRead, ...]
    named: frozenset[str]
    needed: str
    functions: frozenset[tuple[str, int]]
    versions: tuple[VersionRead, ...] = ()


Write = TypeVar("Write", bound=BoundWrite)


def settled_tree(root: Relation, context: BindContext) -> Relation:
    """Return a tree of the statement as it is run. Raises 22003 for constants that are too wide."""
    return settled(refuse_wide_numbers(root, context))


def bound_write(
    kind: type[Write],
    context: BindContext,
    relation: RelationDescription,
    source: Relation,
    returning: Relation | None,
    needed: str,
    reads: bool,
    updates: Relation | None = None,
    **own: Any,
) -> Write:
    """Return the bound statement.

    needed: the privileges for writing; reading the target's columns takes one more. reads: the
    statement does so before RETURNING. updates: one more tree of the statement, settled. own: the
    fields that the kind has alone.
    """
    source = settled_tree(source, context)
    if returning is not None:
        returning = settled_tree(returning, context)
    locked = locked_reads(context, source, returning, updates)
    versions = tuple(context.versions or ())
    below = (part for one in versions for part in (one.root, one.since))
    roots = (source, returning, updates, *(one.root for one in locked), *below)
    shown = tuple(item for _, item in returning.items) if isinstance(returning, Project) else ()
    return kind(
        relation=relation,
        source=source,
        returning=returning,
        parameters=context.parameters.finish(),
        relations=frozenset(
            one.name for root in roots if root is not None for one in scans(root) if one.kind != "rows"
        ),
        stable=context.stable or bool(versions),
        locked=locked,
        named=frozenset(context.named),
        needed=needed + "r" * (reads or reads_columns(relation, *shown)),
        functions=context.references.every,
        versions=versions,
        **own,
    )
