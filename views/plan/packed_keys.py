"""Groupings by more keys than the rows of a group table have room for: keys of one type become
elements of one array, which is a text to the table, and are taken out of it above the groups.

    GROUP BY t1, ..., t40    ->  GROUP BY ARRAY[t1, ..., t40], and its elements above
"""

from __future__ import annotations

from collections import defaultdict

from sql.tree.expressions import Call, Column, Expression, Literal
from sql.tree.relations import Aggregate, Project, Relation
from sql.types.datatypes import INT4, SqlType, array_of
from views.codegen.grouping import has_room_for_keys
from views.model.properties import is_ungrouped

# Of whose values equal ones look alike, in arrays as well.
PACKED = ("text", "int2", "int4", "int8", "bool", "date", "time", "timestamp", "timestamptz", "uuid")


def packed_keys(relation: Relation) -> Relation:
    """Return an operator as it is, or a grouping by arrays in the place of one whose keys have no
    room.
    """
    if not isinstance(relation, Aggregate) or relation.sets is not None or not is_ungrouped(relation.input):
        return relation
    keys = relation.keys
    if has_room_for_keys([key.type for _, key in keys]):
        return relation
    alike: dict[SqlType, list[int]] = defaultdict(list)
    for place, (_, key) in enumerate(keys):
        if key.type.family in PACKED:
            alike[key.type].append(place)
    arrays = {kind: places for kind, places in alike.items() if len(places) > 1}
    if not arrays:
        return relation
    inside = {place for places in arrays.values() for place in places}
    left = [place for place in range(len(keys)) if place not in inside]
    made = [keys[place] for place in left]
    values: dict[int, Expression] = {
        place: Column(number, keys[place][0], keys[place][1].type) for number, place in enumerate(left)
    }
    for kind, places in arrays.items():
        array = Call("array", tuple(keys[place][1] for place in places), array_of(kind))
        packed = Column(len(made), f"packed_{kind.family}", array.type)
        made.append((packed.name, array))
        for number, place in enumerate(places, 1):
            values[place] = Call("subscript", (packed, Literal(number, INT4)), kind)
    items = [(name, values[place]) for place, (name, _) in enumerate(keys)]
    items += [
        (name, Column(len(made) + place, name, call.type)) for place, (name, call) in enumerate(relation.aggregates)
    ]
    return Project(Aggregate(relation.input, tuple(made), relation.aggregates), tuple(items))
