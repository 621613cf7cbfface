"""INSERT INTO table VALUES (literal, ...), ...: many rows, which a kernel decodes from the text, or
from the parameters of a Bind.

Enters: the text of a Query, or decoded rows. Leaves: a statement with its rows as an Arrow table,
or None: the text is parsed, and bound item by item, or gets its error there. The parser and the
binder see one row of NULLs in the place of the rows, so that names, rights, defaults, ON CONFLICT
and RETURNING are those of every other INSERT. Must not run anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from engine.catalog.image import CatalogImage, TableEntry
from engine.ingest.copy_decoders import field_fallback
from engine.ingest.field_readers import ColumnError, FieldReader, arriving_layout, has_kernel
from engine.ingest.insert import HEAD, head_names, late_literals
from ringbuffer.decode.literals import LiteralDecoder
from ringbuffer.memory.arrow import morsel_to_arrow
from ringbuffer.memory.error_codes import RowError
from sql.bind.writes.insert import BoundInsert, bind_insert
from sql.bind.writes.write_target import listed_columns
from sql.catalog.catalog import SessionSettings
from sql.catalog.schemas import found_key
from sql.errors import SqlError
from sql.names.relation_keys import as_written, name_of
from sql.parse.parse import parse
from sql.parse.statements.declaration import Statement
from sql.parse.statements.insert import Insert
from sql.tree.relations import Project, Scan, Values

# Shorter texts are a few rows, which are parsed in less time than all of this takes.
CHARACTERS_MIN = 1024
# What may follow the rows.
CLAUSES = re.compile(r"\)\s*(?=(?:on\s+conflict|returning)\b)", re.IGNORECASE | re.ASCII)
# No table has this name.
GIVEN = "?given rows?"


@dataclass(frozen=True, eq=False)
class LiteralInsert(Statement, tag="INSERT", writes=True):
    """An INSERT of decoded rows.

    Attributes:
        insert: the statement with one row of NULLs, or the one that was prepared.
        entry: the table whose columns the rows are decoded for.
        rows: the columns that the statement gives.
    """

    insert: Insert
    entry: TableEntry
    rows: pa.Table

    @property
    def inputs(self) -> Mapping[str, pa.Table]:
        """The rows by the name under which the bound statement scans them."""
        return {GIVEN: self.rows}


def bind_literal_insert(statement: LiteralInsert, image: CatalogImage, settings: SessionSettings) -> BoundInsert:
    """Return the INSERT with a scan of its rows.

    Where the table has changed, it is that of the whole text, which also raises errors with their
    positions.
    """
    try:
        bound = bind_insert(statement.insert, image, settings)
        is_same = image.entries.get(bound.relation.name) is statement.entry
    except SqlError:
        is_same = False
    if not is_same:
        (whole,) = parse(statement.text)
        assert isinstance(whole, Insert), statement.text
        return bind_insert(whole, image, settings)
    return scanning(bound)


def with_rows(statement: LiteralInsert, bound: BoundInsert, image: CatalogImage) -> BoundInsert:
    """Return the prepared INSERT with a scan of the rows in the place of its own.

    Raises 40001 where the table has changed since the rows were decoded.
    """
    if image.entries.get(bound.relation.name) is not statement.entry:
        raise SqlError("40001", f'table "{name_of(bound.relation.name)}" was altered while INSERT began')
    return scanning(bound)


def scanning(bound: BoundInsert) -> BoundInsert:
    """Return an INSERT of VALUES with a scan of decoded rows in their place."""
    source = bound.source
    values = source.input if isinstance(source, Project) else source
    assert isinstance(values, Values), values
    scan = Scan(GIVEN, "rows", values.schema)
    return replace(bound, source=replace(source, input=scan) if isinstance(source, Project) else scan)


def literal_insert(text: str, image: CatalogImage, settings: SessionSettings) -> LiteralInsert | None:
    """Return the statement of a text, None if the text is no INSERT of literals into a table.

    text: as the lexer would read it without escapes.
    """
    match = HEAD.match(text)
    if match is None:
        return None
    names, listed = head_names(match)
    try:
        entry = image.entries.get(found_key(as_written(names), settings, image.entries.get))
        if not isinstance(entry, TableEntry) or not entry.description.columns:
            return None
        columns = [entry.description.columns[index] for index in listed_columns(entry.description, listed)]
    except SqlError:
        return None
    # No clause is looked for in a string, and strings in a clause are left to the parser.
    found = CLAUSES.search(text, max(text.rfind("'"), match.end()))
    rows_end, clauses = (len(text), "") if found is None else (found.start() + 1, text[found.end() :])
    layout = tuple(replace(arriving_layout(column), not_null=False) for column in columns)
    zone, styles = settings.time_zone, settings.input_styles
    decoder = LiteralDecoder(layout, field_fallback(columns, zone, styles), late_literals(columns))
    try:
        morsel = decoder.decode(text[:rows_end].encode(), len(match[0].encode()), zone)
        if morsel is None:
            return None
        reader, arrays = FieldReader(zone, styles), []
        for column, values in zip(columns, morsel_to_arrow(morsel, layout).columns, strict=True):
            array = values.combine_chunks()
            arrays.append(array if has_kernel(column.type) else reader.column(column, array, is_binary=False))
        nulls = ", ".join(["NULL"] * len(columns))
        statements = parse(f"{match[0]}({nulls}) {clauses}")
    except (RowError, ColumnError, SqlError):
        return None
    if len(statements) != 1 or not isinstance(statements[0], Insert):
        return None
    rows = pa.Table.from_arrays(arrays, names=[column.name for column in columns])
    return LiteralInsert(text, statements[0], entry, rows)
