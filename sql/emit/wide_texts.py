"""The measuring of texts before DuckDB makes long texts for all rows that it computes at once, of
which it counts nothing.

A text of 20 MB in one row of a table, joined with 2,000 rows, is one text until a function makes a
text of each: `x || n` takes 40 GB before DuckDB looks at its limit again. So the operands of such
functions are measured before, for all rows at once, and so are the rows of an answer. Enters:
printed texts and their expressions. Leaves: the same texts where nothing can be long, else texts
that raise 53200 (`engine/embedded/functions/growing.py`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from sql.emit.names import column_names
from sql.functions.records import field_text
from sql.functions.table import ROWS
from sql.functions.volatility import is_fixed
from sql.tree.expressions import Call, Cast, Expression, Literal
from sql.tree.relations import Join, Recursive, Relation, Scan, Schema, TableFunction, Values
from sql.tree.walks import all_relations, children, columns_of, walk
from sql.types.datatypes import SqlType

# The bytes that a row may have of texts without being measured.
ROW_BYTES = 16_384
# The characters that all declared lengths of a row may come to without being measured: of the
# largest batches, that are as many bytes.
DECLARED_CHARACTERS = 512
CONSTANT_CHARACTERS = 4_096
# A reference to a column, or a growing function of constants: such a text may be written several
# times.
REFERENCE = re.compile(
    r"""(t+\d+|"(?:[^"]|"")*")\."(?:[^"]|"")*"|\(text_(repeat|[lr]pad)(_unfolded)?\('[^']*', \d+(, '[^']*')?\)\)"""
)
TEXTS = frozenset({"text", "varchar", "bpchar", "unknown", "json", "jsonb"})
COLUMNS_SEEN = 8
# Each step may make four times as much as the one before.
STEPS_MAX = 6


def is_wide(kind: SqlType) -> bool:
    """Tell whether values of a type may be long."""
    return kind.family in TEXTS or kind.family == "bytea" or kind.is_array or kind.record is not None


def makes_many(root: Relation) -> bool:
    """Tell whether a long value may be in many rows of the tree without being in memory as often,
    or is made in several steps.
    """
    leaves = steps = 0
    parts = list(all_relations(root))
    # Texts of the catalog are short.
    kinds = {part.kind for part in parts if isinstance(part, Scan)}
    is_of_catalog = kinds == {"catalog"} and not any(isinstance(part, Recursive) for part in parts)
    for part in parts:
        match part:
            case Join() | TableFunction():
                if not is_of_catalog:
                    return True
            case Scan() | Values():
                leaves += 1
        for item in (item for whole in children(part) for item in walk(whole)):
            if is_long_constant(item):
                return True
            steps += isinstance(item, Call) and is_wide(item.type)
        if (leaves > 1 or steps > STEPS_MAX) and not is_of_catalog:
            return True
    return False


def is_long_constant(node: Expression) -> bool:
    """Tell whether a node may be a long value that no column has."""
    match node:
        case Literal(value=str(value)) | Literal(value=bytes(value)):
            return len(value) > CONSTANT_CHARACTERS
        case Call():
            return node.function in ROWS and ROWS[node.function].grows
    return False


class Constants:
    """The constants among expressions, told from their operands, which were asked for before."""

    def __init__(self) -> None:
        self._known: dict[int, bool] = {}

    def has(self, node: Expression) -> bool:
        """Tell whether a node that was noted is a constant, or is a literal."""
        match node:
            case Literal():
                return True
            case Cast():
                return self.has(node.operand)
        return self._known.get(id(node), False)

    def note(self, node: Call) -> None:
        """Remember whether a call is a constant."""
        self._known[id(node)] = is_fixed(node, False) and all(map(self.has, node.arguments))


def measured(text: str, node: Expression, constants: Constants, may_join: bool) -> str:
    """Return an operand of a function that makes texts.

    The operand raises 53200 where all rows of a batch have too much of it.

    may_join: an engine may join by the result, unless the operand is measured; then constants alone
    are measured.
    """
    if not is_wide(node.type):
        return text
    match node:
        case Literal(value=str(value)) | Literal(value=bytes(value)):
            many = len(value) > CONSTANT_CHARACTERS
            return f"CASE WHEN wide_texts_fit(CAST({len(value)} AS BIGINT)) THEN {text} END" if many else text
        case Literal():
            return text
    if constants.has(node):
        if not any(map(is_long_constant, walk(node))):
            return text
    elif may_join or REFERENCE.fullmatch(text) is None:
        # An operand that is no reference is made of measured ones.
        return text
    width = width_of(text, node.type)
    return (
        f"CASE WHEN {width} <= {ROW_BYTES} OR {width} IS NULL THEN {text} WHEN wide_texts_fit({width}) THEN {text} END"
    )


def is_of_several(node: Call, columns: Sequence[str]) -> bool:
    """Tell whether a call reads columns of several FROM items, so that no engine could join by
    it.
    """
    items = {columns[column.index].partition(".")[0] for column in islice(columns_of(node), COLUMNS_SEEN)}
    return len(items) > 1


def measured_rows(text: str, schema: Schema, quoted: list[str]) -> str:
    """Return a query whose rows are measured as they leave it.

    quoted: the names of its columns.
    """
    wide = [place for place, column in enumerate(schema) if is_wide(column.type)]
    if sum(declared_length(schema[place].type) for place in wide) <= DECLARED_CHARACTERS:
        return text
    widths = [f"coalesce({width_of(f'q.{quoted[place]}', schema[place].type)}, 0)" for place in wide]
    whole = f"({' + '.join(widths)})"
    items = [f"q.{name}" for name in quoted]
    first = items[wide[0]]
    items[wide[0]] = f"CASE WHEN {whole} <= {ROW_BYTES} THEN {first} WHEN wide_rows_fit({whole}) THEN {first} END"
    named = (f"{item} AS {name}" for item, name in zip(items, quoted, strict=True))
    return f"SELECT {', '.join(named)}\nFROM (\n{text}\n) AS q"


def declared_length(kind: SqlType) -> int:
    """Return how many characters a value has at most by its type, a great number for all others."""
    return kind.length if kind.family in ("varchar", "bpchar") and kind.length is not None else 1 << 31


def quoted_names(schema: Schema) -> list[str]:
    """Return the names of a query's columns as DuckDB reads them."""
    return ['"' + name.replace('"', '""') + '"' for name in column_names(schema)]


def width_of(text: str, kind: SqlType) -> str:
    """Return how many bytes a value takes, NULL for NULL; for nested arrays about how many."""
    if kind.record is not None and not kind.is_array:
        fields = [(field_text(text, place), field) for place, field in enumerate(kind.record.types)]
        widths = [f"coalesce({width_of(field, kind)}, 0)" for field, kind in fields if is_wide(kind)]
        return f"({' + '.join(widths) or '0'})"
    if kind.is_array:
        if kind.element.family in TEXTS:
            return f"CAST(list_sum(list_transform({text}, lambda item: strlen(CAST(item AS VARCHAR)) + 8)) AS BIGINT)"
        return f"CAST(len({text}) * 16 AS BIGINT)"
    return f"octet_length({text})" if kind.family == "bytea" else f"strlen({text})"
