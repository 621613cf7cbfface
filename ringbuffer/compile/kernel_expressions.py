"""Expressions of a kernel as LLVM's IR.

Enters: expressions of Python's syntax tree, in the order in which a function has them. Leaves:
lines of IR, and operands with numba's types. A variable is a place in memory, which LLVM makes a
register of; its type is the one in which all that it is given meets.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np
from numba.core.dispatcher import Dispatcher
from numba.core.extending import _Intrinsic

from ringbuffer.compile.kernel_calls import Callees, is_sized
from ringbuffer.compile.kernel_values import (
    BOOL,
    FLOAT,
    WORD,
    ArrayValue,
    NotCoveredError,
    Value,
    constant,
    converted,
    is_word,
    joined,
    llvm_type,
    types,
)

# LLVM's instructions of words, of floats, and whether they are also of booleans.
OPERATIONS: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("add nsw", "fadd"),
    ast.Sub: ("sub nsw", "fsub"),
    ast.Mult: ("mul nsw", "fmul"),
    ast.BitAnd: ("and", ""),
    ast.BitOr: ("or", ""),
    ast.BitXor: ("xor", ""),
    ast.LShift: ("shl", ""),
    ast.RShift: ("ashr", ""),
}
OF_UNSIGNED = {"add nsw": "add", "sub nsw": "sub", "mul nsw": "mul", "ashr": "lshr"}
SHIFTS = (ast.LShift, ast.RShift)
OF_BOOLEANS = (ast.BitAnd, ast.BitOr, ast.BitXor)
COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Eq: ("eq", "oeq"),
    ast.NotEq: ("ne", "une"),
    ast.Lt: ("slt", "olt"),
    ast.LtE: ("sle", "ole"),
    ast.Gt: ("sgt", "ogt"),
    ast.GtE: ("sge", "oge"),
}
ROUNDINGS = {np.rint: "rint", np.trunc: "trunc", np.ceil: "ceil", np.floor: "floor"}
CASTS: dict[object, Any] = {
    np.int64: WORD,
    np.uint64: types.uint64,
    np.float64: FLOAT,
    float: FLOAT,
    np.float32: types.float32,
}
# Written here; numba makes functions of the others of `ringbuffer.memory.addresses`.
LOADS: dict[str, Any] = {
    "load_byte": types.uint8,
    "load_int16": types.int16,
    "load_int32": types.int32,
    "load_word": WORD,
    "load_float32": types.float32,
    "load_float64": FLOAT,
}
INTRINSICS = {"element", *LOADS}
# Where an array's object has the address of its items and that of its sizes.
DATA_BYTES, SIZES_BYTES = 16, 32

Given = Sequence[Value | ArrayValue]


class RetypedError(Exception):
    """A variable or a result that has another type than the lines so far say."""


class Module(Protocol):
    """The module of a function, as its expressions ask it."""

    callees: Callees

    def function(self, name: str, kinds: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
        """Return a function's name for arguments of these types, and the types of its results."""

    def sized(self, function: Any, kinds: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]] | None:
        """Return the same of a function of ringbuffer's that is written anew for each set of sizes,
        which are ints among the types; None where numba has to compile it.
        """

    def constant_array(self, array: Any) -> ArrayValue:
        """Return an array that the module has made."""


class ExpressionWriter:
    """The lines of a function, and its expressions.

    names: of the module in which the function stands, and of Python; a function that is in this
    module's text is a str.
    """

    def __init__(self, module: Module, names: Mapping[str, object]) -> None:
        self._module = module
        self._names = names
        # Of the variables. A type only grows, and then the function is written once more.
        self._types: dict[str, Any] = {}
        self._lines: list[str] = []
        self._rooms: list[str] = []
        # Arguments that are no variables.
        self._fixed: dict[str, Value | ArrayValue] = {}
        self._count = 0
        # False where nothing gets to the next line.
        self._is_open = True

    def _array(self, name: str, kind: Any) -> ArrayValue:
        data = self._put(f"load ptr, ptr {self._put(f'getelementptr inbounds i8, ptr {name}, i64 {DATA_BYTES}')}")
        sizes = self._put(f"load ptr, ptr {self._put(f'getelementptr inbounds i8, ptr {name}, i64 {SIZES_BYTES}')}")
        places = [self._put(f"getelementptr i64, ptr {sizes}, i64 {number}") for number in range(kind.ndim)]
        return ArrayValue(kind, data, tuple(self._put(f"load i64, ptr {place}") for place in places))

    def _put(self, text: str) -> str:
        """Write an instruction, and return the name of its result."""
        self._count += 1
        name = f"%t{self._count}"
        self._line(f"{name} = {text}")
        return name

    def _line(self, text: str) -> None:
        if self._is_open:
            self._lines.append(f"  {text}")

    def _room(self, kind: str) -> str:
        self._count += 1
        name = f"%r{self._count}"
        self._rooms.append(f"  {name} = alloca {kind}")
        return name

    def _label(self) -> str:
        self._count += 1
        return f"l{self._count}"

    def _go(self, label: str) -> None:
        self._line(f"br label %{label}")
        self._is_open = False

    def _go_if(self, condition: Value, yes: str, no: str) -> None:
        self._line(f"br {condition.operand}, label %{yes}, label %{no}")
        self._is_open = False

    def _here(self, label: str) -> None:
        """Begin a block, which the one before goes on with."""
        if self._is_open:
            self._go(label)
        self._lines.append(f"{label}:")
        self._is_open = True

    def _assign(self, name: str, value: Value) -> None:
        if name in self._fixed:
            raise NotCoveredError(f"{name} is assigned to")
        known = self._types.get(name)
        kind = value.type if known is None else joined(known, value.type)
        if kind != known:
            self._types[name] = kind
            if known is not None:
                raise RetypedError
        self._line(f"store {self._converted(value, kind).operand}, ptr %v.{name}")

    def _converted(self, value: Value, kind: Any) -> Value:
        return converted(value, kind, self._put)

    # Expressions

    def _values(self, node: ast.expr) -> Given:
        if isinstance(node, ast.Tuple):
            return [self._number(item) for item in node.elts]
        return self._call(node) if isinstance(node, ast.Call) else [self._number(node)]

    def _word(self, node: ast.expr) -> Value:
        number = self._number(node)
        if not is_word(number.type):
            raise NotCoveredError(f"{number.type} as a word")
        return self._converted(number, WORD)

    def _truth(self, node: ast.expr) -> Value:
        if isinstance(node, ast.BoolOp):
            return self._chain(isinstance(node.op, ast.And), [partial(self._truth, one) for one in node.values])
        return self._converted(self._number(node), BOOL)

    def _number(self, node: ast.expr) -> Value:
        found = self._any(node)
        if not isinstance(found, Value):
            raise NotCoveredError(ast.unparse(node))
        return found

    def _any(self, node: ast.expr) -> Value | ArrayValue:
        match node:
            case ast.Constant(value):
                return constant(value)
            case ast.Name(name):
                return self._named(name)
            case ast.UnaryOp(ast.USub(), ast.Constant(int() as value)):
                return constant(-value)
            case ast.UnaryOp(operation, operand):
                return self._unary(operation, operand)
            case ast.BoolOp(operation, operands):
                return self._chain(isinstance(operation, ast.And), [partial(self._number, one) for one in operands])
            case ast.BinOp(left, operation, right):
                return self._operation(type(operation), self._number(left), self._number(right))
            case ast.Compare(left, [operation], [right]):
                return self._comparison(COMPARISONS[type(operation)], self._number(left), self._number(right))
            case ast.IfExp(condition, yes, no):
                return self._choice(node, self._truth(condition), yes, no)
            case ast.Subscript():
                place, kind = self._place(node)
                return Value(self._put(f"load {llvm_type(kind)}, ptr {place}"), kind)
            case ast.Attribute(ast.Attribute(ast.Name(name), "ctypes"), "data"):
                array = self._named(name)
                assert isinstance(array, ArrayValue)
                return Value(self._put(f"ptrtoint ptr {array.data} to i64"), types.uint64)
            case ast.Attribute(ast.Name("np"), name):
                return constant(getattr(np, name))
            case ast.Call():
                results = self._call(node)
                if len(results) == 1:
                    return results[0]
        raise NotCoveredError(ast.unparse(node))

    def _named(self, name: str) -> Value | ArrayValue:
        if name in self._fixed:
            return self._fixed[name]
        if name in self._types:
            kind = self._types[name]
            return Value(self._put(f"load {llvm_type(kind)}, ptr %v.{name}"), kind)
        found = self._known(name)
        return self._module.constant_array(found) if isinstance(found, np.ndarray) else constant(found)

    def _known(self, name: str) -> Any:
        """Return what a name of the module, or of Python, is."""
        if name not in self._names:
            raise NotCoveredError(name)
        return self._names[name]

    def _unary(self, operation: ast.unaryop, operand: ast.expr) -> Value:
        if isinstance(operation, ast.Not):
            return Value(self._put(f"xor {self._truth(operand).operand}, true"), BOOL)
        number = self._number(operand)
        if isinstance(operation, ast.USub) and isinstance(number.type, types.Float):
            return Value(self._put(f"fneg {number.operand}"), number.type)
        if number.type == BOOL or not is_word(number.type) or isinstance(operation, ast.UAdd):
            raise NotCoveredError(f"{ast.dump(operation)} of {number.type}")
        word = self._converted(number, WORD)
        is_inverted = isinstance(operation, ast.Invert)
        return Value(self._put(f"xor {word.operand}, -1" if is_inverted else f"sub i64 0, {word.text}"), WORD)

    def _chain(self, is_and: bool, operands: Sequence[Callable[[], Value]]) -> Value:
        """Return AND or OR of conditions, of which the later ones are asked where they count."""
        place, end = self._room("i1"), self._label()
        for number, operand in enumerate(operands):
            value = operand()
            if value.type != BOOL:
                raise NotCoveredError(f"AND or OR of {value.type}")
            self._line(f"store {value.operand}, ptr {place}")
            if number < len(operands) - 1:
                following = self._label()
                self._go_if(value, following if is_and else end, end if is_and else following)
                self._here(following)
        self._here(end)
        return Value(self._put(f"load i1, ptr {place}"), BOOL)

    def _choice(self, node: ast.IfExp, condition: Value, yes: ast.expr, no: ast.expr) -> Value:
        # A variable, so that the types of both are joined.
        name = f".{node.lineno}.{node.col_offset}"
        labels = self._label(), self._label(), self._label()
        self._go_if(condition, labels[0], labels[1])
        for label, expression in zip(labels, (yes, no), strict=False):
            self._here(label)
            self._assign(name, self._number(expression))
            self._go(labels[2])
        self._here(labels[2])
        kind = self._types[name]
        return Value(self._put(f"load {llvm_type(kind)}, ptr %v.{name}"), kind)

    def _operation(self, operation: type[ast.operator], left: Value, right: Value) -> Value:
        of_words, of_floats = OPERATIONS.get(operation, ("", ""))
        kind = self._common(left, right)
        if kind == types.uint64:
            of_words = OF_UNSIGNED.get(of_words, of_words)
        if kind == WORD and operation in OF_BOOLEANS and left.type == right.type == BOOL:
            kind = BOOL
        instruction = of_floats if isinstance(kind, types.Float) else of_words
        if not instruction:
            raise NotCoveredError(f"{operation.__name__} of {left.type} and {right.type}")
        left, right = self._converted(left, kind), self._converted(right, kind)
        if operation in SHIFTS:
            # LLVM has no value for a shift by all bits or more: it is by the last six bits, as the
            # processor does it.
            right = Value(self._put(f"and i64 {right.text}, 63"), kind)
        return Value(self._put(f"{instruction} {left.operand}, {right.text}"), kind)

    def _comparison(self, tests: tuple[str, str], left: Value, right: Value) -> Value:
        kind = self._common(left, right)
        left, right = self._converted(left, kind), self._converted(right, kind)
        of_words, of_floats = tests
        if kind == types.uint64:
            of_words = of_words.replace("s", "u")
        instruction = f"fcmp {of_floats}" if isinstance(kind, types.Float) else f"icmp {of_words}"
        return Value(self._put(f"{instruction} {left.operand}, {right.text}"), BOOL)

    def _common(self, left: Value, right: Value) -> Any:
        """Return the type in which two numbers meet."""
        if left.type == right.type == types.uint64:
            return types.uint64
        floats = [one.type for one in (left, right) if isinstance(one.type, types.Float)]
        words = [one.type for one in (left, right) if is_word(one.type)]
        if len(floats) + len(words) < 2 or not (floats or any(map(signed, words))):
            raise NotCoveredError(f"{left.type} and {right.type}")
        return WORD if not floats else floats[0] if floats[0] == floats[-1] and not words else FLOAT

    def _place(self, node: ast.Subscript) -> tuple[str, Any]:
        """Return the address of an item, and its type."""
        array = self._any(node.value)
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if not isinstance(array, ArrayValue) or len(indices) != len(array.sizes):
            raise NotCoveredError(ast.unparse(node))
        place = self._word(indices[0]).text
        for index, size in zip(indices[1:], array.sizes[1:], strict=True):
            place = self._put(f"add i64 {self._put(f'mul i64 {place}, {size}')}, {self._word(index).text}")
        return self._item(array, place), array.type.dtype

    def _item(self, array: ArrayValue, place: str) -> str:
        return self._put(f"getelementptr inbounds {llvm_type(array.type.dtype, True)}, ptr {array.data}, i64 {place}")

    # Calls

    def _call(self, node: ast.Call) -> tuple[Value, ...]:
        if node.keywords:
            raise NotCoveredError(ast.unparse(node))
        arguments = [self._any(one) for one in node.args]
        match node.func:
            case ast.Name(name):
                function = self._known(name)
                if name in INTRINSICS:
                    return (self._intrinsic(name, arguments),)
            case ast.Attribute(ast.Name("np"), name):
                function = getattr(np, name)
            case _:
                raise NotCoveredError(ast.unparse(node))
        if isinstance(function, str):
            return self._own_call(self._module.function(function, tuple(one.type for one in arguments)), arguments)
        if isinstance(function, Dispatcher) and is_sized(function):
            kinds = tuple(map(size_or_type, arguments))
            own = self._module.sized(function, kinds)
            if own is not None:
                return self._own_call(
                    own, [one for one, kind in zip(arguments, kinds, strict=True) if not isinstance(kind, int)]
                )
        if isinstance(function, Dispatcher | _Intrinsic):
            return self._module.callees.call(function, arguments, self._put, self._room)
        return (self._built_in(function, arguments),)

    def _llvm(self, name: str, number: Value) -> Value:
        """Return what a function of LLVM's makes of a float64."""
        self._module.callees.declare(name, f"declare double @{name}(double)")
        return Value(self._put(f"call double @{name}({number.operand})"), FLOAT)

    def _own_call(self, function: tuple[str, tuple[Any, ...]], arguments: Given) -> tuple[Value, ...]:
        symbol, results = function
        operands: list[str] = []
        for one in arguments:
            if isinstance(one, Value):
                operands.append(one.operand)
            else:
                operands += [f"ptr {one.data}", *(f"i64 {size}" for size in one.sizes)]
        form = result_type(results)
        whole = self._put(f"call {form} {symbol}({', '.join(operands)})")
        return tuple(
            Value(self._put(f"extractvalue {form} {whole}, {number}"), kind) for number, kind in enumerate(results)
        )

    def _intrinsic(self, name: str, arguments: Given) -> Value:
        match arguments:
            case [ArrayValue() as array, Value() as index] if name == "element":
                kind = array.type.dtype
                return Value(self._put(f"load {llvm_type(kind)}, ptr {self._item(array, index.text)}"), kind)
            case [Value() as number] if name in LOADS:
                place = self._put(f"inttoptr {self._converted(number, WORD).operand} to ptr")
                return Value(self._put(f"load {llvm_type(LOADS[name])}, ptr {place}, align 1"), LOADS[name])
        raise NotCoveredError(name)

    def _built_in(self, function: Any, arguments: Given) -> Value:
        match arguments:
            case [ArrayValue() as array] if function is len:
                return Value(array.sizes[0], WORD)
            case [Value() as number] if function in CASTS:
                return self._converted(number, CASTS[function])
            case [Value(_, types.float64) as number] if function in ROUNDINGS:
                return self._llvm(f"llvm.{ROUNDINGS[function]}.f64", number)
            case [Value(_, types.float64) as number] if function is abs:
                return self._llvm("llvm.fabs.f64", number)
            case [Value() as left, Value() as right] if function in (min, max) and self._common(left, right) == WORD:
                left, right = self._converted(left, WORD), self._converted(right, WORD)
                test = self._put(f"icmp {'slt' if function is min else 'sgt'} {left.operand}, {right.text}")
                return Value(self._put(f"select i1 {test}, {left.operand}, {right.operand}"), WORD)
        raise NotCoveredError(str(function))


def result_type(results: tuple[Any, ...]) -> str:
    """Return LLVM's type of what a function of the module returns."""
    return "{" + ", ".join(map(llvm_type, results)) + "}"


def size_or_type(argument: Value | ArrayValue) -> Any:
    """Return what a function that is written for sizes depends on."""
    if isinstance(argument, Value) and argument.literal is not None:
        return argument.literal
    return argument.type


def signed(kind: Any) -> bool:
    """Tell whether a type of integers, or of booleans, becomes a signed word."""
    return kind == BOOL or bool(kind.signed)
