"""Aggregate calls: overload, DISTINCT, FILTER, where they may stand (42803), and which query they
belong to.

An aggregate belongs to the nearest query whose columns its arguments read, which may be one further
out. The column that stands for the aggregate where it is written is then passed in through the
closures in between.

A percentile of several fractions is the array of those of each; the rank of a hypothetical row is
made of the numbers of rows that come before it, so that states count and no rows are kept. Both are
written anew in the syntax, and the binder reads what is written. So are aggregates that PostgreSQL
lacks and that are made of others:

    arg_min(x, y) FILTER (WHERE c)            ->  first(x ORDER BY y) FILTER (WHERE c AND y IS NOT NULL)
    set_agg(x)                                ->  array_agg(DISTINCT x)
    first_values(n) WITHIN GROUP (ORDER BY x) ->  (array_agg(x ORDER BY x))[1:n]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sql.bind.aggregate_syntax import as_double, number, operation, rank_of
from sql.bind.expressions.coerce import coerce, converted, result_type, unify
from sql.bind.expressions.correlation import Closure, Mark, nearest_closure, pass_in, reads_outside, reads_row
from sql.bind.expressions.object_names import as_array
from sql.bind.expressions.operators import no_function, pick_function, written_call
from sql.bind.expressions.placeholder_columns import FIRST_AGGREGATE, FIRST_WINDOW
from sql.errors import SqlError, not_supported
from sql.functions.signatures import Signature
from sql.functions.sketches import SKETCH_FORMS, with_words
from sql.functions.table import AGGREGATE_ROWS, AGGREGATES, WINDOW_ROWS, WITHIN_GROUP
from sql.parse.syntax import (
    ArrayItems,
    CaseWhen,
    Constant,
    FunctionCall,
    Logic,
    SortItem,
    Subscript,
    Test,
)
from sql.parse.syntax import Expression as Written
from sql.tree.expressions import AggregateCall, Call, Expression, Literal, SortKey
from sql.tree.walks import children, columns_of, map_parts
from sql.types.casts import has_equality, plain_name, require_equality, require_order
from sql.types.datatypes import BYTEA, INT4, INT8, TEXT, SqlType

if TYPE_CHECKING:
    from sql.bind.expressions.binder import Binder
    from sql.bind.expressions.context import BindContext


def called(binder: Binder, node: FunctionCall) -> Expression:
    """Return what a call of an aggregate without OVER is, by its kind."""
    if node.name in MADE:
        return made(binder, node)
    return (ordered_set if node.name in WITHIN_GROUP else aggregate)(binder, node)


def aggregate(binder: Binder, node: FunctionCall) -> Expression:
    """Return the column that stands for an aggregate."""
    mark = Mark.of(binder.scope.outer)
    inner = replace(binder, inside_aggregate=True)
    if node.within_group:
        raise no_set(inner, node)
    function, arguments, kind = resolve(inner, node)
    order = sort_keys(inner, node, function, arguments)
    condition = None
    if node.filter is not None:
        condition = bind_filter(binder, node)
    distinct = node.distinct and not AGGREGATE_ROWS[function].distinct_free
    if node.distinct:
        require_equality([argument.type for argument in arguments], node.position)
    call = AggregateCall(function, arguments, kind, condition, distinct, node.position, node.text, order)
    return at_home(binder, node.label, call, mark)


def no_set(binder: Binder, node: FunctionCall) -> SqlError:
    """Return the error for WITHIN GROUP on what is no ordered-set aggregate."""
    if not node.star:
        # PostgreSQL looks for a function that takes the keys as well.
        resolve(binder, with_keys(node))
    message = f"{node.name} is not an ordered-set aggregate, so it cannot have WITHIN GROUP"
    return SqlError("42809", message, node.position)


def with_keys(node: FunctionCall) -> FunctionCall:
    """Return a call with the keys of WITHIN GROUP as further arguments."""
    keys = tuple(key.expression for key in node.within_group)
    return replace(node, arguments=(*node.arguments, *keys), within_group=())


def sort_keys(
    binder: Binder, node: FunctionCall, function: str, arguments: tuple[Expression, ...]
) -> tuple[SortKey, ...]:
    """Return the order in which an aggregate takes its rows, if its value depends on that."""
    row = AGGREGATE_ROWS[function]
    keys = tuple(sort_key(binder, item) for item in node.order_by)
    if node.distinct:
        # A varchar has become a text for the function's sake.
        given = [binder.bind(argument) for argument in node.arguments]
        keys = tuple(as_argument(key, given, arguments) for key in keys)
        for key, item in zip(keys, node.order_by, strict=True):
            if key.expression not in arguments:
                message = "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list"
                raise SqlError("42P10", message, item.position)
        if not keys and row.ordered:
            # PostgreSQL finds the different values by sorting them.
            keys = tuple(SortKey(argument) for argument in arguments if not isinstance(argument, Literal))
    is_added = bool(arguments) and row.adds_in_order(arguments[0].type.family)
    return keys if row.ordered or is_added else ()


def as_argument(key: SortKey, given: Sequence[Expression], arguments: Sequence[Expression]) -> SortKey:
    """Return a sort key that is an argument in the form of that argument, converted like it."""
    for before, after in zip(given, arguments, strict=True):
        if key.expression == before:
            return replace(key, expression=after)
    return key


def sort_key(binder: Binder, item: SortItem) -> SortKey:
    """Return an ORDER BY item; NULLs come last when ascending."""
    first = item.descending if item.nulls_first is None else item.nulls_first
    value = binder.bind_value(item.expression)
    require_order(value.type, item.position)
    return SortKey(value, item.descending, first)


def bind_filter(binder: Binder, node: FunctionCall) -> Expression:
    assert node.filter is not None
    inner = replace(binder, clause="FILTER", aggregates_allowed=False, windows_allowed=False)
    return inner.bind_boolean(node.filter)


def resolve(binder: Binder, node: FunctionCall) -> tuple[str, tuple[Expression, ...], SqlType]:
    """Return the canonical function of an aggregate call, its converted arguments, and its type."""
    name = node.name
    starred = next((one for one in AGGREGATES[name] if not one.arguments), None)
    if node.star:
        if starred is None:
            raise no_function(f"{name}()", node.position)
        return starred.canonical, (), SqlType(starred.result)
    if not node.arguments:
        if starred is not None:
            message = "count(*) must be used to call a parameterless aggregate function"
            raise SqlError("42809", message, node.position)
        raise no_function(f"{name}()", node.position)
    operands = [as_array(binder.bind(argument)) for argument in node.arguments]
    signature = pick(name, operands, node.position)
    if not signature.canonical:
        raise not_supported(f"the aggregate {name}({', '.join(signature.arguments)})", node.position)
    arguments = tuple(converted(signature, operands, binder.context))
    if signature.canonical in ("min", "max") and not has_equality(arguments[0].type.family):
        element = plain_name(arguments[0].type.element)
        raise SqlError("42883", f"could not identify a comparison function for type {element}", node.position)
    return signature.canonical, arguments, result_type(signature, arguments, node.position)


def pick(name: str, operands: list[Expression], position: int) -> Signature:
    return pick_function(AGGREGATES[name], operands, written_call(name, operands), position)


GROUPING_ARGUMENTS_MAX = 31


def at_home(binder: Binder, label: str, call: AggregateCall, mark: Mark) -> Expression:
    """Return the column that stands for an aggregate in its query: the nearest one whose columns it
    reads.

    mark: the counts of the closures around, before the arguments were bound.
    """
    closures: list[Closure] = []
    home = binder
    while True:
        parts = children(call)
        closure = nearest_closure(home.scope.outer)
        if closure is None or reads_row(parts) or not reads_outside(parts):
            break
        call = map_parts(call, closure.outside)
        closures.append(closure)
        home = closure.binder
    check_place(home, call)
    mark.release(len(closures))
    assert home.virtual is not None, "checked with the place"
    column = home.virtual.aggregate(label, call)
    return pass_in(column, tuple(closures), label, call.position)


def check_place(home: Binder, call: AggregateCall) -> None:
    """Raise 42803 where an aggregate of this query may not stand."""
    for part in children(call):
        for column in columns_of(part):
            if FIRST_AGGREGATE <= column.index < FIRST_WINDOW:
                raise SqlError("42803", "aggregate function calls cannot be nested", column.position)
    if home.inside_aggregate:
        raise SqlError("42803", "aggregate function calls cannot be nested", call.position)
    if not home.aggregates_allowed or home.virtual is None:
        what = "aggregate functions" if call.function != "grouping" else "grouping operations"
        raise SqlError("42803", f"{what} are not allowed in {home.clause}", call.position)


def grouping_call(binder: Binder, node: FunctionCall) -> Expression:
    """Return the column that stands for GROUPING(...)."""
    if len(node.arguments) > GROUPING_ARGUMENTS_MAX:
        raise SqlError("54023", "GROUPING must have fewer than 32 arguments", node.position)
    mark = Mark.of(binder.scope.outer)
    arguments = tuple(binder.bind(item) for item in node.arguments)
    call = AggregateCall("grouping", arguments, INT4, position=node.position, text=node.text)
    return at_home(binder, "grouping", call, mark)


HYPOTHETICAL = frozenset(name for name, row in WINDOW_ROWS.items() if row.hypothetical)
PERCENTILES = frozenset({"percentile_cont", "percentile_disc"})


def ordered_set(binder: Binder, node: FunctionCall) -> Expression:
    """Return the column that stands for an ordered-set aggregate.

    Raises 42809, and 42883, also for more sort keys than one.
    """
    inner = replace(binder, inside_aggregate=True)
    require_set(inner, node)
    mark = Mark.of(binder.scope.outer)
    fractions = [inner.bind(argument) for argument in node.arguments]
    if node.name in PERCENTILES and len(fractions) == 1 and fractions[0].type.is_array:
        return _several(binder, node, fractions[0])
    key, *others = (sort_key(inner, one) for one in node.within_group)
    operands = [*fractions, key.expression, *(other.expression for other in others)]
    if others:
        raise no_function(written_call(node.name, operands), node.position)
    signature = pick(node.name, operands, node.position)
    values = converted(signature, operands, binder.context)
    kind = values[-1].type.without_modifier() if signature.result == "element" else SqlType(signature.result)
    order = (replace(key, expression=values[-1]),)
    condition = None if node.filter is None else bind_filter(binder, node)
    arguments = tuple(values[:-1])
    call = AggregateCall(signature.canonical, arguments, kind, condition, False, node.position, node.text, order)
    return at_home(binder, node.label, call, mark)


def require_set(binder: Binder, node: FunctionCall) -> None:
    """Raise PostgreSQL's error where a call is not written as that of an ordered-set aggregate."""
    if node.within_group and node.name not in WITHIN_GROUP | HYPOTHETICAL:
        raise no_set(binder, node)
    if not node.within_group:
        operands = [binder.bind(argument) for argument in node.arguments]
        if node.name in WITHIN_GROUP:
            pick(node.name, operands, node.position)
    require_plain(node)


def require_plain(node: FunctionCall) -> None:
    """Raise 42809 without WITHIN GROUP, 0A000 where DISTINCT or ORDER BY stands inside the
    parentheses.
    """
    if not node.within_group:
        raise SqlError("42809", f"WITHIN GROUP is required for ordered-set aggregate {node.name}", node.position)
    if node.distinct or node.order_by:
        raise not_supported(f"DISTINCT or ORDER BY in the arguments of {node.name}", node.position)


def _several(binder: Binder, node: FunctionCall, fractions: Expression) -> Expression:
    """Return the array of the percentiles of an array of constant fractions; NULL without rows."""
    *values, written = node.arguments
    items: Sequence[Written]
    if isinstance(written, ArrayItems):
        items = written.items
    elif isinstance(fractions, Literal) and isinstance(fractions.value, tuple):
        items = [_constant(value, node.position) for value in fractions.value]
    else:
        raise not_supported(f"{node.name} of an array that is not constant", node.position)
    if not items:
        raise not_supported(f"{node.name} of an empty array", node.position)
    each = tuple(replace(node, arguments=(*values, item)) for item in items)
    counted = replace(
        node, name="count", arguments=(*values, *(key.expression for key in node.within_group)), within_group=()
    )
    some = operation(">", counted, number("0", node), node)
    listed = ArrayItems(each, node.position, node.text)
    return binder.bind(CaseWhen(None, ((some, listed),), None, node.position, node.text))


def _constant(value: object, position: int) -> Written:
    """Return the syntax of an element of a constant array of numbers."""
    if value is None:
        return Constant("null", "", position)
    text = repr(value) if isinstance(value, float) else str(value)
    return as_double(Constant("string", text, position), position)


def hypothetical(binder: Binder, node: FunctionCall) -> Expression:
    """Return the rank of a hypothetical row among the rows of a group.

    Raises 42883 for another number of arguments than sort keys, 0A000 for arguments that depend on
    a row, and the errors of comparing.
    """
    inner = replace(binder, inside_aggregate=True)
    require_set(inner, node)
    count, keys = len(node.arguments), node.within_group
    given = tuple(inner.bind(argument) for argument in node.arguments)
    if count != len(keys):
        message = (
            f"To use the hypothetical-set aggregate {node.name}, the number of hypothetical direct arguments "
            f"(here {count}) must match the number of ordering columns (here {len(keys)})."
        )
        operands = [*given, *(inner.bind(key.expression) for key in keys)]
        function = written_call(node.name, operands)
        raise SqlError("42883", f"function {function} does not exist", node.position, hint=message)
    if reads_row(given):
        raise not_supported(f"{node.name} of values that depend on a row", node.position)
    return binder.bind(rank_of(node))


def made(binder: Binder, node: FunctionCall) -> Expression:
    """Return the expression that a call of a name in `MADE` is.

    Raises 42883 for other arguments, and 0A000 for DISTINCT.
    """
    canonical = MADE[node.name]
    is_within = AGGREGATE_ROWS[canonical].within_group
    if node.distinct:
        raise not_supported(f"{node.name} with DISTINCT", node.position)
    inner = replace(binder, inside_aggregate=True)
    if is_within:
        require_plain(node)
    elif node.within_group:
        raise no_set(inner, node)
    if canonical in SKETCH_FORMS and node.arguments:
        mark = Mark.of(binder.scope.outer)
        return sketched(binder, inner, node, lambda call: at_home(binder, node.label, call, mark))
    keys = [key.expression for key in node.within_group]
    operands = [inner.bind(argument) for argument in (*node.arguments, *keys)]
    pick(node.name, operands, node.position)
    return binder.bind(MADE_FORMS[canonical](binder, node))


def _chosen(is_largest: bool, key_first: bool) -> Callable[[Binder, FunctionCall], Written]:
    """Return what makes a call of first, of the value beside the smallest or the largest key."""

    def form(_: Binder, node: FunctionCall) -> Written:
        value, key = node.arguments[::-1] if key_first else node.arguments
        known: Written = Test("null", key, True, node.position, node.text)
        if node.filter is not None:
            known = Logic("and", (node.filter, known), node.position, node.text)
        order = SortItem(key, is_largest, False, node.position)
        return replace(node, name="first", arguments=(value,), order_by=(order, *node.order_by), filter=known)

    return form


def sketched(
    binder: Binder, inner: Binder, node: FunctionCall, placed: Callable[[AggregateCall], Expression]
) -> Expression:
    """Return the sketch of the values of the first argument, or what is read from it.

    Of a type whose values have no words the different ones are counted, and there is no sketch:
    0A000.

    Args:
        inner: binds what the aggregate itself reads.
        placed: returns the column that stands for the aggregate.
    """
    canonical = MADE[node.name]
    written, *rest = node.arguments
    operands = [inner.bind(written), *map(binder.bind, rest)]
    if canonical == "approx_percentile" and len(operands) == 2 and operands[1].type.is_array:
        return _several(binder, node, operands[1])
    signature = pick(node.name, operands, node.position)
    if "any" in signature.arguments and len(operands) == 2:
        _, operands = unify(operands, node.name, binder.context, [one.position for one in node.arguments])
    elif "any" not in signature.arguments:
        operands = list(converted(signature, operands, binder.context))
    value, *others = (hashable(operand, binder.context) for operand in operands)
    if value is None and canonical == "approx_count_distinct":
        return binder.bind(replace(node, name="count", distinct=True))
    if value is None:
        raise not_supported(f"{node.name} of {operands[0].type.sql_name}", node.position)
    form = SKETCH_FORMS[canonical]
    condition = None if node.filter is None else bind_filter(binder if node.over is None else inner, node)
    sketch = placed(AggregateCall(form.kept, (form.word(value),), BYTEA, condition, False, node.position, node.text))
    if form.read is None:
        return sketch
    return form.read(sketch, [other for other in others if other is not None], operands[0].type)


def hashed(binder: Binder, node: FunctionCall, value: Expression) -> Expression:
    """Return the hash of a value that a sketch is asked for. Raises 0A000 for a type without
    one.
    """
    known = hashable(value, binder.context)
    if known is None:
        raise not_supported(f"{node.name} of {value.type.sql_name}", node.position)
    return Call("value_hash", (known,), INT8)


def hashable(value: Expression, context: BindContext) -> Expression | None:
    """Return a value as one of the types that have words, None where its type becomes none."""
    return with_words(coerce(value, TEXT, context) if value.type.family == "unknown" else value)


def chosen_over(binder: Binder, node: FunctionCall) -> tuple[str, tuple[Expression, ...], SqlType]:
    """Return what a call of arg_min and the like with OVER is: arg_min or arg_max, the value and
    its key, and the type.

    Raises 0A000 for what is no choice of a row.
    """
    canonical = MADE[node.name]
    if canonical not in CHOICES:
        raise not_supported(f"{node.name} with OVER", node.position)
    operands = [as_array(binder.bind(argument)) for argument in node.arguments]
    signature = pick(node.name, operands, node.position)
    arguments = tuple(converted(signature, operands, binder.context))
    kind = result_type(signature, arguments, node.position)
    return CHOICES[canonical], arguments[::-1] if canonical.startswith("keyed") else arguments, kind


def _set(_: Binder, node: FunctionCall) -> Written:
    return replace(node, name="array_agg", distinct=True)


def _first_values(binder: Binder, node: FunctionCall) -> Written:
    (written,), (key, *others) = node.arguments, node.within_group
    count = coerce(binder.bind(written), INT4, binder.context)
    if not isinstance(count, Literal) or not isinstance(count.value, int) or others:
        raise not_supported(f"{node.name} of a number that is not constant, or of several keys", node.position)
    if count.value < 1:
        raise SqlError("22023", f"the number of {node.name} must be positive", node.position)
    listed = replace(node, name="array_agg", arguments=(key.expression,), order_by=node.within_group, within_group=())
    one = Constant("integer", "1", node.position)
    return Subscript(listed, one, replace(one, value=str(count.value)), True, node.position, node.text)


MADE_FORMS: Mapping[str, Callable[[Binder, FunctionCall], Written]] = {
    "arg_min": _chosen(False, False),
    "arg_max": _chosen(True, False),
    "keyed_min": _chosen(False, True),
    "keyed_max": _chosen(True, True),
    "set_agg": _set,
    "first_values": _first_values,
}
CHOICES = {"arg_min": "arg_min", "arg_max": "arg_max", "keyed_min": "arg_min", "keyed_max": "arg_max"}
# The canonical name of each of the names.
MADE: Mapping[str, str] = {
    name: overloads[0].canonical
    for name, overloads in AGGREGATES.items()
    if AGGREGATE_ROWS[overloads[0].canonical].is_made
}
