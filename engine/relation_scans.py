"""The leaves of a relation tree that read inputs."""

from __future__ import annotations

from sql.relations import Join, Relation, Scan, Values


def scans(root: Relation) -> tuple[Scan, ...]:
    """Return the leaves of `root` that read inputs, each name once."""
    found: dict[str, Scan] = {}
    pending: list[Relation] = [root]
    while pending:
        node = pending.pop()
        match node:
            case Scan():
                found[node.name] = node
            case Join():
                pending += [node.left, node.right]
            case Values():
                pass
            case _:
                pending.append(node.input)
    return tuple(found.values())
