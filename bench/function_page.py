"""Writes sql/FUNCTIONS.md: which functions, operators, aggregates and casts there are, with which
arguments, and who runs them.

`python -m bench.function_page` writes the page; a test fails when it is stale. Nothing is listed by
hand: every signature of `sql` is bound in a small query, and printed for each engine and for
kernels. What one of them refuses with 0A000 it does not run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from sql.bind import bind_query
from sql.bind.substitute import substitute_now
from sql.catalog.catalog import ColumnDescription, RelationDescription, SessionSettings
from sql.emit.duckdb import emit_duckdb
from sql.emit.spark import emit_spark
from sql.errors import SqlError
from sql.functions.rows import Function
from sql.functions.session import VIEW_CHANGES
from sql.functions.signatures import Signature
from sql.functions.table import (
    AGGREGATE_ROWS,
    AGGREGATES,
    BINARY_OPERATORS,
    FUNCTIONS,
    OF_SESSION,
    PREFIX_OPERATORS,
    ROWS,
    TABLE_FUNCTIONS,
    WINDOW_FUNCTIONS,
    WINDOW_ROWS,
)
from sql.functions.volatility import is_volatile
from sql.parse.parse import parse
from sql.parse.statements.select import Select
from sql.tree.expressions import Expression
from sql.tree.relations import Project, Relation, Schema
from sql.tree.walks import scans
from sql.types.casts import cast_context
from sql.types.datatypes import FAMILIES, SCALARS, SqlType, enum_type, numeric
from sql.types.enums import new_enum
from views.codegen.support import Cuts, kernel_supports

PAGE = Path(__file__).parents[1] / "sql" / "FUNCTIONS.md"
TABLE = "t"
# What stands for the pseudo-types of signatures, and a value of the one that no column has.
EXAMPLES = {"any": "text", "element": "int4", "array": "int4[]"}
PSEUDO_NAMES = {"any": "any", "record": "record"}
ROW = "row(c_int4, c_text)"
HEAD = """# Functions, operators, aggregates and casts

Made by `python -m bench.function_page` from the tables of signatures and rules; do not edit. The meaning is PostgreSQL 15's everywhere.
*Kernel*: in the stream part of a continuous view; what is *computed* there is computed by DuckDB before the kernel runs, as one more
column, and what is *volatile* is refused there, since recovery computes the rows of a stream again. An aggregate that no kernel has is
that of the lists of values that groups keep. *DuckDB*: in SELECT and DML over tables, views and their stored versions. *Spark*: between
two pipeline breakers of the upper part of a continuous view; where an expression there has no form in Spark, DuckDB runs that part.
Some arguments must be constants: units, zones, separators, numbers of digits; in kernels also patterns, and intervals that are added to
times.
"""


class Examples:
    """A catalog of one relation with a column of every type, named after its family."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def relation(self, name: str) -> RelationDescription | None:
        """Return the relation."""
        if name != TABLE:
            return None
        columns = tuple(
            ColumnDescription(column_name(family), column_type(family)) for family in FAMILIES if family != "unknown"
        )
        own = ColumnDescription(column_name("enum"), enum_type(new_enum("mood", 30_000, ("sad", "happy"))))
        return RelationDescription(TABLE, self._kind, 20_000, (*columns, own))

    def relation_names(self) -> Iterable[str]:
        """Return the one name."""
        return (TABLE,)


def column_name(family: str) -> str:
    """Return the name of the column of a type."""
    return "c_" + family.replace("[]", "_array")


def column_type(family: str) -> SqlType:
    """Return an example of a family's types: a numeric has two digits after the point."""
    return numeric(10, 2) if family == "numeric" else SqlType(family)


def page() -> str:
    """Return the text of the page."""
    sections = [
        ("Functions", function_rows(FUNCTIONS)),
        ("Functions in FROM and in select lists", table_function_rows()),
        ("Operators", operator_rows()),
        ("Aggregates", aggregate_rows()),
        ("Window functions", window_rows()),
        ("Casts", cast_rows()),
    ]
    parts = [HEAD]
    for title, rows in sections:
        parts.append(f"\n## {title}\n\n| | arguments | kernel | DuckDB | Spark |\n|---|---|---|---|---|\n")
        for name, arguments, (kernel, duckdb, spark) in rows:
            parts.append(f"| {name} | {arguments} | {kernel} | {duckdb} | {spark} |\n")
    return "".join(parts)


Support = tuple[str, str, str]
Row = tuple[str, str, Support]


def grouped(rows: Iterable[tuple[str, str, Support]]) -> Iterator[Row]:
    """Put overloads of one name with the same support into one row."""
    found: dict[tuple[str, Support], list[str]] = {}
    for name, arguments, support in rows:
        found.setdefault((name, support), []).append(arguments)
    for (name, support), overloads in found.items():
        if any(support):
            yield name, "; ".join(dict.fromkeys(overloads)), support


def argument_texts(name: str, signature: Signature) -> list[str]:
    """Return example arguments of a call."""
    name_in_trees = signature.canonical
    row = ROWS.get(name_in_trees) or AGGREGATE_ROWS.get(name_in_trees) or WINDOW_ROWS.get(name_in_trees)
    constants = {} if row is None else dict(row.constants)
    texts = [
        constants.get(place, ROW if family == "record" else column_name(EXAMPLES.get(family, family)))
        for place, family in enumerate(signature.arguments)
    ]
    return texts * 2 if isinstance(row, Function) and row.bound == "json pairs" else texts


def rows_query(name: str, signature: Signature) -> str:
    """Return a query of the rows that a function returns."""
    return f"select x.* from {TABLE}, lateral {name}({', '.join(argument_texts(name, signature))}) x"


def aggregate_query(name: str, signature: Signature) -> str:
    """Return a query of an aggregate."""
    arguments, within = argument_texts(name, signature), AGGREGATE_ROWS[signature.canonical].within_group
    inside = ", ".join(arguments[:-1] if within else arguments)
    order = f" within group (order by {arguments[-1]})" if within else ""
    return f"select {name}({inside if inside or within else '*'}){order} from {TABLE}"


def window_query(name: str, signature: Signature) -> str:
    """Return a query of a function of windows."""
    return f"select {name}({', '.join(argument_texts(name, signature))}) over (order by c_int4) from {TABLE}"


def shown(signature: Signature) -> str:
    """Return the types of an overload's arguments."""
    names = [
        FAMILIES[family].sql_name if family in FAMILIES else PSEUDO_NAMES.get(family, f"any{family}")
        for family in signature.arguments
    ]
    return ("(" + ", ".join(names) + (", ..." if signature.variadic else "") + ")").replace("|", "\\|")


def function_rows(table: Mapping[str, tuple[Signature, ...]]) -> Iterator[Row]:
    def rows() -> Iterator[Row]:
        for name in sorted(table):
            for signature in table[name]:
                if signature.canonical:
                    text = f'"{name}"({", ".join(argument_texts(name, signature))})'
                    found = ("", "yes", "") if name in OF_SESSION or name in VIEW_CHANGES else support(text)
                    yield f"`{name}`", shown(signature), found

    return grouped(rows())


def table_function_rows() -> Iterator[Row]:
    def rows() -> Iterator[Row]:
        for name in sorted(TABLE_FUNCTIONS):
            for signature in TABLE_FUNCTIONS[name]:
                yield f"`{name}`", shown(signature), query_support(rows_query(name, signature))

    return grouped(rows())


def operator_rows() -> Iterator[Row]:
    def rows() -> Iterator[Row]:
        for symbol, signatures in (*BINARY_OPERATORS.items(), *PREFIX_OPERATORS.items()):
            for signature in signatures:
                if signature.canonical:
                    operands = argument_texts(symbol, signature)
                    text = f" {symbol} ".join(operands) if len(operands) == 2 else f"{symbol} {operands[0]}"
                    yield f"`{symbol}`".replace("|", "\\|"), shown(signature), support(text)

    return grouped(rows())


def aggregate_rows() -> Iterator[Row]:
    def rows() -> Iterator[Row]:
        for name in sorted(AGGREGATES):
            for signature in AGGREGATES[name]:
                if not signature.canonical:
                    continue
                kernel, duckdb, spark = query_support(aggregate_query(name, signature))
                kinds = [column_type(EXAMPLES.get(family, family)) for family in signature.arguments[:1]]
                first = argument_texts(name, signature)[:1]
                is_known = all(support(argument)[0] in ("yes", "computed") for argument in first)
                in_kernel = is_known and AGGREGATE_ROWS[signature.canonical].state(*kinds) is not None
                yield f"`{name}`", shown(signature), ("yes" if in_kernel else kernel, duckdb, spark)

    return grouped(rows())


def window_rows() -> Iterator[Row]:
    def rows() -> Iterator[Row]:
        for name in sorted(WINDOW_FUNCTIONS):
            for signature in WINDOW_FUNCTIONS[name]:
                yield f"`{name}`", shown(signature), query_support(window_query(name, signature))

    return grouped(rows())


def cast_rows() -> Iterator[Row]:
    """Return one row per type, with the types that it becomes, by who converts."""

    def rows() -> Iterator[Row]:
        values = [family for family, row in SCALARS.items() if row.category != "P"]
        for source in values:
            for target in values:
                if "unknown" not in (source, target) and cast_context(source, target) is not None and source != target:
                    found = support(f"cast({column_name(source)} as {FAMILIES[target].sql_name})")
                    yield FAMILIES[source].sql_name, FAMILIES[target].sql_name, found

    return grouped(rows())


def support(expression: str) -> Support:
    """Tell who computes an expression over the columns of the example relation."""
    query = f"select {expression} from {TABLE}"
    root = bound(query)
    if root is None:
        return "", "", ""
    assert isinstance(root, Project), query
    in_duckdb = printed(emit_duckdb, root)
    return in_stream(root.items[0][1], root.input.schema, bool(in_duckdb)), in_duckdb, printed(emit_spark, root)


def in_stream(expression: Expression, schema: Schema, in_duckdb: bool) -> str:
    """Return how a stream pipeline has an expression over the columns of its input."""
    if kernel_supports(expression, schema):
        return "yes"
    if not in_duckdb:
        return ""
    if is_volatile(expression):
        return "volatile"
    return "computed" if Cuts(schema, range(len(schema))).cut(expression) else ""


def query_support(query: str) -> Support:
    """Tell which engines run a query; kernels run none of those that are asked here."""
    root = bound(query)
    return ("", "", "") if root is None else ("", printed(emit_duckdb, root), printed(emit_spark, root))


def bound(query: str) -> Relation | None:
    """Return a query's tree, None where bind refuses it."""
    (statement,) = parse(query)
    assert isinstance(statement, Select)
    try:
        found = bind_query(statement.query, Examples("table"), SessionSettings(time_zone="Europe/Berlin"))
        return substitute_now(found.root, 0)
    except SqlError as error:
        assert error.sqlstate in ("0A000", "42883", "42804", "42846"), (query, error)
        return None


def printed(emit: Callable[[Relation, Mapping[str, str]], str], root: Relation) -> str:
    """Return 'yes' where an engine takes the tree."""
    names = {scan.name: scan.name for scan in scans(root)}
    try:
        emit(root, names)
    except SqlError as error:
        assert error.sqlstate == "0A000", error
        return ""
    return "yes"


def main() -> None:
    """Write the page."""
    PAGE.write_text(page())


if __name__ == "__main__":
    main()
