"""Calls of users' functions, once an overload is chosen (`user_overloads.py`): inlined.

A body is bound at the place of its call, with parameters for its arguments, which give way to the
arguments then (`sql.tree.inlining`). A body that is an expression stands where the call stood; a
query becomes a scalar subquery of its first row; a function that returns rows stands in FROM. A
body sees its arguments alone, by name and by number. Its relations are read with the rights of the
role that runs the statement. Raises 0A000 for functions that call themselves, and 54001 for
statements that inlining makes huge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from sql.bind.expressions.coerce import coerce, stripped
from sql.bind.expressions.context import BindContext, ParameterTypes
from sql.bind.expressions.correlation import Closure
from sql.bind.expressions.placeholder_columns import SetCall
from sql.bind.expressions.scope import Scope, ScopeColumn, ScopeTable
from sql.bind.expressions.subqueries import with_own_scales
from sql.bind.expressions.user_overloads import OwnSignature
from sql.catalog.catalog import Catalog
from sql.catalog.functions import FunctionArgument, FunctionDescription, KnowsFunctions, KnowsThen
from sql.errors import SqlError, not_supported
from sql.functions.polymorphic import GROUPS, elements, not_alike
from sql.functions.polymorphic import settled as settled_type
from sql.functions.volatility import has_volatile, is_volatile
from sql.names.relation_keys import name_of
from sql.parse.parse import parse
from sql.parse.statements.select import Select
from sql.parse.syntax import FunctionCall, Query
from sql.tree.expressions import Call, Case, Cast, Column, Expression, Literal, Parameter, Subquery
from sql.tree.inlining import nodes_count, parameter_uses, relation_with_arguments, with_arguments
from sql.tree.relations import Aggregate, Filter, Limit, LockedRead, Project, Relation, Sort, Values, project
from sql.tree.walks import walk
from sql.types.casts import can_cast, plain_name
from sql.types.datatypes import BOOL, INT8, VOID, SqlType, array_of

if TYPE_CHECKING:
    from sql.bind.expressions.binder import Binder

# Functions that call each other, one inside of the other, in one statement.
NESTED_MAX = 64
# Operators and expressions of all bodies of a statement, with their arguments.
INLINED_NODES_MAX = 50_000
VOLATILE_HINT = "Compute the argument in a subquery in FROM, and call the function on its column."


class BodyParameters(ParameterTypes):
    """The arguments of the function whose body is bound."""

    def __init__(self, kinds: Sequence[SqlType]) -> None:
        super().__init__(None)
        self.kinds = tuple(kinds)

    def use(self, number: int, position: int) -> Parameter:
        """Return an argument by its number. Raises 42P02."""
        if not 1 <= number <= len(self.kinds):
            raise SqlError("42P02", f"there is no parameter ${number}", position)
        return Parameter(number, self.kinds[number - 1], position)


def value_of_call(binder: Binder, node: FunctionCall, found: OwnSignature, operands: list[Expression]) -> Expression:
    """Return the value of a call in an expression. Raises 0A000 for a function that returns
    rows.
    """
    function = found.function
    assert function is not None, found
    if function.returns_set or function.result is None:
        what = "rows" if function.returns_set else "several columns"
        raise not_supported(
            f"the function {name_of(function.name)}, which returns {what}, in an expression",
            node.position,
            hint=f"Call it in FROM: SELECT ... FROM {name_of(function.name)}(...).",
        )
    body = Body(binder, node, function, arguments_of(binder.context, found, operands))
    relation = body.relation()
    (column,) = relation.schema
    value = simple_value(relation)
    if value is not None:
        found_value = with_arguments(body.checked(value), body.arguments, node.position)
    else:
        body.refuse_volatile()
        closed = Subquery("scalar", first_row(relation), (), column.type, position=node.position, text=node.text)
        found_value = with_arguments(closed, body.arguments, node.position)
    return body.strict(found_value)


def is_set(found: OwnSignature) -> bool:
    """Tell whether a function returns rows of one column."""
    assert found.function is not None, found
    return found.function.returns_set and found.function.result is not None


def set_call(binder: Binder, node: FunctionCall, found: OwnSignature, operands: list[Expression]) -> SetCall:
    """Return a call as that of the elements of the array of its rows. Raises 0A000 for arrays and
    records.
    """
    function = found.function
    assert function is not None, found
    body = Body(binder, node, function, arguments_of(binder.context, found, operands))
    body.refuse_volatile()
    relation = with_own_scales(body.relation())
    kind = relation.schema[0].type
    if kind.is_array or kind.record is not None or kind == VOID:
        what = f"the function {name_of(function.name)}, which returns rows of {kind.sql_name}, in an expression"
        raise not_supported(
            what, node.position, hint=f"Call it in FROM: SELECT ... FROM {name_of(function.name)}(...)."
        )
    rows = Subquery("array", relation, (), array_of(kind), position=node.position, text=node.text)
    values = body.strict(with_arguments(rows, body.arguments, node.position))
    return SetCall("unnest", (values,), kind, node.position)


def rows_of_call(
    binder: Binder, node: FunctionCall, found: OwnSignature, operands: list[Expression], alias: str
) -> Relation:
    """Return the rows of a call in FROM.

    alias: the name of a column without one of its own.
    """
    function = found.function
    assert function is not None, found
    body = Body(binder, node, function, arguments_of(binder.context, found, operands))
    body.refuse_volatile()
    relation = body.relation()
    if not function.returns_set:
        relation = first_row(relation)
    if function.strict and body.arguments:
        known = [Call("is_not_null", (one,), BOOL) for one in body.parameters]
        relation = Filter(relation, known[0] if len(known) == 1 else Call("and", tuple(known), BOOL))
    found_rows = relation_with_arguments(relation, body.arguments, node.position)
    if function.outputs:
        return found_rows
    (column,) = found_rows.schema
    return project(found_rows, ((alias, Column(0, column.name, column.type)),))


def settled(context: BindContext, found: OwnSignature, operands: Sequence[Expression]) -> OwnSignature:
    """Return a call's overload with the types that its arguments give to polymorphic ones. Raises
    42804 and 42704.
    """
    function = found.function
    assert function is not None, found
    if not function.is_polymorphic:
        return found
    defaults = [
        (argument.type.family, default_value(argument, function, context).type.family)
        for place, argument in enumerate(function.inputs)
        if place not in found.slots and argument.type.family in GROUPS
    ]
    given = [*zip(found.arguments, (one.type.family for one in operands), strict=True), *defaults]
    known = elements([wanted for wanted, _ in given], [family for _, family in given])
    if known is None:
        raise not_alike(given)
    arguments = tuple(replace(one, type=settled_type(one.type, known)) for one in function.arguments)
    result = None if function.result is None else settled_type(function.result, known)
    return replace(found, function=replace(function, arguments=arguments, result=result))


def arguments_of(context: BindContext, found: OwnSignature, operands: list[Expression]) -> tuple[Expression, ...]:
    """Return the values of all arguments of a function: those of the call, and defaults."""
    function = found.function
    assert function is not None, found
    items = [
        stripped(coerce(operand, kind.without_modifier(), context))
        for operand, kind in zip(operands, found.taken, strict=True)
    ]
    given = dict(zip(found.slots, items, strict=True))
    last = len(function.inputs) - 1
    if found.spreads:
        given[last] = Call("array", tuple(items[last:]), function.inputs[last].type)
    return tuple(
        given[place]
        if place in given
        else stripped(coerce(default_value(argument, function, context), argument.type.without_modifier(), context))
        for place, argument in enumerate(function.inputs)
    )


def default_value(argument: FunctionArgument, function: FunctionDescription, context: BindContext) -> Expression:
    """Return the default of an argument, which sees no column and no argument."""
    query = parsed_query(f"SELECT {argument.default}")
    settings = replace(context.settings, search_path=function.search_path)
    catalog = catalog_of(function, context, in_default=True)
    inner = replace(
        context, catalog=catalog, settings=settings, parameters=ParameterTypes(None), common_tables={}, outer=None,
        views={}, named=set(),
    )  # fmt: skip
    relation = context.queries.relation(query, inner)
    context.stable |= inner.stable
    value = simple_value(relation)
    assert value is not None, argument
    return value


@dataclass
class Body:
    """The body of a function at the place of one call.

    Attributes:
        arguments: the values of the call.
    """

    binder: Binder
    node: FunctionCall
    function: FunctionDescription
    arguments: tuple[Expression, ...]

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The arguments as the body has them."""
        return tuple(Parameter(number, one.type) for number, one in enumerate(self.arguments, 1))

    def relation(self) -> Relation:
        """Return the body's query, its columns of the types that the function returns.

        Raises what the query raises, 0A000 where it calls itself, and 54001.
        """
        context, function = self.binder.context, self.function
        calls = context.references
        if function.oid in calls.running:
            what = f"the function {name_of(function.name)}, which calls itself,"
            hint = "A function is written out where it is called; WITH RECURSIVE repeats a query."
            raise not_supported(what, self.node.position, hint=hint)
        if len(calls.running) >= NESTED_MAX:
            hint = f"Functions call each other at most {NESTED_MAX} deep."
            raise SqlError("54001", "stack depth limit exceeded", self.node.position, hint=hint)
        if calls.is_text or not calls.in_body:
            calls.used.add((function.name, function.oid))
        calls.running.append(function.oid)
        try:
            relation = self._bound()
        except SqlError as error:
            if error.context is None and error.sqlstate != "54001":
                where = f'SQL function "{name_of(function.name)}" during inlining'
                raise replace(error, position=None, context=where) from None
            raise
        finally:
            calls.running.pop()
        self._count(relation)
        return relation

    def _bound(self) -> Relation:
        context, function = self.binder.context, self.function
        kinds = [one.type for one in self.arguments]
        settings = context.settings
        if function.form != "string":
            settings = replace(settings, search_path=function.search_path, has_temporary=False)
        named: set[str] = set()
        locked: list[LockedRead] = []
        catalog = catalog_of(function, context)
        inner = replace(
            context,
            catalog=catalog,
            views=context.views if catalog is context.catalog else {},
            settings=settings,
            parameters=BodyParameters(kinds),
            common_tables={},
            outer=None,
            later_tables=frozenset(),
            named=named,
            locked=locked,
            identified=frozenset(),
        )
        relation = bound_body(function, kinds, replace(self.binder, context=inner))
        if isinstance(catalog, KnowsThen):
            relation = catalog.of_today(relation)
        if locked:
            raise not_supported(f"{locked[0].locks[0].strength} in the function {name_of(function.name)}", None)
        if settings.is_shared and named:
            what = f"the function {name_of(function.name)}, whose body reads relations, in a definition"
            raise not_supported(what, self.node.position)
        if not context.references.in_body:
            context.named |= named
        context.stable |= inner.stable
        context.wide_numbers |= inner.wide_numbers
        context.recursive_count = inner.recursive_count
        return relation

    def _count(self, relation: Relation) -> None:
        """Count the nodes that the call becomes. Raises 54001."""
        uses = parameter_uses(relation)
        if self.function.strict:
            uses.update(range(1, len(self.arguments) + 1))
        sizes = (count * sum(1 for _ in walk(self.arguments[number - 1])) for number, count in uses.items())
        calls = self.binder.context.references
        calls.nodes_count += nodes_count(relation) + sum(sizes)
        if calls.nodes_count > INLINED_NODES_MAX:
            hint = (
                "Its functions are written out where they are called, with their arguments as often as they use them."
            )
            raise SqlError("54001", "statement too complex", self.node.position, hint=hint)

    def checked(self, value: Expression) -> Expression:
        """Return an expression of the body that evaluates volatile arguments once. Raises 0A000."""
        for number, argument in enumerate(self.arguments, 1):
            if is_volatile(argument) and (always_uses(value, number) != 1 or self._tests(argument)):
                self._refuse_volatile(number)
        return value

    def refuse_volatile(self) -> None:
        """Raise 0A000 for volatile arguments of a query, which may evaluate them any number of
        times.
        """
        for number, argument in enumerate(self.arguments, 1):
            if is_volatile(argument):
                self._refuse_volatile(number)

    def strict(self, value: Expression) -> Expression:
        """Return a value that is NULL where an argument of a strict function is."""
        tested = [one for one in self.arguments if self._tests(one)]
        if not tested:
            return value
        missing = [Call("is_null", (one,), BOOL) for one in tested]
        condition = missing[0] if len(missing) == 1 else Call("or", tuple(missing), BOOL)
        return Case(((condition, Literal(None, value.type)),), value, value.type)

    def _tests(self, argument: Expression) -> bool:
        """Tell whether a strict function has to look whether an argument is NULL."""
        if not self.function.strict:
            return False
        is_value = isinstance(argument, Literal) and argument.value is not None
        return not is_value and not (isinstance(argument, Call) and not argument.arguments and is_volatile(argument))

    def _refuse_volatile(self, number: int) -> None:
        what = f"a volatile argument of the function {name_of(self.function.name)}, which does not use ${number} exactly once,"
        raise not_supported(what, self.node.position, hint=VOLATILE_HINT)


def catalog_of(function: FunctionDescription, context: BindContext, in_default: bool = False) -> Catalog:
    """Return the catalog by which a function's body, or a default, is bound."""
    catalog = context.catalog
    return catalog.body_catalog(function, in_default) if isinstance(catalog, KnowsFunctions) else catalog


def always_uses(node: Expression, number: int) -> int:
    """Return how often an expression evaluates a parameter; 2 where that depends on other
    values.
    """
    match node:
        case Parameter():
            return int(node.number == number)
        case Cast():
            return always_uses(node.operand, number)
        case Call() if node.function not in ("and", "or", "coalesce"):
            return sum(always_uses(one, number) for one in node.arguments)
    return 2 if parameter_uses(Project(Values(((),), ()), (("", node),)))[number] else 0


def bound_body(function: FunctionDescription, kinds: Sequence[SqlType], binder: Binder) -> Relation:
    """Return a body's query with parameters of the types `kinds`, as the function returns its rows.

    binder: any with the context of the body. Raises 42P13 for other columns than those that the
    function returns.
    """
    context = binder.context
    query = body_query(function)
    name = name_of(function.name)
    columns = [
        ScopeColumn(argument.name, Parameter(number, kind), name)
        for number, (argument, kind) in enumerate(zip(function.inputs, kinds, strict=True), 1)
        if argument.name
    ]
    scope = Scope([ScopeTable(name, tuple(columns))], list(columns))
    closure = Closure(replace(binder, scope=scope, virtual=None, sets_allowed=False))
    with context.inside(closure):
        relation = context.queries.relation(query, context)
    assert not closure.arguments, "a parameter is no value of a row outside"
    return returned(function, relation, context)


def returned(function: FunctionDescription, relation: Relation, context: BindContext) -> Relation:
    """Return the rows of a body with the names and types that the function returns. Raises
    42P13.
    """
    outputs = function.outputs
    if function.result == VOID:
        return nothing(function, relation)
    if function.result is not None and len(outputs) <= 1:
        wanted = [(outputs[0].name if outputs else name_of(function.name), function.result)]
        mismatch = f"return type mismatch in function declared to return {plain_name(function.result)}"
    else:
        wanted = [(one.name, one.type) for one in outputs]
        mismatch = "return type mismatch in function declared to return record"
    if len(relation.schema) != len(wanted):
        few = len(relation.schema) < len(wanted)
        detail = f"Final statement returns too {'few' if few else 'many'} columns."
        if function.result is not None and len(outputs) <= 1:
            detail = "Final statement must return exactly one column."
        raise SqlError("42P13", mismatch, detail=detail)
    items = []
    for index, ((name, kind), column) in enumerate(zip(wanted, relation.schema, strict=True)):
        item: Expression = Column(index, column.name, column.type)
        if isinstance(relation, Project):
            item = relation.items[index][1]
        if not can_cast(item.type.family, kind.family, "assignment"):
            actual = plain_name(column.type)
            detail = f"Actual return type is {actual}."
            if len(wanted) > 1:
                detail = f"Final statement returns {actual} instead of {plain_name(kind)} at column {index + 1}."
            raise SqlError("42P13", mismatch, detail=detail)
        items.append((name, stripped(coerce(item, kind.without_modifier(), context))))
    if isinstance(relation, Project):
        return Project(relation.input, tuple(items))
    return project(relation, tuple(items))


def nothing(function: FunctionDescription, relation: Relation) -> Relation:
    """Return the NULL of a function that returns void, whose value is computed all the same.

    Raises 0A000 for effects of more than one value.
    """
    if not isinstance(relation, Project):
        columns = [(one.name, Column(at, one.name, one.type)) for at, one in enumerate(relation.schema)]
        relation = Project(relation, tuple(columns))
    if [one.type for one in relation.schema] == [VOID]:
        return relation
    value: Expression = Literal(None, VOID)
    shown = [item for item in relation.items if is_volatile(item[1])] or relation.items[:1]
    if len(shown) > 1 or (has_volatile(relation) and not has_one_row(relation)):
        hint = "Write a function for each of them."
        raise not_supported(f"several effects of the function {name_of(function.name)}, which returns void,", hint=hint)
    if shown:
        one = Project(relation.input, tuple(shown))
        computed = simple_value(one) or Subquery("scalar", first_row(one), (), shown[0][1].type)
        value = Case(((Call("is_null", (computed,), BOOL), value),), value, VOID)
    return Project(Values(((),), ()), (("", value),))


def simple_value(relation: Relation) -> Expression | None:
    """Return the value of a body that is an expression: SELECT expression without FROM."""
    if not isinstance(relation, Project) or len(relation.items) != 1:
        return None
    below = relation.input
    return relation.items[0][1] if isinstance(below, Values) and below.rows == ((),) else None


def first_row(relation: Relation) -> Relation:
    """Return a query's first row."""
    return relation if has_one_row(relation) else Limit(relation, Literal(1, INT8), None)


def has_one_row(relation: Relation) -> bool:
    """Tell whether a query has one row at most, by its form."""
    while isinstance(relation, Project | Sort | Filter):
        relation = relation.input
    if isinstance(relation, Aggregate):
        return not relation.keys and relation.sets is None
    return isinstance(relation, Values) and len(relation.rows) == 1


def body_query(function: FunctionDescription) -> Query:
    """Return the syntax of a function's body; one that returns void may have none."""
    if function.result == VOID and not function.body.strip():
        return parsed_query("SELECT NULL")
    return parsed_query(f"SELECT {function.body}" if function.form == "return" else function.body)


@lru_cache(maxsize=512)
def parsed_query(text: str) -> Query:
    """Return the syntax of a body. Raises 42P13 and 0A000 for a body that is no query."""
    statements = parse(text)
    if len(statements) != 1 or not isinstance(statements[0], Select):
        if len(statements) == 1 and not statements[0].text:
            raise SqlError("42P13", "return type mismatch", detail="Function's final statement must be SELECT.")
        raise not_supported("a function whose body is not one SELECT")
    return statements[0].query
