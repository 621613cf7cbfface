"""The statements that define: streams, views, tables and sequences, made, altered and dropped; TRUNCATE.

Enters: statements with their transaction. Leaves: outcomes; the transaction has a catalog of its own from then on, and physical tables in
its part on durable tables. One transaction at a time does DDL. Must not know messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.catalog.comments import with_comment
from engine.catalog.image import CatalogImage, Entry, QueryViewEntry, SequenceEntry, StreamEntry, TableEntry, ViewEntry
from engine.commit.staging import StatementStage
from engine.commit.transaction import Transaction
from engine.ddl.definitions import build_stream, require_free
from engine.ddl.dropping import drop
from engine.ddl.schema_moves import move, rename_schema
from engine.ddl.schemas import drop_schemas
from engine.ddl.stream_alterations import AlterationTools, alter_stream
from engine.ddl.table_alterations import alter_table
from engine.ddl.table_building import build_table, build_table_as, owned_sequences, restarted
from engine.ddl.table_indexes import create_index, drop_index, rename_index
from engine.ddl.table_likes import build_table_like
from engine.ddl.table_work import TableWork
from engine.ddl.types import change_types, remove_types
from engine.ddl.view_alterations import change_view, renamed, require_view
from engine.dialect.access_statements import run_access_statement
from engine.dialect.privilege_statements import owned_relations, owned_roles, without_grants
from engine.dialect.role_statements import RoleWork
from engine.dialect.schema_statements import dropped_schemas, rename_checked
from engine.ingest.insert import default_row
from engine.sessions.lock_statements import acquire_within
from engine.sessions.view_making import Define, ViewMaking
from engine.statements.outcome import Outcome
from engine.statements.reading import scan_inputs, scan_settings
from engine.statements.sequence_statements import alter_sequence, make_sequence
from engine.streams.ring_rebuild import Reshaping
from engine.streams.stream import Stream
from engine.tables.truncation import truncate_tables, truncated
from ringbuffer.memory.columns import Morsel
from sql.bind.query import bind_query
from sql.bind.substitute import substitute_now
from sql.bind.write_target import stored
from sql.errors import SqlError
from sql.names.relation_keys import TEMPORARY, in_temporary_schema, is_temporary
from sql.names.suggestions import did_you_mean
from sql.parse.statements.alter_table import AlterTable
from sql.parse.statements.alter_view import AlterView
from sql.parse.statements.comment import Comment
from sql.parse.statements.create_foreign_table import CreateStream
from sql.parse.statements.create_table import CreateTable
from sql.parse.statements.create_view import CreateView
from sql.parse.statements.declaration import Statement
from sql.parse.statements.delete import Truncate
from sql.parse.statements.drop import DropRelation
from sql.parse.statements.indexes import CreateIndex, DropIndex, IndexStatement, RenameIndex
from sql.parse.statements.owners import DropOwned
from sql.parse.statements.schemas import DropSchema, RenameSchema
from sql.parse.statements.sequences import AlterSequence, CreateSequence
from sql.parse.statements.types import TypeStatement
from sql.tree.expressions import Column, Expression
from sql.tree.relations import Project
from views.upkeep.refresh import Reader

if TYPE_CHECKING:
    from engine.sessions.session import Session


class DefinitionStatements:
    """Runs the defining statements of one session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._database = session.database
        self._views = ViewMaking(session, self.own_image)

    async def define(self, statement: Statement, transaction: Transaction, work: Define) -> Outcome:
        """Do all that a statement which defines does; what CREATE VIEW compiles holds up nobody else's."""
        if isinstance(statement, CreateView):
            return await self._views.define(statement, transaction, work)
        return await work(statement, transaction)

    # Streams and views

    async def create_stream(self, statement: CreateStream, transaction: Transaction) -> Outcome:
        """Do CREATE FOREIGN TABLE."""
        image = await self.own_image(transaction)
        tag = "CREATE FOREIGN TABLE"
        if self._is_there(statement.name, statement.if_not_exists, image):
            return Outcome(tag)
        require_free(image, statement.name, statement.name_position)
        captured = self._session.settings.captured()
        entry = build_stream(statement, image, captured, image.next_oid, self._database.stream_options)
        transaction.change_catalog(image.with_entry(entry))
        # A view is likely to follow.
        self._database.workers.submit(self._database.compilers.prepare)
        return Outcome(tag)

    async def create_view(self, statement: CreateView, transaction: Transaction) -> Outcome:
        """Do CREATE VIEW, in `define`."""
        return await self._views.create_view(statement, transaction)

    async def alter_view(self, statement: AlterView, transaction: Transaction) -> Outcome:
        """Do ALTER VIEW."""
        image = await self.own_image(transaction)
        entry = image.entries.get(statement.name)
        if entry is None:
            if not statement.if_exists:
                hint = did_you_mean(statement.name, image.relation_names())
                raise SqlError("42P01", f'relation "{statement.name}" does not exist', hint=hint)
            self._session.notice("00000", f'relation "{statement.name}" does not exist, skipping')
            return Outcome("ALTER VIEW")
        entry = require_view(entry)
        if statement.change.action == "set schema":
            return await self._move(entry, statement.change.new_name, transaction, "ALTER VIEW")
        self._change_views(*renamed(entry, statement.change, image, self._database.image), transaction)
        return Outcome("ALTER VIEW")

    async def change_view(self, function: str, name: str, transaction: Transaction) -> None:
        """Do one of `sql.functions.scalars.VIEW_CHANGES`."""
        image = await self.own_image(transaction)
        self._session.identity.require_owner(image, name)
        self._change_views(change_view(function, name, image), None, transaction)

    def _change_views(self, image: CatalogImage, said: str | None, transaction: Transaction) -> None:
        if said is not None:
            self._session.notice("00000", said)
        assert transaction.image is not None
        known = set(transaction.image.continuous_views)
        transaction.built += [view for view in image.continuous_views if view not in known]
        transaction.change_catalog(image)

    async def comment(self, statement: Comment, transaction: Transaction) -> Outcome:
        """Do COMMENT ON."""
        transaction.change_catalog(with_comment(statement, await self.own_image(transaction)))
        return Outcome("COMMENT")

    async def drop(self, statement: DropRelation, transaction: Transaction) -> Outcome:
        """Do DROP of anything."""
        work = await self._work(transaction)
        await self._session.in_worker(drop, statement, work)
        return self._finished(work, transaction, statement.tag)

    # Tables

    async def create_table(self, statement: CreateTable, transaction: Transaction) -> Outcome:
        """Do CREATE TABLE, or CREATE TABLE AS, which fills it."""
        work = await self._work(transaction, reads=statement.query is not None)
        tag = statement.tag
        if self._is_there(statement.name, statement.if_not_exists, work.image):
            return Outcome(tag)
        require_free(work.image, statement.name, None)
        if statement.query is None:
            await self._session.in_worker(build_table_like if statement.likes else build_table, statement, work)
            return self._finished(work, transaction, tag)
        count = await self._session.in_thread(self._fill, statement, work, transaction)
        return self._finished(work, transaction, f"SELECT {count}" if statement.with_data else tag)

    def _fill(self, statement: CreateTable, work: TableWork, transaction: Transaction) -> int:
        assert statement.query is not None
        session = self._session
        bound = bind_query(statement.query, work.image, work.settings)
        session.identity.require(work.image, bound)
        entry = build_table_as(statement, bound.root.schema, work)
        if not statement.with_data:
            return 0
        reader = Reader(transaction.now_us, session.check_cancelled, session)
        scanning = scan_settings(session.settings, transaction)
        known = substitute_now(bound.root, transaction.now_us)
        (root,), inputs = scan_inputs(
            self._database, transaction, work.image, bound.relations, [known], reader, scanning
        )
        items = tuple(
            (column.name, stored(Column(index, found.name, found.type), column))
            for index, (found, column) in enumerate(zip(bound.root.schema, entry.description.columns, strict=True))
        )
        rows = work.tables.query(Project(root, items), inputs)
        work.tables.insert(entry, rows)
        return int(rows.num_rows)

    async def alter_table(self, statement: AlterTable, transaction: Transaction) -> Outcome:
        """Do ALTER TABLE or ALTER FOREIGN TABLE."""
        if statement.changes and statement.changes[0].action == "set schema":
            return await self._alter_schema(statement, transaction)
        if not statement.foreign and statement.changes and statement.changes[0].action in ("rename", "rename column"):
            image = await self.own_image(transaction)
            view = image.entries.get(statement.name)
            if isinstance(view, ViewEntry | QueryViewEntry):
                self._change_views(*renamed(view, statement.changes[0], image, self._database.image), transaction)
                return Outcome("ALTER TABLE")
        work = await self._work(transaction)
        entry = self._altered(statement, work, "foreign table" if statement.foreign else "table")
        reshaping = None
        if isinstance(entry, TableEntry):
            await self._session.in_worker(alter_table, statement, entry, work, transaction.now_us)
        elif isinstance(entry, StreamEntry):
            tools = self._alteration_tools(transaction)
            reshaping = await self._session.in_worker(alter_stream, statement, entry, work, tools)
        return self._finished(work, transaction, statement.tag, reshaping)

    async def _alter_schema(self, statement: AlterTable, transaction: Transaction) -> Outcome:
        """Do ALTER TABLE ... SET SCHEMA, which takes views and sequences too."""
        tag = statement.tag
        image = await self.own_image(transaction)
        entry = image.entries.get(statement.name)
        if entry is None or statement.foreign:
            entry = self._altered(statement, await self._work(transaction), "foreign table")
        if entry is None:
            return Outcome(tag)
        return await self._move(entry, statement.changes[0].new_name, transaction, tag)

    async def _move(self, entry: Entry, schema: str, transaction: Transaction, tag: str) -> Outcome:
        """Move a relation into another schema. Raises 3F000 and what `move` raises."""
        work = await self._work(transaction)
        if schema == TEMPORARY or is_temporary(schema) or in_temporary_schema(entry.description.name):
            raise SqlError("0A000", "cannot move objects into or out of temporary schemas")
        if schema not in work.image.schemas:
            raise SqlError("3F000", f'schema "{schema}" does not exist')
        known = set(work.image.continuous_views)
        await self._session.in_worker(move, entry, schema, work)
        transaction.built += [view for view in work.image.continuous_views if view not in known]
        return self._finished(work, transaction, tag)

    def _alteration_tools(self, transaction: Transaction) -> AlterationTools:
        def evaluate(stream: Stream, values: Sequence[Expression | None]) -> Morsel:
            zone = self._session.settings.time_zone
            return default_row(stream, values, self._database.tables, transaction.now_us, zone)

        staged = [operation for operation in transaction.operations if isinstance(operation, StatementStage)]
        return AlterationTools(self._database.stream_options, evaluate, staged, self._session.check_cancelled)

    async def change_index(self, statement: IndexStatement, transaction: Transaction) -> Outcome:
        """Do CREATE INDEX, DROP INDEX or ALTER INDEX."""
        tag = statement.tag
        if not isinstance(statement, RenameIndex) and statement.concurrently:
            self._session.runner.refuse_in_block(f"{tag} CONCURRENTLY", transaction)
        work = await self._work(transaction)
        match statement:
            case CreateIndex():
                await self._session.in_worker(create_index, statement, work, transaction.now_us)
            case DropIndex():
                drop_index(statement, work)
            case RenameIndex():
                rename_index(statement, work)
        return self._finished(work, transaction, tag)

    async def truncate(self, statement: Truncate, transaction: Transaction) -> Outcome:
        """Do TRUNCATE."""
        if statement.restart_identity:
            work = await self._work(transaction)
            for entry in truncated(statement, work.image):
                for sequence in owned_sequences(work, entry):
                    self._session.identity.require_owner(work.image, sequence.description.name)
                    work.image = work.image.with_replaced(sequence.description.name, restarted(sequence, work))
            self._finished(work, transaction, "")
        await self._session.in_worker(self._truncate, statement, transaction)
        return Outcome("TRUNCATE TABLE")

    def _truncate(self, statement: Truncate, transaction: Transaction) -> None:
        require = self._session.identity.require_privilege
        truncate_tables(statement, self._database.begin_tables(transaction), require, self._session.notice)

    # Sequences

    async def create_sequence(self, statement: CreateSequence, transaction: Transaction) -> Outcome:
        """Do CREATE SEQUENCE."""
        work = await self._work(transaction)
        if not self._is_there(statement.name, statement.if_not_exists, work.image):
            make_sequence(statement, work)
        return self._finished(work, transaction, "CREATE SEQUENCE")

    async def alter_sequence(self, statement: AlterSequence, transaction: Transaction) -> Outcome:
        """Do ALTER SEQUENCE."""
        work = await self._work(transaction)
        entry = self._altered(statement, work, "sequence")
        if isinstance(entry, SequenceEntry) and statement.schema is not None:
            return await self._move(entry, statement.schema, transaction, "ALTER SEQUENCE")
        if isinstance(entry, SequenceEntry):
            alter_sequence(statement, entry, work)
        return self._finished(work, transaction, "ALTER SEQUENCE")

    # Roles

    async def change_access(self, statement: Statement, transaction: Transaction) -> Outcome:
        """Do the statements on roles, privileges and owners."""
        image = await self.own_image(transaction)
        session = self._session
        identity, roles = session.identity, image.roles
        settings = session.settings
        encryption = settings.value("password_encryption")
        who = identity.current(roles), identity.session(roles)
        work = RoleWork(image, *who, settings.time_zone, settings.database, encryption)
        tag = await session.in_worker(run_access_statement, statement, work)
        for notice in work.notices:
            session.notice(*notice)
        if work.image is not image:
            transaction.change_catalog(work.image)
        return Outcome(tag)

    async def change_schema(self, statement: DropSchema | RenameSchema, transaction: Transaction) -> Outcome:
        """Do DROP SCHEMA, with all that is in it, and ALTER SCHEMA ... RENAME TO."""
        work = await self._work(transaction)
        session = self._session
        roles = work.image.roles
        access = RoleWork(work.image, session.identity.current(roles), session.identity.session(roles), "UTC")
        if isinstance(statement, RenameSchema):
            rename_checked(statement, access)
            known = set(work.image.continuous_views)
            await session.in_worker(rename_schema, statement.name, statement.new_name, work)
            transaction.built += [view for view in work.image.continuous_views if view not in known]
            return self._finished(work, transaction, "ALTER SCHEMA")
        names = dropped_schemas(statement, access)
        for notice in access.notices:
            session.notice(*notice)
        await session.in_worker(drop_schemas, names, statement.cascade, work)
        return self._finished(work, transaction, "DROP SCHEMA")

    async def drop_whole_schema(self, schema: str, transaction: Transaction) -> None:
        """Drop a schema with all that is in it, without a word."""
        work = await self._work(transaction)
        await self._session.in_worker(drop_schemas, [schema], True, work)
        work.notices.clear()
        self._finished(work, transaction, "")

    async def change_type(self, statement: TypeStatement, transaction: Transaction) -> Outcome:
        """Do CREATE, ALTER and DROP TYPE."""
        work = await self._work(transaction)
        known = set(work.image.continuous_views)
        await self._session.in_worker(change_types, statement, work)
        transaction.built += [view for view in work.image.continuous_views if view not in known]
        return self._finished(work, transaction, statement.tag)

    async def drop_owned(self, statement: DropOwned, transaction: Transaction) -> Outcome:
        """Do DROP OWNED: what roles own is dropped, what they were given is taken back."""
        work = await self._work(transaction)
        session = self._session
        roles = work.image.roles
        access = RoleWork(work.image, session.identity.current(roles), session.identity.session(roles), "UTC")
        gone = owned_roles(statement, access)
        for owned in owned_relations(work.image, gone, statement.cascade):
            try:
                await session.in_worker(drop, owned, work)
            except SqlError as error:
                if error.sqlstate != "2BP01":
                    raise
                message = "cannot drop desired object(s) because other objects depend on them"
                raise replace(error, message=message) from None
        remove_types([one for one in work.image.types.values() if work.image.privileges.owner(one.oid) in gone], work)
        work.image = without_grants(work.image, gone)
        return self._finished(work, transaction, "DROP OWNED")

    # Inside

    async def own_image(self, transaction: Transaction) -> CatalogImage:
        """Return the image that a DDL statement of this transaction changes; one transaction at a time does DDL."""
        if not transaction.holds_ddl_lock:
            timeout_ms = self._session.settings.lock_timeout_ms
            self._session.doing.waits_for_definitions = True
            try:
                await self._session.cancellable(acquire_within(self._database.ddl_lock, timeout_ms))
            finally:
                self._session.doing.waits_for_definitions = False
            transaction.holds_ddl_lock = True
            self._session.check_cancelled()
            transaction.define_in(self._database.image)
        assert transaction.image is not None
        return transaction.image

    async def _work(self, transaction: Transaction, reads: bool = False) -> TableWork:
        """Return the work of a statement that defines tables. reads: it has a query, of views perhaps."""
        image = await self.own_image(transaction)
        views = image.continuous_views if reads else ()
        tables = await self._session.in_worker(self._database.begin_tables, transaction, views)
        tables.image = image
        return TableWork(image, self._session.settings.captured(), tables)

    def _finished(
        self, work: TableWork, transaction: Transaction, tag: str, reshaping: Reshaping | None = None
    ) -> Outcome:
        for sqlstate, text, detail in work.notices:
            self._session.notice(sqlstate, text, detail=detail)
        work.notices.clear()
        if work.image is not transaction.image:
            # What was made has a version of its own, so that plans bound before are told.
            version = max(work.image.version, self._version(transaction))
            transaction.change_catalog(replace(work.image, version=version), reshaping)
        return Outcome(tag)

    def _version(self, transaction: Transaction) -> int:
        assert transaction.image is not None
        return transaction.image.version + 1

    def _is_there(self, name: str, if_not_exists: bool, image: CatalogImage) -> bool:
        if not if_not_exists or name not in image.entries:
            return False
        self._session.notice("42P07", f'relation "{name}" already exists, skipping')
        return True

    def _altered(
        self, statement: AlterTable | AlterSequence, work: TableWork, kind: str
    ) -> TableEntry | StreamEntry | SequenceEntry | None:
        """Return the relation to alter; None: it is not there, and need not be."""
        name, position = statement.name, statement.name_position
        entry = work.image.entries.get(name)
        if entry is None:
            if statement.if_exists:
                self._session.notice("00000", f'relation "{name}" does not exist, skipping')
                return None
            hint = did_you_mean(name, work.image.relation_names())
            raise SqlError("42P01", f'relation "{name}" does not exist', hint=hint, position=position or None)
        if isinstance(entry, (TableEntry, SequenceEntry)) and entry.description.kind == kind:
            return entry
        if isinstance(entry, StreamEntry) and kind != "sequence":
            return entry
        raise SqlError("42809", f'"{name}" is not a {kind}', position=None)
