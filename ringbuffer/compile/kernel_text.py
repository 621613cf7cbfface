"""The check of the text of a generated kernel: it may hold what kernels are made of, and nothing
else.

Enters: the text of a module. Leaves: its syntax tree. The code that writes kernels puts no text of
clients into them; this is the second lock on that door. Must not run anything.
"""

from __future__ import annotations

import ast
import threading

BUILTINS = frozenset({"range", "min", "max", "abs", "float"})
# Attributes of numpy, and of arrays.
ATTRIBUTES = frozenset({"nan", "inf", "float64", "rint", "trunc", "ceil", "floor", "ctypes", "data"})
NODES: tuple[type[ast.AST], ...] = (
    *(ast.Module, ast.FunctionDef, ast.arguments, ast.arg, ast.Return, ast.Assign, ast.AugAssign),
    *(ast.For, ast.If, ast.Continue, ast.Pass, ast.Expr, ast.Import, ast.ImportFrom, ast.alias),
    *(ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Compare, ast.Call, ast.Constant),
    *(ast.Attribute, ast.Subscript, ast.Name, ast.Tuple),
    *(ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop),
)

# Python 3.11 counts how deep a tree is in one place for all threads: two that parse at once end
# with a SystemError.
PARSING = threading.Lock()


class KernelTextError(Exception):
    """A text that is not a kernel."""


def kernel_tree(text: str) -> ast.Module:
    """Return the tree of a module.

    Raises KernelTextError for statements, names, modules and texts that no kernel has.
    """
    try:
        with PARSING:
            tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        raise KernelTextError(f"a generated kernel is no program: {error}") from error
    body = tree.body
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        body = body[1:]
    known = set(BUILTINS)
    names: set[str] = set()
    for statement in body:
        for node in ast.walk(statement):
            _check(node)
            known |= _defined(node)
            if isinstance(node, ast.Name):
                (names if isinstance(node.ctx, ast.Load) else known).add(node.id)
    if not names <= known:
        raise KernelTextError(f"a generated kernel names {', '.join(sorted(names - known))}")
    return tree


def _check(node: ast.AST) -> None:
    is_right = isinstance(node, NODES)
    if isinstance(node, ast.Constant):
        is_right = isinstance(node.value, int | float)
    elif isinstance(node, ast.Attribute):
        is_right = node.attr in ATTRIBUTES
    elif isinstance(node, ast.Import):
        is_right = [name.name for name in node.names] == ["numpy"]
    elif isinstance(node, ast.ImportFrom):
        is_right = node.level == 0 and str(node.module).startswith("ringbuffer.")
    if not is_right:
        raise KernelTextError(f"a generated kernel has {ast.unparse(node)} in line {getattr(node, 'lineno', 0)}")


def _defined(node: ast.AST) -> set[str]:
    """Return the names that a node defines."""
    if isinstance(node, ast.alias):
        return {node.asname or node.name}
    if isinstance(node, ast.arg):
        return {node.arg}
    return {node.name} if isinstance(node, ast.FunctionDef) else set()
