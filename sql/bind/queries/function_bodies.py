"""The check of a function when it is defined: its body and defaults are bound as a call binds them.

Enters: a description, a catalog, the settings of the definition. Raises what binding raises, and
42P13 for other columns than those that the function returns.
"""

from __future__ import annotations

from sql.bind.expressions.binder import Binder
from sql.bind.expressions.coerce import coerce
from sql.bind.expressions.context import DEFAULTS, BindContext, ParameterTypes, References
from sql.bind.expressions.scope import Scope
from sql.bind.expressions.source_positions import start_of
from sql.bind.expressions.user_functions import BodyParameters, bound_body
from sql.bind.queries.query import QUERIES
from sql.catalog.catalog import Catalog, SessionSettings
from sql.catalog.functions import FunctionArgument, FunctionDescription
from sql.errors import SqlError
from sql.functions.polymorphic import GROUPS
from sql.parse.syntax import Expression as Syntax
from sql.tree.expressions import Subquery
from sql.tree.relations import Relation
from sql.tree.walks import walk
from sql.types.casts import can_cast, plain_name


def check_function(
    function: FunctionDescription, catalog: Catalog, settings: SessionSettings
) -> tuple[Relation, set[str], References]:
    """Bind a function's body and return it, the relations that it names, and what else it names."""
    kinds = [one.type for one in function.inputs]
    references = References(running=[function.oid], in_body=True)
    context = BindContext(catalog, settings, BodyParameters(kinds), QUERIES, references=references)
    bound = bound_body(function, kinds, Binder(Scope(), context))
    return bound, context.named, references


def check_default(item: Syntax, argument: FunctionArgument, catalog: Catalog, settings: SessionSettings) -> References:
    """Bind the default of an argument and return what it names. Raises 42P10, 42804, and 0A000."""
    context = BindContext(catalog, settings, ParameterTypes(None), QUERIES)
    bound = Binder(Scope(), context, DEFAULTS).bind(item)
    for node in walk(bound):
        if isinstance(node, Subquery):
            raise SqlError("0A000", "cannot use subquery in DEFAULT expression", node.position)
    is_any = argument.type.family in GROUPS and bound.type.family != "unknown"
    if not is_any and not can_cast(bound.type.family, argument.type.family, "assignment"):
        message = f"argument of DEFAULT must be type {plain_name(argument.type)}, not type {plain_name(bound.type)}"
        raise SqlError("42804", message, start_of(item))
    if not is_any:
        coerce(bound, argument.type, context)
    return context.references
