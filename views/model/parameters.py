"""Constants of a stream pipeline as parameters, so that pipelines that differ only in them have one
kernel.

Enters: the pipeline of a statement that runs once. Leaves: the pipeline with a `Parameter` for each
constant of a comparison, and the constants. A dashboard asks the same with another time, a prepared
statement with another key. A view keeps its constants: its kernel is compiled once, and is faster
with them.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from sql.functions.comparisons import COMPARISONS
from sql.tree.expressions import Call, Case, Cast, Expression, Literal, Parameter
from sql.tree.walks import map_expression, map_parts
from sql.types.datatypes import SqlType, scaled_numeric
from views.model.equalities import CONSTANTS_MIN, all_of, gathered, is_looked_up
from views.model.nodes import StreamPipeline

COMPARED = COMPARISONS.keys() | {"is_distinct", "is_not_distinct", "in_list"}
WORDS = frozenset({"int2", "int4", "int8", "float4", "float8", "date", "timestamp", "timestamptz", "text", "varchar"})


def with_parameters(pipeline: StreamPipeline) -> tuple[StreamPipeline, tuple[Literal, ...]]:
    """Return the pipeline with parameters, and their values by number."""
    values: list[Literal] = []

    def change(node: Expression) -> Expression | None:
        if isinstance(node, Case) and is_looked_up(node):
            # Its constants are data of the kernel, which is the same for other ones.
            return node
        if isinstance(node, Call) and node.function in ("and", "or"):
            operands = gathered(node)
            return None if operands == node.arguments else map_expression(joined(node, operands), change)
        if not isinstance(node, Call) or node.function not in COMPARED:
            return None
        if node.function == "in_list" and len(node.arguments) > CONSTANTS_MIN:
            operand, *items = node.arguments
            return replace(node, arguments=(map_expression(operand, change), *items))
        if all(isinstance(part, Literal) for part in node.arguments):
            return node
        return replace(node, arguments=tuple(argument(part) for part in node.arguments))

    def argument(part: Expression) -> Expression:
        if isinstance(part, Cast):
            return replace(part, operand=argument(part.operand))
        if not isinstance(part, Literal):
            return map_expression(part, change)
        kind = passed_type(part)
        if kind is None:
            return part
        values.append(replace(part, type=kind))
        return Parameter(len(values), kind, part.position)

    def changed(expressions: tuple[Expression, ...]) -> tuple[Expression, ...]:
        return tuple(map_expression(expression, change) for expression in all_of(expressions))

    filters = changed(pipeline.filters)
    keys = tuple((name, map_expression(key, change)) for name, key in pipeline.keys)
    aggregates = tuple((name, map_parts(call, change)) for name, call in pipeline.aggregates)
    probes = tuple(
        replace(
            probe,
            keys=tuple((map_expression(key, change), place) for key, place in probe.keys),
            guards=changed(probe.guards),
            filters=changed(probe.filters),
        )
        for probe in pipeline.probes
    )
    types = tuple(value.type for value in values)
    return (
        replace(pipeline, filters=filters, keys=keys, aggregates=aggregates, probes=probes, parameters=types),
        tuple(values),
    )


def joined(node: Call, operands: tuple[Expression, ...]) -> Expression:
    """Return an AND or OR with other operands."""
    return replace(node, arguments=operands) if len(operands) > 1 else operands[0]


def passed_type(literal: Literal) -> SqlType | None:
    """Return the type of the parameter for a constant.

    None: the constant stays in the code, which has to know the scale of a numeric.
    """
    kind, value = literal.type, literal.value
    if value is None:
        return None
    if kind.is_variable_numeric and isinstance(value, Decimal) and value.is_finite():
        exponent = value.as_tuple().exponent
        assert isinstance(exponent, int)
        return scaled_numeric(max(-exponent, 0))
    return kind if kind.family in WORDS or (kind.family == "numeric" and kind.display_scale is not None) else None
