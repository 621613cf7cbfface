"""One random case of views and their lives: several connections insert, change tables and define
views, one step after the other or at the same time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from tests.randomized.cases import Write
from tests.randomized.expressions import Term
from tests.randomized.life_shapes import ROWS, STREAMS, LifeShapeMaker, Shape
from tests.randomized.values import copy_text, literal

WRITERS = ("a", "b", "c")
CHOICES = ("frozen", "frozen", "arrival", "arrival", "retroactive", "retroactive", "")
VALUES: dict[str, tuple[str | None, ...]] = {
    "k": ("1", "2", "3", "4", "5", None),
    "v": tuple(str(number) for number in range(-4, 12)),
    "t": ("a", "b", "abc", None, "a text of more than twelve bytes"),
    "d": ("1.50", "2.25", "7.00", None),
}
NAMES = ("'one'", "'two'", "'three'", "NULL")


@dataclass(frozen=True)
class LifeView:
    """A view as it is to be made. choice: its stream_join, "" for the session's; reset: with which
    CREATE OR REPLACE begins anew.
    """

    name: str
    shape: Shape
    choice: str
    replaces: bool = False
    reset: bool = False


@dataclass(frozen=True)
class Step:
    """One thing that happens. kind: write, change (of a table), view, drop, rename, read, burst,
    state (truncate and the like).

    name: what a drop, a rename or a state is about. together: the writes of each session in a
    burst; changing: they change tables, too.
    """

    kind: str
    session: str = "a"
    write: Write | None = None
    view: LifeView | None = None
    name: str = ""
    word: str = ""
    text: str = ""
    together: dict[str, list[Write]] = field(default_factory=dict)


@dataclass
class LifeCase:
    """All steps of a case. relations: the streams p, q and tables a, b by their real names;
    default_choice: the session's stream_join.
    """

    seed: int
    relations: dict[str, str]
    steps: list[Step]
    default_choice: str
    counts: Counter[str]
    setup: Sequence[str] = ()


def make_life_case(seed: int) -> LifeCase:
    """Return the case of a seed."""
    random = Random(seed)
    counts: Counter[str] = Counter({"case of lives": 1})
    maker = _CaseMaker(random, seed, counts)
    steps = maker.steps()
    default_choice = random.choice(["frozen", "frozen", "arrival", "retroactive"])
    return LifeCase(seed, maker.relations, steps, default_choice, counts, maker.setup)


class _CaseMaker:
    """Draws the steps of one case."""

    def __init__(self, random: Random, seed: int, counts: Counter[str]) -> None:
        self._random = random
        self._counts = counts
        self._seed = seed
        self.relations = {letter: f"{letter}{seed}" for letter in "pqab"}
        self._bursts = random.random() < 0.5
        self._shapes = LifeShapeMaker(random, counts, ties=not self._bursts)
        self._views: list[LifeView] = []
        self._in_block: set[str] = set()
        self._changing = ""
        # Transactions whose snapshot may be older than a change of a table: PostgreSQL's statements
        # would see it.
        self._behind: set[str] = set()
        self._next_id = 10
        rows_a = ", ".join(
            f"({number}, {random.choice(NAMES)}, {random.choice(['1', '2', '5', 'NULL'])})" for number in range(1, 5)
        )
        rows_b = ", ".join(
            f"({random.choice(['1', '2', '3', 'NULL'])}, {random.choice(['1', '4', '20', 'NULL'])})" for _ in range(4)
        )
        self.setup = (
            f"INSERT INTO {self.relations['a']} VALUES {rows_a}",
            f"INSERT INTO {self.relations['b']} VALUES {rows_b}",
        )

    def steps(self) -> list[Step]:
        """Return all steps, with a read of every view at the end."""
        random = self._random
        steps = [self._view() for _ in range(random.choice([1, 2, 2]))]
        for _ in range(random.randint(10, 22)):
            steps += self._step()
        for session in sorted(self._in_block):
            steps.append(Step("write", session, Write(random.choice(["COMMIT", "ROLLBACK"]))))
        self._in_block.clear()
        self._behind.clear()
        if self._bursts:
            steps.append(self._burst())
        return [*steps, Step("read", word="all")]

    def _step(self) -> list[Step]:
        random = self._random
        kinds = (
            ["insert"] * 8 + ["change"] * 4 + ["block"] * 3 + ["read"] * 4 + ["view"] + ["replace", "rename", "state"]
        )
        if not self._in_block:
            kinds += ["drop"] + ["burst"] * (2 * self._bursts)
        kind = random.choice(kinds)
        self._counts[f"life step {kind}"] += 1
        match kind:
            case "insert":
                session = random.choice(WRITERS)
                return [Step("write", session, self._insert(session))]
            case "change":
                return self._change()
            case "block":
                return self._block()
            case "read":
                return [Step("read", word=random.choice(["one", "one", "all", "stale"]))]
            case "view":
                return [self._view()] if len(self._views) < 4 else []
            case "replace":
                return self._replace()
            case "rename":
                return [Step("rename", name=random.choice(self._views).name)]
            case "state":
                word = random.choice(["truncate_continuous_view", "deactivate", "activate", "activate"])
                return [Step("state", name=random.choice(self._views).name, word=word)]
            case "drop":
                return [self._drop()]
        return [self._burst()]

    def _view(self) -> Step:
        random = self._random
        others = [(view.name, view.shape.columns) for view in self._views]
        shape = self._shapes.shape(others)
        choice = random.choice(CHOICES)
        view = LifeView(f"v{self._seed}_{len(self._views)}", shape, choice)
        self._views.append(view)
        self._counts[f"life choice {choice or 'default'}"] += 1
        return Step("view", view=view)

    def _replace(self) -> list[Step]:
        """Return CREATE OR REPLACE VIEW: the query with a condition above or another column, or
        another query.
        """
        random = self._random
        old = random.choice(self._views)
        inner, columns = old.shape.text, old.shape.columns
        kind = random.choice(["same", "filter", "column", "reset"])
        self._counts[f"life replace {kind}"] += 1
        if "ORDER BY" in inner:
            kind = "same"
        if kind == "filter":
            kept = [term for term in columns if term.family != "bool"]
            inner = f"SELECT * FROM ({inner}) AS z WHERE {self._shapes.condition(kept)}"
        elif kind == "column":
            inner, columns = (
                f"SELECT *, 1 AS z{len(columns)} FROM ({inner}) AS z",
                [*columns, Term(f"z{len(columns)}", "int4")],
            )
        shape = Shape(
            inner, columns, old.shape.sources, old.shape.below, old.shape.frozen, old.shape.views, old.shape.kind
        )
        view = LifeView(old.name, shape, old.choice, replaces=True, reset=kind == "reset" or random.random() < 0.1)
        self._views[self._views.index(old)] = view
        return [Step("view", view=view)]

    def _drop(self) -> Step:
        word = self._random.choice(["", "", " RESTRICT", " CASCADE"])
        names = [view.name for view in self._views] * 4 + list(self.relations.values())
        return Step("drop", name=self._random.choice(names), word=word)

    def _insert(self, session: str = "") -> Write:
        random = self._random
        stream = self.relations[random.choice(STREAMS)]
        kind = random.choice(["values", "values", "one", "parameters", "pipeline", "copy", "select", "many"])
        if kind == "select" and session in self._behind:
            kind = "values"
        self._counts[f"life insert {kind}"] += 1
        names = [term.text for term in ROWS]
        families = [term.family for term in ROWS]

        def row() -> list[str | None]:
            return [random.choice(VALUES[name]) for name in names]

        def shown() -> str:
            return f"({', '.join(literal(value, family, bare=True) for value, family in zip(row(), families, strict=True))})"

        marks = f"INSERT INTO {stream} ({', '.join(names)}) VALUES (%s, %s, %s, %s)"
        match kind:
            case "parameters" | "pipeline":
                rows = tuple(
                    (_whole(one[0]), _whole(one[1]), one[2], one[3])
                    for one in (row() for _ in range(random.randint(1, 5)))
                )
                return Write(marks, rows[0]) if kind == "parameters" else Write(marks, rows=rows)
            case "copy":
                lines = [
                    "\t".join(copy_text(value) for value in row()) + "\n" for _ in range(random.choice([1, 8, 40]))
                ]
                return Write(f"COPY {stream} ({', '.join(names)}) FROM STDIN", data="".join(lines))
            case "select":
                return Write(f"INSERT INTO {stream} SELECT id, g, name, 1.5 FROM {self.relations['a']}")
            case "many":
                numbers = f"generate_series(1, {random.choice([20, 300])}) AS n"
                return Write(f"INSERT INTO {stream} SELECT n % 6, n % 11, 'a', 2.25 FROM {numbers}")
        rows_count = 1 if kind == "one" else random.randint(1, 7)
        return Write(f"INSERT INTO {stream} VALUES {', '.join(shown() for _ in range(rows_count))}")

    def _table_change(self) -> Write:
        random = self._random
        a, b = self.relations["a"], self.relations["b"]
        self._next_id += 1
        key = random.randint(1, 5)
        changes = [
            f"UPDATE {a} SET name = {random.choice(NAMES)}, g = {random.randint(0, 6)} WHERE id = {key}",
            f"UPDATE {a} SET g = coalesce(g, 0) + 1",
            f"DELETE FROM {a} WHERE id = {key}",
            f"INSERT INTO {a} VALUES ({key}, {random.choice(NAMES)}, {random.randint(0, 6)}) ON CONFLICT (id) DO NOTHING",
            f"INSERT INTO {a} VALUES ({self._next_id}, {random.choice(NAMES)}, 3)",
            f"INSERT INTO {b} VALUES ({key}, {random.randint(0, 9)}), (NULL, 3)",
            f"UPDATE {b} SET x = x + 1 WHERE k = {key}",
            f"DELETE FROM {b} WHERE k = {key}",
        ]
        if not self._in_block and random.random() < 0.1:
            changes = [f"TRUNCATE {b}"]
        return Write(random.choice(changes))

    def _change(self) -> list[Step]:
        """Return a change of a table; two open transactions never change tables, because one would
        wait for the other.
        """
        session = self._changing or self._random.choice(WRITERS)
        if session in self._behind:
            return []
        if session in self._in_block:
            self._changing = session
        return [self._change_by(session)]

    def _change_by(self, session: str) -> Step:
        self._behind |= self._in_block - {session}
        return Step("change", session, self._table_change())

    def _block(self) -> list[Step]:
        """Return the start or the end of a transaction, or a savepoint in it."""
        random = self._random
        session = random.choice(WRITERS)
        if session not in self._in_block:
            self._in_block.add(session)
            return [Step("write", session, Write("BEGIN"))]
        if random.random() < 0.3:
            inner = [Step("write", session, self._insert(session))]
            if self._changing in ("", session) and session not in self._behind:
                self._changing = session
                inner.append(self._change_by(session))
            end = random.choice(["ROLLBACK TO sp", "RELEASE sp"])
            return [Step("write", session, Write("SAVEPOINT sp")), *inner, Step("write", session, Write(end))]
        self._in_block.discard(session)
        self._behind.discard(session)
        if self._changing == session:
            self._changing = ""
        return [Step("write", session, Write(random.choice(["COMMIT", "COMMIT", "ROLLBACK"])))]

    def _burst(self) -> Step:
        """Return writes of several sessions at the same time; where rows meet tables on arrival,
        none of them changes a table.
        """
        random = self._random
        together: dict[str, list[Write]] = {}
        for session in WRITERS:
            writes = []
            for _ in range(random.randint(2, 6)):
                if random.random() < 0.3:
                    writes += [
                        Write("BEGIN"),
                        self._insert(),
                        self._insert(),
                        Write(random.choice(["COMMIT", "COMMIT", "ROLLBACK"])),
                    ]
                else:
                    writes.append(self._insert())
            together[session] = [write for write in writes if "SELECT id" not in write.text]
        if random.random() < 0.5:
            together["changer"] = [self._table_change() for _ in range(random.randint(1, 4))]
        return Step("burst", together=together)


def _whole(value: str | None) -> int | None:
    return None if value is None else int(value)
