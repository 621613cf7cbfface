"""From a generated kernel to machine code, past numba's compiler.

Enters: the tree of a module that `kernel_text` has looked at. Leaves: an object file, whose entry
Python calls. numba has compiled the functions that the kernel calls; LLVM links, optimises and
writes the code as numba has it do. Raises NotCoveredError where numba has to compile the kernel.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import CodeType
from typing import Any

from llvmlite import binding
from numba.core.registry import cpu_target

from ringbuffer.compile.kernel_ir import ModuleWriter
from ringbuffer.compile.kernel_values import BOOL, WORD, NotCoveredError, types

# Of LLVM's passes; the third one takes a tenth longer, and its kernels are no faster.
LEVEL = 2
# What the entry makes of an argument: a word of Python's int, of its bool, or the address of its
# object, in which the kernel finds the array.
AS_WORD, AS_BOOL, AS_OBJECT = range(3)
# Python calls it with itself, a tuple and names; it gives the kernel an array of words, and lets
# other threads run meanwhile.
ENTRY = """
declare i64 @PyTuple_Size(ptr)
declare ptr @PyTuple_GetItem(ptr, i64)
declare i64 @PyLong_AsLongLong(ptr)
declare i32 @PyObject_IsTrue(ptr)
declare ptr @PyLong_FromLongLong(i64)
declare ptr @PyErr_Occurred()
declare void @PyErr_BadInternalCall()
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)

@kinds = private constant [{count} x i8] [{kinds}]

define ptr @{name}(ptr %self, ptr %arguments, ptr %names) minsize optsize {{
entry:
  %words = alloca [{count} x i64]
  %given = call i64 @PyTuple_Size(ptr %arguments)
  %is_right = icmp eq i64 %given, {count}
  br i1 %is_right, label %next, label %wrong
next:
  %number = phi i64 [ 0, %entry ], [ %following, %stored ]
  %object = call ptr @PyTuple_GetItem(ptr %arguments, i64 %number)
  %kind.place = getelementptr i8, ptr @kinds, i64 %number
  %kind = load i8, ptr %kind.place
  switch i8 %kind, label %of_object [ i8 0, label %of_word i8 1, label %of_bool ]
of_word:
  %word = call i64 @PyLong_AsLongLong(ptr %object)
  br label %stored
of_bool:
  %truth = call i32 @PyObject_IsTrue(ptr %object)
  %bool = sext i32 %truth to i64
  br label %stored
of_object:
  %address = ptrtoint ptr %object to i64
  br label %stored
stored:
  %value = phi i64 [ %word, %of_word ], [ %bool, %of_bool ], [ %address, %of_object ]
  %place = getelementptr i64, ptr %words, i64 %number
  store i64 %value, ptr %place
  %following = add i64 %number, 1
  %is_last = icmp eq i64 %following, {count}
  br i1 %is_last, label %ready, label %next
ready:
  %failed = call ptr @PyErr_Occurred()
  %has_failed = icmp ne ptr %failed, null
  br i1 %has_failed, label %end, label %run
run:
  %thread = call ptr @PyEval_SaveThread()
{loads}
  %results = call {{i64}} {kernel}({operands}) noinline
  %result = extractvalue {{i64}} %results, 0
  call void @PyEval_RestoreThread(ptr %thread)
  %answer = call ptr @PyLong_FromLongLong(i64 %result)
  ret ptr %answer
wrong:
  call void @PyErr_BadInternalCall()
  br label %end
end:
  ret ptr null
}}
"""


def compile_directly(tree: ast.Module, name: str, function: str, kinds: Sequence[Any]) -> tuple[str, bytes]:
    """Return the symbol that Python calls, and the object file.

    name: of the module; kinds: numba's types of the arguments of the function.
    """
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    rest = ast.Module([node for node in tree.body if not isinstance(node, ast.FunctionDef)], [])
    names: dict[str, object] = {}
    # `kernel_tree` has looked at all of it.
    program: CodeType = compile(rest, name, "exec", dont_inherit=True)
    exec(program, names)  # noqa: S102
    writer = ModuleWriter(functions, names)
    kernel, results = writer.entry(function, tuple(kinds))
    if results != (WORD,):
        raise NotCoveredError(f"a kernel returns {results}")
    entry = f"{name}.entry"
    text = "\n".join([writer.text(), _entry(entry, kernel, kinds)])
    codegen = cpu_target.target_context.codegen()
    target = f'target triple = "{binding.get_process_triple()}"\ntarget datalayout = "{codegen._data_layout}"\n'
    module = binding.parse_assembly(target + text)
    for library in writer.callees.libraries.values():
        module.link_in(library._get_module_for_linking(), preserve=True)
    for linked in module.functions:
        if not linked.is_declaration and linked.name != entry:
            linked.linkage = "internal"
    passes, builder = codegen._module_pass_manager(opt=LEVEL)
    passes.run(module, builder)
    return entry, codegen._tm.emit_object(module)


def _entry(name: str, kernel: str, kinds: Sequence[Any]) -> str:
    loads, operands, codes = [], [], []
    for number, kind in enumerate(kinds):
        is_array = isinstance(kind, types.Array)
        codes.append(AS_OBJECT if is_array else AS_BOOL if kind == BOOL else AS_WORD)
        if not is_array and kind not in (WORD, BOOL):
            raise NotCoveredError(f"an argument of type {kind}")
        form = "ptr" if is_array else "i64"
        loads += [
            f"  %at{number} = getelementptr i64, ptr %words, i64 {number}",
            f"  %w{number} = load {form}, ptr %at{number}",
        ]
        if kind == BOOL:
            loads.append(f"  %b{number} = icmp ne i64 %w{number}, 0")
        operands.append(f"i1 %b{number}" if kind == BOOL else f"{form} %w{number}")
    return ENTRY.format(
        name=name,
        kernel=kernel,
        count=len(kinds),
        kinds=", ".join(f"i8 {code}" for code in codes),
        loads="\n".join(loads),
        operands=", ".join(operands),
    )
