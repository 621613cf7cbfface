"""From the syntax tree of a generated kernel to LLVM's IR: modules, functions and statements.

Enters: a tree that `kernel_text` has looked at, and the values of the names of its module. Leaves:
IR of functions. The language is small, and it means what numba makes of it, but that indices are
not negative. What is not in it raises NotCoveredError, and numba compiles the kernel: that takes
five times as long, most of it in numba's Python.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from numba.np.numpy_support import from_dtype

from ringbuffer.compile.kernel_calls import Callees
from ringbuffer.compile.kernel_expressions import ExpressionWriter, Given, RetypedError, result_type
from ringbuffer.compile.kernel_text import PARSING
from ringbuffer.compile.kernel_values import (
    BOOL,
    WORD,
    ArrayValue,
    NotCoveredError,
    Value,
    constant,
    joined,
    llvm_type,
    types,
)

NAMES: dict[str, object] = {"min": min, "max": max, "abs": abs, "float": float, "len": len}


class ModuleWriter:
    """The IR of a module.

    Attributes:
        callees: numba's functions that it calls.
    """

    def __init__(self, functions: Mapping[str, ast.FunctionDef], names: Mapping[str, object]) -> None:
        self.callees = Callees()
        self._functions = functions
        self._names = {**NAMES, **names, **{name: name for name in functions}}
        self._texts: list[str] = []
        self._constants: dict[int, ArrayValue] = {}
        # None: it is not covered.
        self._written: dict[tuple[Any, tuple[Any, ...]], tuple[str, tuple[Any, ...]] | None] = {}

    def text(self) -> str:
        """Return all functions, and what they refer to."""
        return "\n".join([*self.callees.declarations, *self._texts])

    def entry(self, name: str, kinds: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
        """Return what `function` does; each array is the address of its object."""
        symbol = f"@{name}"
        return symbol, self._write(
            FunctionWriter(self, self._functions[name], kinds, self._names, is_entry=True), symbol
        )

    def function(self, name: str, kinds: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
        """Return a function's name for arguments of these types, and the types of its results."""
        found = self._written.get((name, kinds))
        if found is None:
            symbol = f"@{name}.{len(self._written)}"
            writer = FunctionWriter(self, self._functions[name], kinds, self._names)
            found = self._written[name, kinds] = symbol, self._write(writer, symbol)
        return found

    def sized(self, function: Any, kinds: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]] | None:
        """Return the same of a function of ringbuffer's that is written anew for each set of sizes,
        which are ints among the types; None where numba has to compile it.
        """
        key = function, kinds
        if key not in self._written:
            node = source_tree(function)
            symbol = f"@{node.name}.{len(self._written)}"
            self._written[key] = None
            try:
                names = {**NAMES, **function.py_func.__globals__}
                writer = FunctionWriter(self, node, kinds, names, is_inlined=function.targetoptions["forceinline"])
                self._written[key] = symbol, self._write(writer, symbol)
            except NotCoveredError:
                pass
        return self._written[key]

    def constant_array(self, array: Any) -> ArrayValue:
        """Return an array that the module has made."""
        found = self._constants.get(id(array))
        if found is None:
            kind = from_dtype(array.dtype)
            if not isinstance(kind, types.Integer):
                raise NotCoveredError(str(array.dtype))
            item, name = llvm_type(kind), f"@constant.{len(self._constants)}"
            items = ", ".join(f"{item} {number}" for number in array.reshape(-1).tolist())
            self._texts.append(f"{name} = private constant [{array.size} x {item}] [{items}]")
            found = ArrayValue(types.Array(kind, array.ndim, "C", readonly=True), name, tuple(map(str, array.shape)))
            self._constants[id(array)] = found
        return found

    def _write(self, writer: FunctionWriter, symbol: str) -> tuple[Any, ...]:
        while True:
            try:
                text = writer.write(symbol)
            except RetypedError:
                continue
            self._texts.append(text)
            return writer.results


@cache
def source_tree(function: Any) -> ast.FunctionDef:
    """Return the syntax tree of a function that numba compiles."""
    with PARSING:
        (node,) = ast.parse(textwrap.dedent(inspect.getsource(function.py_func))).body
    assert isinstance(node, ast.FunctionDef)
    return node


class FunctionWriter(ExpressionWriter):
    """The IR of one function.

    Attributes:
        results: their types.

    Arguments:
        kinds: the types of the arguments; an int is the argument itself.
        names: of the module in which the function stands.
        is_entry: an array is given as the address of its object, else as that of its items, and its
            sizes.
        is_inlined: wherever it is called.
    """

    def __init__(
        self,
        module: ModuleWriter,
        node: ast.FunctionDef,
        kinds: tuple[Any, ...],
        names: Mapping[str, object],
        is_entry: bool = False,
        is_inlined: bool = False,
    ) -> None:
        super().__init__(module, names)
        self.results: tuple[Any, ...] = ()
        self._node = node
        self._kinds = kinds
        self._is_entry = is_entry
        self._attributes = "alwaysinline " if is_inlined else ""
        # Where `continue` and `break` go.
        self._loops: list[tuple[str, str]] = []

    def write(self, symbol: str) -> str:
        """Return the text of the function."""
        self._lines, self._rooms, self._count, self._is_open = [], [], 0, True
        parameters = []
        for argument, kind in zip(self._node.args.args, self._kinds, strict=True):
            name = f"%a.{argument.arg}"
            if isinstance(kind, int):
                self._fixed[argument.arg] = constant(kind)
            elif isinstance(kind, types.Array) and self._is_entry:
                self._fixed[argument.arg] = self._array(name, kind)
                parameters.append(f"ptr {name}")
            elif isinstance(kind, types.Array):
                sizes = tuple(f"{name}.{number}" for number in range(kind.ndim))
                self._fixed[argument.arg] = ArrayValue(kind, name, sizes)
                parameters += [f"ptr {name}", *(f"i64 {size}" for size in sizes)]
            else:
                self._assign(argument.arg, Value(name, kind))
                parameters.append(f"{llvm_type(kind)} {name}")
        self._block(self._node.body)
        if self._is_open:
            self._return([])
        variables = [f"  %v.{name} = alloca {llvm_type(kind)}" for name, kind in self._types.items()]
        head = f"define internal {result_type(self.results)} {symbol}({', '.join(parameters)}) {self._attributes}{{\nentry:"
        return "\n".join([head, *self._rooms, *variables, *self._lines, "}"])

    # Statements

    def _block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            if self._is_open:
                self._statement(statement)

    def _statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Assign(targets, ast.Tuple(items)) if isinstance(targets[0], ast.Tuple):
                values: list[Value | ArrayValue] = [self._number(item) for item in items]
                self._assign_all(targets, tuple(values))
            case ast.Assign(targets, ast.Call() as call) if isinstance(targets[0], ast.Tuple):
                self._assign_all(targets, self._call(call))
            case ast.Assign(targets, value):
                number = self._number(value)
                for target in targets:
                    self._set(target, number)
            case ast.AnnAssign(ast.Name(name), _, ast.expr() as value):
                self._assign(name, self._number(value))
            case ast.AugAssign(ast.Subscript() as target, operation, value):
                place, kind = self._place(target)
                before = Value(self._put(f"load {llvm_type(kind)}, ptr {place}"), kind)
                result = self._operation(type(operation), before, self._number(value))
                self._line(f"store {self._converted(result, kind).operand}, ptr {place}")
            case ast.AugAssign(ast.Name(name) as target, operation, value):
                self._assign(name, self._operation(type(operation), self._number(target), self._number(value)))
            case ast.If(condition, body, others):
                self._branch(self._truth(condition), body, others)
            case ast.For(ast.Name(name), ast.Call(ast.Name("range"), [end]), body):
                self._loop(name, constant(0), self._word(end), body)
            case ast.For(ast.Name(name), ast.Call(ast.Name("range"), [start, end]), body):
                self._loop(name, self._word(start), self._word(end), body)
            case ast.While(condition, body, []):
                self._while(condition, body)
            case ast.Continue():
                self._go(self._loops[-1][0])
            case ast.Break():
                self._go(self._loops[-1][1])
            case ast.Return(value):
                self._return([] if value is None else self._values(value))
            case ast.Expr(ast.Call() as call):
                self._call(call)
            case ast.Pass() | ast.Expr(ast.Constant()):
                pass
            case _:
                raise NotCoveredError(ast.unparse(statement))

    def _branch(self, condition: Value, body: Sequence[ast.stmt], others: Sequence[ast.stmt]) -> None:
        yes, no, end = self._label(), self._label(), self._label()
        self._go_if(condition, yes, no)
        goes_on = False
        for label, block in ((yes, body), (no, others)):
            self._here(label)
            self._block(block)
            if self._is_open:
                self._go(end)
                goes_on = True
        if goes_on:
            self._here(end)

    def _assign_all(self, targets: Sequence[ast.expr], values: Given) -> None:
        if len(targets) != 1 or not isinstance(targets[0], ast.Tuple):
            raise NotCoveredError("several targets of a tuple")
        for target, value in zip(targets[0].elts, values, strict=True):
            assert isinstance(value, Value)
            self._set(target, value)

    def _set(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self._assign(target.id, value)
        else:
            assert isinstance(target, ast.Subscript)
            place, kind = self._place(target)
            self._line(f"store {self._converted(value, kind).operand}, ptr {place}")

    def _loop(self, name: str, start: Value, end: Value, body: Sequence[ast.stmt]) -> None:
        counter = self._room("i64")
        self._line(f"store {start.operand}, ptr {counter}")
        test, inside, following, after = (self._label() for _ in range(4))
        self._here(test)
        number = Value(self._put(f"load i64, ptr {counter}"), WORD)
        self._go_if(Value(self._put(f"icmp slt {number.operand}, {end.text}"), BOOL), inside, after)
        self._here(inside)
        self._assign(name, number)
        self._loops.append((following, after))
        self._block(body)
        self._loops.pop()
        self._here(following)
        self._line(f"store i64 {self._put(f'add nsw {number.operand}, 1')}, ptr {counter}")
        self._go(test)
        self._here(after)

    def _while(self, condition: ast.expr, body: Sequence[ast.stmt]) -> None:
        test, inside, after = (self._label() for _ in range(3))
        self._here(test)
        self._go_if(self._truth(condition), inside, after)
        self._here(inside)
        self._loops.append((test, after))
        self._block(body)
        self._loops.pop()
        if self._is_open:
            self._go(test)
        self._here(after)

    def _return(self, values: Given) -> None:
        kinds = tuple(one.type for one in values)
        known = self.results or kinds
        if len(known) != len(kinds):
            raise NotCoveredError("results of two kinds")
        wanted = tuple(map(joined, known, kinds))
        is_new = bool(self.results) and wanted != self.results
        self.results = wanted
        if is_new:
            raise RetypedError
        form, whole = result_type(wanted), "poison"
        for number, (one, kind) in enumerate(zip(values, wanted, strict=True)):
            assert isinstance(one, Value)
            whole = self._put(f"insertvalue {form} {whole}, {self._converted(one, kind).operand}, {number}")
        self._line(f"ret {form} {whole}")
        self._is_open = False
