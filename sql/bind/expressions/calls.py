"""Function calls: plain functions by overload, forms that take any type, functions that make JSON,
functions that return rows.

Aggregates, windows, functions of time and what a session knows have files of their own. Canonical
names of JSON: 'json_of_value' of (zone, value, whether items stand on lines of their own),
'json_of_values' of (zone, values ...), 'json_of_pairs' of (zone, name of the function, keys and
values ...); 'json_of_elements', 'json_of_arrays' and 'json_of_members' of (zone, array): what
array_agg has collected. A function that returns rows becomes a `TableFunction` in FROM; in a select
list it is a lateral join with all others in lockstep, and columns stand for its values
(`sql.bind.expressions.placeholder_columns`) until the join is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sql.bind.aggregate_syntax import in_rows
from sql.bind.expressions import aggregates, time_functions, user_functions, user_overloads, windows
from sql.bind.expressions.coerce import coerce, converted, explicit_cast, require_usual_form, result_type, unify
from sql.bind.expressions.object_names import as_array, as_shown, catalog_call, place_in, placed_element
from sql.bind.expressions.operators import (
    finish,
    no_function,
    not_unique,
    nullif,
    pick_function,
    with_blanks,
    with_defaults,
    written_call,
)
from sql.bind.expressions.placeholder_columns import MOVE_HINT, SetCall, refuse_inside, refuse_sets
from sql.bind.expressions.session_functions import (
    SEQUENCES,
    SESSION_FUNCTIONS,
    is_known,
    sequence_name,
    session_function,
    with_sequence,
)
from sql.bind.expressions.source_positions import start_of
from sql.bind.expressions.user_overloads import OwnSignature
from sql.catalog.catalog import KnowsSchemas
from sql.errors import SqlError, not_supported
from sql.functions.catalog import OF_CATALOG as CATALOG_FUNCTIONS
from sql.functions.missing import AGGREGATE_NAMES, NAMES
from sql.functions.rows import VOLATILE
from sql.functions.signatures import TIMES, Signature
from sql.functions.table import (
    AGGREGATE_ROWS,
    AGGREGATES,
    BLANKS_SEEN,
    FUNCTIONS,
    ROWS,
    SET_NAMES,
    SET_ROWS,
    TABLE_FUNCTIONS,
    WINDOW_FUNCTIONS,
)
from sql.names.relation_keys import as_written
from sql.names.suggestions import did_you_mean
from sql.parse.syntax import FunctionCall, NamedArgument, Row
from sql.tree.expressions import Call, Case, Cast, Expression, Literal
from sql.types.casts import can_cast, needs_zone
from sql.types.datatypes import BOOL, JSON, JSONB, OF_CATALOG, OIDS_OF_NAMES, SCALARS, TEXT, SqlType, scaled_numeric
from sql.types.enums import enum_family

if TYPE_CHECKING:
    from sql.bind.expressions.binder import Binder

# Types whose names may be called; those of the catalog's own values have other ways.
CASTS = (SCALARS.keys() - FUNCTIONS.keys() - OF_CATALOG - {"void", "unknown"}) | OIDS_OF_NAMES.keys()
FORMS = frozenset({"coalesce", "greatest", "least", "nullif"})
SCALAR_NAMES = FORMS | SESSION_FUNCTIONS | time_functions.TIME_FUNCTIONS | FUNCTIONS.keys()
CALLED_NAMES = SCALAR_NAMES | AGGREGATES.keys() | WINDOW_FUNCTIONS.keys() | TABLE_FUNCTIONS.keys()


def call(binder: Binder, node: FunctionCall) -> Expression:
    """Bind a call."""
    name = node.name
    if node.schema is not None:
        refuse_set_decorations(node)
        return function(binder, node)
    if node.variadic and (name in JSON_NAMES or name in CALLED_NAMES - FUNCTIONS.keys()):
        raise not_supported("VARIADIC", node.position)
    if name in JSON_NAMES:
        return json_call(binder, node)
    if name in AGGREGATES or name in AGGREGATE_NAMES:
        if name in AGGREGATE_NAMES:
            raise not_supported(f"the aggregate {name}", node.position)
        return (aggregates.called if node.over is None else windows.window)(binder, node)
    if node.over is None and name in aggregates.HYPOTHETICAL and (node.arguments or node.within_group):
        return aggregates.hypothetical(binder, node)
    if name == "grouping" and node.spelled:
        return aggregates.grouping_call(binder, node)
    if name in TABLE_FUNCTIONS:
        return in_expression(binder, node, lambda: resolve_set(binder, node))
    if name == "version_of" and not user_overloads.candidates(binder.context.catalog, binder.context.settings, node):
        return binder.context.queries.version(node, binder.context)
    if name in time_functions.BUCKET_CALLS and not user_overloads.candidates(
        binder.context.catalog, binder.context.settings, node
    ):
        return time_functions.bucket_call(binder, node)
    if name not in CALLED_NAMES and name not in NAMES:
        return function(binder, node)
    if node.over is not None or name in WINDOW_FUNCTIONS:
        return windows.window(binder, node)
    refuse_decorations(node)
    if name in time_functions.TIME_FUNCTIONS:
        return time_functions.time_function(binder, node)
    if name in SESSION_FUNCTIONS and is_known(node):
        return session_function(binder, node)
    if name in ("coalesce", "greatest", "least"):
        sets_count = binder.sets_count
        operands = [binder.bind(argument) for argument in node.arguments]
        if name == "coalesce":
            refuse_sets(binder, sets_count, "COALESCE")
        places = [start_of(argument) for argument in node.arguments]
        kind, values = unify(operands, name.upper(), binder.context, places)
        return Call(name, tuple(values), kind, node.position, node.text)
    if name == "nullif":
        return nullif(binder, node)
    return function(binder, node)


def refuse_decorations(node: FunctionCall) -> None:
    """Raise PostgreSQL's error for DISTINCT, FILTER and the like on what is no aggregate."""
    name = node.name
    if node.star and (name in FUNCTIONS or node.schema is not None):
        raise no_function(f"{name}()", node.position)
    for present, what in (
        (node.star, f"{name}(*) specified, but {name} is not an aggregate function"),
        (node.distinct, f"DISTINCT specified, but {name} is not an aggregate function"),
        (node.order_by, f"ORDER BY specified, but {name} is not an aggregate function"),
        (node.filter, f"FILTER specified, but {name} is not an aggregate function"),
    ):
        if present:
            raise SqlError("42809", what, node.position)


def function(binder: Binder, node: FunctionCall) -> Expression:
    """Bind an ordinary function by its overloads, those of users among them.

    A call of a type's name is a cast, unless a function has the name.
    """
    if node.within_group:
        function(binder, aggregates.with_keys(node))
        raise SqlError("42809", f"WITHIN GROUP specified, but {node.name} is not an aggregate function", node.position)
    if (target := cast_target(binder, node)) is not None:
        refuse_set_decorations(node)
        operand = binder.bind(node.arguments[0])
        if not can_cast(operand.type.family, target.family, "explicit"):
            raise no_function(written_call(node.name, [operand]), node.position)
        return explicit_cast(operand, target, binder.context, node.position)
    sets_count = binder.sets_count
    found, operands = chosen(binder, with_sequence(node))
    if isinstance(found, OwnSignature):
        if user_functions.is_set(found):
            refuse_inside(binder, sets_count, node)
            return in_expression(binder, node, lambda: user_functions.set_call(binder, node, found, operands))
        return user_functions.value_of_call(binder, node, found, operands)
    return value_of_call(binder, node, found, operands)


def cast_target(binder: Binder, node: FunctionCall) -> SqlType | None:
    """Return the type whose name a call of one argument has, None where a function has that
    name.
    """
    if len(node.arguments) != 1 or isinstance(node.arguments[0], NamedArgument) or node.spelled or node.variadic:
        return None
    context = binder.context
    if node.name in FUNCTIONS or user_overloads.candidates(context.catalog, context.settings, node):
        return None
    if node.name in CASTS and node.schema is None:
        return SqlType(node.name)
    parts = (node.name,) if node.schema is None else (node.schema, node.name)
    known = context.own_type(as_written(parts)) if isinstance(context.catalog, KnowsSchemas) else None
    return None if known is None else SqlType(enum_family(known))


def chosen(binder: Binder, node: FunctionCall) -> tuple[Signature, list[Expression]]:
    """Return the overload that a call means, and its arguments as they are written.

    Raises 42883, 42725, and 0A000 for one that is missing.
    """
    name = node.name
    own = user_overloads.candidates(binder.context.catalog, binder.context.settings, node)
    if own:
        refuse_set_decorations(node)
    operands = user_overloads.bound_operands(binder, node)
    if name in SEQUENCES and operands:
        operands[0] = sequence_name(binder, operands[0])
    if name in BLANKS_SEEN:
        operands = [with_blanks(operand) for operand in operands]
    prefix = "pg_catalog." if node.spelled else ""
    written = prefix + user_overloads.written_call(node, operands)
    candidates: Sequence[Signature] = (*(FUNCTIONS.get(name, ()) if node.schema is None else ()), *own)
    if not candidates:
        require_schema(binder, node)
        if name in NAMES and node.schema is None:
            raise not_supported(f"the function {name}", node.position)
        raise no_function(written, node.position, did_you_mean(name, sorted(CALLED_NAMES), "the function"))
    candidates, operands = user_overloads.by_name(node, candidates, operands)
    found = pick_function(candidates, [as_array(operand) for operand in operands], written, node.position)
    if isinstance(found, OwnSignature):
        if found.is_ambiguous:
            raise not_unique(written, node.position)
        found = user_functions.settled(binder.context, found, operands)
        if binder.context.references.notes is not None:
            binder.context.references.notes.calls[id(node)] = found
        return found, operands
    if node.variadic:
        raise not_supported("VARIADIC", node.position)
    if not found.canonical:
        raise not_supported(f"the function {written.removeprefix('pg_catalog.')}", node.position)
    return found, operands


def require_schema(binder: Binder, node: FunctionCall) -> None:
    """Raise 3F000 for the schema of a call that does not exist."""
    catalog = binder.context.catalog
    if node.schema is not None and isinstance(catalog, KnowsSchemas) and not catalog.has_schema(node.schema):
        raise SqlError("3F000", f'schema "{node.schema}" does not exist', node.position)


def value_of_call(binder: Binder, node: FunctionCall, found: Signature, given: list[Expression]) -> Expression:
    """Return the call of one of PostgreSQL's functions, its arguments converted."""
    row = ROWS[found.canonical]
    if row.volatility == VOLATILE:
        binder.context.stable = True
    operands = [as_array(operand) for operand in given]
    if row.bound == "hashed":
        operands[1] = aggregates.hashed(binder, node, operands[1])
    if row.prints:
        operands[0] = as_shown(operands[0], binder.context)
    values = list(with_defaults(row, tuple(converted(found, operands, binder.context))))
    if found.canonical in CATALOG_FUNCTIONS:
        return catalog_call(found.canonical, values, SqlType(found.result), binder.context, node.position, node.text)
    if row.takes_output:
        fixed = len(found.arguments) - 1 if found.variadic else len(values)
        values[fixed:] = [as_output_text(binder, value) for value in values[fixed:]]
    if row.prints:
        require_usual_form(values[0].type, binder.context.settings, node.position)
    match row.bound:
        case "field":
            return time_functions.field_function(binder, found, values, node)
        case "zone":
            return time_functions.zone_function(found, values, node)
        case "today":
            return time_functions.age_today(binder, values[0], node)
        case "spans":
            values = time_functions.ends_of_spans(binder, values, node)
    if len(values) == row.zoned and "timestamptz" in (*found.cast_to, found.result):
        values.append(Literal(binder.context.settings.clock_zone, TEXT))
    made = finish(found, values, node.position, node.text)
    return place_in(node.name, made) if given and given[0] is not operands[0] else made


def as_output_text(binder: Binder, operand: Expression) -> Expression:
    """Return the operand as its output function prints it, which for a boolean is not the text of a
    cast.
    """
    if operand.type.family == "bool":
        words = (Literal("t", TEXT), Literal("f", TEXT))
        branches = ((operand, words[0]), (Call("not", (operand,), SqlType("bool")), words[1]))
        return Case(branches, Literal(None, TEXT), TEXT)
    if operand.type.family == "inet":
        # A cast to text shows the bits of every network.
        return Call("inet_output", (operand,), TEXT)
    return coerce(with_blanks(operand), TEXT, binder.context)


def json_call(binder: Binder, node: FunctionCall) -> Expression:
    """Bind a call that makes JSON of values of any type."""
    overload = JSON_NAMES[node.name]
    if node.name in AGGREGATES:
        made = _aggregate(binder, node, overload)
    else:
        refuse_decorations(node)
        operands = [as_shown(binder.bind(argument), binder.context) for argument in node.arguments]
        made = JSON_FORMS[ROWS[overload.canonical].bound](binder, node, operands)
    return Cast(made, JSONB, position=node.position) if "jsonb" in node.name else made


def _made(binder: Binder, node: FunctionCall, canonical: str, arguments: Sequence[Expression]) -> Call:
    for argument in arguments:
        _require_forms(binder, argument.type, node.position)
    settings = binder.context.settings
    shows_times = any(needs_zone(argument.type.family, "text") for argument in arguments)
    zone = Literal(settings.clock_zone if shows_times else settings.time_zone, TEXT)
    return Call(canonical, (zone, *arguments), JSON, node.position, node.text)


def _require_forms(binder: Binder, kind: SqlType, position: int) -> None:
    """Raise 0A000 for values whose texts the session wants in another form."""
    if kind.record is not None:
        for field in kind.record.types:
            _require_forms(binder, field, position)
    elif kind.family not in TIMES and not (kind.is_array and kind.element.family in TIMES):
        require_usual_form(kind, binder.context.settings, position)


def _to_json(binder: Binder, node: FunctionCall, operands: list[Expression]) -> Expression:
    (taken,) = JSON_NAMES[node.name].arguments
    given = operands[0].type if operands else SqlType("unknown")
    if taken == "element" and len(operands) == 1:
        return _value(binder, node, operands[0], Literal(False, BOOL))
    is_taken = given.is_record if taken == "record" else given.is_array or given.family == "unknown"
    if taken == "element" or not operands or not is_taken:
        raise _no_function(node, operands)
    return _in_lines(binder, node, operands)


def _in_lines(binder: Binder, node: FunctionCall, operands: list[Expression]) -> Expression:
    if len(operands) == 1:
        operands.append(Literal(False, BOOL))
    value, lines = operands if len(operands) == 2 else (None, None)
    if value is None or lines is None or lines.type.family not in ("bool", "unknown"):
        raise _no_function(node, operands)
    lines = coerce(lines, BOOL, binder.context)
    if not isinstance(lines, Literal):
        raise not_supported(f"{node.name} whose second argument is not a constant", node.position)
    return Literal(None, JSON) if lines.value is None else _value(binder, node, value, lines)


def _value(binder: Binder, node: FunctionCall, value: Expression, lines: Literal) -> Expression:
    _require_type(value)
    return _made(binder, node, JSON_NAMES[node.name].canonical, (value, lines))


def _require_type(value: Expression) -> None:
    if value.type.family == "unknown":
        raise SqlError("42804", "could not determine polymorphic type because input has type unknown")


def _build_array(binder: Binder, node: FunctionCall, operands: list[Expression]) -> Expression:
    return _made(binder, node, JSON_NAMES[node.name].canonical, _typed(binder, operands))


def _build_object(binder: Binder, node: FunctionCall, operands: list[Expression]) -> Expression:
    if len(operands) % 2:
        hint = f"The arguments of {node.name}() must consist of alternating keys and values."
        raise SqlError("22023", "argument list must have even number of elements", hint=hint)
    members = _typed(binder, operands)
    for key in members[::2]:
        _require_scalar(key.type)
    return _made(binder, node, JSON_NAMES[node.name].canonical, (Literal(node.name, TEXT), *members))


def _typed(binder: Binder, operands: Sequence[Expression]) -> list[Expression]:
    return [coerce(one, TEXT, binder.context) if one.type.family == "unknown" else one for one in operands]


def _require_scalar(key: SqlType) -> None:
    if key.is_array or key.is_record or key.family in ("json", "jsonb"):
        raise SqlError("22023", "key value must be scalar, not array, composite, or json")


def _aggregate(binder: Binder, node: FunctionCall, overload: Signature) -> Expression:
    """Bind an aggregate as the array of array_agg, written as JSON.

    Times have one form in JSON, whatever the session asks for.
    """
    if len(node.arguments) != len(overload.arguments):
        raise _no_function(node, [binder.bind(argument) for argument in node.arguments])
    if len(node.arguments) == 1:
        value = replace(binder, inside_aggregate=True).bind(node.arguments[0])
        _require_type(value)
        if value.type.is_array:
            return _made(binder, node, "json_of_arrays", [call(binder, in_rows(node))])
        return _made(binder, node, "json_of_elements", [call(binder, replace(node, name="array_agg"))])
    if node.distinct:
        raise not_supported(f"{node.name} with DISTINCT", node.position)
    pair = Row(node.arguments, node.position, node.text)
    rows = call(binder, replace(node, name="array_agg", arguments=(pair,)))
    assert rows.type.record is not None, rows
    _require_scalar(rows.type.record.types[0])
    return _made(binder, node, "json_of_members", [rows])


def _no_function(node: FunctionCall, operands: Sequence[Expression]) -> SqlError:
    return no_function(written_call(node.name, operands), node.position)


JSON_FORMS: Mapping[str, Callable[[Binder, FunctionCall, list[Expression]], Expression]] = {
    "json value": _to_json,
    "json values": _build_array,
    "json pairs": _build_object,
}
# The first overload of each name.
JSON_NAMES: Mapping[str, Signature] = {
    **{
        name: overloads[0]
        for name, overloads in FUNCTIONS.items()
        if overloads[0].canonical and ROWS[overloads[0].canonical].bound in JSON_FORMS
    },
    **{name: overloads[0] for name, overloads in AGGREGATES.items() if AGGREGATE_ROWS[overloads[0].canonical].as_json},
}


def refuse_set_decorations(node: FunctionCall) -> None:
    """Raise PostgreSQL's error for DISTINCT, FILTER and OVER on a function that is no aggregate."""
    if node.over is not None:
        message = f"OVER specified, but {node.name} is not a window function nor an aggregate function"
        raise SqlError("42809", message, node.position)
    refuse_decorations(node)


def resolve_set(binder: Binder, node: FunctionCall) -> SetCall:
    """Return the canonical call and the type of its values."""
    given = [binder.bind(argument) for argument in node.arguments]
    operands = [as_array(operand) for operand in given]
    written = written_call(node.name.split()[0], operands)
    if [operand.type.family for operand in operands] == ["unknown"] and node.name == "unnest":
        raise not_unique(written, node.position)
    overloads = TABLE_FUNCTIONS.get(node.name) or SET_NAMES[node.name].overloads
    found = pick_function(overloads, operands, written, node.position)
    if not found.canonical or SET_ROWS[found.canonical].columns:
        raise not_supported(f"the function {written}", node.position)
    arguments = converted(found, operands, binder.context)
    if found.canonical in CATALOG_FUNCTIONS:
        made = catalog_call(found.canonical, arguments, SqlType(found.result), binder.context, node.position, node.text)
        return SetCall(found.canonical, made.arguments, made.type, node.position)
    kind = result_type(found, arguments, node.position)
    if found.canonical == "_pg_expandarray":
        kind = placed_element(kind)
    if found.canonical == "generate_subscripts" and operands[0] is not given[0]:
        return SetCall("vector_subscripts", tuple(arguments), kind, node.position)
    if found.result == "timestamptz":
        arguments.append(Literal(binder.context.settings.clock_zone, TEXT))
    if kind.family == "numeric":
        kind = scaled_numeric(None)
    return SetCall(found.canonical, tuple(arguments), kind, node.position)


def in_expression(binder: Binder, node: FunctionCall, resolved: Callable[[], SetCall]) -> Expression:
    """Return the column that stands for the values of a set-returning function in a select list.

    resolved: binds the call.
    """
    refuse_set_decorations(node)
    if binder.in_from:
        raise SqlError("0A000", "set-returning functions must appear at top level of FROM", node.position)
    virtual, known = binder.virtual, binder.sets_count
    call = resolved()
    for inside, what in ((binder.inside_aggregate, "aggregate"), (binder.inside_window, "window")):
        if inside:
            message = f"{what} function calls cannot contain set-returning function calls"
            raise SqlError("0A000", message, node.position, hint=MOVE_HINT)
    if binder.clause == "window definitions":
        raise not_supported("a set-returning function in a window definition", node.position)
    if not binder.sets_allowed or virtual is None:
        raise SqlError("0A000", f"set-returning functions are not allowed in {binder.clause}", node.position)
    refuse_inside(binder, known, node)
    return virtual.set_function(node.label, call)
