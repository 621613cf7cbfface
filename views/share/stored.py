"""The keys, aggregates and conditions of a stream pipeline as plain values.

They are stored for a view whose state is kept by other keys, aggregates or conditions than its text
has. Enters: pipelines. Leaves: JSON text, and the pipeline from it. A node is [its class, its
fields by name]; fields for messages and people are left out. Must not know any other node than
those of a stream pipeline.
"""

from __future__ import annotations

import json
from dataclasses import fields, replace
from decimal import Decimal
from typing import Any

from sql.errors import SqlError, not_supported
from sql.tree.expressions import AggregateCall, Call, Case, Cast, Column, Expression, Literal, SortKey
from sql.tree.relations import Project, Relation
from sql.types.datatypes import SqlType
from sql.types.enums import EnumFamily
from views.model.nodes import Probe, StreamPipeline

NODES: dict[str, type[Any]] = {
    node.__name__: node for node in (AggregateCall, Call, Case, Cast, Column, Literal, SortKey, SqlType)
}
FOR_PEOPLE = frozenset({"position"})


def stored_pipeline(pipeline: StreamPipeline) -> str:
    """Return the text from which `restored_pipeline` makes the pipeline again.

    That takes a pipeline over the same stream and tables, joined in the same way, besides.
    """
    parts = {
        "filters": plain(pipeline.filters),
        "keys": plain(pipeline.keys),
        "aggregates": plain(pipeline.aggregates),
        "added": plain(pipeline.added),
        "probes": plain(tuple((probe.kept, probe.filters, projected(probe.build)) for probe in pipeline.probes)),
    }
    return json.dumps(parts)


def restored_pipeline(text: str, pipeline: StreamPipeline) -> StreamPipeline:
    """Return `pipeline` with the keys, aggregates and conditions of a stored text.

    Raises SqlError XX001.
    """
    try:
        parts = {name: value(part) for name, part in json.loads(text).items()}
        probes = tuple(
            _restored_probe(probe, *part) for probe, part in zip(pipeline.probes, parts["probes"], strict=True)
        )
        # Earlier versions added nothing later.
        return replace(pipeline, **{"added": (), **parts, "probes": probes})
    except (ValueError, TypeError, KeyError) as error:
        raise SqlError("XX001", f"what its state is kept by can't be read: {error}") from None


def _restored_probe(probe: Probe, kept: int, filters: Any, items: Any) -> Probe:
    """Return a probe with more columns of the build side, among which its keys lie elsewhere."""
    expressions, known = ([item for _, item in columns] for columns in (items, projected(probe.build)))
    keys = tuple((key, expressions.index(known[place])) for key, place in probe.keys)
    return replace(probe, kept=kept, filters=filters, build=replace(probe.build, items=items), keys=keys)


def projected(build: Relation) -> tuple[tuple[str, Expression], ...]:
    """Return the columns that a build side yields of its tables."""
    assert isinstance(build, Project), f"the rules left {type(build).__name__} as a build side"
    return build.items


def plain(part: object) -> object:
    """Return a node, a tuple or a constant in the form that JSON has for it."""
    if isinstance(part, tuple):
        return ["tuple", [plain(one) for one in part]]
    if isinstance(part, Decimal):
        return ["Decimal", str(part)]
    if isinstance(part, bytes):
        return ["bytes", part.hex()]
    if isinstance(part, float):
        return ["float", part.hex()]
    if isinstance(part, EnumFamily):
        raise not_supported(f"keeping the groups of a view over values of type {part.enum.shown}")
    if part is None or isinstance(part, bool | int | str):
        return part
    name = type(part).__name__
    assert name in NODES, f"a stream pipeline has no {name}"
    kept = (one.name for one in fields(NODES[name]) if one.name not in FOR_PEOPLE)
    return [name, {field: plain(getattr(part, field)) for field in kept}]


def value(part: Any) -> Any:
    """Return the node, tuple or constant that `plain` was given."""
    if not isinstance(part, list):
        return part
    name, content = part
    match name:
        case "tuple":
            return tuple(value(one) for one in content)
        case "Decimal":
            return Decimal(content)
        case "bytes":
            return bytes.fromhex(content)
        case "float":
            return float.fromhex(content)
    return NODES[name](**{field: value(one) for field, one in content.items()})
