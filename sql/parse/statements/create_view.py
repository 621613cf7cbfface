"""CREATE [OR REPLACE] [TEMPORARY] VIEW name [(columns)] [WITH (on_error = skip | reject, ...)] AS
query.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sql.errors import SqlError
from sql.names.relation_keys import written_schema
from sql.parse import syntax
from sql.parse.grammar import queries
from sql.parse.grammar.cursor import Cursor
from sql.parse.grammar.from_clause import column_names
from sql.parse.grammar.view_windows import with_window
from sql.parse.statements.declaration import Naming, Right, Statement
from sql.parse.statements.options import relation_options
from sql.parse.statements.rules import begins
from sql.parse.statements.sequences import created_name, persistence


@dataclass(frozen=True)
class CreateView(
    Statement,
    tag="CREATE VIEW",
    defines=True,
    named=(("name", Naming.NEW),),
    rights=(
        ("name", Right.CREATE),
        ("name", Right.REPLACE),
        ("query", Right.NAME_SCHEMAS),
        ("file", Right.READ_FILE),
    ),
):
    """The statement CREATE [OR REPLACE] VIEW name [(columns)] [WITH (options)] AS query.

    Attributes:
        query: with the conditions that options make.
        query_text: the text of the SELECT.
        reset: a replaced view may lose what it has counted; this is not in `options`.
        from_now: a replaced view keeps what it has counted and chooses rows in another way from now
            on; this is not in `options` either.
        backfill: a table, a query or a file whose rows the view counts first, as if they had been
            inserted into its stream; None: none. Nor is this in `options`.
        has_schema: the name was written with a schema.
    """

    name: str
    column_names: tuple[str, ...]
    options: Mapping[str, str]
    query: syntax.Query
    query_text: str
    query_offset: int
    or_replace: bool = False
    reset: bool = False
    from_now: bool = False
    backfill: str | None = None
    has_schema: bool = False

    @property
    def file(self) -> str | None:
        """The file of the server whose rows the view counts first, or None."""
        return self.backfill if self.backfill is not None and is_file(self.backfill) else None

    @property
    def is_transform(self) -> bool:
        """True for a view that makes rows of one stream rows of another."""
        return self.options.get("action") == "transform"


# How names of files end; a table whose name ends so is written in quotes.
FILES = (".csv", ".parquet")
# The values of each option as they are written, and how default_stream_join is set.
STREAM_JOINS = ("frozen", "arrival", "retroactive")
OPTIONS = {
    "on_error": ("reject", "skip"),
    "reset": ("true", "false", "on", "off"),
    "replace": ("from_now",),
    # A table, a query, or a file.
    "backfill": (),
    "eager_grouping": ("true", "false", "on", "off"),
    "stream_join": STREAM_JOINS,
    "freeze_tables": ("true", "false", "on", "off"),
    "upper_maintenance": ("auto", "delta", "spark"),
    # Any name of a time zone.
    "time_zone": (),
    # Any interval.
    "refresh_every": (),
    # output_of('name') has the changes of each version that a schedule makes.
    "output": ("true", "false", "on", "off"),
    # What is done with the rows, and of a transform the stream that gets them.
    "action": ("materialize", "transform"),
    "outputstream": (),
    # A number, and a size.
    "max_groups": (),
    "max_bytes": (),
    # Intervals and columns of windows that slide, the width of their steps in percent, and for how
    # long rows are shown (`sql.parse.grammar.view_windows`).
    "sw": (),
    "sw_column": (),
    "step_factor": (),
    "ttl": (),
    "ttl_column": (),
    # When windows are shown, how much later than their end rows may come, and what becomes of those
    # that come later.
    "emit": ("on_update", "on_close"),
    "lateness": (),
    "late": ("drop", "take"),
}

ON = ("true", "on")


@begins("create view")
def create_view(cursor: Cursor) -> CreateView:
    """Read the statement from its first word."""
    first = cursor.index
    cursor.expect("create")
    or_replace = cursor.accept("or", "replace")
    is_temporary = persistence(cursor)
    cursor.expect("view")
    name = created_name(cursor, is_temporary)
    columns = column_names(cursor)
    repeated = next((column for index, column in enumerate(columns) if column in columns[:index]), None)
    if repeated is not None:
        raise SqlError("42701", f'column "{repeated}" specified more than once')
    options = relation_options(cursor, OPTIONS) if cursor.accept("with") else {}
    reset, how = options.pop("reset", None), options.pop("replace", None)
    backfill = options.pop("backfill", None)
    for option, value in (("reset", reset), ("replace", how)):
        if value is not None and not or_replace:
            raise SqlError("22023", f'parameter "{option}" is one of CREATE OR REPLACE VIEW')
    if how is not None and reset in ON:
        raise SqlError("22023", "replace = from_now keeps what reset = true forgets")
    if how is not None and backfill is not None:
        raise SqlError("22023", "replace = from_now counts no rows of a backfill")
    cursor.expect("as")
    query_offset = cursor.token.start
    cursor.parameters_allowed = False
    query, query_text = cursor.with_text(queries.query)
    cursor.parameters_allowed = True
    check_position = cursor.position
    if cursor.accept("with"):
        cursor.accept_any("cascaded", "local")
        cursor.expect("check", "option")
        cursor.refuse("WITH CHECK OPTION", check_position)
    query = with_window(query, options, name, columns)
    text = cursor.text_since(first)
    has_schema = written_schema(name) is not None
    return CreateView(
        text,
        name,
        columns,
        options,
        query,
        query_text,
        query_offset,
        or_replace,
        reset in ON,
        how is not None,
        backfill,
        has_schema,
    )


def is_file(text: str) -> bool:
    """Tell whether the option backfill names a file of the server, and no table or query."""
    return text.lower().endswith(FILES) and not is_query(text)


def is_query(text: str) -> bool:
    """Tell whether the option backfill is a query, and no name."""
    words = text.split(maxsplit=1)
    return bool(words) and (words[0].lower() in queries.STARTS or text.lstrip().startswith("("))
