"""The steps that all defining statements share: the newest catalog as their own, its names, rights
and owners.

Enters: statements, and the work. Leaves: outcomes; the transaction has a catalog of its own from
then on, and physical tables in its part on durable tables. One transaction at a time defines.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from engine.catalog.image import CatalogImage, Entry
from engine.ddl.schemas import move
from engine.ddl.table_work import TableWork
from engine.execution.outcome import Outcome
from engine.execution.registry import SURROUNDINGS, do
from engine.execution.resolving import names_many, resolved
from engine.execution.work import Work
from sql.errors import SqlError
from sql.names.relation_keys import TEMPORARY, in_temporary_schema, is_temporary
from sql.parse.statements.declaration import Statement


async def allowed(statement: Statement, work: Work) -> Statement:
    """Return the statement with keys of relations in the place of names.

    Raises 42501 for a missing right of the session's role.

    Bind finds the names of queries, and of statements that write rows; their rights come from the
    bound tree (`Identity.require`).
    """
    known = statement, work.image, work.settings.captured()
    statement = await work.threads.in_pieces(resolved, *known) if names_many(statement) else resolved(*known)
    if not work.identity.bypasses():
        work.identity.checks(work.image).check(statement)
    return statement


async def define(written: Statement, known: tuple[CatalogImage, Statement], work: Work) -> Outcome:
    """Do a statement that defines. New objects belong to its role.

    known: the statement as it was allowed for an image; it is allowed again where the newest image
    is another.
    """
    surrounding = SURROUNDINGS.get(type(written))
    if surrounding is None:
        return await define_once(written, known, work)
    return await surrounding(known[1], work, partial(define_once, written, known))


async def define_once(written: Statement, known: tuple[CatalogImage, Statement], work: Work) -> Outcome:
    """Do the statement with the newest catalog of this moment."""
    before = await own_image(work)
    statement = known[1] if known[0] is before else await allowed(written, work)
    work.temporary.make_schema(statement, work)
    outcome = await do(statement, work)
    work.temporary.note_made(statement, work)
    after = work.transaction.image
    if after is not None and after is not before:
        role = work.identity.current(after.roles)
        privileges = after.privileges.after(before.oids, after.oids, role)
        if privileges is not after.privileges:
            work.transaction.change_catalog(replace(after, privileges=privileges, version=after.version + 1))
    return outcome


async def own_image(work: Work) -> CatalogImage:
    """Return the image that a statement of this transaction changes.

    One transaction at a time defines. Raises 55P03, 57014.
    """
    transaction = work.transaction
    if not transaction.holds_ddl_lock:
        await work.threads.for_definitions(acquire_within(work.server.definitions.lock, work.settings.lock_timeout_ms))
        transaction.holds_ddl_lock = True
        work.threads.check_cancelled()
        transaction.define_in(work.server.catalog.image)
    assert transaction.image is not None
    return transaction.image


async def acquire_within(lock: asyncio.Lock, timeout_ms: int) -> None:
    """Take a lock.

    Raises 55P03 when that takes longer than `timeout_ms`; 0: however long it takes.
    """
    try:
        async with asyncio.timeout(timeout_ms / 1000 if timeout_ms else None):
            await lock.acquire()
    except TimeoutError:
        raise SqlError("55P03", "canceling statement due to lock timeout") from None


async def table_work(work: Work, reads: bool = False) -> TableWork:
    """Return the work that changes tables and the catalog.

    reads: the statement has a query, of views perhaps.
    """
    image = await own_image(work)
    views = image.chains if reads else ()
    tables = await work.threads.in_worker(work.server.transactions.begin_tables, work.transaction, views)
    tables.image = image
    return TableWork(work.settings.captured(), tables, work.transaction.now_us)


async def with_tables(work: Work, change: Callable[..., object], *arguments: Any) -> None:
    """Change tables and the catalog by `change`, in a worker; its last argument is the
    TableWork.
    """
    changed = await table_work(work)
    await work.threads.in_worker(change, *arguments, changed)
    finish(changed, work)


def finish(changed: TableWork, work: Work) -> None:
    """Let the transaction go on with the changed catalog, and give the client the notices."""
    for sqlstate, text, detail in changed.notices:
        work.notice(sqlstate, text, detail=detail)
    changed.notices.clear()
    before = work.transaction.image
    assert before is not None
    note_built(changed.image, work)
    if changed.image is not before:
        # A changed catalog has a version of its own, so that plans that were bound before are
        # found.
        version = max(changed.image.version, before.version + 1)
        work.transaction.change_catalog(replace(changed.image, version=version), changed.reshaping)


def note_built(image: CatalogImage, work: Work) -> None:
    """Note the continuous views that an image has and the transaction's catalog has not: the
    statement has built them.
    """
    assert work.transaction.image is not None
    known = {*work.transaction.image.chains, *work.transaction.built}
    work.transaction.built += [view for view in image.chains if view not in known]


def change_views(image: CatalogImage, said: str | None, work: Work) -> None:
    """Let the transaction go on with changed views.

    said: the notices for the client.
    """
    if said is not None:
        work.notice("00000", said)
    note_built(image, work)
    work.transaction.change_catalog(image)


async def move_into_schema(entry: Entry, schema: str, work: Work) -> None:
    """Move a relation into another schema. Raises 3F000 and the errors of `move`."""
    if schema == TEMPORARY or is_temporary(schema) or in_temporary_schema(entry.description.name):
        raise SqlError("0A000", "cannot move objects into or out of temporary schemas")
    if schema not in work.image.schemas:
        raise SqlError("3F000", f'schema "{schema}" does not exist')
    await with_tables(work, move, entry, schema)


def is_there(name: str, if_not_exists: bool, work: Work) -> bool:
    """Tell whether a relation exists already where IF NOT EXISTS is said, and give the client the
    notice.
    """
    if not if_not_exists or name not in work.image.entries:
        return False
    work.notice("42P07", f'relation "{name}" already exists, skipping')
    return True


def altered(name: str, position: int | None, if_exists: bool, work: Work) -> Entry | None:
    """Return the relation to alter; None: it does not exist, and IF EXISTS was said.

    Raises 42P01.
    """
    if if_exists and name not in work.image.entries:
        work.notice("00000", f'relation "{name}" does not exist, skipping')
        return None
    return work.image.existing(name, position)
