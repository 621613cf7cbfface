"""The names that a printed query uses: an alias for each item of FROM that no other around it has,
and names of columns that say the same as those of the text.

Enters: a SELECT whose items of FROM are to be printed, and the aliases of the queries around it.
Leaves: the fields `shown`, `shown_columns` and `shows_columns` of its sources, and the aliases that
queries inside of it must not take.
"""

from __future__ import annotations

from engine.system_catalog.deparse.nodes import FromNode, JoinNode, Merged, Node, SelectBlock, Source, Var

NAME_BYTES_MAX = 63


def give_names(block: SelectBlock, around: frozenset[str]) -> frozenset[str]:
    """Give names to the sources of a SELECT and return all that are taken inside of it."""
    taken = dict.fromkeys(around, 0)
    for source in block.sources:
        source.shown = _free(source.alias or source.name, taken)
        source.shown_columns = [""] * len(source.columns)
    for item in block.items:
        _name_columns(item, frozenset())
    return frozenset(taken)


def _name_columns(item: FromNode, above: frozenset[str]) -> None:
    """Give the columns of JOIN USING their common name on both sides, and all others theirs.

    above: the common names of the joins around.
    """
    if isinstance(item, JoinNode):
        for name, left, right, common in item.using:
            shown = _shown_name(common) or name
            for node in (left, right, common):
                _show_as(node, shown)
            above |= {shown}
        _name_columns(item.left, above)
        _name_columns(item.right, above)
        return
    assert isinstance(item, Source)
    aliases = iter(item.column_aliases)
    own = []
    for index, column in enumerate(item.columns):
        alias = None if column.hidden or column.called is None else next(aliases, None)
        own.append(column.name if item.kind == "relation" else alias or column.name)
        if not item.shown_columns[index]:
            known = dict.fromkeys({*item.shown_columns, *above}, 0)
            item.shown_columns[index] = column.name if column.hidden else _free(alias or column.name, known)
    is_listed = item.kind == "function" or (item.kind != "relation" and bool(item.column_aliases))
    item.shows_columns = is_listed or item.shown_columns != own


def _shown_name(node: Node) -> str:
    """Return the name that a join further out has given to a column, '' for none."""
    if isinstance(node, Merged):
        return node.shown
    return node.source.shown_columns[node.index] if isinstance(node, Var) and node.index is not None else ""


def _show_as(node: Node, name: str) -> None:
    if isinstance(node, Merged):
        node.shown = name
    elif isinstance(node, Var) and node.index is not None:
        node.source.shown_columns[node.index] = name


def _free(name: str, taken: dict[str, int]) -> str:
    """Return a name that is not taken, with a number after it where it would be."""
    if name not in taken:
        taken[name] = 0
        return name
    while True:
        taken[name] += 1
        suffix = f"_{taken[name]}"
        found = name.encode()[: NAME_BYTES_MAX - len(suffix)].decode(errors="ignore") + suffix
        if found not in taken:
            taken[found] = 0
            return found


def listed_columns(source: Source) -> list[str]:
    """Return the columns that a source is printed with."""
    pairs = zip(source.shown_columns, source.columns, strict=True)
    return [name for name, column in pairs if not column.hidden]
