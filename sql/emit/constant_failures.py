"""Constants that can't be computed fail a statement before it reads a row, as in PostgreSQL's
planner (eval_const_expressions).

Enters: a bound relation without open parameters, and a function that evaluates a constant. Leaves:
nothing, or the error of the first constant that fails. Parts that PostgreSQL does not compute are
passed over: items that nothing above reads, operands after a false part of AND or a true one of OR,
branches of CASE and arguments of COALESCE that constants before them decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from sql.emit.failing import fails_by_itself
from sql.errors import SqlError
from sql.functions.table import is_lazy
from sql.functions.volatility import is_constant, is_fixed
from sql.tree.expressions import Call, Case, Cast, Expression, Literal, Subquery
from sql.tree.relations import Aggregate, Filter, Join, Limit, Project, Relation, Sort, Values, Window
from sql.tree.walks import (
    all_relations,
    children,
    columns_of,
    inputs,
    subqueries_of,
    walk,
)

# Whether a constant is true, or not NULL if it is no boolean; None for NULL.
Evaluate = Callable[[Expression], bool | None]
# Computes all of some constants. Raises the SqlError of any that fails.
ComputeAll = Callable[[Sequence[Expression]], None]
# Longer lists are computed together, and shorter ones one by one.
AT_ONCE_MAX = 10_000
AT_ONCE_MIN = 4
# Errors that are no constant's: cancel, timeouts, the end of the server, memory.
ENDS = ("57014", "57P01", "53200", "53100")


class Constants:
    """The constants of one query in PostgreSQL's order: computed together, unless a decision
    depends on one.
    """

    def __init__(self, evaluate: Evaluate, compute_all: ComputeAll) -> None:
        self._evaluate = evaluate
        self._compute_all = compute_all
        self._waiting: list[Expression] = []

    def add(self, node: Expression) -> None:
        """Add a constant that is computed later."""
        self._waiting.append(node)
        if len(self._waiting) >= AT_ONCE_MAX:
            self.compute()

    def value(self, node: Expression) -> bool | None:
        """Return the value of a constant that decides over others, after the constants before it
        are computed.
        """
        self.compute()
        return self._evaluate(node)

    def compute(self) -> None:
        """Compute the constants that wait. Raises the error of the first that fails."""
        waiting, self._waiting = self._waiting, []
        if len(waiting) < AT_ONCE_MIN:
            for node in waiting:
                self._evaluate(node)
            return
        try:
            self._compute_all(waiting)
        except SqlError as error:
            if error.sqlstate in ENDS:
                raise
            for node in self._with_first_failure(waiting):
                self._evaluate(node)
            raise

    def _with_first_failure(self, waiting: Sequence[Expression]) -> Sequence[Expression]:
        """Return a few constants with the first that fails among them, found by halves."""
        while len(waiting) > AT_ONCE_MIN:
            half = len(waiting) // 2
            try:
                self._compute_all(waiting[:half])
                waiting = waiting[half:]
            except SqlError as error:
                if error.sqlstate in ENDS:
                    raise
                waiting = waiting[:half]
        return waiting


def check_constants(root: Relation, evaluate: Evaluate, compute_all: ComputeAll) -> None:
    """Evaluate the constants of a query that may fail. Raises the errors of `evaluate`."""
    if any(has_failing(item) for part in all_relations(root) for item in children(part)):
        constants = Constants(evaluate, compute_all)
        _check_relation(root, frozenset(range(len(root.schema))), constants)
        constants.compute()


def is_one_row(root: Relation) -> bool:
    """Tell whether a query computes expressions once, as VALUES or a SELECT without FROM, and does
    nothing else.

    A SELECT of a NULL is not among these queries.
    """
    below = root.input if isinstance(root, Project) else root
    is_row = isinstance(below, Values) and len(below.rows) == 1 and (below is root or not below.schema)
    items = children(root)
    return is_row and not any(any(subqueries_of(item)) or (below is not root and _has_null(item)) for item in items)


def _has_null(expression: Expression) -> bool:
    return any(isinstance(part, Literal) and part.value is None for part in walk(expression))


def has_failing(expression: Expression) -> bool:
    """Tell whether there is a constant in an expression that may fail."""
    nodes = list(walk(expression))
    constant: dict[int, bool] = {}
    # The parts of a node come after it.
    for node in reversed(nodes):
        fixed = isinstance(node, Literal)
        if isinstance(node, Call | Cast | Case):
            fixed = is_fixed(node, True) and all(constant[id(part)] for part in children(node))
            if fixed and fails_by_itself(node):
                return True
        constant[id(node)] = fixed
    return False


def _check_relation(relation: Relation, needed: frozenset[int], constants: Constants) -> None:
    """Check the expressions that compute the columns `needed` of a relation."""
    match relation:
        case Project():
            items = [item for place, (_, item) in enumerate(relation.items) if place in needed]
            _check_all(items, constants)
            _check_relation(relation.input, _read(items), constants)
        case Filter():
            _check(relation.predicate, constants, is_condition=True)
            _check_relation(relation.input, needed | _read([relation.predicate]), constants)
        case Sort() | Limit() | Window():
            expressions = children(relation)
            _check_all(expressions, constants)
            width = len(relation.input.schema)
            _check_relation(
                relation.input, frozenset(place for place in needed if place < width) | _read(expressions), constants
            )
        case Join():
            expressions = children(relation)
            _check_all(expressions, constants, is_condition=relation.kind in ("inner", "cross"))
            read, width = needed | _read(expressions), len(relation.left.schema)
            _check_relation(relation.left, frozenset(place for place in read if place < width), constants)
            _check_relation(relation.right, frozenset(place - width for place in read if place >= width), constants)
        case Aggregate():
            keys = [key for _, key in relation.keys]
            calls = [call for place, (_, call) in enumerate(relation.aggregates, len(keys)) if place in needed]
            expressions = (*keys, *(part for call in calls for part in children(call)))
            _check_all(expressions, constants)
            _check_relation(relation.input, _read(expressions), constants)
        case _:
            _check_all(children(relation), constants)
            for below in inputs(relation):
                _check_relation(below, frozenset(range(len(below.schema))), constants)


def _read(expressions: Iterable[Expression]) -> frozenset[int]:
    return frozenset(column.index for item in expressions for column in columns_of(item))


def _check_all(expressions: Iterable[Expression], constants: Constants, is_condition: bool = False) -> None:
    for item in expressions:
        _check(item, constants, is_condition)


def _check(node: Expression, constants: Constants, is_condition: bool = False) -> None:
    """Check an expression.

    is_condition: the expression chooses rows; PostgreSQL computes its stable functions, too, to
    estimate how many.
    """
    if not has_failing(node) and not any(isinstance(part, Subquery) for part in walk(node)):
        return
    match node:
        case _ if is_constant(node, is_condition):
            _add(node, constants, is_condition)
        case Call(function="and" | "or") | Call(function="coalesce"):
            _check_in_order(node, constants, is_condition)
        case Case():
            _check_case(node, constants, is_condition)
        case Subquery():
            _check_all(children(node), constants)
            needed = () if node.kind == "exists" else range(len(node.relation.schema))
            _check_relation(node.relation, frozenset(needed), constants)
        case _:
            _check_all(children(node), constants, is_condition)


def _add(node: Expression, constants: Constants, is_condition: bool) -> None:
    """Compute a constant: its parts first where one is NULL.

    Beside a NULL an engine leaves out parts that PostgreSQL has computed before.
    """
    for part in _without_null(node):
        match part:
            case Call(function="and" | "or" | "coalesce"):
                _check_in_order(part, constants, is_condition)
            case Case():
                _check_case(part, constants, is_condition)
            case _:
                constants.add(part)
    constants.add(node)


def _without_null(node: Expression) -> Sequence[Expression]:
    """Return the largest parts of a constant that have no NULL, and those whose parts decide over
    others.

    None are returned if the constant has no NULL.
    """
    has_null: dict[int, bool] = {}
    for part in reversed(list(walk(node))):
        is_null = isinstance(part, Literal) and part.value is None
        has_null[id(part)] = is_null or any(has_null[id(child)] for child in children(part))
    found: list[Expression] = []
    waiting = [node] if has_null[id(node)] else []
    while waiting:
        part = waiting.pop()
        if isinstance(part, Literal):
            continue
        if not has_null[id(part)] or isinstance(part, Case) or (isinstance(part, Call) and is_lazy(part.function)):
            found.append(part)
        else:
            waiting.extend(reversed(children(part)))
    return found


def _check_in_order(node: Call, constants: Constants, is_condition: bool) -> None:
    """Check the operands up to a constant that decides the whole."""
    for part in node.arguments:
        if not is_constant(part, is_condition):
            _check(part, constants, is_condition)
            continue
        value = _value(part, constants, is_condition)
        if value is not None and (node.function == "coalesce" or value == (node.function == "or")):
            return


def _check_case(node: Case, constants: Constants, is_condition: bool) -> None:
    """Check the branches that constant conditions leave."""
    for condition, result in node.branches:
        if not is_constant(condition, is_condition):
            _check(condition, constants, is_condition)
            _check(result, constants, is_condition)
            continue
        value = _value(condition, constants, is_condition)
        if value is True:
            _check(result, constants, is_condition)
            return
    _check(node.default, constants, is_condition)


def _value(node: Expression, constants: Constants, is_condition: bool) -> object:
    if isinstance(node, Literal):
        return node.value
    _add(node, constants, is_condition)
    return constants.value(node)
