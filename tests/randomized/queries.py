"""Random SELECTs over tables and views: joins, subqueries, CTEs, set operations, groupings,
windows, DISTINCT ON, functions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random

from tests.randomized.expressions import Term
from tests.randomized.groupings import GroupingMaker
from tests.randomized.recursion import recursive_query
from tests.randomized.scopes import TEXTS, Body, Scope, ScopeMaker
from tests.randomized.selects import COPY_OPTIONS, Select
from tests.randomized.subqueries import SubqueryExpressionMaker
from tests.randomized.table_expressions import is_keyable
from tests.randomized.tables import Source
from tests.randomized.values import random_value
from tests.randomized.windows import window_call

KINDS = (
    *("plain", "plain", "plain", "plain", "order", "order", "order"),
    *("group", "group", "group", "grouping sets", "grouping sets", "window", "window", "window"),
    *("distinct", "distinct on", "set", "set", "set", "with", "with", "recursive", "values"),
    *("parameters", "parameters", "copy", "set returning", "lateral aggregate"),
)
DIRECTIONS = ("", "", " DESC", " NULLS FIRST", " DESC NULLS LAST")
SET_OPERATORS = ("UNION", "UNION ALL", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL")
CAST_OF_NUMERIC = "numeric(30,4)"


class QueryMaker:
    """Draws queries over `sources`; one maker per statement gives its FROM items names of their
    own.
    """

    def __init__(self, random: Random, sources: Sequence[Source], counts: Counter[str]) -> None:
        self._random = random
        self._sources = list(sources)
        self._counts = counts
        self._scopes = ScopeMaker(random, self._count, self._derived, self._condition)
        self._common_number = 0

    def select(self) -> Select:
        """Return one statement."""
        kind = self._random.choice(KINDS)
        self._count(f"query {kind}")
        if kind == "parameters":
            return self._parameters()
        if kind == "copy":
            body = self._plain(1)
            return Select(f"COPY ({body.text}) TO STDOUT{self._random.choice(COPY_OPTIONS)}", ordered=False)
        body = self.body(kind, 2)
        return Select(body.text, body.ordered)

    def view_query(self) -> Body:
        """Return a query for an ordinary view, of one row shape and no order that matters."""
        return self.body(self._random.choice(["plain", "plain", "group", "set", "window", "distinct"]), 1)

    def insert_query(self, families: Sequence[str]) -> str:
        """Return a query whose columns can be assigned to columns of `families`, in one order."""
        scope = self._scopes.scope(self._sources, 0)
        maker = self._maker(scope.terms)
        items = [maker.term(family, 1).text for family in families]
        where = f" WHERE {maker.condition(1)}" if self._random.random() < 0.5 else ""
        # Equal values may have two texts, or none to compare: which of them LIMIT keeps follows
        # from their text.
        order = ", ".join(
            f"({item})::text" if family in ("json", "interval", "numeric") else str(index + 1)
            for index, (item, family) in enumerate(zip(items, families, strict=True))
        )
        return f"SELECT {', '.join(items)} FROM {scope.text}{where} ORDER BY {order} LIMIT {self._random.randint(1, 6)}"

    def body(self, kind: str, depth: int) -> Body:
        """Return a query of one kind."""
        made: dict[str, Callable[[int], Body]] = {
            "plain": self._plain,
            "order": self._order,
            "group": self._group,
            "grouping sets": self._grouping_sets,
            "window": self._window,
            "distinct": self._distinct,
            "distinct on": self._distinct_on,
            "set": self._set,
            "with": self._with,
            "recursive": self._recursive,
            "values": self._values,
            "set returning": self._set_returning,
            "lateral aggregate": self._lateral_aggregate,
        }
        return made[kind](depth)

    def _count(self, construct: str) -> None:
        self._counts[construct] += 1

    def _maker(self, terms: Sequence[Term]) -> SubqueryExpressionMaker:
        return SubqueryExpressionMaker(self._random, terms, self._counts, self._sources, self._scopes.alias)

    def _derived(self, depth: int) -> Body:
        return self.body(self._random.choice(["plain", "plain", "group", "distinct", "set", "order"]), depth)

    def _condition(self, terms: Sequence[Term]) -> str:
        return self._maker(terms).condition(1)

    def _where(self, maker: SubqueryExpressionMaker, share: float = 0.5) -> str:
        return f" WHERE {maker.condition()}" if self._random.random() < share else ""

    def _items(self, scope: Scope, maker: SubqueryExpressionMaker, keyable: bool) -> list[Term]:
        """Return what a select list holds; keyable: with one text for equal values."""
        random = self._random
        items: list[Term] = []
        for _ in range(random.randint(1, 4)):
            term = random.choice(scope.terms) if random.random() < 0.5 else maker.any_term()
            if not keyable or is_keyable(term):
                items.append(term)
        if not items:
            kept = [term for term in scope.terms if is_keyable(term)]
            items.append(random.choice(kept) if kept else Term("(1 + 1)", "int4"))
        return items

    def _named(self, items: Sequence[Term]) -> tuple[str, tuple[Term, ...]]:
        """Return a select list, and its columns as x0, x1 ..."""
        columns = tuple(Term(f"x{index}", one.family, one.fixed, one.calm) for index, one in enumerate(items))
        pairs = zip(items, columns, strict=True)
        return ", ".join(f"{item.text} AS {column.text}" for item, column in pairs), columns

    def _plain(self, depth: int) -> Body:
        scope = self._scopes.scope(self._sources, depth)
        maker = self._maker(scope.terms)
        items = self._items(scope, maker, keyable=False)
        text, columns = self._named(items)
        return Body(f"SELECT {text} FROM {scope.text}{self._where(maker)}", columns)

    def _order(self, depth: int) -> Body:
        random = self._random
        scope = self._scopes.scope(self._sources, depth)
        maker = self._maker(scope.terms)
        items = self._items(scope, maker, keyable=True)
        text, columns = self._named(items)
        order = self._total(items, columns)
        limit = random.choice(
            ["", " LIMIT 3", " LIMIT 5 OFFSET 2", " OFFSET 1", " FETCH FIRST 2 ROWS ONLY", " LIMIT ALL", " LIMIT 0"]
        )
        if random.random() < 0.2 and len(columns) > 1:
            self._count("with ties")
            first = f"1{random.choice(DIRECTIONS)}"
            tied = f"SELECT {text} FROM {scope.text}{self._where(maker)} ORDER BY {first} FETCH FIRST 2 ROWS WITH TIES"
            return Body(tied, columns)
        return Body(f"SELECT {text} FROM {scope.text}{self._where(maker)} ORDER BY {order}{limit}", columns, True)

    def _total(self, items: Sequence[Term], columns: Sequence[Term]) -> str:
        """Return an order of all columns: by number, name or expression."""
        forms = []
        for index, (item, column) in enumerate(zip(items, columns, strict=True)):
            # A constant is no key of an order.
            expression = item.text if "." in item.text and "interval" not in item.text else column.text
            form = self._random.choice([str(index + 1), column.text, expression])
            forms.append(form + self._random.choice(DIRECTIONS))
        return ", ".join(forms)

    def _group(self, depth: int) -> Body:
        return self._grouping(depth, sets=False)

    def _grouping_sets(self, depth: int) -> Body:
        return self._grouping(depth, sets=True)

    def _grouping(self, depth: int, sets: bool) -> Body:
        scope = self._scopes.scope(self._sources, min(depth, 1))
        maker = self._maker(scope.terms)
        groupings = GroupingMaker(self._random, self._counts, maker)
        items, tail = groupings.grouping(scope, sets)
        text, columns = self._named(items)
        return Body(f"SELECT {text} FROM {scope.text}{self._where(maker, 0.4)}{tail}", columns)

    def _window(self, depth: int) -> Body:
        """Return windows over distinct rows, whose order by all columns is one order."""
        random = self._random
        inner = self._distinct(min(depth, 1))
        names = ", ".join(column.text for column in inner.columns)
        calls = [window_call(random, inner.columns, self._counts) for _ in range(random.choice([1, 2]))]
        columns = (*inner.columns, *(Term(f"w{i}", call.family, call.fixed) for i, call in enumerate(calls)))
        items = ", ".join(f"{call.text} AS w{index}" for index, call in enumerate(calls))
        return Body(f"SELECT {names}, {items} FROM ({inner.text}) AS {self._scopes.alias()}", columns)

    def _distinct(self, depth: int) -> Body:
        scope = self._scopes.scope(self._sources, depth)
        maker = self._maker(scope.terms)
        text, columns = self._named(self._items(scope, maker, keyable=True))
        return Body(f"SELECT DISTINCT {text} FROM {scope.text}{self._where(maker)}", columns)

    def _distinct_on(self, depth: int) -> Body:
        scope = self._scopes.scope(self._sources, depth)
        maker = self._maker(scope.terms)
        items = self._items(scope, maker, keyable=True)
        text, columns = self._named(items)
        on = self._random.randint(1, len(items))
        order = ", ".join(f"{column.text}{self._random.choice(DIRECTIONS)}" for column in columns)
        keys = ", ".join(column.text for column in columns[:on])
        query = f"SELECT DISTINCT ON ({keys}) {text} FROM {scope.text}{self._where(maker)} ORDER BY {order}"
        return Body(query, columns, ordered=True)

    def _set(self, depth: int) -> Body:
        random = self._random
        left = self._distinct(0) if random.random() < 0.3 else self._operand(None)
        text = left.text
        for _ in range(random.choice([1, 1, 2])):
            operator = random.choice(SET_OPERATORS)
            self._count(operator.lower())
            right = self._operand([column.family for column in left.columns]).text
            if random.random() < 0.2:
                right = f"({right} ORDER BY 1)" if random.random() < 0.5 else f"({right})"
            text = f"{text} {operator} {right}"
        columns = tuple(
            Term(column.text, "text" if column.family in TEXTS else column.family, is_fixed_in_set(column), column.calm)
            for column in left.columns
        )
        if depth > 1 and random.random() < 0.5:
            order = ", ".join(f"{index + 1}{random.choice(DIRECTIONS)}" for index in range(len(columns)))
            return Body(f"{text} ORDER BY {order}{random.choice(['', ' LIMIT 4'])}", columns, ordered=True)
        return Body(text, columns)

    def _operand(self, families: Sequence[str] | None) -> Body:
        """Return an operand of a set operation, with columns of given families."""
        scope = self._scopes.scope(self._sources, 0)
        maker = self._maker(scope.terms)
        if families is None:
            items = self._items(scope, maker, keyable=True)
        else:
            items = [self._of_family(scope, maker, family) for family in families]
        items = [
            Term(f"({item.text})::{CAST_OF_NUMERIC}", "numeric") if item.family == "numeric" else item for item in items
        ]
        text, columns = self._named(items)
        return Body(f"SELECT {text} FROM {scope.text}{self._where(maker)}", columns)

    def _of_family(self, scope: Scope, maker: SubqueryExpressionMaker, family: str) -> Term:
        fitting = [term for term in scope.terms if term.family == family and is_keyable(term)]
        if fitting and self._random.random() < 0.75:
            return self._random.choice(fitting)
        term = maker.term(family, 1)
        return term if is_keyable(term) or family == "numeric" else Term("NULL", family)

    def _with(self, depth: int) -> Body:
        random = self._random
        known = list(self._sources)
        parts = []
        for _ in range(random.choice([1, 1, 2])):
            self._common_number += 1
            name = f"q{self._common_number}"
            body = self.body(random.choice(["plain", "distinct", "group", "order", "window"]), 1)
            form = random.choice(["", "", "MATERIALIZED ", "NOT MATERIALIZED "])
            self._count(f"common table {form.strip().lower()}".strip())
            columns = body.columns
            names = ""
            if random.random() < 0.2:
                columns = tuple(Term(f"y{i}", one.family, one.fixed, one.calm) for i, one in enumerate(columns))
                names = f" ({', '.join(column.text for column in columns)})"
            parts.append(f"{name}{names} AS {form}({body.text})")
            self._sources = [Source(name, columns)] * 3 + self._sources
        last = self.body(random.choice(["plain", "group", "order", "set", "distinct"]), depth - 1)
        self._sources = known
        return Body(f"WITH {', '.join(parts)} {last.text}", last.columns, last.ordered)

    def _recursive(self, depth: int) -> Body:
        return recursive_query(self._random, self._counts, self._sources)

    def _values(self, depth: int) -> Body:
        maker = self._maker([Term("(1 + 1)", "int4"), Term("'abc'::text", "text")])
        families = [self._random.choice(["int4", "text", "date", "bool"]) for _ in range(self._random.randint(1, 3))]
        rows = [[maker.term(family, 1).text for family in families] for _ in range(self._random.randint(1, 4))]
        columns = tuple(Term(f"column{index + 1}", family) for index, family in enumerate(families))
        text = "VALUES " + ", ".join(f"({', '.join(row)})" for row in rows)
        if self._random.random() < 0.5:
            order = ", ".join(str(index + 1) for index in range(len(families)))
            return Body(f"{text} ORDER BY {order} LIMIT 3", columns, ordered=True)
        return Body(text, columns)

    def _set_returning(self, depth: int) -> Body:
        random = self._random
        scope = self._scopes.scope(self._sources, 0)
        maker = self._maker(scope.terms)
        arrays = [term for term in scope.terms if term.family in ("int4[]", "text[]")]
        call = random.choice(["generate_series(1, 2)", "unnest(ARRAY['a', NULL])", "generate_series(2, 1)"])
        if arrays and random.random() < 0.6:
            call = f"unnest({random.choice(arrays).text})"
        item = random.choice(scope.terms)
        query = f"SELECT {item.text} AS x0, {call} AS x1 FROM {scope.text}{self._where(maker)}"
        return Body(query, (Term("x0", item.family, item.fixed, item.calm),))

    def _lateral_aggregate(self, depth: int) -> Body:
        """Return an aggregate whose subquery reads the group's key."""
        random = self._random
        outer, inner = (random.choice(self._sources) for _ in range(2))
        keys = [column for column in outer.columns if is_keyable(column)]
        if not keys:
            return self._plain(0)
        key = random.choice(keys)
        same = [column for column in inner.columns if column.family == key.family]
        condition = f"b.{random.choice(same).text} = a.{key.text}" if same else f"a.{key.text} IS NOT NULL"
        sub = f"(SELECT count(*) FROM {inner.name} AS b WHERE {condition})"
        text = f"SELECT a.{key.text} AS x0, count(*) AS x1, {sub} AS x2 FROM {outer.name} AS a GROUP BY a.{key.text}"
        having = f" HAVING {sub} >= {random.randint(0, 1)}" if random.random() < 0.4 else ""
        return Body(text + having, (Term("x0", key.family, key.fixed), Term("x1", "int8"), Term("x2", "int8")))

    def _parameters(self) -> Select:
        """Return a query with parameters whose types come from the columns beside them."""
        random = self._random
        scope = self._scopes.scope(self._sources, 0)
        fitting = [term for term in scope.terms if term.family in ("int4", "int8", "text", "date", "timestamp", "bool")]
        if not fitting:
            return Select(self._plain(1).text, ordered=False)
        parameters: list[tuple[str, str | None]] = []
        conditions = []
        for _ in range(random.randint(1, 2)):
            term = random.choice(fitting)
            value = None if random.random() < 0.1 else random_value(random, term.family, "", 2)
            parameters.append((term.family, value))
            form = random.choice(["{0} >= {1}", "{0} = {1}", "{0} IN ({1}, {1})", "{0} IS DISTINCT FROM {1}"])
            conditions.append(form.format(term.text, f"${len(parameters)}"))
        items = ", ".join(term.text for term in random.sample(scope.terms, min(3, len(scope.terms))))
        text = f"SELECT {items} FROM {scope.text} WHERE {random.choice([' AND ', ' OR ']).join(conditions)}"
        return Select(text, ordered=False, parameters=tuple(parameters))


def is_fixed_in_set(column: Term) -> bool:
    """Tell whether a set operation's column still has one text per value: blanks are padded to one
    side's length only.
    """
    return column.fixed and column.family != "bpchar"
