"""The prose of a file: its docstrings, comments and Markdown, for the house rules about prose."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

# Where docstrings, comments and Markdown keep the rules of prose; the list only grows.
PROSE = (
    "README.md",
    "docs/",
    "docker/",
    "bench/",
    "engine/",
    "ringbuffer/",
    "sql/",
    "views/",
    "tests/",
)
# Made by `python -m bench.function_page`.
GENERATED_PAGES = {"sql/FUNCTIONS.md"}
# A lookbehind in a pattern is called so.
BEHIND_ALLOWED = {"sql/patterns/trees.py"}
PRONOUNS = "It Its They Them Their This That These Those He She Who Whoever Whom Which What Whether".split()
DIRECTIVE = re.compile(r"#\s*(noqa|type:|fmt:|ruff:|mypy:)")
# As the formatter leaves comments: on a line of their own, or two blanks after code.
COMMENT = re.compile(r"(?:^ *|  )# .*")
# A table or a picture in a docstring keeps its columns.
DRAWN = re.compile(r"\S {2,}\S")
# Where statements hold statements.
HOLDERS = ("body", "orelse", "handlers", "finalbody", "cases")


@cache
def syntax(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def statements(root: ast.AST) -> Iterator[ast.AST]:
    """Yield a module or statement, and all statements and handlers of exceptions in it."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        for holder in HOLDERS:
            held = getattr(node, holder, ())
            # The body of a lambda is an expression.
            if isinstance(held, list):
                waiting += held


@cache
def prose_of(path: Path) -> tuple[tuple[int, str, str], ...]:
    """Return (number, whole line, the prose in it) of lines of docstrings, comments and Markdown.

    Code, tables and pictures are left out, and so are lines that end in a directive for a tool.
    """
    if path.suffix == ".md":
        return tuple(markdown_prose(path.read_text()))
    lines, in_docstring = path.read_text().splitlines(), set()
    for docstring in docstrings(path):
        in_docstring |= set(range(docstring.lineno, (docstring.end_lineno or docstring.lineno) + 1))
    in_text = texts(path)[1]
    found = []
    for number, line in enumerate(lines, 1):
        if number in in_docstring:
            if not DRAWN.search(line.strip()):
                found.append((number, line, line))
        elif number not in in_text and (comment := COMMENT.search(line)) and not DIRECTIVE.search(line):
            found.append((number, line, comment.group()))
    return tuple(found)


def markdown_prose(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the lines of a page that are no code and no table."""
    is_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            is_code = not is_code
        elif not is_code and not line.startswith(("|", "    ")):
            yield number, line, line


def docstrings(path: Path) -> list[ast.Constant]:
    """Return the docstrings of a module and of all in it."""
    return texts(path)[0]


@cache
def texts(path: Path) -> tuple[list[ast.Constant], set[int]]:
    """Return the docstrings, and the numbers of lines in texts of several lines."""
    found: list[ast.Constant] = []
    numbers: set[int] = set()
    for node in statements(syntax(path)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                if isinstance(first.value.value, str):
                    found.append(first.value)
    # A walk through expressions takes seconds for all files: most have no long text but docstrings.
    has_more = path.read_text().count('"""') > 2 * len(found)
    for node in ast.walk(syntax(path)) if has_more else found:
        if isinstance(node, ast.Constant | ast.JoinedStr) and node.end_lineno != node.lineno:
            numbers |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return found, numbers
