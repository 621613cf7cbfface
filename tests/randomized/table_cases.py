"""One random case of durable tables: tables, writes, transactions, conflicts of two sessions, and
queries, all drawn from one seed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from random import Random

from tests.randomized.cases import TIME_ZONES
from tests.randomized.queries import QueryMaker
from tests.randomized.table_writes import Statement, TableWriter
from tests.randomized.tables import Source, Table, TableChanger, TableMaker, fresh_value
from tests.randomized.values import literal

LETTERS = "abcdefghijklmnopqrstuvwxyz"
ACTIONS = (
    *("write",) * 12,
    *("transaction",) * 4,
    *("conflict", "conflict", "alter", "alter", "truncate", "view", "create as", "read", "read", "definition block"),
)
ISOLATIONS = ("", "", " ISOLATION LEVEL REPEATABLE READ", " ISOLATION LEVEL READ COMMITTED")


@dataclass
class TableCase:
    """Everything of one case. cleanup: DROP statements; sequences: of its tables' keys;
    extended, binary: how reads are sent.
    """

    seed: int
    statements: list[Statement]
    cleanup: list[str]
    sequences: list[str]
    time_zone: str
    extended: bool
    binary: bool
    counts: Counter[str] = field(default_factory=Counter)


def make_table_case(seed: int) -> TableCase:
    """Return the table case of a seed."""
    random = Random(seed)
    extended = random.random() < 0.5
    binary = extended and random.random() < 0.5
    time_zone = random.choice(TIME_ZONES)
    maker = TableCaseMaker(random, seed)
    maker.make()
    case = TableCase(seed, maker.statements, maker.cleanup, maker.sequences, time_zone, extended, binary, maker.counts)
    case.counts["case of tables"] += 1
    return case


class TableCaseMaker:
    """Draws the statements of a case in order, and keeps what its tables look like by then."""

    def __init__(self, random: Random, seed: int) -> None:
        self._random = random
        self._seed = seed
        self.counts: Counter[str] = Counter()
        self.statements: list[Statement] = []
        self.cleanup: list[str] = []
        self.sequences: list[str] = []
        self.tables: dict[str, Table] = {}
        self.views: list[Source] = []
        self._changer = TableChanger(random, self.counts)
        self._writer = TableWriter(random, self.tables, self.sources, self.counts)
        self._view_number = 0

    @property
    def sources(self) -> list[Source]:
        """Return what queries can read by now."""
        return [*(table.source for table in self.tables.values()), *self.views]

    def make(self) -> None:
        """Draw a whole case."""
        random = self._random
        for _ in range(random.choice([1, 2, 2, 3, 3, 4])):
            self.create_table()
        for _ in range(random.randint(4, 8)):
            self.act()
        self.read(random.randint(5, 8))
        for name in self.tables:
            self.statements.append(Statement(f"SELECT * FROM {name}", reads=True))

    def create_table(self, temporary: bool = False) -> Table:
        """Create and fill one table."""
        letter = self._letter()
        name = f"t{self._seed}{letter}"
        table, text = TableMaker(self._random, self.counts).table(name, letter)
        self.cleanup.append(f"DROP TABLE IF EXISTS {name} CASCADE")
        if table.generated:
            self.sequences.append(table.sequence)
        self.statements.append(Statement(text))
        if not temporary:
            self.tables[name] = table
            self._refresh()
        self.statements.append(self._writer.fill(table))
        return table

    def _letter(self) -> str:
        return LETTERS[len(self.cleanup)]

    def _refresh(self) -> None:
        """Tell the writer what it can read by now."""
        self._writer.sources = self.sources

    def act(self) -> None:
        """Draw one action."""
        random = self._random
        table = random.choice(list(self.tables.values()))
        action = random.choice(ACTIONS)
        self.counts[f"action {action}"] += 1
        match action:
            case "write":
                self.statements.append(self._writer.write(table))
            case "transaction":
                self._transaction()
            case "conflict":
                self._conflict(table)
            case "alter":
                self._alter(table)
            case "truncate":
                restart = random.choice(["", " RESTART IDENTITY", " CONTINUE IDENTITY"])
                self.statements.append(Statement(f"TRUNCATE {random.choice(['', 'TABLE '])}{table.name}{restart}"))
                self.statements.append(self._writer.fill(table))
            case "view":
                self._view()
            case "create as":
                self._create_as()
            case "definition block":
                self._definition_block()
            case "read":
                self.read(1)
        if random.random() < 0.35:
            self.statements.append(self._whole(random.choice(list(self.tables.values()))))

    def read(self, number: int, session: str = "a") -> None:
        """Draw some queries."""
        for _ in range(number):
            select = QueryMaker(self._random, self.sources, self.counts).select()
            self.statements.append(
                Statement(select.text, session, ordered=select.ordered, reads=True, numbered=select.parameters)
            )

    def _whole(self, table: Table) -> Statement:
        if self._random.random() < 0.15:
            return self._writer.copy_out(table)
        return Statement(f"SELECT * FROM {table.name}", reads=True)

    def _transaction(self) -> None:
        random = self._random
        before = dict(self.tables)
        self.statements.append(Statement(f"BEGIN{random.choice(ISOLATIONS)}"))
        for _ in range(random.randint(1, 4)):
            table = random.choice(list(self.tables.values()))
            roll = random.random()
            if roll < 0.7:
                self.statements.append(self._writer.write(table))
            elif roll < 0.8:
                self._alter(table)
            elif roll < 0.9:
                self.read(1)
            else:
                self.statements.append(self._whole(table))
        end = random.choice(["COMMIT", "COMMIT", "COMMIT", "ROLLBACK", "END", "ABORT", "COMMIT AND CHAIN"])
        self.counts[f"end {end.lower()}"] += 1
        self.statements.append(Statement(end))
        if end.endswith("CHAIN"):
            self.statements.append(self._writer.write(random.choice(list(self.tables.values()))))
            self.statements.append(Statement("ROLLBACK"))
        if end in ("ROLLBACK", "ABORT"):
            self.tables.clear()
            self.tables.update(before)
            self._refresh()

    def _alter(self, table: Table) -> None:
        text, changed = self._changer.change(table)
        used = any(table.name in one.text for one in self.statements if one.text.startswith("CREATE VIEW"))
        self.statements.append(Statement(text))
        # A view over the table refuses the loss of a column: the case goes on as if it was there.
        if not (used and ("DROP COLUMN" in text or " TYPE " in text) and "CASCADE" not in text):
            self.tables[table.name] = changed
        if used and "CASCADE" in text:
            self.views.clear()
        self._refresh()

    def _conflict(self, table: Table) -> None:
        """Draw two sessions that change one row, or insert one key."""
        random = self._random
        counters = [table.column(name) for name in table.key if name in table.fresh]
        plain = [column for column in table.plain_columns() if column.name != "id"]
        if not counters or not plain:
            self.statements.append(self._writer.write(table))
            return
        key, column = counters[0], random.choice(plain)
        row = f"{key.name} = {literal(fresh_value(key, random.randint(1, 3)), key.family, bare=True)}"
        name = table.name
        first, second = (literal(random.choice(column.values), column.family) for _ in range(2))
        kind = random.choice(["update", "update", "delete", "other row", "rolled back", "read only"])
        self.counts[f"conflict {kind}"] += 1
        statements = [
            Statement("BEGIN ISOLATION LEVEL REPEATABLE READ"),
            Statement(f"SELECT * FROM {name}", reads=True),
        ]
        theirs = f"UPDATE {name} SET {column.name} = {first} WHERE {row}"
        if kind == "delete":
            theirs = f"DELETE FROM {name} WHERE {row}"
        if kind == "rolled back":
            statements += [
                Statement("BEGIN", "b"),
                Statement(theirs, "b"),
                Statement("ROLLBACK", "b"),
            ]
        else:
            statements.append(Statement(theirs, "b"))
        statements.append(Statement(f"SELECT * FROM {name} WHERE {row}", reads=True))
        statements.append(Statement(f"SELECT * FROM {name} WHERE {row}", "b", reads=True))
        other = f"{key.name} = {literal(fresh_value(key, 5), key.family, bare=True)}"
        if kind == "other row":
            statements.append(Statement(f"UPDATE {name} SET {column.name} = {second} WHERE {other}"))
        elif kind != "read only":
            ours = f"UPDATE {name} SET {column.name} = {second} WHERE {row}"
            statements.append(Statement(random.choice([ours, ours, f"DELETE FROM {name} WHERE {row}"])))
            statements.append(Statement(f"SELECT count(*) FROM {name}", reads=True))
        statements.append(Statement(random.choice(["COMMIT", "COMMIT", "ROLLBACK"])))
        statements.append(Statement(f"SELECT * FROM {name}", reads=True))
        self.statements += statements

    def _view(self) -> None:
        body = QueryMaker(self._random, self.sources, self.counts).view_query()
        self._view_number += 1
        name = f"v{self._seed}_{self._view_number}"
        self.statements.append(Statement(f"CREATE VIEW {name} AS {body.text}"))
        self.cleanup.insert(0, f"DROP VIEW IF EXISTS {name} CASCADE")
        self.views.append(Source(name, body.columns))
        self._refresh()
        self.statements.append(Statement(f"SELECT * FROM {name}", reads=True))

    def _create_as(self) -> None:
        body = QueryMaker(self._random, self.sources, self.counts).view_query()
        name = f"t{self._seed}{self._letter()}"
        self.cleanup.append(f"DROP TABLE IF EXISTS {name} CASCADE")
        empty = self._random.choice(["", "", " WITH NO DATA"])
        self.statements.append(Statement(f"CREATE TABLE {name} AS {body.text}{empty}"))
        self.statements.append(Statement(f"SELECT * FROM {name}", reads=True))
        self.views.append(Source(name, body.columns))
        self._refresh()

    def _definition_block(self) -> None:
        """Draw a table that is made in a transaction, and may be gone after it."""
        random = self._random
        self.statements.append(Statement("BEGIN"))
        table = self.create_table(temporary=True)
        self.statements.append(self._whole(table))
        if random.random() < 0.3:
            self.statements.append(Statement(f"DROP TABLE {random.choice(list(self.tables))}"))
            self.statements.append(Statement("ROLLBACK"))
        else:
            self.statements.append(Statement(random.choice(["COMMIT", "ROLLBACK"])))
        self.statements.append(self._whole(table))
