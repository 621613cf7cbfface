"""Users' functions as candidates for a call: found along the search_path, with defaults filled in
and VARIADIC arguments written out, as PostgreSQL lists them (FuncnameGetCandidates); and arguments
that are given by name, to those and to PostgreSQL's own functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sql.bind.expressions.operators import constant, type_name
from sql.catalog.catalog import Catalog, SessionSettings
from sql.catalog.functions import FunctionDescription, visible_functions
from sql.errors import SqlError
from sql.functions import polymorphic
from sql.functions.signatures import Signature
from sql.functions.table import ROWS
from sql.names.relation_keys import as_written, name_of, schema_of
from sql.parse.syntax import FunctionCall, NamedArgument
from sql.tree.expressions import Expression
from sql.types.datatypes import SqlType, element_family

if TYPE_CHECKING:
    from sql.bind.expressions.binder import Binder


@dataclass(frozen=True, slots=True)
class OwnSignature(Signature):
    """A user's function as a candidate for a call.

    Attributes:
        slots: for each argument of the call the place of the function's argument.
        spreads: the call has the elements of the VARIADIC argument, not their array.
        is_ambiguous: true where defaults make several functions of one schema alike.
    """

    function: FunctionDescription | None = None
    slots: tuple[int, ...] = ()
    spreads: bool = False
    is_ambiguous: bool = False

    @property
    def taken(self) -> list[SqlType]:
        """The types of the arguments of a call that is `settled`, none of them polymorphic."""
        assert self.function is not None, self
        kinds = [self.function.inputs[slot].type for slot in self.slots]
        last = len(self.function.inputs) - 1
        return [
            element_of(kind) if self.spreads and slot == last else kind
            for slot, kind in zip(self.slots, kinds, strict=True)
        ]


def candidates(catalog: Catalog, settings: SessionSettings, node: FunctionCall) -> list[OwnSignature]:
    """Return the users' functions that a call may mean, each with as many arguments as the call."""
    written = as_written((node.name,) if node.schema is None else (node.schema, node.name))
    if node.spelled:
        return []
    found: dict[tuple[str, ...], OwnSignature] = {}
    for function in visible_functions(written, catalog, settings):
        slots = slots_of(function, node)
        if slots is None:
            continue
        inputs = function.inputs
        spreads = function.is_variadic and not node.variadic and len(slots) >= len(inputs)
        families = tuple(
            element_of(inputs[slot].type).family if spreads and slot == len(inputs) - 1 else inputs[slot].type.family
            for slot in slots
        )
        result = "record" if function.result is None else function.result.family
        one = OwnSignature(name_of(function.name), families, result, function=function, slots=slots, spreads=spreads)
        known = found.setdefault(families, one)
        # Of two that are alike the schema that comes first in the search_path counts, and in one
        # schema that without VARIADIC; defaults make two alike, too.
        assert known.function is not None, known
        if known is one or schema_of(known.function.name) != schema_of(function.name):
            continue
        found[families] = replace(known, is_ambiguous=True)
        if known.spreads != spreads:
            found[families] = known if spreads else one
    return list(found.values())


def element_of(kind: SqlType) -> SqlType:
    """Return the type of the elements of a VARIADIC argument."""
    return SqlType(polymorphic.ELEMENTS.get(kind.family) or element_family(kind.family))


def slots_of(function: FunctionDescription, node: FunctionCall) -> tuple[int, ...] | None:
    """Return the place of each argument of a call among those of the function; all that VARIADIC
    takes have its place.

    None where there are too many, or one without a default is missing.
    """
    inputs, arguments = function.inputs, node.arguments
    if function.is_variadic and not node.variadic:
        if any(isinstance(argument, NamedArgument) for argument in arguments):
            return None
        if len(arguments) >= len(inputs):
            return tuple(min(place, len(inputs) - 1) for place in range(len(arguments)))
    slots: list[int] = []
    for place, argument in enumerate(arguments):
        if isinstance(argument, NamedArgument):
            place = next((at for at, one in enumerate(inputs) if one.name == argument.name), len(inputs))
        slots.append(place)
    if len(set(slots)) != len(slots) or any(slot >= len(inputs) for slot in slots):
        return None
    if any(not one.default for place, one in enumerate(inputs) if place not in slots):
        return None
    return tuple(slots)


def bound_operands(binder: Binder, node: FunctionCall) -> list[Expression]:
    """Return the arguments of a call. Raises 42601 for names that stand before a place."""
    names: set[str] = set()
    for argument in node.arguments:
        if isinstance(argument, NamedArgument):
            if argument.name in names:
                raise SqlError("42601", f'argument name "{argument.name}" used more than once', argument.position)
            names.add(argument.name)
        elif names:
            raise SqlError("42601", "positional argument cannot follow named argument", node.position)
    return [binder.bind(one.value if isinstance(one, NamedArgument) else one) for one in node.arguments]


def written_call(node: FunctionCall, operands: Sequence[Expression]) -> str:
    """Return a call as errors about it have it: with the types of its arguments, and their
    names.
    """
    parts = [
        f"{argument.name} => {type_name(operand)}" if isinstance(argument, NamedArgument) else type_name(operand)
        for argument, operand in zip(node.arguments, operands, strict=True)
    ]
    schema = f"{node.schema}." if node.schema else ""
    return f"{schema}{node.name}({', '.join(parts)})"


def by_name(
    node: FunctionCall, candidates: Sequence[Signature], operands: list[Expression]
) -> tuple[Sequence[Signature], list[Expression]]:
    """Return the overloads of a call that have its names, and its arguments in their order; those
    that are left out between them have their defaults. Users' functions have slots instead.
    """
    names = [one.name if isinstance(one, NamedArgument) else None for one in node.arguments]
    if not any(names):
        return candidates, operands
    own = [one for one in candidates if isinstance(one, OwnSignature)]
    for canonical in dict.fromkeys(one.canonical for one in candidates if not isinstance(one, OwnSignature)):
        row = ROWS.get(canonical)
        places = row.parameters.split() if row is not None else []
        if row is None or any(name is not None and name not in places for name in names):
            continue
        given = dict(
            zip([at if one is None else places.index(one) for at, one in enumerate(names)], operands, strict=True)
        )
        width = max(given) + 1
        if len(given) == len(operands) and all(place in given or place in row.defaults for place in range(width)):
            placed = [given.get(place) or constant(row.defaults[place]) for place in range(width)]
            return [one for one in candidates if one.canonical == canonical], placed
    return own, operands
