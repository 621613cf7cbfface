"""The executions of one prepared INSERT into a table, again and again, as one INSERT.

Enters: INSERTs of one row of VALUES, bound, with the values of their parameters. Leaves: all rows
in the table; or none, where one of them may fail: then the executions are done one by one, and the
client is told which it was. Must not know messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from engine.catalog.image import CatalogImage, TableEntry
from engine.catalog.joined_tables import refuse_joined
from engine.execution.outcome import Outcome
from engine.execution.prepared import Prepared
from engine.execution.registry import handles
from engine.execution.work import Work
from engine.statements.table_writes import TableWriter, settled
from engine.tables.sequence_functions import ANSWERED
from sql.bind.substitute import substitute_parameters
from sql.bind.writes.insert import BoundInsert
from sql.parse.statements.declaration import Statement
from sql.tree.expressions import Expression, Literal
from sql.tree.relations import Project, Values
from sql.tree.walks import calls

NOTHING = Outcome("")


class Part(NamedTuple):
    """The executions of one prepared statement among others of the same text.

    Attributes:
        places: their places among all.
        values: of their parameters.
    """

    prepared: Prepared
    places: list[int]
    values: list[tuple[Literal, ...]]


@dataclass(frozen=True)
class InsertRun(Statement, tag="INSERT", writes=True):
    """The executions, by prepared statement, all of which are bound to `image`."""

    image: CatalogImage
    parts: Sequence[Part]


def takes_runs(bound: object, image: CatalogImage) -> bool:
    """Tell whether the executions of a statement are independent of each other, but for keys: its
    one row reads nothing, and nothing is answered for it.
    """
    if not isinstance(bound, BoundInsert) or bound.returning is not None or bound.conflict is not None:
        return False
    entry, source = image.entries.get(bound.relation.name), bound.source
    row = source.input if isinstance(source, Project) else source
    if not isinstance(entry, TableEntry) or not isinstance(row, Values) or len(row.rows) != 1 or bound.relations:
        return False
    references = (one.reference for one in entry.description.constraints)
    if any(reference is not None and reference.oid == entry.description.oid for reference in references):
        return False
    return ANSWERED.isdisjoint(calls(row)) and ANSWERED.intersection(calls(source)) <= {"nextval"}


@handles(InsertRun)
async def insert_run(run: InsertRun, work: Work) -> Outcome:
    """Insert the rows of all executions, or nothing: then the tag is empty."""
    return await work.threads.in_thread(write_run, run, work)


def write_run(run: InsertRun, work: Work) -> Outcome:
    """Write the rows, if none of them can fail."""
    tables = work.server.transactions.begin_tables(work.transaction)
    if work.image is not run.image:
        return NOTHING
    statements = [whole(part, work.transaction.now_us) for part in run.parts]
    for bound in statements:
        work.identity.require(run.image, bound)
    entry = run.image.entries[statements[0].relation.name]
    assert isinstance(entry, TableEntry), entry
    refuse_joined(entry.description.name, run.image.entries.values())
    tables.announce(entry)
    writer = TableWriter(tables, entry, {}, work.transaction.now_us, work.settings.time_zone)
    found = []
    for bound in statements:
        rows = writer.rows_that_go_on(bound.source)
        if rows is None:
            return NOTHING
        found.append(rows)
    rows = pa.concat_tables(found)
    if len(found) > 1:
        rows = rows.take(pa.array(np.argsort(np.concatenate([part.places for part in run.parts]))))
    return Outcome(f"INSERT 0 {rows.num_rows}") if writer.insert_unless_refused(rows, bound.given) else NOTHING


def whole(part: Part, now_us: int) -> BoundInsert:
    """Return the INSERT of the rows of all executions."""
    bound = part.prepared.bound
    assert isinstance(bound, BoundInsert)
    source = bound.source
    row = source.input if isinstance(source, Project) else source
    assert isinstance(row, Values)
    known: list[tuple[Expression, ...]] = []
    for values in part.values:
        one = substitute_parameters(row, values)
        assert isinstance(one, Values)
        known += one.rows
    rows = replace(row, rows=tuple(known))
    joined = replace(bound, source=replace(source, input=rows) if isinstance(source, Project) else rows)
    found = settled(joined, (), now_us)
    assert isinstance(found, BoundInsert)
    return found
