"""The tables by which trees are walked have a row for each kind of node, and each of its fields."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import get_args

import pytest

from sql.bind.expressions.binder import BINDERS
from sql.parse import syntax
from sql.tree.expressions import AggregateCall, Expression, SortKey, WindowCall, WindowFrame
from sql.tree.relations import Relation
from sql.tree.walks import EXPRESSION_FIELDS, EXPRESSIONS, INPUT_FIELDS

HOLDERS = (SortKey, AggregateCall, WindowCall, WindowFrame)
RELATIONS = get_args(Relation)


def fields_with(node: type, *names: str) -> set[str]:
    """Return the fields of a node whose types name one of these types."""
    return {one.name for one in fields(node) if set(names) & set(re.findall(r"\w+", str(one.type)))}


@pytest.mark.parametrize("node", [*get_args(Expression), *HOLDERS, *RELATIONS], ids=lambda node: node.__name__)
def test_every_expression_in_a_node_is_walked(node: type) -> None:
    holders = (holder.__name__ for holder in HOLDERS)
    assert set(EXPRESSION_FIELDS.get(node, ())) == fields_with(node, "Expression", *holders)


@pytest.mark.parametrize("node", RELATIONS, ids=lambda node: node.__name__)
def test_every_input_of_an_operator_is_walked(node: type) -> None:
    assert set(INPUT_FIELDS.get(node, ("input",))) == fields_with(node, "Relation")


def test_every_kind_of_expression_has_a_row() -> None:
    assert set(get_args(Expression)) == EXPRESSIONS
    assert set(get_args(syntax.Expression)) == BINDERS.keys()
