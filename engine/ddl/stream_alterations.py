"""ALTER FOREIGN TABLE: each action from a stream's entry to the next.

A new ring is made where the old one does not suit the entry.

Enters: actions as written, a `TableWork`. Leaves: the changed entry in the work's image, and a
`Reshaping` if there is a new ring. A column keeps its place in the ring for ever: a dropped column
is only not seen any more, so that views and the log know their columns by place. Raises
PostgreSQL's errors, and 0A000 for actions that tables can do and streams can't.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from engine.catalog.image import SourceText, StreamEntry
from engine.commit.staging import StatementStage
from engine.ddl.alterations import Alteration
from engine.ddl.definitions import refuse_hidden_name, require_free, stream_description
from engine.ddl.dropping import stream_without_column
from engine.ddl.query_views import carried_over
from engine.ddl.table_work import TableWork
from engine.ddl.view_alterations import with_stream_called
from engine.streams.options import StreamOptions, changed_options, read_options
from engine.streams.ring_rebuild import Reshaping
from engine.streams.stream import Stream, with_defaults
from engine.tables.table_expressions import new_stream_default
from ringbuffer.memory.columns import Morsel
from ringbuffer.ring.ring import Ring
from sql.catalog.catalog import ColumnDescription
from sql.errors import SqlError, not_supported
from sql.functions.volatility import is_volatile
from sql.parse.statements.alter_table import AlterTable
from sql.parse.statements.create_table import COLUMNS_MAX
from sql.parse.statements.parts import TableChange, TableColumn
from sql.tree.expressions import Expression
from sql.types.datatypes import require_column


@dataclass(frozen=True)
class AlterationTools:
    """The parts that an alteration needs besides the catalog.

    Attributes:
        options: of a stream that has none.
        evaluate: one row of all that a stream stores, from an expression or None for each column.
        staged: the rows that the transaction has staged.
    """

    options: StreamOptions
    evaluate: Callable[[Stream, Sequence[Expression | None]], Morsel]
    staged: Sequence[StatementStage]
    check_cancelled: Callable[[], None]


def alter_stream(statement: AlterTable, entry: StreamEntry, tools: AlterationTools, work: TableWork) -> None:
    """Do all actions of the statement, and note the change of the ring, if a new ring is made."""
    before = work.image
    alteration = StreamAlteration(entry, work, tools)
    alteration.do(statement.changes)
    work.reshaping = alteration.finish()
    work.image = carried_over(before, work.image, [entry.description.oid])


class StreamAlteration(Alteration[StreamEntry]):
    """A stream under change."""

    def __init__(self, entry: StreamEntry, work: TableWork, tools: AlterationTools) -> None:
        self._before = entry.stream
        self._tools = tools
        self._needs_ring = False
        actions: dict[str, Callable[[TableChange], None]] = {
            "add column": self._add_column,
            "drop column": self._drop_column,
            "rename": self._rename,
            "set type": self._refuse,
            "set not null": self._set_not_null,
            "add identity": self._refuse,
            "add constraint": self._refuse,
            "alter constraint": self._refuse_timing,
            "drop constraint": self.no_constraint,
            "rename constraint": self.no_constraint,
            "validate constraint": self.no_constraint,
            "options": self._set_options,
            "keep": self._refuse_kept,
        }
        super().__init__(entry, work, actions)

    def _refuse_kept(self, change: TableChange) -> None:
        """Raise 42809 for a property of tables, but take those that change nothing."""
        if change.kept not in ("", "triggers"):
            message = f'ALTER action {change.kept.upper()} cannot be performed on relation "{self.name}"'
            raise SqlError("42809", message, detail="This operation is not supported for foreign tables.")

    def finish(self) -> Reshaping | None:
        """Make the ring anew if that is due. Raises 23502 for rows that the new ring can't have."""
        if not self._needs_ring:
            return None
        stream = self.entry.stream
        options = read_options(self.entry.options, self._tools.options)
        ring = Ring(stream.row_layout, options.capacity, string_capacity=options.string_capacity)
        stream = replace(stream, ring=ring)
        self._put(stream)
        reshaping = Reshaping(self._before, stream)
        reshaping.carry_over(self._tools.check_cancelled)
        for stage in self._tools.staged:
            if stage.stream.oid == stream.oid:
                for morsel in stage.morsels():
                    reshaping.reshaped(morsel)
        return reshaping

    # Columns

    def new_default(self, definition: TableColumn) -> tuple[Expression, SourceText]:
        """Return a default, bound and as it is stored; see `table_expressions`."""
        return new_stream_default(definition, self.work.image, self.work.settings)

    def _add_column(self, change: TableChange) -> None:
        column = change.column
        assert column is not None
        refuse_hidden_name(column.name, None)
        if self.has_column(column.name, change.if_exists):
            return
        refuse_in_stream(column)
        require_column(column.name, column.type)
        before = self.entry.stream
        if len(before.stored) >= COLUMNS_MAX:
            raise SqlError("54011", f"tables can have at most {COLUMNS_MAX} columns")
        number = len(before.stored) + 1
        default = None
        defaults = dict(self.entry.defaults)
        if column.default is not None:
            default, source = self.new_default(column)
            if is_volatile(default):
                hint = "ADD COLUMN without it first; ALTER COLUMN ... SET DEFAULT then is for the rows to come."
                raise not_supported("a volatile default of a column added to a stream", column.position, hint)
            defaults[number] = source
        made = ColumnDescription(column.name, column.type, column.not_null, default, number)
        wider = replace(before, stored=(*before.stored, made))
        added = self._tools.evaluate(wider, [*(None for _ in before.stored), default])
        missing = with_defaults(wider.layout, before.missing, range(len(before.stored)), added)
        self._put(replace(wider, missing=missing), defaults=defaults)
        self._needs_ring = True

    def _drop_column(self, change: TableChange) -> None:
        column = self.column(change)
        if column is None:
            return
        self.drop_users(column, change.cascade)
        self.entry = stream_without_column(self.entry, column.number)
        self.work.put(self.entry)

    def _set_not_null(self, change: TableChange) -> None:
        column = self.present_column(change)
        if not column.not_null:
            self.put_column(replace(column, not_null=True))
            # Rows that come until the commit must be looked at, too.
            self._needs_ring = True

    def _rename(self, change: TableChange) -> None:
        require_free(self.work.image, change.new_name)
        before = self.name
        self._put(replace(self.entry.stream, name=change.new_name))
        self.work.image = with_stream_called(self.work.image, before, change.new_name)

    def _set_options(self, change: TableChange) -> None:
        options = changed_options(self.entry.options, change.options)
        before, after = (read_options(known, self._tools.options) for known in (self.entry.options, options))
        stream = replace(self.entry.stream, timeout_ms=after.timeout_ms, string_capacity=after.string_capacity)
        self._put(stream, options=options)
        self._needs_ring = self._needs_ring or before.capacity != after.capacity

    def _refuse(self, change: TableChange) -> None:
        if change.action == "set type":
            self.column(change)
            raise not_supported(
                "ALTER COLUMN ... TYPE of a stream",
                change.position,
                hint="ADD COLUMN of that type, or cast it where it is read.",
            )
        if change.action == "add identity":
            raise not_supported("GENERATED in a stream", change.position)
        assert change.constraint is not None
        raise not_supported(f"{change.constraint.kind.upper()} in a stream", change.position)

    def _refuse_timing(self, _: TableChange) -> None:
        message = f'ALTER action ALTER CONSTRAINT cannot be performed on relation "{self.name}"'
        raise SqlError("42809", message, detail="This operation is not supported for foreign tables.")

    # Inside

    def put_column(self, column: ColumnDescription, defaults: dict[int, SourceText] | None = None) -> None:
        """See Alteration."""
        refuse_hidden_name(column.name, None)
        stored = tuple(column if one.number == column.number else one for one in self.entry.stream.stored)
        self._put(replace(self.entry.stream, stored=stored), defaults=defaults)

    def _put(
        self,
        stream: Stream,
        options: dict[str, str] | None = None,
        defaults: dict[int, SourceText] | None = None,
    ) -> None:
        before = self.name
        self.entry = StreamEntry(
            stream_description(stream),
            stream,
            self.entry.options if options is None else options,
            self.entry.defaults if defaults is None else defaults,
        )
        self.work.put(self.entry, before)


def refuse_in_stream(column: TableColumn) -> None:
    """Raise 0A000 for a property that can be written at a column of a table, and that a stream does
    not keep.
    """
    refused = [item.kind.upper() for item in column.constraints]
    if column.serial:
        refused.append("serial")
    if column.identity is not None:
        refused.append("GENERATED")
    for what in refused:
        raise not_supported(f"{what} in a stream", column.position)
