"""Random statements that write a durable table, as text for both servers.

What depends on the order of rows is not drawn: an UPDATE of a key moves one row or all of them far,
FROM joins on the other table's key, INSERT ... SELECT into a table with a sequence has an ORDER BY.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from tests.randomized.expressions import Term
from tests.randomized.queries import QueryMaker
from tests.randomized.scopes import comparable, qualified
from tests.randomized.selects import COPY_OPTIONS
from tests.randomized.subqueries import SubqueryExpressionMaker
from tests.randomized.table_columns import BAD_TABLE_TEXTS, table_parameter
from tests.randomized.tables import Source, Table, fresh_value, new_value
from tests.randomized.values import Column, copy_csv, copy_text, literal

KINDS = (
    *("literals", "literals", "parameters", "pipeline", "query", "query", "copy", "copy csv"),
    *("conflict nothing", "conflict update", "conflict update", "update", "update", "update", "update from"),
    *("delete", "delete", "delete using", "with", "wrong", "wrong", "several", "default values", "move key"),
)
GROWING = ("literals", "literals", "parameters", "pipeline", "copy", "copy csv")


@dataclass(frozen=True)
class Statement:
    """One message to one server's session. session: 'a' or 'b'; parameters, rows: of the extended
    protocol, as %s; data: of COPY.

    several: more than one value may be wrong, and which one is named depends on how far checking
    went. ordered: of its answer's rows. reads: it changes nothing, so that a case goes on when it
    is refused. numbered: parameters of $n, for a statement prepared once.
    """

    text: str
    session: str = "a"
    parameters: tuple[object, ...] | None = None
    rows: tuple[tuple[object, ...], ...] = ()
    data: str | None = None
    binary: bool = False
    several: bool = False
    ordered: bool = False
    reads: bool = False
    numbered: tuple[tuple[str, str | None], ...] = ()


class TableWriter:
    """Draws writes of tables. tables: as they stand, by name; numbers: the next fresh value of each
    table's key.
    """

    def __init__(
        self, random: Random, tables: Mapping[str, Table], sources: Sequence[Source], counts: Counter[str]
    ) -> None:
        self._random = random
        self._tables = tables
        self.sources = sources
        self._counts = counts
        self._numbers: Counter[str] = Counter()
        self._alias_number = 0

    def write(self, table: Table) -> Statement:
        """Return a write of one table."""
        if self._numbers[table.name] < 8 and self._random.random() < 0.5:
            return self._draw(self._random.choice(GROWING), table)
        return self._draw(self._random.choice(KINDS), table)

    def start(self, table: Table, number: int) -> None:
        """Count keys of a table from `number` on."""
        self._numbers[table.name] = number

    def fill(self, table: Table) -> Statement:
        """Return the first rows of a table."""
        kind = self._random.choice(["literals", "literals", "copy", "copy csv"])
        return self._draw(kind, table, self._random.choice([3, 6, 12, 25]))

    def _draw(self, kind: str, table: Table, rows: int | None = None) -> Statement:
        if not table.columns:
            # ALTER TABLE has dropped the last one.
            kind = "default values"
        self._counts[f"write {kind}"] += 1
        count = rows or self._random.choice([1, 1, 2, 5])
        match kind:
            case "literals":
                return self._literals(table, count)
            case "parameters" | "pipeline":
                return self._parameters(table, kind == "pipeline")
            case "copy" | "copy csv":
                return self._copy(table, count, kind == "copy csv")
            case "query":
                return self._query(table)
            case "conflict nothing" | "conflict update":
                return self._conflict(table, kind == "conflict update")
            case "update":
                return self._update(table)
            case "update from":
                return self._update_from(table)
            case "delete" | "delete using":
                return self._delete(table, kind == "delete using")
            case "with":
                return self._with(table)
            case "several":
                return self._several(table)
            case "default values":
                return Statement(f"INSERT INTO {table.name} DEFAULT VALUES{self._returning(table)}")
            case "move key":
                return self._move_key(table)
        return self._wrong(table)

    def _maker(self, columns: Sequence[Term], nested: bool = True) -> SubqueryExpressionMaker:
        sources = self.sources if nested else ()
        return SubqueryExpressionMaker(self._random, columns, self._counts, sources, self._alias)

    def _alias(self) -> str:
        self._alias_number += 1
        return f"w{self._alias_number}"

    def _columns(self, table: Table) -> list[Column]:
        """Return the columns that an INSERT gives."""
        random = self._random
        columns = list(table.columns)
        if table.generated and random.random() < 0.85:
            columns = [column for column in columns if column.name != "id"]
        if random.random() < 0.3:
            columns = [column for column in columns if column.name in table.key or random.random() < 0.7]
            random.shuffle(columns)
        return columns or [table.columns[-1]]

    def _row(self, table: Table, columns: Sequence[Column]) -> list[str | None]:
        random = self._random
        self._numbers[table.name] += 1
        values: list[str | None] = []
        for column in columns:
            if column.name not in table.fresh:
                values.append(new_value(random, column))
                continue
            again = random.random() < 0.06
            number = random.randint(1, self._numbers[table.name]) if again else self._numbers[table.name]
            values.append(None if column.name == "u" and random.random() < 0.2 else fresh_value(column, number))
        return values

    def _head(self, table: Table, columns: Sequence[Column]) -> str:
        named = list(columns) != list(table.columns) or self._random.random() < 0.5
        names = f" ({', '.join(column.name for column in columns)})" if named else ""
        overriding = ""
        if table.generated in ("always", "default") and "id" in [column.name for column in columns]:
            overriding = self._random.choice([" OVERRIDING SYSTEM VALUE"] * 3 + ["", " OVERRIDING USER VALUE"])
        return f"INSERT INTO {table.name}{names}{overriding} "

    def _literals(self, table: Table, count: int) -> Statement:
        columns = self._columns(table)
        rows = []
        for _ in range(count):
            pairs = zip(self._row(table, columns), columns, strict=True)
            items = [literal(value, column.family, self._random.random() < 0.5) for value, column in pairs]
            if self._random.random() < 0.1:
                items[self._random.randrange(len(items))] = "DEFAULT"
            rows.append(f"({', '.join(items)})")
        text = f"{self._head(table, columns)}VALUES {', '.join(rows)}{self._returning(table)}"
        return Statement(text, several=True)

    def _parameters(self, table: Table, pipeline: bool) -> Statement:
        columns = self._columns(table)
        rows = []
        for _ in range(self._random.choice([2, 5]) if pipeline else 1):
            pairs = zip(self._row(table, columns), columns, strict=True)
            rows.append(tuple(table_parameter(value, column.family) for value, column in pairs))
        text = f"{self._head(table, columns)}VALUES ({', '.join(['%s'] * len(columns))})"
        if pipeline:
            return Statement(text, rows=tuple(rows), several=True)
        returning = self._returning(table)
        return Statement(text + returning, parameters=rows[0], binary=self._random.random() < 0.5, several=True)

    def _copy(self, table: Table, count: int, csv: bool) -> Statement:
        columns = self._columns(table)
        rows = [self._row(table, columns) for _ in range(count)]
        names = f" ({', '.join(column.name for column in columns)})"
        if not csv:
            data = "".join("\t".join(copy_text(value) for value in row) + "\n" for row in rows)
            return Statement(f"COPY {table.name}{names} FROM STDIN", data=data, several=True)
        data = "".join(",".join(copy_csv(value, self._random) for value in row) + "\n" for row in rows)
        return Statement(f"COPY {table.name}{names} FROM STDIN WITH (FORMAT csv)", data=data, several=True)

    def _query(self, table: Table) -> Statement:
        """Return INSERT ... SELECT, whose key is made by a sequence or by the query."""
        columns = [column for column in table.columns if column.name not in table.fresh]
        columns = [column for column in columns if column.not_null or self._random.random() < 0.7] or columns[:1]
        own_key = [column for column in table.columns if column.name in table.fresh and not table.generated]
        families = [column.family for column in columns]
        text = QueryMaker(self._random, self.sources, self._counts).insert_query(families)
        if own_key and own_key[0].family in ("int4", "int8") and own_key[0].name == "id":
            self._numbers[table.name] += 10
            start = self._numbers[table.name]
            names = [f"c{index}" for index in range(len(columns))]
            order = [name for name, family in zip(names, families, strict=True) if family not in ("json", "interval")]
            ordering = f" OVER (ORDER BY {', '.join(order)})" if order else " OVER ()"
            text = f"SELECT {start} + row_number(){ordering}, q.* FROM ({text}) AS q ({', '.join(names)})"
            columns = [own_key[0], *columns]
        elif own_key and "id" in [column.name for column in own_key] and own_key[0].family not in ("int4", "int8"):
            return self._literals(table, 2)
        names = [column.name for column in columns]
        return Statement(f"INSERT INTO {table.name} ({', '.join(names)}) {text}", several=True)

    def _conflict(self, table: Table, update: bool) -> Statement:
        random = self._random
        sets = ([table.key] if table.key else []) + list(table.uniques)
        columns = list(table.columns)
        if table.generated:
            columns = [column for column in columns if column.name != "id" or random.random() < 0.5]
        rows = []
        for _ in range(random.choice([1, 2, 3])):
            values = self._row(table, columns)
            for index, column in enumerate(columns):
                if column.name in table.fresh and random.random() < 0.6:
                    values[index] = fresh_value(column, random.randint(1, max(1, self._numbers[table.name])))
            pairs = zip(values, columns, strict=True)
            rows.append(f"({', '.join(literal(value, column.family) for value, column in pairs)})")
        names = ", ".join(column.name for column in columns)
        overriding = " OVERRIDING SYSTEM VALUE" if table.generated == "always" and "id" in names.split(", ") else ""
        head = f"INSERT INTO {table.name} AS t ({names}){overriding} VALUES {', '.join(rows)}"
        target = f" ({', '.join(random.choice(sets))})" if sets else ""
        returning = self._returning(table, "t")
        if not update or not sets:
            target = target if random.random() < 0.6 else ""
            return Statement(f"{head} ON CONFLICT{target} DO NOTHING{returning}", several=True)
        changed = [column for column in table.plain_columns() if column.name != "id"]
        if not changed:
            return Statement(f"{head} ON CONFLICT{target} DO NOTHING{returning}", several=True)
        column = random.choice(changed)
        value = random.choice(
            [f"excluded.{column.name}", f"COALESCE(t.{column.name}, excluded.{column.name})", "DEFAULT"]
        )
        where = f" WHERE t.{column.name} IS DISTINCT FROM excluded.{column.name}" if random.random() < 0.3 else ""
        if column.family == "json":
            where = ""
        text = f"{head} ON CONFLICT{target} DO UPDATE SET {column.name} = {value}{where}{returning}"
        return Statement(text, several=True)

    def _assignments(self, table: Table, maker: SubqueryExpressionMaker) -> str:
        """Return what follows SET."""
        random = self._random
        plain = table.plain_columns() or list(table.columns)
        chosen = random.sample(plain, random.randint(1, min(2, len(plain))))
        values = [self._value(column, maker) for column in chosen]
        if len(chosen) > 1 and random.random() < 0.4:
            self._counts["assignment of a row"] += 1
            names = ", ".join(column.name for column in chosen)
            return f"({names}) = {random.choice(['', 'ROW'])}({', '.join(values)})"
        return ", ".join(f"{column.name} = {value}" for column, value in zip(chosen, values, strict=True))

    def _value(self, column: Column, maker: SubqueryExpressionMaker) -> str:
        random = self._random
        if random.random() < 0.1:
            return "DEFAULT"
        if random.random() < 0.4 or column.family in ("json", "bool[]", "date[]"):
            return literal(random.choice(column.values), column.family)
        return maker.term(column.family, 1).text

    def _condition(self, table: Table, maker: SubqueryExpressionMaker, prefix: str = "") -> str:
        """Return a WHERE clause."""
        random = self._random
        if random.random() < 0.12:
            return ""
        keys = [table.column(name) for name in table.key if name in table.fresh]
        if keys and random.random() < 0.5:
            number = random.randint(1, max(1, self._numbers[table.name]))
            value = literal(fresh_value(keys[0], number), keys[0].family, bare=True)
            return f" WHERE {prefix}{keys[0].name} {random.choice(['=', '=', '<'])} {value}"
        return f" WHERE {maker.condition()}"

    def _returning(self, table: Table, alias: str = "") -> str:
        random = self._random
        if random.random() > 0.3:
            return ""
        self._counts["returning"] += 1
        name = alias or table.name
        if random.random() < 0.4:
            return " RETURNING *"
        maker = self._maker(qualified(name, table.source.columns), nested=False)
        return f" RETURNING {maker.any_term(1).text} AS r0, {name}.{random.choice(table.columns).name}"

    def _update(self, table: Table) -> Statement:
        alias = self._random.choice(["", " AS t"])
        prefix = "t" if alias else table.name
        maker = self._maker(qualified(prefix, table.source.columns))
        head = f"UPDATE {table.name}{alias} SET {self._assignments(table, maker)}"
        return Statement(
            head + self._condition(table, maker, f"{prefix}.") + self._returning(table, prefix), several=True
        )

    def _update_from(self, table: Table) -> Statement:
        """Return an UPDATE whose every row meets one row of another table at most: they are joined
        on its key.
        """
        keyed = [other for other in self._tables.values() if len(other.key) == 1]
        if not keyed:
            return self._update(table)
        other = self._random.choice(keyed)
        own, theirs = qualified("t", table.source.columns), qualified("o", other.source.columns)
        key = next(term for term in theirs if term.text == f"o.{other.key[0]}")
        pairs = [term for term in own if comparable(term, key)]
        if not pairs:
            return self._update(table)
        maker = self._maker((*own, *theirs), nested=False)
        where = f" WHERE {self._random.choice(pairs).text} = {key.text}"
        if self._random.random() < 0.4:
            where += f" AND {maker.condition(1)}"
        assignments = self._assignments(table, maker)
        text = f"UPDATE {table.name} AS t SET {assignments} FROM {other.name} AS o{where}{self._returning(table, 't')}"
        return Statement(text, several=True)

    def _delete(self, table: Table, using: bool) -> Statement:
        own = qualified("t", table.source.columns)
        maker = self._maker(own)
        if not using:
            where = self._condition(table, maker, "t.") or f" WHERE {maker.condition(1)}"
            return Statement(f"DELETE FROM {table.name} AS t{where}{self._returning(table, 't')}")
        other = self._random.choice(list(self._tables.values()))
        theirs = qualified("o", other.source.columns)
        pairs = [(one, two) for one in own for two in theirs if comparable(one, two)]
        if not pairs:
            return self._delete(table, using=False)
        one, two = self._random.choice(pairs)
        condition = f" AND {self._maker((*own, *theirs), nested=False).condition(1)}"
        return Statement(
            f"DELETE FROM {table.name} AS t USING {other.name} AS o WHERE {one.text} = {two.text}{condition}"
        )

    def _move_key(self, table: Table) -> Statement:
        if (
            len(table.key) != 1
            or table.column(table.key[0]).family not in ("int4", "int8")
            or table.generated == "always"
        ):
            return self._update(table)
        key = table.key[0]
        if self._random.random() < 0.4:
            return Statement(f"UPDATE {table.name} SET {key} = {key} + 100000{self._returning(table)}")
        numbers = [self._random.randint(1, self._numbers[table.name] + 3) for _ in range(2)]
        return Statement(f"UPDATE {table.name} SET {key} = {numbers[0]} WHERE {key} = {numbers[1]}")

    def _with(self, table: Table) -> Statement:
        """Return a write with a WITH clause."""
        source = self._random.choice(self.sources)
        maker = self._maker(source.columns, nested=False)
        common = f"WITH q AS (SELECT * FROM {source.name} WHERE {maker.condition(1)}) "
        own = qualified("t", table.source.columns)
        pairs = [(one, two) for one in own for two in qualified("q", source.columns) if comparable(one, two)]
        if not pairs:
            return self._update(table)
        one, two = self._random.choice(pairs)
        where = f" WHERE {one.text} {self._random.choice(['IN', 'NOT IN'])} (SELECT {two.text} FROM q)"
        if self._random.random() < 0.5:
            return Statement(f"{common}DELETE FROM {table.name} AS t{where}{self._returning(table, 't')}")
        assignments = self._assignments(table, self._maker(own, nested=False))
        return Statement(f"{common}UPDATE {table.name} AS t SET {assignments}{where}", several=True)

    def _several(self, table: Table) -> Statement:
        """Return a message of several statements, which are one transaction."""
        writes = [self._draw(self._random.choice(["literals", "update", "delete"]), table) for _ in range(2)]
        return Statement(";\n".join(write.text for write in writes), several=True)

    def _wrong(self, table: Table) -> Statement:
        """Return a write that fails, or nearly."""
        random = self._random
        column = random.choice(table.columns)
        bad = random.choice(BAD_TABLE_TEXTS.get(column.family, ("x",)))
        kind = random.choice(["value", "copy", "name", "null", "count", "again", "division", "key", "table"])
        self._counts[f"wrong {kind}"] += 1
        name = table.name
        if kind == "copy":
            return Statement(f"COPY {name} ({column.name}) FROM STDIN", data=copy_text(bad) + "\n", several=True)
        if kind == "name":
            return Statement(f"UPDATE {name} SET nosuchcolumn = 1")
        if kind == "null":
            return Statement(f"UPDATE {name} SET {column.name} = NULL", several=True)
        if kind == "count":
            return Statement(f"INSERT INTO {name} ({column.name}) VALUES (NULL, 1)")
        if kind == "again":
            return Statement(f"INSERT INTO {name} SELECT * FROM {name} WHERE false")
        if kind == "division":
            return Statement(f"DELETE FROM {name} WHERE 1 / (SELECT count(*) - count(*) FROM {name}) = 1")
        if kind == "key" and table.key:
            return Statement(f"INSERT INTO {name} SELECT * FROM {name}", several=True)
        if kind == "table":
            return Statement("DELETE FROM nosuchtable")
        return Statement(f"UPDATE {name} SET {column.name} = {literal(bad, column.family)}", several=True)

    def copy_out(self, table: Table) -> Statement:
        """Return a COPY of a whole table to the client."""
        return Statement(f"COPY {table.name} TO STDOUT{self._random.choice(COPY_OPTIONS)}", reads=True)
