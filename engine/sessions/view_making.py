"""CREATE VIEW: a continuous view if there is a stream below it, else an ordinary one; what it compiles and runs holds up nobody else.

Enters: the statement with its transaction. Leaves: an outcome; the transaction has a catalog of its own. Kernels are compiled and
pipelines run while others define: the statement then begins anew, with the catalog of that time. Must not know messages.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.catalog.image import CatalogImage, QueryViewEntry, ViewEntry
from engine.commit.transaction import Transaction
from engine.ddl.definitions import build_continuous_view, build_split_view, creating_settings, require_free
from engine.ddl.query_views import define_query_view, reads_stream
from engine.ddl.view_replacing import Engines, replace_view, replaced_view
from engine.spark.awaited_pipelines import AwaitedPipelines, PipelineNeededError
from engine.statements.outcome import Outcome
from engine.storage.errors import disk_error
from engine.storage.kernel_files import KernelFiles, KernelNeededError
from engine.tables.table_source import TransactionTables
from ringbuffer.compile.loader import KernelFileError
from sql.bind.query import bind_query
from sql.catalog.catalog import SessionSettings
from sql.interrupts import interrupted_by
from sql.names.relation_keys import in_temporary_schema, name_of, relation_key, shown, temporary_schema
from sql.parse.statements.create_view import CreateView
from sql.parse.statements.declaration import Statement

if TYPE_CHECKING:
    from engine.sessions.session import Session

# Does a statement that defines, with all that goes with it.
Define = Callable[[Statement, Transaction], Awaitable[Outcome]]


class ViewMaking:
    """CREATE VIEW of one session. own_image: takes what lets one transaction at a time define, and returns the catalog to change."""

    def __init__(self, session: Session, own_image: Callable[[Transaction], Awaitable[CatalogImage]]) -> None:
        self._session = session
        self._database = session.database
        self._own_image = own_image
        self._kernels: KernelFiles = session.database.kernels
        self._pipelines = AwaitedPipelines(session.database.upper, session)

    async def define(self, statement: CreateView, transaction: Transaction, work: Define) -> Outcome:
        """Do `work`, which comes to `create_view`; anew with the catalog of that time whenever it had to wait for something."""
        pipelines = self._pipelines = AwaitedPipelines(self._database.upper, self._session)
        kernels = self._kernels = self._database.kernels.checked_by(self._session.check_cancelled)
        # Only a transaction that has neither defined nor read anything may begin anew.
        if transaction.holds_ddl_lock or transaction.tables is not None or transaction.pins is not None:
            return await work(statement, transaction)
        operations_count = len(transaction.operations)
        with kernels.awaited() as compile_needed:
            while True:
                self._kernels = kernels.compiling_later()
                pipelines.is_later = True
                try:
                    return await work(statement, transaction)
                except (KernelNeededError, PipelineNeededError) as needed:
                    wait = needed
                # Others define meanwhile.
                del transaction.operations[operations_count:]
                transaction.image = None
                transaction.end_tables()
                self._session.block.release_ddl_lock(transaction)
                if isinstance(wait, KernelNeededError):
                    await self._session.in_worker(self._compile, compile_needed, wait, statement)
                else:
                    await self._session.in_worker(pipelines.run_needed, wait)

    def _compile(
        self, compile_needed: Callable[[KernelNeededError], None], kernel: KernelNeededError, statement: CreateView
    ) -> None:
        try:
            compile_needed(kernel)
        except KernelFileError as error:
            raise disk_error(error.error, f'write the kernels of view "{shown(statement.name)}"') from error

    async def create_view(self, statement: CreateView, transaction: Transaction) -> Outcome:
        """Do CREATE VIEW: a continuous view if there is a stream below it, else an ordinary one. In `define`, it may have to begin anew."""
        image = await self._own_image(transaction)
        before = replaced_view(statement, image)
        if before is not None:
            await self._session.in_worker(self._interrupted, self._replace_view, statement, before, image, transaction)
            return Outcome("CREATE VIEW")
        named = statement
        with_text = self._session.with_text
        statement, captured = await with_text(statement.text, self._with_persistence, statement, image)
        require_free(image, statement.name, statement.name_position)
        bound = await with_text(statement.text, bind_query, statement.query, image, captured)
        if not reads_stream(bound, image):
            entry = await with_text(statement.text, define_query_view, statement, image, captured, image.next_oid)
            transaction.change_catalog(image.with_entry(entry))
        else:
            # It has its contents from now on; what an ordinary view reads is asked when it is read.
            self._session.identity.require(image, bound)
            await self._session.in_worker(self._interrupted, self._build_view, statement, captured, image, transaction)
        if statement.name != named.name:
            self._session.notice("00000", f'view "{named.name}" will be a temporary view')
        return Outcome("CREATE VIEW")

    def _with_persistence(self, statement: CreateView, image: CatalogImage) -> tuple[CreateView, SessionSettings]:
        """Return the statement and what its query is bound with: a view that reads what is temporary is temporary itself."""
        settings = self._session.settings.captured()
        goes = in_temporary_schema(statement.name)
        if not goes and settings.has_temporary:
            bound = bind_query(statement.query, image, settings.shared(is_temporary=True))
            goes = any(map(in_temporary_schema, bound.relations))
            if goes:
                own = temporary_schema(settings.process_id)
                statement = replace(statement, name=relation_key(own, name_of(statement.name)))
        return statement, creating_settings(statement, settings.shared(is_temporary=goes))

    def _interrupted(self, work: Callable[..., None], *arguments: object) -> None:
        """Do work that takes seconds for a long query, such as to write its kernel; cancel and timeouts end it."""
        with interrupted_by(self._session.check_cancelled):
            work(*arguments)

    def _build_view(
        self,
        statement: CreateView,
        captured: SessionSettings,
        image: CatalogImage,
        transaction: Transaction,
    ) -> None:
        engines = self._engines(transaction)
        entries = build_split_view(statement, image, captured, *engines)
        if not entries:
            entries.append(build_continuous_view(statement, image, captured, *engines))
        for entry in entries:
            if isinstance(entry, ViewEntry):
                transaction.built.append(entry.view)
                for notice in entry.view.notices:
                    self._session.notice("00000", notice)
            image = image.with_entry(entry)
        transaction.change_catalog(image)

    def _engines(self, transaction: Transaction) -> Engines:
        """Return what a view is built with."""
        database = self._database
        return self._kernels, self._pipelines, TransactionTables(database.begin_tables(transaction))

    def _replace_view(
        self,
        statement: CreateView,
        before: ViewEntry | QueryViewEntry,
        image: CatalogImage,
        transaction: Transaction,
    ) -> None:
        session = self._session
        captured = creating_settings(statement, session.settings.captured().shared())
        engines = self._engines(transaction)
        image, built, notices = replace_view(statement, before, image, captured, engines, session.identity.require)
        transaction.built += built
        for text, detail in notices:
            session.notice("00000", text, detail=detail)
        transaction.change_catalog(image)
