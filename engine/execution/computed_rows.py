"""A prepared INSERT of one row into a stream with values that are computed of parameters, without
the embedded engine: `$1 + 1`, `upper($2)`, `gen_random_uuid()`, `nextval('s')`.

Enters: a bound row, then the bytes of parameters. Leaves: the bytes of other parameters, computed
values among them, as texts, which a `ParameterRow` decodes. None, or 0A000: a row that has to go
the general way, which also has the exact error. Only what takes microseconds is computed here, on
the event loop.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from engine.embedded.own_functions import RowFunction
from engine.embedded.row_functions import constant, plain_function, row_function
from engine.tables.sequence_functions import SequenceSession
from sql.errors import SqlError
from sql.tree.expressions import Call, Column, Expression, Literal, Parameter
from sql.tree.walks import map_expression, walk
from sql.types.datatypes import SqlType
from sql.values.literal_binary import binary_value, text_value
from sql.values.literals import input_value

LENGTH = struct.Struct("!i")
NULL = LENGTH.pack(-1)
PRINTED: dict[str, Callable[[Any], str]] = {
    **dict.fromkeys(("int2", "int4", "int8", "text", "varchar", "uuid"), str),
    "bool": lambda value: "t" if value else "f",
}
# What a value is computed with: the parameters, and the sequences of the session.
Inputs = tuple[Sequence[Any], SequenceSession]
Maker = Callable[[Inputs], Any]


@dataclass(frozen=True, eq=False)
class ComputedValues:
    """The values of a row: for each the number of the parameter that it is, from 0, or what
    computes it.

    Attributes:
        types: of the parameters.
        read: the parameters, from 0, that values are computed of.
        placed: the session's memory for the row, by the formats of its values.
    """

    types: tuple[SqlType, ...]
    values: tuple[int | tuple[Maker, Callable[[Any], str]], ...]
    read: frozenset[int]
    placed: dict[tuple[int, ...], Any] = field(default_factory=dict)

    def formats(self, given: Sequence[int]) -> tuple[int, ...]:
        """Return the formats of the values, of parameters in some formats."""
        return tuple(given[value] if isinstance(value, int) else 0 for value in self.values)

    def block(self, given: Sequence[bytes | None], formats: Sequence[int], sequences: SequenceSession) -> bytes | None:
        """Return the values as the parameters of a Bind.

        None: the row has to go the general way.
        """
        try:
            known = [
                self._value(data, kind, code) if index in self.read else None
                for index, (data, kind, code) in enumerate(zip(given, self.types, formats, strict=True))
            ]
            return b"".join(self._fields(given, (known, sequences)))
        except (SqlError, UnicodeError):
            return None

    def _fields(self, given: Sequence[bytes | None], inputs: Inputs) -> Iterator[bytes]:
        for value in self.values:
            if isinstance(value, int):
                data = given[value]
            else:
                found = value[0](inputs)
                data = None if found is None else value[1](found).encode()
            yield NULL if data is None else LENGTH.pack(len(data)) + data

    def _value(self, data: bytes | None, kind: SqlType, code: int) -> Any:
        if data is None:
            return None
        # None of these types is read by a setting.
        return constant(Literal(binary_value(data, kind) if code else input_value(text_value(data), kind), kind))


def computed_values(items: Sequence[Expression | int], types: Sequence[SqlType]) -> ComputedValues | None:
    """Return the values of a row, each given as its expression or as the number of its parameter.

    None: one of them is computed in no way of ours.
    """
    values: list[int | tuple[Maker, Callable[[Any], str]]] = []
    read: set[int] = set()
    for item in items:
        if isinstance(item, int):
            values.append(item)
            continue
        made = maker(item)
        if made is None or item.type.family not in PRINTED or item.type.length is not None:
            return None
        values.append((made, PRINTED[item.type.family]))
        read |= {node.number - 1 for node in walk(item) if isinstance(node, Parameter)}
    if any(types[number].family not in PRINTED for number in read):
        return None
    return ComputedValues(tuple(types), tuple(values), frozenset(read))


def maker(expression: Expression) -> Maker | None:
    """Return what computes a value."""
    if isinstance(expression, Call) and not expression.arguments and expression.function == "gen_random_uuid":
        return lambda _: uuid4()
    if isinstance(expression, Call) and expression.function == "nextval" and expression.position is not None:
        (name,) = expression.arguments
        if isinstance(name, Literal) and isinstance(name.value, str):
            written = name.value
            return lambda inputs: next_value(inputs[1], written)
    return _of_parameters(expression)


def next_value(sequences: SequenceSession, written: str) -> int:
    """Return the next value of a sequence that has one in memory. Raises SqlError."""
    if not sequences.find(written).counter.ahead:
        raise SqlError("0A000", "values have to be logged")
    (value,) = sequences.next_values(written, 1).to_pylist()
    assert isinstance(value, int)
    return value


def _of_parameters(expression: Expression) -> Maker | None:
    if any(isinstance(node, Call) and plain_function(node) is None for node in walk(expression)):
        return None

    def as_column(node: Expression) -> Expression | None:
        return Column(node.number - 1, "", node.type) if isinstance(node, Parameter) else None

    compute: RowFunction | None = row_function(map_expression(expression, as_column))
    return None if compute is None else lambda inputs: compute(inputs[0])
