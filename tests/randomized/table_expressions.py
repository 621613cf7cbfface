"""Expressions of all types of tables: intervals, times, uuid, bytea, JSON, arrays, patterns, rows;
as text for both servers.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.randomized.called import FAILING, FAMILY_OF, call_text, calls
from tests.randomized.expressions import FAMILIES, INTEGERS, ExpressionMaker, Term
from tests.randomized.table_columns import DOMAINS, MORE, SINGLES
from tests.randomized.values import literal

TABLE_ONLY = (*SINGLES, "bpchar", *MORE)
# Equal values of them may have two texts, or they have no equality.
UNFIXED = ("interval", "json", "bpchar", "interval[]")
SQL_NAMES = {
    "int4[]": "integer[]",
    "bool[]": "boolean[]",
    "bpchar": "char(5)",
    "float8[]": "double precision[]",
}
CALLS = calls((*FAMILIES, *TABLE_ONLY))
PATTERNS = ("a", "^a.*c$", "[a-c]+", "(b|x)", "\\d", "^$", "é", "l{2}o?", "\\mhello")
SPANS = ("1 day", "-2 hours", "1 mon", "1 year 1 day", "00:00:00.5")
FORMATS = ("YYYY-MM-DD", "HH24:MI:SS", "Day DD Mon", "IYYY-IW", "Q", "FMMonth, FMDDth YYYY", "HH12 AM")
# Families whose values compare with < and the like everywhere.
COMPARED = (
    *FAMILIES[1:],
    *(family for family in TABLE_ONLY if family not in ("json", "jsonb") and not family.endswith("[]")),
)
ASSIGNED = {"int2": "int4", "varchar": "text"}
KEYABLE = frozenset((*FAMILIES, "int2", "varchar", *TABLE_ONLY)) - {
    *("float4", "float8", "interval", "json", "interval[]"),
}


def is_keyable(term: Term) -> bool:
    """Tell whether equal values of a term have one text, so that grouping, DISTINCT and a set
    operation are defined.
    """
    return term.fixed and term.family in KEYABLE


class TableExpressionMaker(ExpressionMaker):
    """Draws expressions over columns of tables; those that need a query come from `subquery`, which
    a subclass has.
    """

    families: Sequence[str] = (*FAMILIES, *FAMILIES, *TABLE_ONLY)
    compared: Sequence[str] = (*FAMILIES[1:], *COMPARED)
    # Of the terms that are calls of the table of functions.
    called_share = 0.15

    def any_term(self, depth: int = 2) -> Term:
        """Return an expression of any family, often of that of a column."""
        if self.in_stream and self.random.random() < 0.3:
            return self.term(self.random.choice(self.terms).family, depth)
        return super().any_term(depth)

    def compared_family(self) -> str:
        """Return the family of the operands of a comparison, mostly a column's."""
        family = self.random.choice(self.terms).family
        if self.in_stream and family not in ("bool", "json") and self.random.random() < 0.6:
            return ASSIGNED.get(family, family)
        return super().compared_family()

    def term(self, family: str, depth: int) -> Term:
        """Return an expression of `family`, or of the wider one that is assigned to it."""
        family = ASSIGNED.get(family, family)
        if depth > 0 and self.random.random() < self.called_share:
            found = self._called(family)
            if found is not None:
                return found
        if family in TABLE_ONLY:
            return self._table_term(family, depth)
        if depth > 0 and self.random.random() < 0.15:
            found = self._more(family, depth)
            if found is not None:
                return found
        return super().term(family, depth)

    def constant(self, family: str) -> Term:
        """Return a typed constant."""
        if family not in TABLE_ONLY:
            return super().constant(family)
        text = literal(self.random.choice(DOMAINS[family]), family)
        if family == "int4[]" and self.random.random() < 0.5:
            return Term(f"ARRAY[{self.random.randint(1, 3)}, {self.random.randint(-2, 9)}]", family)
        if family == "interval" and self.random.random() < 0.5:
            return Term(f"interval '{self.random.choice(SPANS)}'", family, fixed=False)
        return Term(f"{text}::{SQL_NAMES.get(family, family)}", family, fixed=family not in UNFIXED)

    def _called(self, family: str) -> Term | None:
        """Return a call of a function or an operator of the table of functions."""
        drawn = [call for call in CALLS.get(family, ()) if self.risky or call[0].canonical not in FAILING]
        if not drawn:
            return None
        call = self.random.choice(drawn)
        row, _, signature = call
        self.count(f"function of {FAMILY_OF[row.canonical]}{' over a stream' if self.in_stream else ''}")
        operands = [self.leaf(argument) for argument in signature.arguments]
        fixed = all(operand.fixed for operand in operands) and family not in (*UNFIXED, "numeric")
        return Term(call_text(self.random, call, [operand.text for operand in operands]), family, fixed)

    def _table_term(self, family: str, depth: int) -> Term:
        if depth <= 0 or self.random.random() < 0.4:
            return self.leaf(family)
        if self.random.random() < 0.15:
            first, second = self.leaf(family), self.leaf(family)
            self.count("case of table types")
            text = f"CASE WHEN {self.condition(depth - 1)} THEN {first.text} ELSE {second.text} END"
            return Term(text, family, fixed=family not in UNFIXED)
        if self.random.random() < 0.1:
            self.count("coalesce of table types")
            text = f"COALESCE({self.leaf(family).text}, {self.leaf(family).text})"
            return Term(text, family, fixed=family not in UNFIXED)
        made = {
            "interval": self._interval,
            "time": self._time,
            "jsonb": self._json,
            "json": self._json,
            "int4[]": self._array,
            "text[]": self._array,
            "bytea": self._bytes,
            "uuid": self._uuid,
            "inet": self._inet,
        }.get(family)
        return made(family, depth) if made is not None else self.leaf(family)

    def _interval(self, family: str, depth: int) -> Term:
        left, right = self.term(family, depth - 1).text, self.leaf(family).text
        moments = [self.term(self.random.choice(["timestamp"] * 2), 0).text for _ in range(2)]
        zoned = [self.term("timestamptz", 0).text for _ in range(2)]
        texts = {
            "add": f"({left} + {right})",
            "subtract": f"({left} - {right})",
            "negate": f"(- {left})",
            "multiply": f"({left} * {self.random.choice(['2', '-1', '0.5'])})",
            "divide": f"({left} / {self.random.choice(['2', '4'])})",
            "timestamps": f"({moments[0]} - {moments[1]})",
            "zoned": f"({zoned[0]} - {zoned[1]})",
            "age": f"age({moments[0]}, {moments[1]})",
            "times": f"({self.leaf('time').text} - {self.leaf('time').text})",
            "justify": f"justify_{self.random.choice(['days', 'hours', 'interval'])}({left})",
            "time": f"({self.leaf('time').text})::interval",
        }
        return self._chosen("interval", texts, family, fixed=False)

    def _time(self, family: str, depth: int) -> Term:
        texts = {
            "add": f"({self.leaf(family).text} + {self.leaf('interval').text})",
            "subtract": f"({self.leaf(family).text} - {self.leaf('interval').text})",
            "cast": f"({self.term('timestamp', depth - 1).text})::time",
            "zoned": f"({self.leaf('timestamptz').text})::time",
        }
        return self._chosen("time", texts, family)

    def _json(self, family: str, depth: int) -> Term:
        left = self.leaf(family).text
        texts = {
            "field": f"({left} -> 'a')",
            "item": f"({left} -> {self.random.choice(['0', '1', '-1'])})",
            "path": f"({left} #> '{{a,b}}')",
            "nested": f"({left} -> 'b' -> 0)",
        }
        if family == "jsonb":
            texts["concat"] = f"({left} || {self.leaf('jsonb').text})"
            texts["strip nulls"] = f"jsonb_strip_nulls({left})"
            texts["build array"] = f"jsonb_build_array({left}, {self.leaf('int4').text}, {self.leaf('text').text})"
            texts["build object"] = f"jsonb_build_object('k', {left}, {self.leaf('int4').text}::text || 'x', 1)"
            texts["of value"] = (
                f"to_jsonb({self.leaf(self.random.choice(['text', 'int4', 'bool', 'timestamp', 'int4[]'])).text})"
            )
            texts["cast"] = f"({self.leaf('json').text})::jsonb"
        return self._chosen(family, texts, family, fixed=family == "jsonb")

    def _array(self, family: str, depth: int) -> Term:
        element = family[:-2]
        left, right = self.leaf(family).text, self.leaf(family).text
        item, other = self.term(element, depth - 1).text, self.leaf(element).text
        texts = {
            "constructor": f"ARRAY[{item}, {other}]",
            "append": f"array_append({left}, {item})",
            "prepend": f"array_prepend({other}, {left})",
            "concat": f"({left} || {right})",
            "remove": f"array_remove({left}, {other})",
            "replace": f"array_replace({left}, {other}, {item})",
            "slice": f"({left})[1:2]",
        }
        if family == "text[]":
            texts["split"] = f"string_to_array({item}, 'b')"
        return self._chosen("array", texts, family)

    def _bytes(self, family: str, depth: int) -> Term:
        texts = {"decode": "decode('6162ff', 'hex')", "cast": f"decode(md5({self.leaf('text').text}), 'hex')"}
        return self._chosen("bytea", texts, family)

    def _uuid(self, family: str, depth: int) -> Term:
        texts = {
            "cast": f"(({self.leaf(family).text})::text)::uuid",
            "md5": f"md5({self.term('text', depth - 1).text})::uuid",
        }
        return self._chosen("uuid", texts, family)

    def _inet(self, family: str, depth: int) -> Term:
        left = self.term(family, depth - 1).text
        texts = {
            "cast": f"(({left})::text)::inet",
            "network": f"network({left})::inet",
            "broadcast": f"broadcast({left})",
            "masklen": f"set_masklen({left}, {self.random.choice(['8', '20', '32', '-1'])})",
            "host": f"host({left})::inet",
            "netmask": f"netmask({left})",
        }
        return self._chosen("inet", texts, family)

    def _more(self, family: str, depth: int) -> Term | None:
        """Return an expression of a stream's type that only tables and SELECT have."""
        if family == "bool":
            return self._more_boolean(depth)
        if family in ("int4", "int8"):
            return self._more_integer(family)
        if family == "text":
            return self._more_text(depth)
        if family == "numeric":
            texts = {
                "epoch": f"extract(epoch FROM {self.leaf('interval').text})",
                "interval field": f"extract({self.random.choice(['day', 'hour', 'month'])} FROM {self.leaf('interval').text})",
                "time field": f"extract({self.random.choice(['hour', 'minute', 'second'])} FROM {self.leaf('time').text})",
                "mod": f"mod({self.leaf('numeric').text}, 3)",
                "plain": f"({self.leaf('int4').text})::numeric",
            }
            return self._chosen("numeric", texts, family, fixed=False)
        if family == "timestamp":
            texts = {
                "interval column": f"({self.leaf('timestamp').text} + {self.leaf('interval').text})",
                "date and time": f"({self.leaf('date').text} + {self.leaf('time').text})",
                "make": "make_timestamp(2024, 2, 29, 12, 30, 1.5)",
            }
            return self._chosen("timestamp", texts, family)
        return None

    def _more_boolean(self, depth: int) -> Term:
        text, pattern = self.term("text", depth - 1).text, self.random.choice(PATTERNS)
        texts = {
            "regex": f"({text} {self.random.choice(['~', '~*', '!~', '!~*'])} '{pattern}')",
            "any array": f"({self.leaf('int4').text} {self.random.choice(['=', '<>', '<'])} ANY ({self.leaf('int4[]').text}))",
            "all array": f"({self.leaf('text').text} {self.random.choice(['=', '<>'])} ALL ({self.leaf('text[]').text}))",
            "contains": f"({self.leaf('int4[]').text} {self.random.choice(['@>', '<@', '&&'])} {self.leaf('int4[]').text})",
            "array equality": f"({self.leaf('text[]').text} {self.random.choice(['=', '<>'])} {self.leaf('text[]').text})",
            "json equality": f"({self.leaf('jsonb').text} = {self.leaf('jsonb').text})",
            "row": f"(({self.leaf('int4').text}, {self.leaf('text').text}) {self.random.choice(['=', '<', '>=', '<>'])} "
            f"({self.leaf('int4').text}, {self.leaf('text').text}))",
            "row in": f"(({self.leaf('int4').text}, {self.leaf('text').text}) IN ((1, 'a'), (3, NULL), (2, 'b')))",
            "similar": f"({text} SIMILAR TO '%(a|b)_?')",
            "any of list": f"({self.leaf('text').text} LIKE ANY (ARRAY['a%', '%b']))",
        }
        return self._chosen("predicate", texts, "bool")

    def _more_integer(self, family: str) -> Term:
        array = self.leaf(self.random.choice(["int4[]", "text[]"])).text
        texts = {
            "cardinality": f"cardinality({array})",
            "array_length": f"array_length({array}, 1)",
            "array_position": f"array_position({self.leaf('int4[]').text}, {self.leaf('int4').text})",
            "element": f"({self.leaf('int4[]').text})[{self.random.choice(['1', '2', '9'])}]",
            "ascii": f"ascii({self.leaf('text').text})",
            "bytes": f"length({self.leaf('bytea').text})",
            "gcd": f"gcd({self.leaf('int4').text}, 12)",
            "bits": f"({self.leaf('int4').text} {self.random.choice(['&', '|', '#'])} 6)",
            "shift": f"({self.leaf('int4').text} {self.random.choice(['<<', '>>'])} 2)",
            "num_nulls": f"num_nulls({self.leaf('text').text}, {self.leaf('int4').text})",
        }
        return self._chosen("integer", texts, family)

    def _more_text(self, depth: int) -> Term:
        left = self.term("text", depth - 1).text
        family = self.random.choice(TABLE_ONLY)
        texts = {
            "cast of table types": f"({self.leaf(family).text})::text",
            "json field": f"({self.leaf('jsonb').text} ->> 'a')",
            "json item": f"({self.leaf('json').text} ->> 0)",
            "array_to_string": f"array_to_string({self.leaf('text[]').text}, '-', 'none')",
            "array element": f"({self.leaf('text[]').text})[1]",
            "md5": f"md5({left})",
            "initcap": f"initcap({left})",
            "translate": f"translate({left}, 'abl', 'xy')",
            "overlay": f"overlay({left} placing 'XX' from 2)",
            "encode": f"encode({self.leaf('bytea').text}, '{self.random.choice(['hex', 'base64', 'escape'])}')",
            "format": f"format('%s is %L', {left}, {self.leaf('int4').text})",
            "concat_ws": f"concat_ws('/', {left}, {self.leaf('int4').text}, NULL, {self.leaf('date').text})",
            "quote": f"quote_{self.random.choice(['literal', 'ident', 'nullable'])}({left})",
            "regexp_replace": f"regexp_replace({left}, '[ab]+', '<\\&>'{self.random.choice(['', ', ' + chr(39) + 'g' + chr(39)])})",
            "to_char": f"to_char({self.leaf('timestamp').text}, '{self.random.choice(FORMATS)}')",
            "typed": f"({self.leaf('bpchar').text} || {left})",
        }
        return self._chosen("text", texts, "text")

    def _chosen(self, what: str, texts: dict[str, str], family: str, fixed: bool = True) -> Term:
        name = self.random.choice(sorted(texts))
        self.count(f"{what} {name}")
        return Term(texts[name], family, fixed)


def numbers_of(terms: Sequence[Term]) -> list[Term]:
    """Return the terms that can be summed with a defined text, and never overflow."""
    return [term for term in terms if term.family in (*INTEGERS, "numeric") and term.calm]
