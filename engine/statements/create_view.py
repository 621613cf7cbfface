"""CREATE VIEW: a continuous view if there is a stream below it, else an ordinary one.

Enters: the statement with its transaction. Leaves: an outcome; the transaction has a catalog of its
own. Kernels are compiled and pipelines run while others define: the statement then begins anew,
with the catalog of that time, so that it holds up nobody else. Must not know messages.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from engine.catalog.image import ViewEntry, states_of
from engine.commit.transaction import stages_among
from engine.ddl.definitions import ViewEngines, build_continuous, creating_settings, require_free
from engine.ddl.query_views import define_query_view, reads_stream
from engine.ddl.view_alterations import require_view, settle_output
from engine.ddl.view_replacing import replace_view, replaced_view
from engine.execution.defining import with_tables
from engine.execution.outcome import Outcome
from engine.execution.registry import Define, handles, surrounds
from engine.execution.work import Work
from engine.ingest.transform_views import defined_transform
from engine.ingest.transforms import StreamTransform, streams_of
from engine.spark.awaited_pipelines import AwaitedPipelines, PipelineNeededError
from engine.statements.backfill import new_backfill
from engine.storage.errors import disk_error
from engine.storage.kernel_files import KernelNeededError
from engine.tables.sequence_functions import in_session
from engine.tables.table_source import TransactionTables
from ringbuffer.compile.loader import KernelFileError
from sql.bind.queries.query import bind_query
from sql.bind.substitute import substitute_now
from sql.catalog.catalog import SessionSettings
from sql.catalog.schemas import SYSTEM_SCHEMAS
from sql.emit.duckdb import emit_duckdb
from sql.emit.strict_nulls import without_strict_nulls
from sql.errors import SqlError, not_supported
from sql.interrupts import interrupted_by
from sql.names.relation_keys import in_temporary_schema, name_of, relation_key, schema_of, shown, temporary_schema
from sql.parse.statements.create_view import CreateView
from sql.tree.relations import BoundQuery
from sql.tree.walks import scans
from views.upkeep.chain import Chain


@surrounds(CreateView)
async def awaiting_engines(statement: CreateView, work: Work, define: Define) -> Outcome:
    """Do all of CREATE VIEW by `define`, anew with the catalog of that time whenever it had to
    wait.
    """
    transaction, threads = work.transaction, work.threads
    pipelines = AwaitedPipelines(work.server.engines.upper, work.client)
    kernels = work.server.engines.kernels.checked_by(threads.check_cancelled)
    # Only a transaction that has neither defined nor read anything may begin anew.
    if transaction.holds_ddl_lock or transaction.tables is not None or transaction.pins is not None:
        return await define(replace(work, kernels=kernels, pipelines=pipelines))
    operations_count = len(transaction.operations)
    pipelines.is_later = True
    with kernels.awaited() as compile_needed:
        while True:
            try:
                return await define(replace(work, kernels=kernels.compiling_later(), pipelines=pipelines))
            except (KernelNeededError, PipelineNeededError) as needed:
                wait = needed
            # Others define meanwhile.
            del transaction.operations[operations_count:]
            work.notices.clear()
            transaction.image = None
            transaction.end_tables()
            work.server.definitions.end(transaction)
            if isinstance(wait, KernelNeededError):
                await threads.in_worker(compile_kernel, compile_needed, wait, statement)
            else:
                await threads.in_worker(pipelines.run_needed, wait)


def compile_kernel(
    compile_needed: Callable[[KernelNeededError], None], kernel: KernelNeededError, statement: CreateView
) -> None:
    """Compile a kernel that the statement needs. Raises 53100 or 58030."""
    try:
        compile_needed(kernel)
    except KernelFileError as error:
        raise disk_error(error.error, f'write the kernels of view "{shown(statement.name)}"') from error


@handles(CreateView)
async def create_view(statement: CreateView, work: Work) -> None:
    """Make a continuous view if there is a stream below it, else an ordinary one.

    In `define_view`, it may have to begin anew.
    """
    image, named = work.image, statement
    statement, captured, bound = await work.threads.with_text(statement.text, bound_definition, statement, work)
    if statement.name != named.name:
        work.notice("00000", f'view "{name_of(statement.name)}" will be a temporary view')
        if named.has_schema:
            raise SqlError("42P16", "cannot create temporary relation in non-temporary schema")
        if not work.identity.bypasses():
            work.identity.checks(image).check(statement)
    before = replaced_view(statement, image)
    if statement.backfill is not None and (statement.is_transform or not reads_stream(bound, image)):
        raise not_supported("WITH (backfill) for what is no continuous view")
    if before is not None and not statement.is_transform:
        await work.threads.in_worker(interrupted, replace_before, statement, before, captured, bound, work)
        await with_tables(work, settle_output, statement.name, work.server.stream_options)
        return
    if before is None:
        require_free(image, statement.name)
    transform = defined_transform(statement, bound, image, captured, before)
    if transform is not None:
        work.identity.require(image, bound)
        await work.threads.in_worker(interrupted, build_transform, transform, work)
        return
    if not reads_stream(bound, image):
        # What a role may read of the catalog, no owner gives to others.
        of_catalog = frozenset(name for name in bound.named if schema_of(name) in SYSTEM_SCHEMAS)
        work.identity.require(image, BoundQuery(bound.root, (), of_catalog, bound.stable, of_catalog))
        entry = define_query_view(statement, bound, image, captured, image.next_oid)
        await work.threads.in_worker(interrupted, refuse_unread, entry, work)
        work.transaction.change_catalog(image.with_entry(entry))
    else:
        # The view has its contents from now on; the rights of an ordinary view are checked when it
        # is read.
        work.identity.require(image, bound)
        await work.threads.in_worker(interrupted, build, statement, captured, bound, work)
        if "output" in statement.options:
            await with_tables(work, settle_output, statement.name, work.server.stream_options)


def bound_definition(statement: CreateView, work: Work) -> tuple[CreateView, SessionSettings, BoundQuery]:
    """Return the statement, the settings of its query, and the bound query.

    A view that reads temporary relations is temporary itself.
    """
    settings, image = work.settings.captured(), work.image
    goes = in_temporary_schema(statement.name)
    captured = creating_settings(statement, settings.shared(is_temporary=goes or settings.has_temporary))
    bound = bind_query(statement.query, image, captured)
    if not goes and settings.has_temporary:
        if any(map(in_temporary_schema, bound.relations | bound.named)):
            own = temporary_schema(settings.process_id)
            statement = replace(statement, name=relation_key(own, name_of(statement.name)))
        else:
            # No name in the query is temporary, so that the names mean the same without the
            # temporary schema.
            captured = creating_settings(statement, settings.shared())
    return statement, captured, bound


def interrupted(make: Callable[..., None], *arguments: Any) -> None:
    """Do work that takes seconds for a long query, such as to write its kernel.

    Cancel and timeouts end the work.

    The last argument is the work of the statement.
    """
    with interrupted_by(arguments[-1].threads.check_cancelled):
        make(*arguments)


def build(statement: CreateView, captured: SessionSettings, bound: BoundQuery, work: Work) -> None:
    """Build a view over streams."""
    backfill = None if statement.backfill is None else new_backfill(statement, bound, work)
    if backfill is not None:
        backfill.begin()
    entry = build_continuous(statement, bound, work.image, captured, engines_of(work))
    if backfill is not None:
        backfill.fill([state.chain for state in states_of(entry)])
    for state in states_of(entry):
        work.transaction.built.append(state.chain)
        for notice in state.chain.notices:
            work.notice("00000", notice)
    work.transaction.change_catalog(work.image.with_entry(entry))


def build_transform(entry: ViewEntry, work: Work) -> None:
    """Make a transform, whose owner has to have the right to write to its stream."""
    image = work.image.with_entry(entry)
    work.identity.require_privilege(image, streams_of(entry, image)[1].description.name, "a")
    made = StreamTransform(entry, image, work.server.engines.tables)
    try:
        made.compile(work.kernels)
        work.kernels.make_durable(made.kernel_paths)
    except (KernelFileError, OSError) as error:
        of_system = error.error if isinstance(error, KernelFileError) else error
        raise disk_error(of_system, f'write the kernels of view "{shown(entry.description.name)}"') from error
    assert entry.output is not None
    entry.output.kept[:] = [made]
    work.transaction.change_catalog(image)


def replace_before(
    statement: CreateView, before: ViewEntry, captured: SessionSettings, bound: BoundQuery, work: Work
) -> None:
    """Put a view in the place of an existing one."""
    backfill = None if statement.backfill is None else new_backfill(statement, bound, work)
    if backfill is not None:
        backfill.begin()
    image, built, notices = replace_view(
        statement,
        before,
        work.image,
        captured,
        bound,
        engines_of(work),
        work.identity.require,
        work.transaction.now_us,
    )
    for chain in built:
        if chain.state.inherits is not None:
            require_unwritten(chain, work)
            # Again at the commit; what the transaction reads until then is of now.
            chain.state.inherit(work.server.catalog.lock)
    if backfill is not None:
        grown = [chain for chain in built if chain.state.inherits is not None]
        if grown:
            backfill.fill_added(grown)
        else:
            # The view begins anew.
            backfill.fill(built)
    work.transaction.built += built
    refuse_unread(require_view(image.entries[statement.name]), work)
    for text, detail in notices:
        work.notice("00000", text, detail=detail)
    work.transaction.change_catalog(image)


def require_unwritten(chain: Chain, work: Work) -> None:
    """Raise 0A000 where the transaction has rows for the state that a new one takes the place
    of.
    """
    stages = stages_among(work.transaction.operations)
    if any(stage.stream.name == chain.stream_name for stage in stages):
        what = f'a change of what view "{chain.definition.shown}" counts after rows of the same transaction'
        raise not_supported(what, hint="Commit the rows first.")


def refuse_unread(entry: ViewEntry, work: Work) -> None:
    """Raise 0A000 for an ordinary view that has something which the embedded engine refuses, and
    which would be refused at each reading.
    """
    query = entry.description.query
    if query is None or entry.states:
        return
    work.sequences.image = work.image
    try:
        root = in_session(substitute_now(query.root, work.transaction.now_us), work.sequences)
        emit_duckdb(without_strict_nulls(root), {scan.name: scan.name for scan in scans(root)})
    except SqlError as error:
        # What fails by a value is an error of who reads it.
        if error.sqlstate == "0A000":
            raise


def engines_of(work: Work) -> ViewEngines:
    """Return the engines with which a view is built."""
    tables = TransactionTables(work.server.transactions.begin_tables(work.transaction))
    return ViewEngines(work.kernels, work.pipelines, tables, work.server.engines.tables)
