"""Typed trees as text for people."""

from __future__ import annotations

import pytest

from sql.bind import bind_query
from sql.parse.parse import parse
from sql.parse.statements.select import Select
from sql.tree.expressions import Call, Literal
from sql.tree.relations import Project
from sql.types.datatypes import INT4
from tests.sql.sample_catalog import SETTINGS, SampleCatalog
from views.model.text import expression_text


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("-(-a)", "-(-a)"),
        ("-(a - 5)", "-(a - 5)"),
        ("a - (-5)", "a - -5"),
        ("not (a = 5 and f)", "NOT ((a = 5) AND f)"),
    ],
)
def test_two_signs_make_no_comment(written: str, shown: str) -> None:
    (statement,) = parse(f"SELECT {written} FROM s")
    assert isinstance(statement, Select)
    root = bind_query(statement.query, SampleCatalog(), SETTINGS).root
    assert isinstance(root, Project)
    assert expression_text(root.items[0][1]) == shown


def test_a_sign_before_a_constant_below_zero() -> None:
    assert expression_text(Call("negate", (Literal(-5, INT4),), INT4)) == "-(-5)"
