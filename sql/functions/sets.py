"""Functions that return rows: one column of them, or two.

Each call is the list of its values, which the engine spreads into rows
(`sql.emit.table_functions`); a series has PostgreSQL's bounds and steps. Bind makes a
`TableFunction` of a call in FROM or in a select list. The call that makes a column of two has the
column's name after a blank, so that no client writes it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sql.functions.arguments import RUN
from sql.functions.catalog import CATALOG, CatalogFunction, catalog_text
from sql.functions.printing import Printer, micros, raising
from sql.functions.rows import Row, routines
from sql.functions.signatures import INTEGERS, Signature
from sql.times.civil import DAY_US
from sql.tree.expressions import Expression, Literal
from sql.types.datatypes import TEXT, scaled_numeric

TIMES = ("timestamp", "timestamptz")
# Makes the list of a call's values of its arguments and their texts: a template, or a function.
ListRule = str | Callable[[Printer, Sequence[Expression], list[str]], str]


@dataclass(frozen=True)
class SetFunction(Row):
    """The row of a function that returns rows.

    Attributes:
        duckdb: the rule of DuckDB; None where each of the two columns has a rule of its own.
        columns: the canonical names of the columns, where there are two: each is a call of its own.
        column: the name of the one column, where that is not the function's.
        of_rows: the values are records, whose fields are the columns.
        is_series: values are integers, numerics with scales or microseconds, whatever their type.
        takes_many: several arguments mean a call for each.
        spreads: DuckDB has a relation of that name whose rows come one after the other, for
            integers and for even steps between constant times.
        known: the function of the system catalog, whose signatures have types of records.
    """

    duckdb: ListRule | None = None
    columns: tuple[str, ...] = ()
    column: str = ""
    of_rows: bool = False
    is_series: bool = False
    takes_many: bool = False
    spreads: bool = False
    known: CatalogFunction | None = None

    @cached_property
    def named_overloads(self) -> tuple[tuple[Sequence[str], Signature], ...]:
        """The signatures with the names that have them."""
        if self.known is None:
            return super().named_overloads
        return tuple(((self.names,), one) for one in self.known.signatures())

    def listed(self, printer: Printer, arguments: Sequence[Expression]) -> str:
        """Return DuckDB's list of a call's values."""
        assert self.duckdb is not None, self.canonical
        texts = [printer.text(argument) for argument in arguments]
        return self.duckdb.format(*texts) if isinstance(self.duckdb, str) else self.duckdb(printer, arguments, texts)


def _series(printer: Printer, arguments: Sequence[Expression], texts: list[str]) -> str:
    family = arguments[0].type.family
    if family == "numeric":
        plain = scaled_numeric(None)
        one = [] if len(arguments) > 2 else [printer.fit(Literal(1, scaled_numeric(0)), plain)]
        return f"numeric_series({', '.join([*(printer.fit(argument, plain) for argument in arguments), *one])})"
    if family in TIMES:
        bounds = [micros(text, arguments[0].type) for text in texts[:2]]
        step_us = even_step_us(arguments)
        if step_us:
            return _bounded([*bounds, str(step_us)])
        zone = texts[3] if len(texts) > 3 else printer.text(Literal("UTC", TEXT))
        return f"time_series({', '.join([*bounds, texts[2], zone])})"
    assert family in INTEGERS, family
    series = _bounded(texts)
    if len(arguments) < 3 or is_nonzero(arguments[2]):
        return series
    return f"CASE WHEN {texts[2]} = 0 THEN {raising('22023', 'step size cannot equal zero')} ELSE {series} END"


def is_nonzero(node: Expression) -> bool:
    """True for a constant step other than zero."""
    return isinstance(node, Literal) and node.value not in (0, None)


def _bounded(texts: list[str]) -> str:
    """Return a series of integers as a list, which is made whole, and so is bounded."""
    start = f"series_start({', '.join([*texts, '1'][:3])})"
    return f"generate_series({', '.join([start, *texts[1:]])})"


def even_step_us(arguments: Sequence[Expression]) -> int:
    """Return a constant step between times in microseconds, 0 where its length depends on the
    calendar.
    """
    match arguments[2]:
        case Literal(value=(0, int(days), int(micros))) if not days or arguments[0].type.family == "timestamp":
            return days * DAY_US + micros
    return 0


def _of_three(call: str, default: str) -> ListRule:
    """Return a call whose third argument may be left out."""
    return lambda printer, arguments, texts: call.format(*[*texts, default][:3])


def _of_catalog(known: CatalogFunction) -> SetFunction:
    """Return the row of a function of the system catalog."""
    return SetFunction(
        known.canonical, known.name, of_rows=bool(known.fields), known=known,
        duckdb=lambda printer, arguments, texts: catalog_text(printer, known.canonical, arguments, texts),
    )  # fmt: skip


def _of_json(form: str, result: str, called: str, value: str, answer: str, column: str = "") -> Sequence[SetFunction]:
    """Return the rows of a function of json and of jsonb; ours takes the name for errors."""
    return tuple(
        SetFunction(
            f"{family}_{form}", f"{family}_{form}", f"{family} > {result or family}",
            (f"{family}_{form}('{value}')", answer), f"{called}({{0}}, '{family}_{form}')", column=column,
        )
        for family in ("json", "jsonb")
    )  # fmt: skip


def _members(form: str, result: str, called: str) -> Sequence[SetFunction]:
    """Return the rows of json_each and its relatives: one of the function, one for each column."""
    found = []
    for family in ("json", "jsonb"):
        name = f"{family}_{form}"
        example = (f"key FROM {name}('{{\"a\": 1}}')", "a")
        found += [
            SetFunction(name, name, f"{family} > text", example, columns=(f"{name} key", f"{name} value")),
            SetFunction(f"{name} key", "", f"{family} > text", None, f"json_names({{0}}, '{name}')"),
            SetFunction(f"{name} value", "", f"{family} > {result or family}", None, f"{called}({{0}}, '{name}')"),
        ]
    return found


def _placed(printer: Printer, arguments: Sequence[Expression], texts: list[str]) -> str:
    """Return the elements of an array with their places, as rows (x, n)."""
    pairs = f"list_transform({texts[0]}, lambda item, place: {{'f1': item, 'f2': CAST(place AS INTEGER)}})"
    return f"CASE WHEN {texts[0]} IS NOT NULL THEN {pairs} END"


SERIES = "; ".join(
    [
        *(f"{' '.join([family] * count)} > {family}" for family in ("int4", "int8", "numeric") for count in (2, 3)),
        *(f"{family} {family} interval > {family}" for family in TIMES),
    ]
)
SET_FUNCTIONS = (
    SetFunction(
        "generate_series", "generate_series", SERIES, ("generate_series(3, 3)", "3"), _series,
        is_series=True, spreads=True,
    ),
    SetFunction("unnest", "unnest", "array > element", ("unnest(ARRAY[7])", "7"), "{0}", takes_many=True),
    SetFunction(
        "generate_subscripts", "generate_subscripts", "array int4 > int4", ("generate_subscripts(ARRAY[7], 1)", "1"),
        "CASE WHEN {1} = 1 THEN generate_series(1, CAST(len({0}) AS INTEGER)) END", is_series=True,
        missing="array int4 bool",
    ),
    # Of an int2vector or an oidvector, which counts from 0.
    SetFunction(
        "vector_subscripts", duckdb="CASE WHEN {1} = 1 THEN range(0, len({0})) END", is_series=True,
    ),
    SetFunction(
        "string_to_table", "string_to_table", "text text > text; text text text > text",
        ("string_to_table('a', ',')", "a"), _of_three("text_to_array({}, {}, {})", "CAST(NULL AS VARCHAR)"),
    ),
    SetFunction(
        "regexp_split_to_table", "regexp_split_to_table", "text text > text; text text text > text",
        ("regexp_split_to_table('a', ' +')", "a"), _of_three(f"regexp_split({{}}, {{}}, {{}}, {RUN})", "''"),
    ),
    SetFunction(
        "regexp_matches", "regexp_matches", "text text > text[]; text text text > text[]",
        ("regexp_matches('foobar', 'o(b)')", "{b}"), _of_three(f"regexp_every_match({{}}, {{}}, {{}}, {RUN})", "''"),
    ),
    *_of_json("array_elements", "", "json_items", "[7]", "7", "value"),
    *_of_json("array_elements_text", "text", "json_item_texts", "[7]", "7", "value"),
    *_of_json("object_keys", "text", "json_names", '{"a": 1}', "a"),
    *_members("each", "", "json_values"),
    *_members("each_text", "text", "json_value_texts"),
    SetFunction("_pg_expandarray", "_pg_expandarray", "array > element", None, _placed, of_rows=True),
    *(_of_catalog(known) for known in CATALOG.values() if known.returns_rows),
)  # fmt: skip
NUMERIC_SERIES, TIME_SERIES = routines(
    numeric_series=("numeric numeric numeric > numeric[]", "series.numeric_series"),
    time_series=("int8 int8 interval text > int8[]", "series.time_series"),
)
ROUTINES = (replace(NUMERIC_SERIES, special="series"), TIME_SERIES)
