"""Expressions of a definition's syntax as pieces to print: columns by their names of today,
operators and functions with the casts that PostgreSQL puts in.

Calls have a file of their own. Enters: syntax, and what it means (`sql.bind.notes`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Any

from engine.system_catalog.deparse import calls, signatures
from engine.system_catalog.deparse.layout import CASE_INDENT, Page, Style
from engine.system_catalog.deparse.pieces import Part, Piece, beside, constant_text, write
from engine.system_catalog.deparse.sources import Meaning, Source
from engine.system_catalog.syntax_nodes import nodes
from sql.bind.notes import Key, NotedColumn
from sql.errors import SqlError
from sql.functions.catalog import NAME_FORMS
from sql.names.relation_keys import name_of, quoted
from sql.parse import syntax
from sql.types.casts import common_family
from sql.types.datatypes import BOOL, INT4, INT8, NUMERIC, TEXT, UNKNOWN, SqlType, array_of
from sql.values.literal_output import output_text
from sql.values.literals import input_value

INT4_MAX, INT8_MAX = (1 << 31) - 1, (1 << 63) - 1
NOT_CONSTANT = (syntax.Name, syntax.Star, syntax.ParameterNumber, syntax.Subquery)


@dataclass
class Expressions:
    """The expressions of one query.

    Attributes:
        sources: the items of FROM of this query and those around it, by their ids.
        query: prints a query inside of an expression.
        columns: returns the types of the columns of a query.
        prefixed: print the item of FROM before a column.
        named: print the function's name before a parameter.
    """

    meaning: Meaning
    style: Style
    page: Page
    sources: Mapping[int, Source]
    query: Callable[[syntax.Query], None]
    columns: Callable[[syntax.Query], list[NotedColumn]]
    prefixed: bool = True
    named: bool = False

    def write(self, piece: Piece, implicit: bool = False) -> None:
        """Print a piece. implicit: print implicit casts at the top, too."""
        write(piece, self.page, self.style.pretty, implicit)

    def read(self, node: syntax.Expression) -> Piece:
        """Return an expression; an untyped constant has the type 'unknown'."""
        return READERS[type(node)](self, node)

    def value(self, node: syntax.Expression) -> Piece:
        """Return an expression; an untyped constant is a text."""
        return self.settled(self.read(node))

    def settled(self, piece: Piece, kind: SqlType = TEXT) -> Piece:
        """Return a piece; an untyped constant as a value of a type."""
        return self.coerced(piece, kind) if piece.type.family == "unknown" else piece

    def condition(self, node: syntax.Expression) -> Piece:
        """Return an expression that must be boolean."""
        return self.coerced(self.read(node), BOOL)

    def type_of(self, node: syntax.Expression) -> SqlType:
        """Return the type of an expression, text for one that has none."""
        return self.meaning.notes.types.get(id(node), TEXT)

    def coerced(self, piece: Piece, kind: SqlType | None) -> Piece:
        """Return a piece as a value of a type, by an implicit cast if it is of another one."""
        if kind is None or piece.type.oid == kind.oid or kind.family == "unknown":
            return piece
        kind = kind.without_modifier()
        if piece.kind == "named":
            return replace(piece, parts=(piece.parts[0], self.coerced(piece.operands[0], kind)), type=kind)
        if piece.type.family == "unknown" and piece.kind == "constant":
            return self.constant(piece.value, kind)
        return self.cast(piece, kind, signatures.cast_method(piece.type, kind), True)

    def cast(self, piece: Piece, kind: SqlType, method: str, is_implicit: bool = False) -> Piece:
        """Return a cast."""
        name = f"::{self.style.type_name(kind)}"
        is_bare = piece.kind == "constant" and piece.type.oid == kind.oid and piece.value is not None
        operand = replace(piece, after="") if is_bare else piece
        return Piece("cast", kind, (operand,), not is_bare, after=name, word=method, is_implicit=is_implicit)

    def constant(self, text: str | None, kind: SqlType) -> Piece:
        """Return a constant as the output of its type writes it."""
        if text is None:
            return self.shown_constant(None, kind)
        meaning = self.meaning
        if f"{kind.family} in" in NAME_FORMS:
            oid = meaning.oid_in_string(kind.family, text)
            return self.shown_constant(text if oid is None else self.style.object_name(kind.family, oid), kind)
        try:
            value = input_value(text, kind, meaning.settings.time_zone, None)
        except SqlError:
            return self.shown_constant(text, kind)
        if isinstance(value, bool):
            return self.shown_constant("true" if value else "false", kind)
        return self.shown_constant(output_text(value, kind, meaning.shown_zone), kind)

    def shown_constant(self, value: str | None, kind: SqlType) -> Piece:
        """Return a constant by its text."""
        shown, needed = constant_text(value, kind)
        after = f"::{self.style.type_name(kind)}" * needed
        return Piece("constant", kind, (shown,), after=after, value=value)

    def taken(self, pieces: Sequence[Piece], kinds: Sequence[SqlType | None] | None) -> list[Piece]:
        """Return operands as the types that an operator or a function takes, None: of one that is
        not known.
        """
        if kinds is None:
            return [self.settled(one) for one in pieces]
        return [self.coerced(one, kind) for one, kind in zip(pieces, kinds, strict=True)]

    def operator(self, name: str, *operands: Piece, kind: SqlType = BOOL) -> Piece:
        """Return an operator over its operands."""
        kinds = signatures.operator(name, [operand.type for operand in operands])
        items = self.taken(operands, kinds)
        sign = "<>" if name == "!=" else name
        parts: tuple[Part, ...] = (f"{sign} ", items[0]) if len(items) == 1 else (items[0], f" {sign} ", items[1])
        return Piece("operator", kind, parts, True, True, word=name)

    def logic(self, word: str, operands: Sequence[Piece]) -> Piece:
        """Return the operator 'and', 'or' or 'not' over conditions."""
        parts: list[Part] = [one for operand in operands for one in (f" {word.upper()} ", operand)]
        parts[0] = "NOT " * (word == "not")
        return Piece("logic", BOOL, tuple(parts), True, word=word)

    def together(self, word: str, pieces: Sequence[Piece]) -> Piece:
        """Return conditions with a word between them; one alone is itself."""
        return pieces[0] if len(pieces) == 1 else self.logic(word, pieces)

    def column(self, key: Key, kind: SqlType) -> Piece:
        """Return a column of an item of FROM, or the whole row."""
        source, index = self.sources[key[0]], key[1]
        shown = "" if index is None else source.shown_columns[source.place(index)]
        has_prefix = source.kind != "join" and (self.prefixed or index is None)
        text = f"{quoted(source.shown)}." * has_prefix + ("*" if index is None else quoted(shown))
        return Piece("column", kind, (text,), word=shown)

    def parameter(self, place: int) -> Piece:
        """Return a parameter of the function around the text."""
        function = self.meaning.function
        assert function is not None, place
        one = function.inputs[place]
        prefix = f"{quoted(name_of(function.name))}." * self.named
        return Piece("parameter", one.type, (prefix + quoted(one.name) if one.name else f"${place + 1}",))

    def order(self, items: Sequence[syntax.SortItem], keys: Sequence[Piece]) -> Piece:
        """Return the items of an ORDER BY over keys as they are printed."""
        found = []
        for item, key in zip(items, keys, strict=True):
            first = item.descending if item.nulls_first is None else item.nulls_first
            nulls = (" NULLS FIRST" if first else " NULLS LAST") * (first != item.descending)
            found.append(beside([key, " DESC" * item.descending + nulls]))
        return beside(found, between=", ")

    def key(self, piece: Piece) -> Piece:
        """Return an item of ORDER BY, GROUP BY or PARTITION BY."""
        if piece.kind == "constant":
            return replace(piece, after=f"::{self.style.type_name(piece.type)}")
        is_name = piece.kind in ("column", "parameter")
        is_call = piece.kind in ("call", "syntax") or piece.is_function_cast
        needed = not is_name and (self.style.pretty or is_call)
        return beside(["(" * needed, piece, ")" * needed], shows=True)

    # Kinds of expressions.

    def _name(self, node: syntax.Name) -> Piece:
        known = self.meaning.notes.names.get(node.position)
        if known:
            return self.column(next(iter(known)), self.type_of(node))
        function = self.meaning.function
        assert function is not None, node
        return self.parameter([one.name for one in function.inputs].index(node.parts[-1]))

    def _star(self, node: syntax.Star) -> Piece:
        return self.column(next(iter(self.meaning.notes.names[node.position])), self.type_of(node))

    def _field(self, node: syntax.FieldSelection) -> Piece:
        known = self.meaning.notes.names.get(node.position, {})
        column = next((key for key in known if key[1] is not None), None)
        if column is not None and isinstance(node.operand, syntax.Name):
            return self.column(column, self.type_of(node))
        operand = self.read(node.operand)
        is_bare = operand.kind in ("subscript", "field")
        parts = ("(" * (not is_bare), operand, ")" * (not is_bare) + f".{quoted(node.name)}")
        return Piece("field", self.type_of(node), parts, shows=True)

    def _collation(self, node: syntax.Collation) -> Piece:
        operand = self.value(node.operand)
        return Piece("", operand.type, (operand, f" COLLATE {quoted(node.name)}"), True, None)

    def _test(self, node: syntax.Test) -> Piece:
        operand = self.value(node.operand) if node.kind == "null" else self.condition(node.operand)
        return Piece("test", BOOL, (operand, f" IS {'NOT ' * node.negated}{node.kind.upper()}"), True, True)

    def _named_argument(self, node: syntax.NamedArgument) -> Piece:
        operand = self.read(node.value)
        return Piece("named", operand.type, (f"{quoted(node.name)} => ", operand), shows=True)

    def _array_comparison(self, node: syntax.ArrayComparison) -> Piece:
        return self.array_test(self.read(node.operand), node.operator, node.quantifier, self.read(node.array))

    def _operation(self, node: syntax.Operation) -> Piece:
        match node.operands:
            case (syntax.Row() as left, syntax.Row() as right):
                return self._row_comparison(node.operator, left, right)
            case (syntax.Row() as left, syntax.Subquery(kind="scalar") as right):
                return self._compared_with_query("row", left.items, node.operator, right)
        return self.operator(node.operator, *map(self.read, node.operands), kind=self.type_of(node))

    def _distinctness(self, node: syntax.Distinctness) -> Piece:
        pairs = [(node.left, node.right)]
        if isinstance(node.left, syntax.Row) and isinstance(node.right, syntax.Row):
            pairs = list(zip(node.left.items, node.right.items, strict=True))
        tests = []
        for left, right in pairs:
            one, other = self.operator("=", self.read(left), self.read(right)).operands
            tests.append(Piece("test", BOOL, (one, " IS DISTINCT FROM ", other), True, True))
        test = self.together("or", tests)
        return self.logic("not", [test]) if node.negated else test

    def _row_comparison(self, operator: str, left: syntax.Row, right: syntax.Row) -> Piece:
        pairs = zip(left.items, right.items, strict=True)
        items = [self.operator(operator, self.read(one), self.read(other)) for one, other in pairs]
        if operator in ("=", "<>", "!=") or len(items) == 1:
            return self.together("and" if operator == "=" else "or", items)
        first, second = (
            beside(["ROW(", beside(side, True, ", "), ")"])
            for side in zip(*(item.operands for item in items), strict=True)
        )
        return Piece("operator", BOOL, ("(", first, f" {operator} ", second, ")"), word=operator)

    def _logic(self, node: syntax.Logic) -> Piece:
        operands = list(node.operands)
        while (
            node.operator != "not" and isinstance(operands[0], syntax.Logic) and operands[0].operator == node.operator
        ):
            operands = [*operands[0].operands, *operands[1:]]
        return self.logic(node.operator, [self.condition(one) for one in operands])

    def _cast(self, node: syntax.TypeCast) -> Piece:
        kind = self.meaning.resolve(node.type)
        if isinstance(node.operand, syntax.ArrayItems) and kind.is_array:
            return self._array(node.operand, kind.element)
        operand = self.read(node.operand)
        plain = kind.without_modifier()
        is_plain = (kind.length, kind.precision, kind.fields) == (None, None, "")
        if operand.kind == "constant" and operand.type.family == "unknown":
            precision = kind.precision if kind.family == "interval" else None
            read_as = replace(plain, fields=kind.fields, precision=precision)
            value = self.constant(operand.value, read_as).value
            if kind.family == "interval" and not is_plain:
                return self.shown_constant(value, kind)
            operand = self.shown_constant(value, plain)
        elif is_plain and operand.type.oid == kind.oid:
            return operand if operand.type.typmod < 0 else self.cast(operand, kind, "relabel")
        elif is_plain:
            return self.cast(operand, kind, signatures.cast_method(operand.type, kind))
        if is_plain or (operand.type.oid == kind.oid and operand.type.typmod == kind.typmod and kind.typmod >= 0):
            return operand
        return self.cast(self.coerced(operand, plain), kind, "function")

    def _case(self, node: syntax.CaseWhen) -> Piece:
        operand = None if node.operand is None else self.value(node.operand)
        kind, page = self.type_of(node), self.page
        parts: list[Part] = [partial(page.line, "CASE", 0, CASE_INDENT)]
        if operand is not None:
            parts += [" ", beside([operand], True)]
        for condition, result in node.branches:
            if operand is None:
                shown = self.condition(condition)
            else:
                shown = self.operator("=", operand, self.read(condition)).operands[1]
            value = beside([self.coerced(self.read(result), kind)], True)
            parts += [partial(page.part, "WHEN "), shown, " THEN ", value]
        default = self.constant(None, UNKNOWN) if node.default is None else self.read(node.default)
        parts += [partial(page.part, "ELSE "), beside([self.coerced(default, kind)], True)]
        return Piece("case", kind, (*parts, partial(page.part, "END", -CASE_INDENT)))

    def _between(self, node: syntax.Between) -> Piece:
        below, above, inner, outer = ("<", ">", "or", "and") if node.negated else (">=", "<=", "and", "or")

        def inside(low: syntax.Expression, high: syntax.Expression) -> Piece:
            bounds = ((below, low), (above, high))
            return self.logic(
                inner, [self.operator(sign, self.read(node.operand), self.read(bound)) for sign, bound in bounds]
            )

        found = inside(node.low, node.high)
        return self.logic(outer, [found, inside(node.high, node.low)]) if node.symmetric else found

    def _in_list(self, node: syntax.InList) -> Piece:
        sign, word = ("<>", "and") if node.negated else ("=", "or")
        if isinstance(node.operand, syntax.Row):
            rows = [self._row_comparison(sign, node.operand, one) for one in node.items if isinstance(one, syntax.Row)]
            return self.together(word, rows)
        operand = self.read(node.operand)
        alone = [item for item in node.items if not any(isinstance(one, NOT_CONSTANT) for one in nodes(item))]
        constants = [self.read(item) for item in alone]
        family = common_family([operand.type.family, *(item.type.family for item in constants)])
        items = node.items
        found: list[Piece] = []
        if len(alone) > 1 and family is not None:
            array = self.array_of(constants, SqlType(family))
            found.append(self.array_test(operand, sign, "all" if node.negated else "any", array))
            items = tuple(item for item in items if item not in alone)
        return self.together(word, [*found, *(self.operator(sign, operand, self.read(item)) for item in items)])

    def array_test(self, operand: Piece, operator: str, quantifier: str, array: Piece) -> Piece:
        """Return operand operator ANY | ALL (array)."""
        array = self.settled(array, array_of(operand.type))
        if array.type.is_array:
            kinds = signatures.operator(operator, [operand.type, array.type.element])
            (operand,) = self.taken([operand], kinds and kinds[:1])
            right = None if kinds is None else kinds[1]
            array = array if right is None else self.coerced(array, array_of(right))
        return Piece("", BOOL, (operand, f" {operator} {quantifier.upper()} (", array, ")"), True, True)

    def _like(self, node: syntax.Like) -> Piece:
        sign = "!" * node.negated + ("~~*" if node.case_insensitive else "~~")
        pattern = self.read(node.pattern)
        if node.escape is not None:
            arguments = beside([self.settled(pattern), self.value(node.escape)], True, ", ")
            pattern = Piece("call", TEXT, ("like_escape(", arguments, ")"))
        return self.operator(sign, self.read(node.operand), pattern)

    def _subquery(self, node: syntax.Subquery) -> Piece:
        if node.operand is not None:
            operands = node.operand.items if isinstance(node.operand, syntax.Row) else (node.operand,)
            return self._compared_with_query(node.kind, operands, node.operator, node)
        words = {"exists": "(EXISTS (", "array": "ARRAY("}
        parts = (words.get(node.kind, "("), partial(self.query, node.query), ")" * (1 + (node.kind == "exists")))
        return Piece("subquery", self.type_of(node), parts)

    def _compared_with_query(
        self, kind: str, operands: Sequence[syntax.Expression], operator: str, node: syntax.Subquery
    ) -> Piece:
        compared = []
        for item, column in zip(operands, self.columns(node.query), strict=True):
            other = Piece("column", column.type, ())
            compared.append(self.operator(operator, self.read(item), other).operands[0])
        is_row = len(compared) > 1
        word = "" if kind == "row" else f"{kind.upper()} "
        sign = "IN " if kind == "any" and operator == "=" else f"{operator} {word}"
        parts = ("(" + "(" * is_row, beside(compared, True, ", "), ")" * is_row + f" {sign}(")
        return Piece("subquery", BOOL, (*parts, partial(self.query, node.query), "))"))

    def _array(self, node: syntax.ArrayItems, kind: SqlType | None = None) -> Piece:
        items = [self.read(item) for item in node.items]
        if kind is None:
            return self.array_of(items, self.type_of(node).element)
        # Each item is cast as the array is.
        cast = [self.coerced(item, kind) for item in items]
        return self.array_of([replace(one, is_implicit=False) if one.kind == "cast" else one for one in cast], kind)

    def array_of(self, items: Sequence[Piece], kind: SqlType) -> Piece:
        """Return ARRAY[...] of items of one type."""
        found = array_of(kind.without_modifier())
        parts = ("ARRAY[", beside([self.coerced(item, kind) for item in items], True, ", "), "]")
        return Piece("list", found, parts, after=f"::{self.style.type_name(found)}" * (not items))

    def _subscript(self, node: syntax.Subscript) -> Piece:
        operand = self.value(node.operand)
        is_bare = operand.kind in ("column", "field")
        wanted = TEXT if operand.type.family == "jsonb" else INT4
        parts: list[Part] = ["(" * (not is_bare), operand, ")" * (not is_bare) + "["]
        for number, bound in enumerate((node.lower, node.upper) if node.is_slice else (node.lower,)):
            parts.append(":" * number)
            if bound is not None:
                item = self.read(bound)
                parts.append(self.coerced(item, wanted) if wanted is INT4 else self.settled(item, wanted))
        return Piece("subscript", self.type_of(node), (*parts, "]"))

    def row(self, node: syntax.Row) -> Piece:
        """Return ROW(...); a star stands for its columns."""
        items: list[Piece] = []
        for item in node.items:
            items += self.star(item) if isinstance(item, syntax.Star) else [self.value(item)]
        return Piece("list", self.type_of(node), ("ROW(", beside(items, True, ", "), ")"))

    def star(self, node: syntax.Star) -> list[Piece]:
        """Return the columns for which `*` or `relation.*` stands."""
        known = self.meaning.notes.names.get(node.position, {})
        return [self.column(key, column.type) for key, column in known.items()]

    def number(self, node: syntax.Constant) -> Piece:
        """Return a literal with the type that PostgreSQL gives it."""
        match node.kind:
            case "integer":
                value = int(node.value)
                fitting = (kind for kind, most in ((INT4, INT4_MAX), (INT8, INT8_MAX)) if -most - 1 <= value <= most)
                return self.shown_constant(str(value), next(fitting, NUMERIC))
            case "decimal":
                return self.shown_constant(format(Decimal(node.value.replace("_", "")), "f"), NUMERIC)
            case "bool":
                return self.shown_constant(node.value, BOOL)
        return self.shown_constant(None if node.kind == "null" else node.value, UNKNOWN)


# What reads each kind of expression.
READERS: dict[type[syntax.Expression], Callable[[Expressions, Any], Piece]] = {
    syntax.Name: Expressions._name,
    syntax.Constant: Expressions.number,
    syntax.ParameterNumber: lambda self, node: self.parameter(node.number - 1),
    syntax.Operation: Expressions._operation,
    syntax.Logic: Expressions._logic,
    syntax.FunctionCall: calls.call,
    syntax.TypeCast: Expressions._cast,
    syntax.Collation: Expressions._collation,
    syntax.CaseWhen: Expressions._case,
    syntax.Test: Expressions._test,
    syntax.Distinctness: Expressions._distinctness,
    syntax.Between: Expressions._between,
    syntax.InList: Expressions._in_list,
    syntax.Like: Expressions._like,
    syntax.Subquery: Expressions._subquery,
    syntax.ArrayItems: Expressions._array,
    syntax.Subscript: Expressions._subscript,
    syntax.ArrayComparison: Expressions._array_comparison,
    syntax.FieldSelection: Expressions._field,
    syntax.Row: Expressions.row,
    syntax.NamedArgument: Expressions._named_argument,
    syntax.Star: Expressions._star,
}
