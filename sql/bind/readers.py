"""The values that a definition leaves to the session that reads or writes by it: TimeZone, and the
forms of texts.

A definition (an ordinary view, a default, a check) is bound once, with `OPEN_ZONE` wherever a zone
matters. Enters: its tree, the settings of a session. Leaves: the tree as that session means it.
"""

from __future__ import annotations

from collections.abc import Iterator

from sql.bind.expressions.coerce import TEXTS, require_usual_form, require_usual_reading
from sql.catalog.catalog import OPEN_ZONE, SessionSettings
from sql.functions.table import ROWS
from sql.tree.expressions import Call, Cast, Expression, Literal
from sql.tree.relations import Relation
from sql.tree.walks import all_relations, children, map_expression, map_relation, walk

# Settings that no text of a definition depends on.
PLAIN = frozenset({"search_path", "timezone"})


def is_open(node: Expression) -> bool:
    """Tell whether an expression by itself depends on the zone of its reader."""
    match node:
        case Cast():
            return node.zone == OPEN_ZONE
        case Literal():
            return node.value == OPEN_ZONE
        case Call():
            return any(isinstance(one, Literal) and one.value == OPEN_ZONE for one in node.arguments)
    return False


def open_expressions(root: Relation) -> Iterator[Expression]:
    """Yield the expressions of a tree that depend on the zone of their reader, also inside of
    subqueries.
    """
    for relation in all_relations(root):
        for item in children(relation):
            yield from (node for node in walk(item) if is_open(node))


def has_open_zone(root: Relation) -> bool:
    """Tell whether the rows of a tree depend on the zone of their reader."""
    return any(True for _ in open_expressions(root))


def with_zone(root: Relation, time_zone: str) -> Relation:
    """Return a tree in a zone."""
    return map_relation(root, lambda node: _in_zone(node, time_zone))


def expression_with_zone(expression: Expression, time_zone: str) -> Expression:
    """Return an expression without subqueries in a zone."""
    return map_expression(expression, lambda node: _in_zone(node, time_zone))


def _in_zone(node: Expression, time_zone: str) -> Expression | None:
    match node:
        case Literal(value=value) if value == OPEN_ZONE:
            return Literal(time_zone, node.type, node.position)
        case Cast(zone=zone) if zone == OPEN_ZONE:
            operand = map_expression(node.operand, lambda one: _in_zone(one, time_zone))
            return Cast(operand, node.type, node.explicit, time_zone, node.position)
    return None


def as_read(root: Relation, settings: SessionSettings) -> Relation:
    """Return a definition's tree as a session reads it.

    Raises 0A000 where a text would have another form in this session.
    """
    if settings.is_shared:
        return root
    if not PLAIN.issuperset(name for name, _ in settings.variables):
        for relation in all_relations(root):
            for item in children(relation):
                require_usual_texts(item, settings)
    return with_zone(root, settings.time_zone) if has_open_zone(root) else root


def value_as_written(expression: Expression, settings: SessionSettings) -> Expression:
    """Return a default as a session means it. Raises as `as_read`."""
    if settings.is_shared:
        return expression
    if not PLAIN.issuperset(name for name, _ in settings.variables):
        require_usual_texts(expression, settings)
    return expression_with_zone(expression, settings.time_zone)


def require_usual_texts(expression: Expression, settings: SessionSettings) -> None:
    """Raise 0A000 where an expression makes or reads texts that have another form in this
    session.
    """
    for node in walk(expression):
        match node:
            case Cast() if node.type.family in TEXTS:
                require_usual_form(node.operand.type, settings, None)
            case Cast() if node.operand.type.family in TEXTS:
                require_usual_reading(node.type, settings, None)
            case Call() if node.function in ROWS and ROWS[node.function].prints:
                require_usual_form(node.arguments[0].type, settings, None)
