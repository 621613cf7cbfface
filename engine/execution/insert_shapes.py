"""Texts of INSERTs with expressions that come again: those that differ in constants alone are
parsed and bound once, with parameters in the place of the constants.

Enters: the text of a Query that is an INSERT of one row. Leaves: the prepared statement of its
shape and the constants, or None: the text is parsed as any other. A shape is known only where the
text itself, parsed and bound, is the tree of the shape with the constants in it. Must not run
anything.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.catalog.image import CatalogImage
from engine.execution.prepared import Prepared, prepare
from engine.execution.shapes import SHAPE_CHARACTERS_MAX, Shaped, Shapes
from sql.bind.substitute import substitute_parameters
from sql.bind.writes.insert import BoundInsert, bind_insert
from sql.errors import SqlError
from sql.parse.statements.insert import Insert
from sql.settings.settings import Settings
from sql.tree.expressions import Cast, Expression, Literal, Parameter
from sql.tree.relations import Relation, Values
from sql.types.datatypes import INT4
from sql.values.literals import input_value

# The name of a sequence stays, and so does a text after a word, such as the name of its type.
CONSTANT = re.compile(
    r"(?P<stays>\bnextval[ ]*\([ ]*'[^']*'|[\w&][ \t\n]*'(?:[^']|'')*')"
    r"|(?P<text>'(?:[^']|'')*')|(?<![\w.])(?P<number>(?:(?<=[(,])-|(?<=[(,][ ])-)?[0-9]{1,9})(?![\w.])",
    re.IGNORECASE | re.ASCII,
)
# Signs of what is no plain text, where they stand outside of constants.
UNPLAIN = re.compile(r"[\"$\\;]|--|/\*")
# No text of a client has it.
MARK = "\0"


def insert_shape(shapes: Shapes, text: str, head_end: int, settings: Settings, image: CatalogImage) -> Shaped | None:
    """Return the statement of a text, if its shape has come before, with its constants.

    head_end: where the values begin.
    """
    if len(text) > SHAPE_CHARACTERS_MAX:
        return None
    head, rest = text[:head_end], text[head_end:].rstrip("; \t\r\n\f")
    values: list[str] = []

    def noted(match: re.Match[str]) -> str:
        if match["stays"]:
            return match[0]
        values.append(match["number"] or match["text"])
        return f"\1{'n' if match['number'] else 't'}"

    shape = CONSTANT.sub(noted, rest)
    key = MARK + head + shape
    prepared = shapes.known(key)
    if prepared is None or not prepared.is_bound_to(image, settings):
        if "\1" not in text and not UNPLAIN.search(shape) and shapes.has_come(key):
            made = _made(text[:head_end] + rest, head, shape, values, settings, image)
            if made is not None:
                shapes.keep(key, made)
        return None
    return Shaped(prepared, [constant(value).encode() for value in values])


def constant(value: str) -> str:
    """Return the text of a constant."""
    return value[1:-1].replace("''", "'") if value[0] == "'" else value


def _made(
    text: str, head: str, shape: str, values: Sequence[str], settings: Settings, image: CatalogImage
) -> Prepared | None:
    numbers = iter(range(1, len(values) + 1))
    with_parameters = re.sub("\1.", lambda _: f"${next(numbers)}", shape)
    try:
        plain = prepare(settings.checked_text(text), (), image)
        shaped = prepare(head + with_parameters, [0 if value[0] == "'" else INT4.oid for value in values], image)
        if not isinstance(plain.statement, Insert):
            return None
        shaped.is_of_text = True
        shaped.refresh(image, settings)
        bound = bind_insert(plain.statement, image, settings.captured(), None)
        if not isinstance(shaped.bound, BoundInsert) or bound.returning is not None:
            return None
        kinds = zip(values, shaped.parameter_types, strict=True)
        given = tuple(Literal(input_value(constant(value), kind), kind) for value, kind in kinds)
        alike = is_alike(bound.source, shaped.bound.source, substitute_parameters(shaped.bound.source, given))
    except SqlError:
        # The text itself will tell.
        return None
    return shaped if alike else None


def is_alike(plain: Relation, shaped: Relation, filled: Relation) -> bool:
    """Tell whether a row is that of a shape with the constants in it.

    filled: the shape's with the constants. A constant may be of another type than its column.
    """
    if not (isinstance(plain, Values) and isinstance(shaped, Values) and isinstance(filled, Values)):
        return False
    if len(plain.rows) != 1 or len(shaped.rows) != 1:
        return False
    items = zip(plain.rows[0], shaped.rows[0], filled.rows[0], strict=True)
    return all(one == other or (isinstance(one, Literal) and is_parameter(item)) for one, item, other in items)


def is_parameter(item: Expression) -> bool:
    """Tell whether an item is a parameter, or one that becomes its column's type."""
    return isinstance(item.operand if isinstance(item, Cast) else item, Parameter)
