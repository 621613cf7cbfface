"""Binding: statements beside their bound trees, or beside their errors, in the `.txt` files of this
folder.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path

import pytest

import sql.parse.syntax
import sql.tree.expressions
import sql.tree.relations
from sql.errors import SqlError
from sql.parse.parse import parse
from sql.parse.syntax import Query, SelectBody
from sql.types.datatypes import SqlType
from tests.golden import Golden, texts
from tests.sql.bound_text import bound, bound_lines
from tests.sql.sample_catalog import SampleCatalog

FILES = sorted(Path(__file__).parent.glob("*.txt"))
PARSED = sql.parse.syntax
TREES = (sql.tree.expressions, sql.tree.relations)


@pytest.mark.golden
@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_statements_are_bound_as_ever(path: Path, golden: Golden) -> None:
    golden(path, bound_lines)


def test_every_node_of_syntax_is_bound_somewhere() -> None:
    seen = {type(node) for node in syntax_nodes()}
    assert {kind for kind in vars(PARSED).values() if is_dataclass(kind) and isinstance(kind, type)} - seen == set()


def test_every_clause_of_a_query_is_bound_somewhere() -> None:
    written = {
        (type(node), field.name)
        for node in syntax_nodes()
        if isinstance(node, Query | SelectBody)
        for field in fields(node)
        if getattr(node, field.name) not in (None, (), False)
    }
    assert {(kind, field.name) for kind in (Query, SelectBody) for field in fields(kind)} - written == set()


def test_every_node_of_trees_is_made_somewhere() -> None:
    seen = {type(node) for node in tree_nodes()}
    kinds = {
        kind for module in TREES for kind in vars(module).values() if is_dataclass(kind) and isinstance(kind, type)
    }
    # Reads of versions and states are those of a session: tests/engine/scans/test_view_versions.py
    # and tests/engine/statements/test_import_state.py make them.
    of_sessions = {sql.tree.relations.VersionRead, sql.tree.relations.StateRead}
    assert kinds - seen - {SqlType, *of_sessions} == set()


def test_no_two_statements_are_the_same() -> None:
    found = texts(*FILES)
    assert len(found) == len(set(found))


def syntax_nodes() -> Iterator[object]:
    for text in texts(*FILES):
        try:
            yield from nodes(parse(text))
        except SqlError:
            continue


def tree_nodes() -> Iterator[object]:
    for text in texts(*FILES):
        try:
            (statement,) = parse(text)
            yield from nodes(bound(statement, SampleCatalog()))
        except SqlError:
            continue


def nodes(item: object) -> Iterator[object]:
    """Yield all dataclasses in a tree."""
    if isinstance(item, tuple):
        for part in item:
            yield from nodes(part)
    elif is_dataclass(item):
        yield item
        for field in fields(item):
            yield from nodes(getattr(item, field.name, MISSING))
