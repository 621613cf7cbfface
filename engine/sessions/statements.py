"""What each statement does in a session: one method per statement.

Enters: statements with their transaction and parameters. Leaves: outcomes; effects are staged in the transaction and happen at its commit.
Must not know messages or sockets.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.catalog.image import CatalogImage, Entry, StreamEntry, TableEntry
from engine.commit.transaction import Transaction
from engine.ingest.copy_in import CopyIn
from engine.ingest.insert import InsertTarget, evaluate_rows, make_target
from engine.sessions.again import statement_again
from engine.sessions.constraint_statements import set_constraints
from engine.sessions.cursors import Cursors
from engine.sessions.definition_statements import DefinitionStatements
from engine.sessions.lock_statements import lock_tables
from engine.sessions.long_texts import in_pieces
from engine.sessions.prepared import Prepared
from engine.sessions.prepared_statements import PreparedStatements
from engine.sessions.read_statements import ReadStatements
from engine.sessions.setting_statements import set_variable, show
from engine.sessions.temporary import TemporaryRelations
from engine.sessions.write_statements import WriteStatements, refuse_read_only
from engine.statements.copy_into_table import CopyIntoTable
from engine.statements.outcome import Outcome, text_outcome
from engine.statements.resolving import names_many, resolved
from sql.bind.insert import BoundInsert, bind_insert
from sql.bind.query import bind_query
from sql.bind.substitute import substitute_parameters
from sql.catalog.schemas import found_key
from sql.errors import SqlError, not_supported
from sql.functions.scalars import VIEW_CHANGES
from sql.names.suggestions import did_you_mean
from sql.parse.grammar.cursor import read_name
from sql.parse.statements.alter_table import AlterTable
from sql.parse.statements.alter_view import AlterView
from sql.parse.statements.checkpoint import Checkpoint
from sql.parse.statements.comment import Comment
from sql.parse.statements.copy import CopyFrom, CopyTo
from sql.parse.statements.create_foreign_table import CreateStream
from sql.parse.statements.create_table import CreateTable
from sql.parse.statements.create_view import CreateView
from sql.parse.statements.cursors import CloseCursor, Declare, Fetch
from sql.parse.statements.declaration import Statement
from sql.parse.statements.delete import Delete, Truncate
from sql.parse.statements.drop import DropRelation
from sql.parse.statements.explain import Explain
from sql.parse.statements.grants import GrantPrivileges
from sql.parse.statements.indexes import CreateIndex, DropIndex, RenameIndex
from sql.parse.statements.insert import Insert
from sql.parse.statements.lock import LockTable
from sql.parse.statements.maintenance import Maintenance
from sql.parse.statements.notifications import Listen, Notify
from sql.parse.statements.owners import ChangeOwner, CommentOn, DropOwned, ReassignOwned
from sql.parse.statements.prepared import Execute, Prepare
from sql.parse.statements.roles import AlterRole, CreateRole, DropRole, GrantRole
from sql.parse.statements.schemas import CreateSchema, DropSchema, RenameSchema
from sql.parse.statements.select import Select
from sql.parse.statements.sequences import AlterSequence, CreateSequence
from sql.parse.statements.session_state import Deallocate, Discard
from sql.parse.statements.types import AlterType, CreateType, DropType
from sql.parse.statements.update import Update
from sql.parse.statements.variables import SetConstraints, SetVariable, Show
from sql.parse.syntax import FunctionCall, SelectBody
from sql.tree.expressions import Call, Literal
from sql.tree.relations import BoundQuery, Project, Values
from sql.types.datatypes import VOID

if TYPE_CHECKING:
    from engine.sessions.session import Session

# A statement that meets a conflict is tried this often in all, with longer and longer waits in between: half a second together.
CONFLICT_ATTEMPTS = 10
CONFLICT_WAIT_S = 0.01


class StatementRunner:
    """Runs the statements of one session, each inside the transaction that the session gives."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._database = session.database
        self._reads = ReadStatements(session)
        self._writes = WriteStatements(session)
        self._definitions = DefinitionStatements(session)
        self.temporary = TemporaryRelations(session, self._definitions)
        self._cursors = Cursors(session)
        self._prepared_statements = PreparedStatements(session)
        # True while one Query runs several statements: they are in one transaction without BEGIN.
        self.in_sequence = False

    def image(self) -> CatalogImage:
        """Return the catalog that the session's next statement sees."""
        transaction = self._session.block.open
        known = None if transaction is None else transaction.image or transaction.snapshot
        return known or self._database.image

    def current_image(self) -> CatalogImage:
        """Return the catalog whose roles and privileges count: the newest, or what the session's transaction has made of it."""
        transaction = self._session.block.open
        return (None if transaction is None else transaction.image) or self._database.image

    async def run(
        self, statement: Statement, transaction: Transaction, parameters: tuple[Literal, ...], prepared: Prepared | None
    ) -> Outcome:
        """Do one statement. Raises SqlError; the session then ends the transaction.

        A conflict with another transaction on tables is tried again, as long as nobody has seen anything of this one.
        """
        self._session.identity.look()
        if isinstance(statement, Execute):
            prepared, parameters = await self._prepared_statements.resolve(statement, transaction)
            statement = prepared.statement
        self._prepare(statement, transaction)
        untouched = transaction.tables is None and not transaction.is_durable and not transaction.holds_ddl_lock
        attempts = CONFLICT_ATTEMPTS if untouched else 1
        is_first = transaction.is_untouched
        staged_count = len(transaction.operations)
        if isinstance(statement, Insert) and statement.on_conflict and untouched and not transaction.explicit:
            target = self._target(statement)
            if target is not None:
                await self._session.cancellable(self._session.block.take_turn(target.description.name))
        while True:
            attempts -= 1
            try:
                outcome = await self._run(statement, transaction, parameters, prepared)
                transaction.note_again(
                    statement_again(self._session, outcome, statement, parameters, prepared), is_first
                )
                return outcome
            except SqlError as error:
                if error.sqlstate != "40001" or not attempts:
                    raise
            transaction.start_over(staged_count)
            self._session.block.release_ddl_lock(transaction)
            transaction.image = None
            await self._session.cancellable(asyncio.sleep(CONFLICT_WAIT_S * (CONFLICT_ATTEMPTS - attempts)))

    async def select(
        self, statement: Select, transaction: Transaction, parameters: tuple[Literal, ...], prepared: Prepared | None
    ) -> Outcome:
        """Do the SELECT of a cursor."""
        return await self._reads.select(statement, transaction, parameters, prepared)

    def describe(self, prepared: Prepared) -> None:
        """Set the columns of what gives the rows of something else, as EXECUTE and FETCH do."""
        if isinstance(prepared.statement, Execute):
            prepared.schema = self._prepared_statements.schema(prepared.statement)
        elif isinstance(prepared.statement, Fetch):
            prepared.schema = self._cursors.schema(prepared.statement)

    def _prepare(self, statement: Statement, transaction: Transaction) -> None:
        """Tell the transaction what this statement needs of the session. Raises 25006 for one that writes where nothing may."""
        settings = self._session.settings
        transaction.time_zone = settings.time_zone
        if transaction.tables is not None:
            transaction.tables.time_zone = settings.time_zone
        self._session.sequences.read_only = settings.read_only
        if statement.writes:
            refuse_read_only(settings, statement.tag)

    async def _run(
        self, statement: Statement, transaction: Transaction, parameters: tuple[Literal, ...], prepared: Prepared | None
    ) -> Outcome:
        written = statement
        if transaction.snapshot is not None and statement.defines:
            # Its names are those of the newest catalog.
            await self._definitions.own_image(transaction)
        statement = await self._resolved(statement)
        self._check_rights(statement)
        match statement:
            case Select() if called_alone(statement) in VIEW_CHANGES:
                return await self._change_view(statement, transaction, parameters, prepared)
            case Select():
                return await self._reads.select(statement, transaction, parameters, prepared)
            case Insert():
                if statement.query is None and isinstance(self._target(statement), StreamEntry):
                    return await self._insert(statement, transaction, parameters, prepared)
                return await self._writes.write(statement, transaction, parameters, prepared)
            case Update() | Delete():
                return await self._writes.write(statement, transaction, parameters, prepared)
            case CopyFrom():
                return await self._writes.copy_file(statement, transaction)
            case CopyTo():
                return await self._reads.copy_to(statement, transaction)
            case Explain():
                return await self._reads.explain(statement, transaction)
            case SetVariable():
                return set_variable(self._session, statement, transaction, self._in_block(transaction))
            case Show():
                return show(self._session.settings, statement)
            case Prepare():
                return self._prepared_statements.prepare(statement, transaction.now_us)
            case Declare():
                in_block = self._in_block(transaction)
                return await self._cursors.declare(statement, transaction, parameters, prepared, in_block)
            case Fetch():
                return await self._cursors.fetch(statement)
            case CloseCursor():
                return self._cursors.close(statement)
            case Listen():
                transaction.listening.append((statement.channel, statement.on))
                return Outcome("LISTEN" if statement.on else "UNLISTEN")
            case Notify():
                self._session.backend.notify(statement.channel, statement.payload)
                return Outcome("NOTIFY")
            case Deallocate():
                self._session.names.deallocate(statement.name)
                return Outcome("DEALLOCATE ALL" if statement.name is None else "DEALLOCATE")
            case Discard():
                return await self._discard(statement, transaction)
            case Maintenance():
                return self._maintain(statement, transaction)
            case LockTable():
                return await lock_tables(self._session, statement, self.image(), self._in_block(transaction))
            case SetConstraints():
                return await set_constraints(self._session, statement, transaction, self._in_block(transaction))
            case Checkpoint():
                # In a transaction too, as in PostgreSQL: what is uncommitted has no part in it.
                await self._session.in_worker(self._database.checkpoint, self._session.check_cancelled)
                return Outcome("CHECKPOINT")
            case _:
                return await self._definitions.define(written, transaction, self._define)

    async def _resolved(self, statement: Statement) -> Statement:
        """Return the statement with keys of relations in the place of names; bind does that for queries and what writes rows."""
        known = statement, self.image(), self._session.settings.captured()
        return await in_pieces(self._session, resolved, *known) if names_many(statement) else resolved(*known)

    def _check_rights(self, statement: Statement) -> None:
        """Raise 42501 when the session's role may not do this. Who binds a query asks about that (`Identity.require`)."""
        identity = self._session.identity
        if not identity.bypasses():
            identity.checks(self.image()).check(statement)

    async def _define(self, statement: Statement, transaction: Transaction) -> Outcome:
        """Do a statement that defines. What it makes is its role's; who owned what is looked at again behind the lock."""
        if isinstance(statement, Truncate):
            return await self._definition(await self._resolved(statement), transaction)
        before = await self._definitions.own_image(transaction)
        statement = await self._resolved(statement)
        self._check_rights(statement)
        self.temporary.make_schema(statement, transaction)
        outcome = await self._definition(statement, transaction)
        self.temporary.note_made(statement, transaction)
        after = transaction.image
        if after is not None and after is not before:
            role = self._session.identity.current(after.roles)
            privileges = after.privileges.after(before.oids, after.oids, role)
            if privileges is not after.privileges:
                transaction.change_catalog(replace(after, privileges=privileges, version=after.version + 1))
        return outcome

    async def _definition(self, statement: Statement, transaction: Transaction) -> Outcome:
        definitions = self._definitions
        match statement:
            case CreateStream():
                return await definitions.create_stream(statement, transaction)
            case CreateView():
                return await definitions.create_view(statement, transaction)
            case CreateTable():
                return await definitions.create_table(statement, transaction)
            case AlterTable():
                return await definitions.alter_table(statement, transaction)
            case CreateIndex() | DropIndex() | RenameIndex():
                return await definitions.change_index(statement, transaction)
            case CreateSequence():
                return await definitions.create_sequence(statement, transaction)
            case AlterSequence():
                return await definitions.alter_sequence(statement, transaction)
            case Truncate():
                return await definitions.truncate(statement, transaction)
            case CreateType() | AlterType() | DropType():
                return await definitions.change_type(statement, transaction)
            case AlterView():
                return await definitions.alter_view(statement, transaction)
            case Comment():
                return await definitions.comment(statement, transaction)
            case DropRelation():
                return await definitions.drop(statement, transaction)
            case DropSchema() | RenameSchema():
                return await definitions.change_schema(statement, transaction)
            case DropOwned():
                return await definitions.drop_owned(statement, transaction)
            case (
                CreateRole()
                | AlterRole()
                | DropRole()
                | GrantRole()
                | GrantPrivileges()
                | ChangeOwner()
                | ReassignOwned()
                | CommentOn()
                | CreateSchema()
            ):
                return await definitions.change_access(statement, transaction)
            case _:
                raise not_supported(type(statement).__name__)

    def open_copy(self, statement: CopyFrom, transaction: Transaction, autocommit: bool) -> CopyIn | CopyIntoTable:
        """Return the COPY that takes the client's data. Raises what the statement has wrong."""
        self._session.identity.look()
        found = resolved(statement, self.image(), self._session.settings.captured())
        assert isinstance(found, CopyFrom), statement
        transaction.note_again(None, is_first=False)
        self._check_rights(found)
        return self._writes.open_copy(found, transaction, autocommit)

    async def _change_view(
        self, statement: Select, transaction: Transaction, parameters: tuple[Literal, ...], prepared: Prepared | None
    ) -> Outcome:
        """Do SELECT truncate_continuous_view('v') and the like."""
        settings = self._session.settings
        if prepared is None:
            bound = bind_query(statement.query, self.image(), settings.captured())
        else:
            prepared.refresh(self.image(), settings)
            assert isinstance(prepared.bound, BoundQuery)
            bound = prepared.bound
        self._session.identity.require(self.image(), bound)
        root = substitute_parameters(bound.root, parameters) if parameters else bound.root
        assert isinstance(root, Project)
        ((column, call),) = root.items
        assert isinstance(call, Call)
        refuse_read_only(settings, f"{call.function}()")
        (argument,) = call.arguments
        if not isinstance(argument, Literal):
            raise not_supported(f"{call.function}() of anything but a constant", call.position)
        if argument.value is not None:
            image = self.image()
            name = found_key(read_name(str(argument.value)), settings.captured(), image.entries.get)
            await self._definitions.change_view(call.function, name, transaction)
        return text_outcome("SELECT 1", [column], [[None if argument.value is None else ""]], VOID)

    def _target(self, statement: Insert) -> Entry | None:
        image = self.image()
        return image.entries.get(found_key(statement.name, self._session.settings.captured(), image.entries.get))

    # INSERT of values into a stream.

    async def _insert(
        self, statement: Insert, transaction: Transaction, parameters: tuple[Literal, ...], prepared: Prepared | None
    ) -> Outcome:
        image = self.image()
        entry = self._target(statement)
        assert isinstance(entry, StreamEntry), statement
        if prepared is not None:
            prepared.refresh(image, self._session.settings)
            bound = prepared.bound
        else:
            session = self._session
            settings = session.settings.captured()
            bound = await session.with_text(statement.text, bind_insert, statement, image, settings)
        assert isinstance(bound, BoundInsert)
        self._session.identity.require(image, bound)
        if bound.relations:
            return await self._writes.write(statement, transaction, parameters, prepared)
        root = substitute_parameters(bound.source, parameters) if parameters else bound.source
        assert isinstance(root, Values)
        target, zone = self._bound_target(entry, bound, transaction), self._session.settings.time_zone
        rows = await self._session.in_worker(
            evaluate_rows, self._database.tables, target, root, transaction.now_us, zone, self._session
        )
        stage = self._database.stage(entry, image, transaction.now_us)
        await self._session.in_worker(stage.add, rows)
        transaction.operations.append(stage)
        return Outcome(f"INSERT 0 {rows.rows_count}")

    def _bound_target(self, entry: StreamEntry, bound: BoundInsert, transaction: Transaction) -> InsertTarget:
        names = [(entry.stream.row[index].name, 0) for index in bound.targets]
        zone = self._session.settings.time_zone
        return make_target(entry, names, self._database.tables, transaction.now_us, zone)

    # Session.

    def _in_block(self, transaction: Transaction) -> bool:
        return transaction.explicit or self.in_sequence

    def _maintain(self, statement: Maintenance, transaction: Transaction) -> Outcome:
        """VACUUM and ANALYZE: DuckDB keeps its statistics with every write, and gives room free at its checkpoints."""
        if statement.tag == "VACUUM":
            self.refuse_in_block("VACUUM", transaction)
        image = self.image()
        for name, position in statement.tables:
            entry = image.entries.get(name)
            if entry is None:
                raise unknown_relation(name, position, image)
            if not isinstance(entry, TableEntry):
                text = f'skipping "{name}" --- cannot {statement.tag.lower()} non-tables or special system tables'
                self._session.notice("01000", text, "WARNING")
        return Outcome(statement.tag)

    def refuse_in_block(self, what: str, transaction: Transaction) -> None:
        """Raise 25001 for what has to be a transaction of its own."""
        if self._in_block(transaction):
            raise SqlError("25001", f"{what} cannot run inside a transaction block")

    async def _discard(self, statement: Discard, transaction: Transaction) -> Outcome:
        if statement.what == "all":
            self.refuse_in_block("DISCARD ALL", transaction)
            self._session.names.deallocate(None)
            self._session.names.close_portal(None)
            transaction.listening.append((None, False))
            self._session.backend.locks.give_all_back()
            self._session.settings.set("session_authorization", None)
            self._session.settings.reset_all()
        if statement.what in ("all", "sequences"):
            self._session.sequences.forget()
        if statement.what in ("all", "temp"):
            await self.temporary.discard(transaction)
        return Outcome(f"DISCARD {statement.what.upper()}")


def called_alone(statement: Select) -> str:
    """Return the function that is all of a SELECT, or an empty text."""
    query, body = statement.query, statement.query.body
    if not isinstance(body, SelectBody) or len(body.targets) != 1 or body.from_items or body.where or body.distinct:
        return ""
    if body.group_by or body.having or query.limit or query.offset or query.order_by or query.common_tables:
        return ""
    call = body.targets[0].expression
    return call.name if isinstance(call, FunctionCall) else ""


def unknown_relation(name: str, position: int, image: CatalogImage) -> SqlError:
    """Return the 42P01 error, with a hint when a known name is close."""
    hint = did_you_mean(name, image.relation_names())
    return SqlError("42P01", f'relation "{name}" does not exist', hint=hint, position=position)
