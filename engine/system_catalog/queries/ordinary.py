"""Expressions of ordinary types inside catalog queries: bound and printed as in any other query,
over printed operands.

Enters: values as they are printed, and a function that puts the syntax of an expression around
them. Leaves: the printed expression, of the type that PostgreSQL gives it. Types of the catalog
alone (xid, int2vector, aclitem and the like) are 0A000 here: their operations are in `expressions`,
`calls` and `casts`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.system_catalog.printed import (
    ARRAYS_OF_VECTORS,
    DOMAINS,
    ENGINE_TYPES,
    REGISTERED,
    UNKNOWN,
    Printed,
    element_of,
    fields_of,
)
from sql.bind.expressions.aggregates import resolve, sort_keys
from sql.bind.expressions.binder import Binder, settle
from sql.bind.expressions.context import BindContext, ParameterTypes
from sql.bind.expressions.scope import table_scope
from sql.bind.queries.query import QUERIES
from sql.emit.blocks.aggregates import aggregate_text
from sql.emit.constant_failures import has_failing
from sql.emit.duckdb import DuckDbExpressions
from sql.emit.wide_texts import Constants
from sql.errors import SqlError, not_supported
from sql.functions.aggregates import adds_floats
from sql.parse.syntax import Constant, Expression, FunctionCall, Name, Operation, ParameterNumber, TypeCast, TypeName
from sql.tree.expressions import AggregateCall, Call, Literal, Parameter
from sql.tree.expressions import Expression as Bound
from sql.tree.walks import map_aggregate, map_expression
from sql.types.casts import common_family, plain_name
from sql.types.datatypes import FAMILIES, NUMERIC, TIMESTAMPTZ, SqlType

if TYPE_CHECKING:
    from engine.system_catalog.queries.printing import Printing

# Types of the catalog alone that PostgreSQL takes as a text without a cast.
TEXT_LIKE = {"pg_node_tree": "text", "anyarray": "text"}
CAST_HINT = "Cast it to text, or ask for it as it is."


def ordinary_type(name: str) -> str | None:
    """Return the type by which the ordinary binder knows values of a type, None where it does not
    know them.
    """
    name = DOMAINS.get(name, name)
    if fields_of(name) is not None or name == "record":
        return None
    if name in FAMILIES and (element_of(name) or name) in ENGINE_TYPES:
        return name
    return TEXT_LIKE.get(name)


def is_ordinary(name: str) -> bool:
    """Tell whether values of a type mean here what they mean in every query; names of OIDs do
    not.
    """
    return name == UNKNOWN or (ordinary_type(name) is not None and (element_of(name) or name) not in REGISTERED)


def as_plain_oids(value: Printed) -> Printed:
    """Return OIDs of any kind, and vectors, as the types that PostgreSQL compares: plain OIDs,
    arrays.
    """
    if value.type in REGISTERED:
        return replace(value, type="oid")
    if value.type in ARRAYS_OF_VECTORS:
        return replace(value, type=ARRAYS_OF_VECTORS[value.type])
    element = element_of(value.type)
    return replace(value, type="oid[]") if element in REGISTERED else value


def ordinary(printing: Printing, values: Sequence[Printed], build: Callable[..., Expression], position: int) -> Printed:
    """Return the expression that `build` makes of the syntax of the values.

    Raises the errors of the expression.
    """
    operands = Operands(printing, position)
    nodes = [operands.node(value) for value in values]
    binder = operands.binder()
    bound = settle(binder.bind(build(*nodes)), binder.context)
    operands.note_parameters(binder.context)
    return operands.printed(bound)


def ordinary_aggregate(
    printing: Printing,
    node: FunctionCall,
    values: Sequence[Printed],
    keys: Sequence[Printed],
    condition: Printed | None,
    over: str,
) -> Printed:
    """Return an aggregate of printed arguments, sort keys and filter.

    over: the OVER clause, or ''.
    """
    operands = Operands(printing, node.position)
    arguments = tuple(operands.node(value) for value in values)
    order = tuple(replace(item, expression=operands.node(key)) for item, key in zip(node.order_by, keys, strict=True))
    binder = operands.binder()
    call = replace(node, arguments=arguments, order_by=order, filter=None, over=None)
    function, bound, kind = resolve(binder, call)
    operands.note_parameters(binder.context)
    kept = None if condition is None else operands.column(condition)
    if over:
        check_window(node, function, bound)
    order_by = sort_keys(binder, call, function, bound)
    made = AggregateCall(function, bound, kind, kept, node.distinct, node.position, node.text, order_by)
    made = map_aggregate(made, operands.settled)
    printer = DuckDbExpressions(operands.texts)
    return operands.fitted(printer, aggregate_text(printer, made, over), kind)


def check_window(node: FunctionCall, function: str, arguments: Sequence[Bound]) -> None:
    """Raise 0A000 for an aggregate that can't have OVER here."""
    if node.distinct:
        raise SqlError("0A000", "DISTINCT is not implemented for window functions", node.position)
    if node.order_by:
        raise SqlError("0A000", "aggregate ORDER BY is not implemented for window functions", node.position)
    if arguments and adds_floats(function, arguments[0].type.family):
        raise not_supported(f"{node.name} of floats with OVER in a query on the catalog", node.position)


class Operands:
    """The printed values of one expression, as columns of a row that the binder sees."""

    def __init__(self, printing: Printing, position: int) -> None:
        self.printing = printing
        self.position = position
        self.columns: list[tuple[str, SqlType]] = []
        self.texts: list[str] = []

    def node(self, value: Printed) -> Expression:
        """Return the syntax of a value: a constant or a parameter as it was written, any other
        value as the name of a column.
        """
        if value.written is not None:
            return value.written
        if value.type == UNKNOWN:
            if value.parameter is not None and self.printing.values is None:
                return ParameterNumber(value.parameter, self.position)
            if value.constant is None:
                return Constant("null", "null", self.position)
            return Constant("string", value.constant, self.position)
        kind = ordinary_type(value.type)
        if kind is None:
            what = "a row" if value.type.startswith("record") else f"a value of type {value.type}"
            raise not_supported(f"{what} in this expression of a query on the catalog", self.position, hint=CAST_HINT)
        name = f"operand {len(self.texts)}"
        self.columns.append((name, SqlType(kind)))
        self.texts.append(value.text)
        return Name((name,), self.position)

    def column(self, value: Printed) -> Bound:
        """Return a typed value as the binder yields it."""
        node = self.node(value)
        return self.binder().bind(node)

    def binder(self) -> Binder:
        """Return a binder that knows the values so far."""
        known = self.printing.parameter_types
        count = max([len(self.printing.declared), *known], default=0)
        given = [FAMILIES_BY_NAME.get(known.get(number, UNKNOWN)) for number in range(1, count + 1)]
        context = self.printing.context
        bind = BindContext(context.snapshot.image, context.settings, ParameterTypes(given), QUERIES)
        return Binder(table_scope("operands", self.columns), bind)

    def note_parameters(self, context: BindContext) -> None:
        """Keep the types that the parameters of the values have got."""
        for number, kind in context.parameters.types.items():
            if self.printing.parameter_types.get(number, UNKNOWN) == UNKNOWN:
                self.printing.parameter_types[number] = kind.family

    def settled(self, node: Bound) -> Bound | None:
        """Return the value of a parameter while the query is only described, and of now()."""
        if isinstance(node, Parameter):
            return Literal(None, node.type, node.position)
        if isinstance(node, Call) and node.function == "now":
            return Literal(self.printing.context.now_us, TIMESTAMPTZ, node.position)
        return None

    def printed(self, bound: Bound) -> Printed:
        """Return a bound expression over the values."""
        bound = map_expression(bound, self.settled)
        printer = DuckDbExpressions(self.texts)
        printer.constants = Constants() if self.printing.is_measured else None
        if isinstance(bound, Literal) and bound.type.family == "numeric":
            return Printed(printer.fit(bound, NUMERIC), "numeric")
        text = printer.text(bound)
        if not self.columns and has_failing(bound):
            self.printing.note_constant(text)
        return self.fitted(printer, text, bound.type)

    def fitted(self, printer: DuckDbExpressions, text: str, kind: SqlType) -> Printed:
        """Return a text as a value of the one form that its type has here."""
        if (element_of(kind.family) or kind.family) not in ENGINE_TYPES:
            raise not_supported(f"the type {plain_name(kind)} in a query on the catalog", self.position)
        if kind.family == "numeric":
            return Printed(printer.fit_text(text, kind, NUMERIC), "numeric")
        return Printed(f"({text})", str(kind.family))


FAMILIES_BY_NAME = {name: SqlType(name) for name in FAMILIES if name != UNKNOWN}


def constant(printing: Printing, node: Constant) -> Printed:
    """Return a number as a constant of the type that it has, which remembers how it was written."""
    found = ordinary(printing, (), lambda: node, node.position)
    return replace(found, written=node)


def constant_as(printing: Printing, text: str, kind: str, position: int) -> str:
    """Return the value of a string constant as one of an ordinary type.

    Raises the errors of the type's input.
    """
    written = TypeName(kind.removesuffix("[]"), (), position, kind, array=kind.endswith("[]"))
    node = TypeCast(Constant("string", text, position), written, position, "")
    return ordinary(printing, (), lambda: node, position).text


def converted(printing: Printing, value: Printed, kind: str, position: int) -> Printed:
    """Return a value as one of type `kind`, by an explicit cast; both are ordinary types."""
    if value.type == kind:
        return value
    written = TypeName(kind.removesuffix("[]"), (), position, kind, array=kind.endswith("[]"))
    found = ordinary(printing, (value,), lambda node: TypeCast(node, written, position, ""), position)
    return replace(found, type=kind)


def operation(printing: Printing, operator: str, values: Sequence[Printed], position: int, text: str) -> Printed:
    """Return an operator of ordinary values."""
    return ordinary(printing, values, lambda *nodes: Operation(operator, tuple(nodes), position, text), position)


def common_of(types: Sequence[str], what: str, position: int) -> str | None:
    """Return the type that CASE and the like give to values of these types, None where one is not
    ordinary.

    Raises 42804.
    """
    if not all(is_ordinary(name) for name in types):
        return None
    kinds = [ordinary_type(name) or UNKNOWN for name in types if name != UNKNOWN]
    found = common_family(kinds)
    if found is None:
        first, other = kinds[0], next(kind for kind in kinds if common_family([kinds[0], kind]) is None)
        names = f"{plain_name(SqlType(first))} and {plain_name(SqlType(other))}"
        raise SqlError("42804", f"{what} types {names} cannot be matched", position)
    return found


def sort_text(value: Printed) -> str:
    """Return the text that orders values of a type as PostgreSQL does."""
    kind = ordinary_type(value.type)
    return value.text if kind is None else DuckDbExpressions(()).comparable_text(value.text, SqlType(kind))


def require_plain_equality(value: Printed, what: str, position: int) -> None:
    """Raise 0A000 for values that the embedded engine tells apart where PostgreSQL does not."""
    kind = ordinary_type(element_of(value.type) or value.type)
    if kind is not None and (SqlType(kind).has_own_order or kind == "json"):
        name = plain_name(SqlType(kind))
        hint = "Cast it to text there, or to a number of another type."
        raise not_supported(f"{what} by a value of type {name} in a query on the catalog", position, hint=hint)
