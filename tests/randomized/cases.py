"""One random case: a stream, its views, writes good and bad, and the reads to compare, all drawn
from one seed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from tests.randomized.expressions import term_of
from tests.randomized.queries import QueryMaker
from tests.randomized.selects import Select, SelectMaker
from tests.randomized.table_columns import BAD_TABLE_TEXTS, random_table_column, table_parameter
from tests.randomized.tables import Source
from tests.randomized.values import Column, copy_csv, copy_text, literal
from tests.randomized.views import View, ViewMaker

# Of the cases: each of their groupings is compiled.
FOLDING_SHARE = 0.1
TIME_ZONES = ("UTC", "UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata")


@dataclass(frozen=True)
class Write:
    """One message that writes, or ends a transaction.

    text: its statements are separated by a semicolon at a line's end, if there are more than one.
    data: what COPY sends; parameters: of the extended protocol; rows: parameters of many executions
    of the text in one pipeline. several: more than one value may be wrong, and which one is named
    depends on how far checking went.
    """

    text: str
    parameters: tuple[object, ...] | None = None
    data: str | None = None
    binary: bool = False
    rows: tuple[tuple[object, ...], ...] = ()
    several: bool = False


@dataclass
class Case:
    """Everything of one case.

    extended, binary: how its reads are sent and answered. setup, cleanup: statements before and
    after. folds: its reads wait a moment for more rows of the stream, so that its groupings are
    folded in kernels.
    """

    seed: int
    stream: str
    columns: Sequence[Column]
    views: Sequence[View]
    writes: Sequence[Write]
    selects: Sequence[Select]
    time_zone: str
    extended: bool
    binary: bool
    counts: Counter[str] = field(default_factory=Counter)
    setup: Sequence[str] = ()
    cleanup: Sequence[str] = ()
    folds: bool = False

    @property
    def column_list(self) -> str:
        """The column definitions of the stream."""
        return ", ".join(column.definition for column in self.columns)


def make_case(seed: int) -> Case:
    """Return the stream case of a seed."""
    random = Random(seed)
    counts: Counter[str] = Counter()
    stream = f"s{seed}"
    columns = [random_table_column(random, f"c{index}") for index in range(random.randint(2, 6))]
    for column in columns:
        counts[f"column {column.family}"] += 1
    maker = ViewMaker(random, columns, counts)
    views = [maker.view(f"v{seed}_{index}") for index in range(random.choice([1, 1, 1, 2]))]
    writes = WriteMaker(random, stream, columns, counts).writes()
    selects = [Select(f"SELECT * FROM {view.name}", ordered=False, views=frozenset([view.name])) for view in views]
    select_maker = SelectMaker(random, views, counts)
    selects += [select_maker.select() for _ in range(4)]
    selects += [QueryMaker(random, [stream_source(stream, columns)], counts).select() for _ in range(2)]
    counts["read of a stream"] += 2
    extended = random.random() < 0.5
    binary = extended and random.random() < 0.5
    counts["case of a stream"] += 1
    counts["binary" if binary else "extended" if extended else "simple"] += 1
    zone = random.choice(TIME_ZONES)
    folds = draw_folding(random, counts)
    return Case(seed, stream, columns, views, writes, selects, zone, extended, binary, counts, folds=folds)


def draw_folding(random: Random, counts: Counter[str]) -> bool:
    """Return whether a case's reads of its stream are to fold groupings in kernels."""
    folds = random.random() < FOLDING_SHARE
    counts["groupings of a stream folded in kernels"] += folds
    return folds


def stream_source(name: str, columns: Sequence[Column]) -> Source:
    """Return a stream as queries see it."""
    return Source(name, tuple(term_of(column) for column in columns))


class WriteMaker:
    """Draws the statements that fill one stream. others: draw writes of other relations in
    between.
    """

    def __init__(
        self,
        random: Random,
        stream: str,
        columns: Sequence[Column],
        counts: Counter[str],
        others: Sequence[Callable[[], Write]] = (),
    ) -> None:
        self._random = random
        self._stream = stream
        self._columns = columns
        self._counts = counts
        self._others = others

    def writes(self) -> list[Write]:
        """Return all writes of a case, in order."""
        writes: list[Write] = []
        for _ in range(self._random.randint(3, 7)):
            if self._random.random() < 0.25:
                self._count("transaction")
                writes.append(Write("BEGIN"))
                writes += [self._write() for _ in range(self._random.randint(1, 3))]
                writes.append(Write(self._random.choice(["COMMIT", "COMMIT", "ROLLBACK"])))
            else:
                writes.append(self._write())
        return writes

    def _count(self, construct: str) -> None:
        self._counts[construct] += 1

    def _write(self) -> Write:
        made = self._random.choice(
            [
                self._literals,
                self._literals,
                self._expressions,
                self._parameters,
                self._parameters,
                self._copy,
                self._copy,
                self._copy_with_options,
                self._pipeline,
                self._several_statements,
                self._wrong,
                *self._others,
            ]
        )
        return made()

    def _row(self, columns: Sequence[Column]) -> list[str | None]:
        return [self._random.choice(column.values) for column in columns]

    def _some_columns(self) -> list[Column]:
        if self._random.random() < 0.7:
            return list(self._columns)
        chosen = [column for column in self._columns if column.not_null or self._random.random() < 0.6]
        chosen = chosen or [self._columns[0]]
        self._random.shuffle(chosen)
        return chosen

    def _head(self, columns: Sequence[Column]) -> str:
        if list(columns) == list(self._columns) and self._random.random() < 0.5:
            return f"INSERT INTO {self._stream} VALUES "
        return f"INSERT INTO {self._stream} ({', '.join(column.name for column in columns)}) VALUES "

    def _literals(self) -> Write:
        self._count("insert literals")
        columns = self._some_columns()
        bare = self._random.random() < 0.6
        rows = []
        for _ in range(self._random.choice([1, 1, 2, 20])):
            values = [
                literal(value, column.family, bare) for value, column in zip(self._row(columns), columns, strict=True)
            ]
            rows.append(f"({', '.join(values)})")
        return Write(self._head(columns) + ", ".join(rows))

    def _expressions(self) -> Write:
        self._count("insert expressions")
        columns = list(self._columns)
        items = []
        for value, column in zip(self._row(columns), columns, strict=True):
            text = literal(value, column.family)
            if self._random.random() < 0.3:
                text = "DEFAULT"
            elif column.family in ("int2", "int4", "int8") and value is not None and not column.extreme:
                text = f"{value} + 2 * 3"
            elif column.family in ("text", "varchar") and value is not None:
                text = f"COALESCE(NULL, {text})"
            elif column.family == "numeric" and value is not None:
                text = f"{value} * 1"
            items.append(text)
        return Write(f"INSERT INTO {self._stream} VALUES ({', '.join(items)})")

    def _parameters(self) -> Write:
        self._count("insert parameters")
        columns = self._some_columns()
        values = tuple(
            table_parameter(value, column.family) for value, column in zip(self._row(columns), columns, strict=True)
        )
        marks = ", ".join(["%s"] * len(columns))
        return Write(f"{self._head(columns)}({marks})", parameters=values, binary=self._random.random() < 0.5)

    def _pipeline(self) -> Write:
        self._count("insert pipeline")
        columns = self._some_columns()
        rows = []
        for _ in range(self._random.choice([1, 2, 15])):
            pairs = zip(self._row(columns), columns, strict=True)
            rows.append(tuple(table_parameter(value, column.family) for value, column in pairs))
        text = f"{self._head(columns)}({', '.join(['%s'] * len(columns))})"
        return Write(text, rows=tuple(rows), binary=self._random.random() < 0.5, several=True)

    def _several_statements(self) -> Write:
        """Return a Query message of several statements, which are one transaction."""
        self._count("several statements")
        writes = [self._random.choice([self._literals, self._expressions])() for _ in range(2)]
        if self._random.random() < 0.3:
            writes.append(self._wrong_literal())
        texts = [write.text for write in writes]
        texts.insert(self._random.randint(0, len(texts)), "SELECT 1 + 1 AS two, 'x' AS x")
        return Write(";\n".join(texts), several=True)

    def _wrong_literal(self) -> Write:
        column = self._random.choice(self._columns)
        return Write(
            f"INSERT INTO {self._stream} ({column.name}) VALUES ('{BAD_TABLE_TEXTS.get(column.family, ('x',))[0]}')"
        )

    def _copy_with_options(self) -> Write:
        random = self._random
        columns = self._some_columns()
        rows = [self._row(columns) for _ in range(random.choice([1, 10, 60]))]
        names = f" ({', '.join(column.name for column in columns)})"
        null = random.choice(["", "none", "\\N"])
        if random.random() < 0.5:
            self._count("copy text options")
            delimiter = random.choice(["|", ";", ","])
            lines = [delimiter.join(copy_text(value, null, delimiter) for value in row) for row in rows]
            options = f"DELIMITER '{delimiter}', NULL '{null}'"
        else:
            self._count("copy csv options")
            delimiter, quote = random.choice([";", "|", "\t"]), random.choice(['"', "'"])
            lines = [delimiter.join(copy_csv(value, random, null, delimiter, quote) for value in row) for row in rows]
            options = (
                f"FORMAT csv, DELIMITER E'{delimiter}', NULL '{null}', QUOTE '{quote.replace(chr(39), chr(39) * 2)}'"
            )
            texts = [column.name for column in columns if column.family == "text"]
            if texts and random.random() < 0.3:
                options += f", {random.choice(['FORCE_NULL', 'FORCE_NOT_NULL'])} ({random.choice(texts)})"
        if random.random() < 0.3:
            options += ", HEADER"
            lines.insert(0, delimiter.join(column.name for column in columns))
        data = "".join(line + "\n" for line in lines)
        return Write(f"COPY {self._stream}{names} FROM STDIN WITH ({options})", data=data)

    def _copy(self) -> Write:
        columns = self._some_columns()
        rows = [self._row(columns) for _ in range(self._random.choice([0, 1, 10, 60]))]
        names = f" ({', '.join(column.name for column in columns)})"
        if self._random.random() < 0.5:
            self._count("copy text")
            data = "".join("\t".join(copy_text(value) for value in row) + "\n" for row in rows)
            return Write(f"COPY {self._stream}{names} FROM STDIN", data=data)
        self._count("copy csv")
        header = self._random.choice([True, False])
        lines = [",".join(copy_csv(value, self._random) for value in row) for row in rows]
        if header:
            lines.insert(0, ",".join(column.name for column in columns))
        # A line of one empty field is a NULL; PostgreSQL reads it so too.
        data = "".join(line + "\n" for line in lines)
        return Write(
            f"COPY {self._stream}{names} FROM STDIN WITH (FORMAT csv, HEADER {str(header).lower()})", data=data
        )

    def _wrong(self) -> Write:
        """Return a write that fails, or that would if the value was not accepted."""
        random = self._random
        column = random.choice(
            [column for column in self._columns if column.family in BAD_TABLE_TEXTS] or self._columns
        )
        bad = random.choice(BAD_TABLE_TEXTS.get(column.family, ("x",)))
        kind = random.choice(["literal", "copy", "name", "count", "division", "null", "many"])
        self._count(f"wrong {kind}")
        row = {other.name: value for other, value in zip(self._columns, self._row(self._columns), strict=True)}
        row[column.name] = bad
        values = ", ".join(literal(row[other.name], other.family) for other in self._columns)
        if kind == "copy":
            good = "\t".join(copy_text(value) for value in self._row(self._columns))
            line = "\t".join(copy_text(row[other.name]) for other in self._columns)
            return Write(f"COPY {self._stream} FROM STDIN", data=f"{good}\n{line}\n{good}\n")
        if kind == "name":
            return Write(f"INSERT INTO {self._stream} (nosuchcolumn) VALUES (1)")
        if kind == "count":
            return Write(f"INSERT INTO {self._stream} VALUES ({values}, 1, 2)")
        if kind == "division":
            return Write(f"INSERT INTO {self._stream} ({column.name}) VALUES (NULLIF(1, 1 / (2 - 2)))")
        if kind == "null":
            nulls = ", ".join("NULL" for _ in self._columns)
            return Write(f"INSERT INTO {self._stream} VALUES ({nulls})")
        if kind == "many":
            good_values = ", ".join(
                literal(value, other.family)
                for value, other in zip(self._row(self._columns), self._columns, strict=True)
            )
            return Write(f"INSERT INTO {self._stream} VALUES ({good_values}), ({values})")
        return Write(f"INSERT INTO {self._stream} VALUES ({values})")
