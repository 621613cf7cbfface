"""From the syntax tree of a generated kernel to LLVM's IR: modules, functions and statements.

Enters: a tree that `kernel_text` has looked at, and the values of the names of its module. Leaves:
IR of functions. The language is small, and it means what numba makes of it, but that indices are
not negative. What is not in it raises NotCoveredError, and numba compiles the kernel: that takes
five times as long, most of it in numba's Python.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from numba.np.numpy_support import from_dtype

from ringbuffer.compile.kernel_calls import Callees
from ringbuffer.compile.kernel_expressions import ExpressionWriter, Given, RetypedError, result_type
from ringbuffer.compile.kernel_values import (
    BOOL,
    WORD,
    ArrayValue,
    NotCoveredError,
    Value,
    joined,
    llvm_type,
    types,
)

NAMES: dict[str, object] = {"min": min, "max": max, "abs": abs, "float": float}


class ModuleWriter:
    """The IR of a module.

    Attributes:
        callees: numba's functions that it calls.
    """

    def __init__(self, functions: Mapping[str, ast.FunctionDef], names: Mapping[str, object]) -> None:
        self.callees = Callees()
        self._functions = functions
        self._names = names
        self._texts: list[str] = []
        self._constants: dict[int, ArrayValue] = {}
        self._written: dict[tuple[str, tuple[Any, ...]], tuple[str, tuple[Any, ...]]] = {}

    def text(self) -> str:
        """Return all functions, and what they refer to."""
        return "\n".join([*self.callees.declarations, *self._texts])

    def function(self, name: str, kinds: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
        """Return a function's name for arguments of these types, and the types of its results."""
        found = self._written.get((name, kinds))
        if found is None:
            symbol = f"@{name}.{len(self._written)}"
            found = self._written[name, kinds] = symbol, self._write(symbol, self._functions[name], kinds)
        return found

    def named(self, name: str) -> Any:
        """Return what a name of the module, or of Python, is; a function of the module is a str."""
        if name in self._functions:
            return name
        if name in self._names:
            return self._names[name]
        if name in NAMES:
            return NAMES[name]
        raise NotCoveredError(name)

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

    def _write(self, symbol: str, node: ast.FunctionDef, kinds: tuple[Any, ...]) -> tuple[Any, ...]:
        writer = FunctionWriter(self, node, kinds)
        while True:
            try:
                text = writer.write(symbol)
            except RetypedError:
                continue
            self._texts.append(text)
            return writer.results


class FunctionWriter(ExpressionWriter):
    """The IR of one function.

    Attributes:
        results: their types.

    Arguments:
        kinds: the types of the arguments.
    """

    def __init__(self, module: ModuleWriter, node: ast.FunctionDef, kinds: tuple[Any, ...]) -> None:
        super().__init__(module)
        self.results: tuple[Any, ...] = ()
        self._node = node
        self._kinds = kinds
        self._loops: list[str] = []

    def write(self, symbol: str) -> str:
        """Return the text of the function."""
        self._lines, self._rooms, self._count, self._is_open = [], [], 0, True
        parameters = []
        for argument, kind in zip(self._node.args.args, self._kinds, strict=True):
            name = f"%a.{argument.arg}"
            if isinstance(kind, types.Array):
                self._arrays[argument.arg] = self._array(name, kind)
                parameters.append(f"ptr {name}")
            else:
                self._assign(argument.arg, Value(name, kind))
                parameters.append(f"{llvm_type(kind)} {name}")
        self._block(self._node.body)
        if self._is_open:
            self._return([])
        variables = [f"  %v.{name} = alloca {llvm_type(kind)}" for name, kind in self._types.items()]
        head = f"define internal {result_type(self.results)} {symbol}({', '.join(parameters)}) {{\nentry:"
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
            case ast.AugAssign(ast.Subscript() as target, operation, value):
                place, kind = self._place(target)
                before = Value(self._put(f"load {llvm_type(kind)}, ptr {place}"), kind)
                result = self._operation(type(operation), before, self._number(value))
                self._line(f"store {self._converted(result, kind).operand}, ptr {place}")
            case ast.AugAssign(ast.Name(name) as target, operation, value):
                self._assign(name, self._operation(type(operation), self._number(target), self._number(value)))
            case ast.If(condition, body, others):
                self._branch(self._truth(condition), body, others)
            case ast.For(ast.Name(name), ast.Call(ast.Name("range"), [start, end]), body):
                self._loop(name, self._word(start), self._word(end), body)
            case ast.Continue():
                self._go(self._loops[-1])
            case ast.Return(value):
                self._return([] if value is None else self._values(value))
            case ast.Expr(ast.Call() as call):
                self._call(call)
            case ast.Pass():
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
        self._loops.append(following)
        self._block(body)
        self._loops.pop()
        self._here(following)
        self._line(f"store i64 {self._put(f'add nsw {number.operand}, 1')}, ptr {counter}")
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
