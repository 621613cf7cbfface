"""Calls of functions: what each dialect's function is in PostgreSQL's SQL, by tables of templates.

A line of a table is one of

    NAME($1, $2) = expression        the call is this expression
    NAME(...) = OTHER                the call is one of OTHER, with the same arguments
    NAME($1) = expression ? text     ... and a warning is told
    NAME(...) ! text                 the call is refused

Enters: a call whose arguments are rewritten already. Leaves: a tree of PostgreSQL's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from sqlglot import exp

from sql.dialects.context import Context
from sql.dialects.reading import parsed_template

LINE = re.compile(r"(?P<name>\w+)\((?P<arguments>[^)]*)\)\s*(?P<sign>[=!])\s*(?P<rest>.*)")
# What needs no parentheses beside an operator.
ATOMS = (
    *(exp.Column, exp.Literal, exp.Anonymous, exp.Cast, exp.Paren, exp.Case, exp.Null, exp.Boolean, exp.Subquery),
    *(exp.CurrentDate, exp.CurrentTimestamp, exp.Localtimestamp, exp.Extract, exp.Interval, exp.Star, exp.Distinct),
    *(exp.Order, exp.Var, exp.Filter, exp.WithinGroup, exp.Bracket, exp.Parameter, exp.DataType, exp.Exists, exp.Array),
    *(exp.Tuple, exp.Trim, exp.Identifier, exp.Window, exp.Ordered, exp.Query),
)
# Aggregates of PostgreSQL that take DISTINCT, *, and ORDER BY.
TAKES_WORDS = frozenset("COUNT SUM AVG MIN MAX STRING_AGG ARRAY_AGG JSON_AGG JSONB_AGG".split())
VARIADIC = -1
# The columns that stand for $1, $2 ... in the tree of a template.
ARGUMENT = "_argument_"


@dataclass(frozen=True)
class Rule:
    """One line of a table."""

    template: str
    note: str = ""
    refused: str = ""
    is_name: bool = False


@dataclass(frozen=True)
class Call:
    """A call of a client's function. name: in capitals."""

    name: str
    arguments: Sequence[exp.Expr]
    node: exp.Expr
    context: Context

    def refuse(self, why: str = "", hint: str | None = None) -> Exception:
        """Return the error that names this function."""
        detail = f"What is not translated is {why}." if why else None
        return self.context.refusal(f"the function {self.name.lower()}", self.node, hint, detail)


Handler = Callable[[Call], exp.Expr]


@cache
def table(text: str) -> Mapping[tuple[str, int], Rule]:
    """Return the rules of a table by name and number of arguments."""
    found: dict[tuple[str, int], Rule] = {}
    for line in text.strip().splitlines():
        matched = LINE.fullmatch(line.strip())
        assert matched is not None, line
        arguments, rest = matched["arguments"], matched["rest"]
        count = VARIADIC if arguments == "..." else len([one for one in arguments.split(",") if one.strip()])
        key = matched["name"], count
        assert key not in found, line
        if matched["sign"] == "!":
            found[key] = Rule("", refused=rest)
        else:
            template, _, note = rest.partition(" ? ")
            found[key] = Rule(template.strip(), note.strip(), is_name=count == VARIADIC)
    return found


def by_rule(rule: Rule, call: Call) -> exp.Expr:
    """Return what a rule makes of a call."""
    if rule.refused:
        raise call.context.refusal(
            f"the function {call.name.lower()}", call.node, why=f"It is refused because {rule.refused}."
        )
    if rule.note:
        call.context.note(rule.note)
    if rule.is_name:
        return function(rule.template, *call.arguments)
    return filled(rule.template, call.arguments, call)


def function(name: str, *arguments: exp.Expr) -> exp.Expr:
    """Return a call of PostgreSQL's."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def filled(template: str, arguments: Iterable[exp.Expr], call: Call | None = None) -> exp.Expr:
    """Return a template's expression with arguments for its $1, $2 ..., in parentheses where it is
    an operator.
    """
    tree = copy_of(template)
    given = list(arguments)
    for place in [one for one in tree.find_all(exp.Column) if one.name.startswith(ARGUMENT)]:
        argument = given[int(place.name.removeprefix(ARGUMENT)) - 1]
        parent = place.parent
        takes_words = isinstance(parent, exp.Anonymous) and str(parent.this).upper() in TAKES_WORDS
        if isinstance(argument, exp.Distinct | exp.Star | exp.Order) and not takes_words and call is not None:
            raise call.refuse("DISTINCT, ORDER BY or * among its arguments")
        new = argument.copy() if isinstance(parent, exp.Anonymous) else operand(argument)
        if place is tree:
            return new
        place.replace(new)
    return operand(tree)


@lru_cache(maxsize=4096)
def _template(text: str) -> exp.Expr:
    return parsed_template(re.sub(r"\$(\d)", rf"{ARGUMENT}\1", text))


def copy_of(template: str) -> exp.Expr:
    """Return the tree of a template, for its owner to change."""
    return _template(template).copy()


def operand(node: exp.Expr) -> exp.Expr:
    """Return a copy of a node that can stand beside an operator."""
    return node.copy() if isinstance(node, ATOMS) else exp.Paren(this=node.copy())


def bare(node: exp.Expr | None) -> exp.Expr | None:
    """Return what stands in parentheses."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def integer_of(node: exp.Expr | None) -> int | None:
    """Return the value of a constant integer, None for others."""
    inner = bare(node)
    if isinstance(inner, exp.Neg):
        value = integer_of(inner.this)
        return None if value is None else -value
    if isinstance(inner, exp.Literal) and not inner.is_string and re.fullmatch(r"\d{1,9}", inner.name):
        return int(inner.name)
    return None


def text_of(node: exp.Expr | None) -> str | None:
    """Return the value of a constant text, None for others."""
    inner = bare(node)
    return inner.name if isinstance(inner, exp.Literal) and inner.is_string else None


def literal(text: str) -> exp.Expr:
    """Return a constant text."""
    return exp.Literal.string(text)


def number(value: int) -> exp.Expr:
    """Return a constant integer."""
    found: exp.Expr = exp.Literal.number(abs(value))
    return found if value >= 0 else exp.Paren(this=exp.Neg(this=found))


def cast(node: exp.Expr, kind: str) -> exp.Expr:
    """Return a cast to a type of PostgreSQL's."""
    return filled(f"CAST($1 AS {kind})", [node])
