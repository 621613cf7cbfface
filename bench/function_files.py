"""Counts the files to open for one function: `python -m bench.function_files [name ...]`.

For every function, operator, aggregate, function of windows and function that returns rows that a
client can name: the file of its row, those that say its name, its canonical name or the names of
our functions that its printed forms call, and those of its kernels. A file says a name where a
string of Python's is the name or a word of a list that the module splits; in Java, where a string
is the name. A word that means something else as well (`OTHER_WORDS`) counts only where functions
are written, and a symbol by its canonical name alone.

What one does not open for a function does not count: the text of an error; a tree that another rule
makes with a call of the function (the first argument of `Call` and its like); a kernel or a
function of ours which serves three functions or more, as the library of a type does (the comparison
of stored bytes, the arrays of a zone); for what is only the name of its own rows, a file of rows
(`bit_or` is an operator and an aggregate); the name of a field of times that is a function's as
well (`timezone`); and what DuckDB's own functions mean on Python's values (`printed_parts.py`).
With names, their files are listed.
"""

from __future__ import annotations

import ast
import re
import statistics
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from bench.function_page import aggregate_query, argument_texts, bound, rows_query, window_query
from engine.embedded.functions import registration
from engine.spark.functions import FUNCTIONS as JAVA_FUNCTIONS
from sql.emit.duckdb import emit_duckdb
from sql.emit.spark import emit_spark
from sql.errors import SqlError
from sql.functions.rows import Row
from sql.functions.signatures import Signature
from sql.functions.table import (
    AGGREGATES,
    BINARY_OPERATORS,
    FUNCTIONS,
    PREFIX_OPERATORS,
    TABLE_FUNCTIONS,
    WINDOW_FUNCTIONS,
)
from sql.times.time_fields import FIELD_DIGITS
from sql.tree.expressions import Call, Expression
from sql.tree.relations import Project, Schema
from sql.tree.walks import scans
from views.codegen.columns import InputColumns
from views.codegen.expressions import ExpressionWriter
from views.codegen.functions.table import FUNCTIONS as KERNEL_WRITERS
from views.codegen.writer import KernelWriter

ROOT = Path(__file__).parents[1]
# Where functions are written; grammar, wire and relations speak of other things with such names.
ROOMS = (
    *("sql/functions", "sql/emit", "sql/bind/expressions", "sql/tree", "engine/embedded", "engine/spark"),
    *("views/codegen", "views/model", "views/plan/eager", "bench/function_page.py"),
)
FUNCTION_ROOMS = (
    "sql/functions",
    "sql/emit/rules",
    "engine/embedded/functions",
    "engine/spark",
    "views/codegen/functions",
)
# Names of functions that are also keywords of SQL, kinds of joins, methods, attributes, fields of
# times or settings.
OTHER_WORDS = frozenset(
    "left right format replace position upper lower scale round repeat length age trunc min count timezone".split()
)
# What any function of a type is printed with: the keys that compare its values, its texts.
OF_A_TYPE = re.compile(r"(numeric|interval|timetz|inet|jsonb|array|json)_(key|pack|text|from_text)")
# The functions that a kernel or a function of ours serves where it belongs to none of them.
SHARED_MIN = 3
# What makes a call in a tree, or an error: the first argument does not say anything of a function.
TREES = frozenset({"Call", "AggregateCall", "WindowCall", "BoundSubquery"})
# Arguments that libraries read.
LIBRARY_KEYWORDS = frozenset({"errors", "side"})
ERRORS = frozenset({"SqlError", "not_supported", "not_in_kernels"})
OTHER = ("sql/emit/blocks", "views/codegen/columns.py", "engine/embedded/printed_parts.py")
CALLED = re.compile(r"\b([a-z_0-9]+)\(")
JAVA_NAME = re.compile(r'"([a-z_0-9]+)"')


@cache
def files_by_name() -> Mapping[str, frozenset[str]]:
    """Return for each name the files that say it."""
    found: dict[str, set[str]] = {}
    for room in ROOMS:
        path = ROOT / room
        for file in [path] if path.is_file() else sorted((*path.rglob("*.py"), *path.rglob("*.java"))):
            name = str(file.relative_to(ROOT))
            if not name.startswith(OTHER):
                for said in java_names(file) if file.suffix == ".java" else said_names(file):
                    found.setdefault(said, set()).add(name)
    return {name: frozenset(files) for name, files in found.items()}


@cache
def filed_rows() -> Sequence[tuple[str, str]]:
    """Return the canonical names of all rows, with their files."""
    modules = [module for name, module in sys.modules.items() if name.startswith("sql.functions.")]
    return [
        (row.canonical, str(Path(str(module.__file__)).relative_to(ROOT)))
        for module in modules
        for rows in ("FUNCTIONS", "AGGREGATES", "WINDOW_FUNCTIONS", "SET_FUNCTIONS")
        for row in getattr(module, rows, ())
        if isinstance(row, Row)
    ]


@cache
def row_files() -> Mapping[str, str]:
    """Return the file of each row, by the canonical name."""
    return dict(filed_rows())


@cache
def named_files() -> Mapping[str, frozenset[str]]:
    """Return the files of the rows of each name, canonical ones and those that clients write."""
    found: dict[str, set[str]] = {}
    for canonical, file in filed_rows():
        found.setdefault(canonical, set()).add(file)
    for table in (FUNCTIONS, AGGREGATES, WINDOW_FUNCTIONS, TABLE_FUNCTIONS):
        for name, signatures in table.items():
            for signature in signatures:
                if signature.canonical in row_files():
                    found.setdefault(name, set()).add(row_files()[signature.canonical])
    return {name: frozenset(files) for name, files in found.items()}


def java_names(file: Path) -> Iterable[str]:
    """Return the strings of a Java file."""
    return JAVA_NAME.findall(file.read_text())


def said_names(file: Path) -> Iterator[str]:
    """Return the names that strings of a module say."""
    nodes = list(ast.walk(ast.parse(file.read_text())))
    prose = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Call):
            prose.update(map(id, unsaid(node)))
            if isinstance(node.func, ast.Attribute) and node.func.attr == "split" and text_of(node.func.value):
                yield from text_of(node.func.value).split()
    yield from (text_of(node) for node in nodes if id(node) not in prose and text_of(node))


def unsaid(call: ast.Call) -> Sequence[ast.AST]:
    """Return the arguments of a call that do not say anything of a function."""
    made = call.func.id if isinstance(call.func, ast.Name) else ""
    if made in ERRORS:
        return [part for argument in call.args for part in ast.walk(argument)]
    read = [keyword.value for keyword in call.keywords if keyword.arg in LIBRARY_KEYWORDS]
    return [*read, *(call.args[:1] if made in TREES else ())]


def text_of(node: ast.AST) -> str:
    """Return the string that a node is, '' for any other node."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def called_names() -> Iterator[tuple[str, Signature, str]]:
    """Return a name, an overload that we have, and a query that calls it, for all that a client can
    name.
    """
    for query, table in (
        (function_query, FUNCTIONS), (aggregate_query, AGGREGATES), (window_query, WINDOW_FUNCTIONS),
        (rows_query, TABLE_FUNCTIONS),
    ):  # fmt: skip
        for name, signatures in table.items():
            yield from ((name, one, query(name, one)) for one in signatures if one.canonical)
    for symbol, signatures in (*BINARY_OPERATORS.items(), *PREFIX_OPERATORS.items()):
        for signature in signatures:
            if signature.canonical:
                operands = argument_texts(symbol, signature)
                call = f" {symbol} ".join(operands) if len(operands) == 2 else f"{symbol} {operands[0]}"
                yield symbol, signature, f"select {call} from t"


def function_query(name: str, signature: Signature) -> str:
    """Return a query of a function's value."""
    return f'select "{name}"({", ".join(argument_texts(name, signature))}) from t'


def registered_names() -> frozenset[str]:
    """Return the names of our functions in the engines."""
    made: set[str] = set(JAVA_FUNCTIONS)

    class Connection:
        def create_function(self, name: str, *arguments: object, **options: object) -> None:
            made.add(name)

        def dtype(self, name: str) -> str:
            return name

    registration.TYPES.clear()
    registration.register_functions(Connection())  # type: ignore[arg-type]
    registration.TYPES.clear()
    return frozenset(made)


def engine_names(query: str, registered: frozenset[str]) -> tuple[set[str], set[str]]:
    """Return which of our functions the printed forms of a query name, and the kernels that its one
    call calls.
    """
    root = bound(query)
    if root is None:
        return set(), set()
    names: set[str] = set()
    for emit in (emit_duckdb, emit_spark):
        try:
            names.update(CALLED.findall(emit(root, {scan.name: scan.name for scan in scans(root)})))
        except SqlError:
            continue
    if not isinstance(root, Project):
        return names & registered, set()
    called = root.items[0][1]
    operands = called.arguments if isinstance(called, Call) else ()
    kernels = called_kernels(called, root.input.schema)
    return names & registered, kernels.difference(*(called_kernels(one, root.input.schema) for one in operands))


def called_kernels(expression: Expression, schema: Schema) -> set[str]:
    """Return the kernels that an expression calls: module and function."""
    writer = KernelWriter(1, lambda error, number: [])
    try:
        ExpressionWriter(writer, InputColumns(schema), KERNEL_WRITERS).evaluate(expression)
    except SqlError:
        return set()
    return {f"{module}.{function}" for module, functions in writer.imports.items() for function in functions}


def counted() -> dict[str, set[str]]:
    """Return the files to open for each function: a name with the canonical name of the row."""
    registered = registered_names()
    calls = [(name, one.canonical, *engine_names(query, registered)) for name, one, query in called_names()]
    served: dict[str, set[str]] = {}
    for _, canonical, names, kernels in calls:
        for one in names | kernels:
            served.setdefault(one, set()).add(canonical)
    own = {one for one, users in served.items() if len(users) < SHARED_MIN and not OF_A_TYPE.fullmatch(one)}
    files: dict[str, set[str]] = {}
    for name, canonical, names, kernels in calls:
        found = files.setdefault(f"{name} ({canonical})", set())
        found |= {one.rpartition(".")[0].replace(".", "/") + ".py" for one in kernels & own}
        found.add(row_files()[canonical])
        for said in {name, canonical, *(names & own)}:
            is_told = said[0].isalpha() and said not in FIELD_DIGITS
            places = files_by_name().get(said, frozenset()) if is_told else frozenset()
            places = places - named_files().get(said, frozenset())
            found |= {file for file in places if said not in OTHER_WORDS or file.startswith(FUNCTION_ROOMS)}
    return files


def main() -> None:
    """Print how many functions have how many files, and which files are beyond two; or the files of
    the names that are given.
    """
    files = counted()
    if sys.argv[1:]:
        for name, found in files.items():
            if name.split(" ")[0] in sys.argv[1:]:
                print(name, *sorted(found), sep="\n    ")
        return
    counts = [len(found) for found in files.values()]
    print(f"{len(counts)} functions, {statistics.mean(counts):.1f} files for one, {max(counts)} at most")
    for count, functions in sorted(Counter(counts).items()):
        print(f"{count:3} files: {functions} functions")
    print("files of functions that have more than two:")
    for file, functions in Counter(file for found in files.values() if len(found) > 2 for file in found).most_common():
        print(f"{functions:3} {file}")


if __name__ == "__main__":
    main()
