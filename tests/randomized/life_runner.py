"""Runs a case of views and their lives against both servers.

PostgreSQL has the rows of each stream in a table in the order of their commits, and a view reads
those after its creation. What a view with `stream_join = arrival` counts is replayed: after each
commit its sources are evaluated over the rows of that commit and the tables as they are, and the
view reads what was found. A change that a frozen view forbids is not made.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from threading import Event

import psycopg
from psycopg import pq

from tests.randomized.answers import Answer, Connection, MismatchError, compare, is_refused, simple
from tests.randomized.cases import Write
from tests.randomized.life_cases import WRITERS, LifeCase, LifeView, Step
from tests.randomized.life_shapes import STREAM_COLUMNS, STREAMS, TABLE_COLUMNS
from tests.randomized.runner import do_write

IN_USE = "55006"
REFUSED = "0A000"
DEPENDED_ON = "2BP01"
WRONG_KIND = ("42809", "55000", "42P01")
# What the oracle does instead of a change that we refuse: the transaction fails there, too.
FAILING = Write("DO $$ BEGIN RAISE SQLSTATE '55006'; END $$")
READER, CHANGER, ADMIN = "reader", "changer", "admin"
COLUMNS = "k, v, t, d"
NAME = re.compile(r"\{([a-z]\w*)\}")
PLACES = re.compile(r"m\d|tie")


@dataclass
class Living:
    """A view that is there. reads: what it names; met: PostgreSQL's tables of what its sources have
    yielded.

    shown: what readers may have seen of it. ranges: the numbers of the rows that it counts, both
    ends left out and the last one open while it is active.
    """

    view: LifeView
    choice: str
    reads: set[str]
    name: str
    met: list[str] = field(default_factory=list)
    ranges: list[tuple[int, int | None]] = field(default_factory=list)
    shown: list[Answer] = field(default_factory=list)

    @property
    def is_active(self) -> bool:
        """Tell whether it counts what comes."""
        return self.ranges[-1][1] is None

    @property
    def condition(self) -> str:
        """Return the condition for the rows of a stream that it has counted, for PostgreSQL."""
        parts = [f"n > {start}" + (f" AND n <= {end}" if end is not None else "") for start, end in self.ranges]
        return " OR ".join(parts)


class LifeRun:
    """One case on both servers, each with its sessions by name."""

    def __init__(self, case: LifeCase, antumbra: Mapping[str, Connection], postgres: Mapping[str, Connection]) -> None:
        self._case = case
        self._ours = antumbra
        self._theirs = postgres
        self._admin = postgres[ADMIN]
        self._story = [f"-- seed {case.seed}"]
        self._random = Random(case.seed)
        self._living: dict[str, Living] = {}
        self._relations = dict(case.relations)
        self._met_count = 0

    def run(self) -> None:
        """Do all steps. Raises MismatchError at the first difference."""
        try:
            self._set_up()
            for step in self._case.steps:
                getattr(self, f"_{step.kind}")(step)
        except (psycopg.Error, MismatchError) as error:
            # What fails now, follows from that.
            with suppress(psycopg.Error):
                self._clean_up()
            if isinstance(error, MismatchError):
                raise
            self._fail(f"{type(error).__name__}: {error}")
        self._clean_up()

    def _set_up(self) -> None:
        text = f"SET default_stream_join = '{self._case.default_choice}'"
        self._ours[ADMIN].execute(text.encode())
        for session in WRITERS:
            self._theirs[session].execute(b"SET lock_timeout = '20s'")
        self._story.append(text)
        self._ask(f"CREATE SEQUENCE n{self._case.seed}")
        for letter in STREAMS:
            name = self._relations[letter]
            self._tell(f"CREATE FOREIGN TABLE {name} ({STREAM_COLUMNS}) SERVER stream")
            self._ask(f"CREATE UNLOGGED TABLE {name} ({STREAM_COLUMNS}, n bigserial)")
            number = f"n bigint DEFAULT nextval('n{self._case.seed}')"
            self._ask(f"CREATE UNLOGGED TABLE {name}_log ({STREAM_COLUMNS}, {number})")
        texts = [f"CREATE TABLE {self._relations[letter]} ({columns})" for letter, columns in TABLE_COLUMNS.items()]
        for text in (*texts, *self._case.setup):
            self._tell(text)
            self._ask(text)

    def _clean_up(self) -> None:
        for sessions in (self._ours, self._theirs):
            for session in WRITERS:
                if sessions[session].info.transaction_status != pq.TransactionStatus.IDLE:
                    sessions[session].execute(b"ROLLBACK")
        self._ours[ADMIN].execute(b"RESET default_stream_join")
        for letter, name in self._case.relations.items():
            if letter in self._relations:
                kind = "FOREIGN TABLE" if letter in STREAMS else "TABLE"
                self._ours[ADMIN].execute(f"DROP {kind} IF EXISTS {name} CASCADE".encode())
            self._ask(f"DROP TABLE IF EXISTS {name}, {name}_log CASCADE")
        for number in range(self._met_count):
            self._ask(f"DROP TABLE IF EXISTS met{self._case.seed}_{number} CASCADE")
        self._ask(f"DROP SEQUENCE IF EXISTS n{self._case.seed}")

    def _tell(self, text: str) -> None:
        self._story.append(text)
        self._ours[ADMIN].execute(text.encode())

    def _ask(self, text: str) -> list[tuple[object, ...]]:
        cursor = self._admin.execute(text.encode())
        return cursor.fetchall() if cursor.description else []

    def _fail(self, message: str) -> None:
        shown = "\n".join(f"{line};" for line in self._story)
        raise MismatchError(f"{shown}\n-- {message}")

    # What is written.

    def _write(self, step: Step) -> None:
        assert step.write is not None
        if self._is_there(step.write):
            self._mirror(step.session, step.write, do_write(self._ours[step.session], step.write, ()))

    _change = _write

    def _is_there(self, write: Write) -> bool:
        """Tell whether the relations of a write are."""
        gone = set(self._case.relations.values()) - set(self._relations.values())
        return not gone & set(write.text.split())

    def _mirror(self, session: str, write: Write, ours: Answer) -> None:
        """Do in PostgreSQL what has been done here, and compare the answers."""
        shown = f"/* {session} */ {write.text} {write.parameters or write.rows or ''} {write.data or ''}".rstrip()
        self._story.append(shown)
        self._case.counts["statements"] += 1
        theirs_session = self._theirs[session]
        if ours.sqlstate == IN_USE and write.text == "COMMIT":
            self._case.counts["life commit refused"] += 1
            self._check_in_use(set(TABLE_COLUMNS), ours)
            theirs_session.execute(b"ROLLBACK")
            return
        if ours.sqlstate == IN_USE:
            self._case.counts["life change refused"] += 1
            self._check_in_use(self._changed_by(write), ours)
            theirs = do_write(theirs_session, FAILING, ())
        else:
            self._check_not_frozen(write, ours)
            theirs = do_write(theirs_session, write, ())
        compare(ours, theirs, ordered=True, story=self._story)
        self._settle()

    def _changed_by(self, write: Write) -> set[str]:
        """Return the letters of the tables that a write changes."""
        words = write.text.split()[:3]
        return {letter for letter in TABLE_COLUMNS if self._case.relations[letter] in words}

    def _check_in_use(self, tables: set[str], ours: Answer) -> None:
        """Raise MismatchError unless the error names a frozen view that has a table below its
        grouping, and says what to do.

        A transaction that began before a view was renamed knows it by the name that it had.
        """
        holders = [
            one.view.name for one in self._living.values() if one.choice == "frozen" and one.view.shape.below & tables
        ]
        if not any(f'"{name}' in ours.message for name in holders) or "retroactive" not in ours.message:
            self._fail(f"refused, where {holders} are frozen: {ours.message}")

    def _check_not_frozen(self, write: Write, ours: Answer) -> None:
        """Raise MismatchError where a table was changed that a frozen view has in its stream
        pipeline for sure.
        """
        tables = self._changed_by(write)
        if ours.sqlstate or not tables:
            return
        self._case.counts["life change made"] += 1
        holders = [
            one.name for one in self._living.values() if one.choice == "frozen" and one.view.shape.frozen & tables
        ]
        if holders and not ours.tag.endswith(" 0"):
            self._fail(f"{write.text} changed a table under the frozen views {holders}")

    def _settle(self) -> None:
        """Give what PostgreSQL has committed its place in the order of commits, and replay it for
        the views that join on arrival.
        """
        for letter in STREAMS:
            if letter not in self._relations:
                continue
            name = self._relations[letter]
            if not self._ask(f"SELECT 1 FROM {name} LIMIT 1"):
                continue
            for one in self._living.values():
                for met, source in zip(one.met, one.view.shape.sources, strict=bool(one.met)):
                    if f"{{{letter}}}" in source and one.is_active:
                        self._ask(f"INSERT INTO {met} {source.format_map(self._relations)}")
            self._ask(
                f"WITH moved AS (DELETE FROM {name} RETURNING *) "
                f"INSERT INTO {name}_log ({COLUMNS}) SELECT {COLUMNS} FROM moved ORDER BY n"
            )

    def _burst(self, step: Step) -> None:
        """Let the sessions write at the same time, while another one reads the views; then do the
        same in PostgreSQL, one by one.
        """
        together = {
            session: [write for write in writes if self._is_there(write)] for session, writes in step.together.items()
        }
        if any(one.choice == "arrival" for one in self._living.values()):
            together.pop(CHANGER, None)
        self._story.append(f"-- at the same time: {', '.join(together)}")
        done = Event()

        def write(session: str) -> list[Answer]:
            return [do_write(self._ours[session], one, ()) for one in together[session]]

        def read() -> None:
            while True:
                for one in self._living.values():
                    answer = simple(self._ours[READER], f"SELECT * FROM {one.name}")
                    if answer.sqlstate:
                        self._fail(f"a read of {one.name} beside writers: {answer.message}")
                if done.is_set():
                    return

        with ThreadPoolExecutor(len(together) + 1) as pool:
            reading = pool.submit(read)
            answers = {session: pool.submit(write, session) for session in together}
            try:
                for answer in answers.values():
                    answer.result()
            finally:
                done.set()
            reading.result()
        # Readers have seen the views in the midst of it; what they read last is what there is now.
        for session, writes in together.items():
            for one, ours in zip(writes, answers[session].result(), strict=True):
                self._mirror(session, one, ours)
        for living in self._living.values():
            simple(self._ours[READER], f"SELECT * FROM {living.name}")
        self._remember()

    def _read(self, step: Step) -> None:
        names = list(self._living)
        # What reads other views may show what these were before it was there.
        lowest = [name for name, one in self._living.items() if not one.view.shape.views]
        if step.word == "stale" and lowest:
            self._read_stale(self._random.choice(lowest))
            return
        if step.word == "one" and names:
            names = [self._random.choice(names)]
        session = self._random.choice([*WRITERS, READER, READER])
        if self._ours[session].info.transaction_status != pq.TransactionStatus.IDLE:
            session = READER
        for name in names:
            text = f"SELECT * FROM {self._living[name].name}"
            self._story.append(text)
            self._case.counts["statements"] += 1
            compare(simple(self._ours[session], text), simple(self._admin, text), ordered=False, story=self._story)
            self._story.pop()
        self._remember()

    def _remember(self) -> None:
        """Keep what views show, since a version of each may have been made."""
        for one in self._living.values():
            one.shown.append(simple(self._admin, f"SELECT * FROM {one.name}"))

    def _read_stale(self, name: str) -> None:
        """Read an answer that may be old: it is the present one, or one that somebody has read
        since the view was defined.
        """
        one = self._living[name]
        text = f"SELECT * FROM {one.name}"
        self._story += ["SET view_staleness = '1h'", text]
        self._ours[READER].execute(b"SET view_staleness = '1h'")
        try:
            ours = simple(self._ours[READER], text)
        finally:
            self._ours[READER].execute(b"RESET view_staleness")
        theirs = simple(self._admin, text)
        if not any(ours.same_as(shown, ordered=False) for shown in one.shown):
            self._case.counts["life stale read of the present"] += 1
            compare(ours, theirs, ordered=False, story=self._story)
        self._remember()

    # What is defined.

    def _view(self, step: Step) -> None:
        view = step.view
        assert view is not None
        old = self._living.get(view.name)
        reads = {name for text in (view.shape.text, *view.shape.sources) for name in NAME.findall(text)}
        reads = {name for name in reads if not PLACES.fullmatch(name)}
        if not reads <= {*self._relations, *self._living} or view.replaces != (old is not None):
            return
        # A view that reads views only is an ordinary one.
        chooses = bool(view.choice and reads & set(STREAMS))
        options = [f"stream_join = {view.choice}"] * chooses + ["reset = true"] * view.reset
        name = old.name if old is not None else view.name
        head = f"CREATE {'OR REPLACE ' * view.replaces}VIEW {name}"
        query = view.shape.text.format_map(self._places(view.shape.sources))
        shown = f" WITH ({', '.join(options)})" if options else ""
        text = f"{head}{shown} AS {query}"
        self._story.append(text)
        ours = simple(self._ours[ADMIN], text)
        self._case.counts["statements"] += 1
        one = Living(view, view.choice or self._case.default_choice, reads, name)
        if old is not None and not view.reset:
            one.choice, one.met, one.ranges = old.choice, old.met, old.ranges
        else:
            one.ranges = [(self._last_number(), None)]
            self._make_met(one)
        theirs = simple(self._admin, f"{head} AS {self._oracle_text(one)}")
        if is_refused(ours, theirs, self._case.counts):
            if old is None:
                self._ask(f"DROP VIEW {name}")
            else:
                self._ask(f"CREATE OR REPLACE VIEW {name} AS {self._oracle_text(old)}")
            return
        compare(ours, theirs, ordered=True, story=self._story)
        if not ours.sqlstate:
            self._living[view.name] = one
            self._forget(view.name)

    def _last_number(self) -> int:
        ((number,),) = self._ask(
            f"SELECT max(n) FROM (SELECT 0 AS n UNION ALL SELECT n FROM {self._case.relations['p']}_log "
            f"UNION ALL SELECT n FROM {self._case.relations['q']}_log) AS u"
        )
        return int(str(number))

    def _places(self, sources: list[str]) -> dict[str, str]:
        """Return what our text has for the names in braces."""
        names = {**self._relations, **{name: one.name for name, one in self._living.items()}, "tie": ""}
        return {**names, **{f"m{index}": f"({source.format_map(names)})" for index, source in enumerate(sources)}}

    def _oracle_text(self, one: Living) -> str:
        """Return the query of a view as PostgreSQL gets it."""
        names = {**self._relations, **{name: other.name for name, other in self._living.items()}, "tie": ", s.n"}
        for letter in STREAMS:
            log = f"{self._case.relations[letter]}_log"
            names[letter] = f"(SELECT {COLUMNS}, n FROM {log} WHERE {one.condition})"
        for index, source in enumerate(one.view.shape.sources):
            names[f"m{index}"] = one.met[index] if one.met else f"({source.format_map(names)})"
        return one.view.shape.text.format_map(names)

    def _make_met(self, one: Living) -> None:
        """Make PostgreSQL's tables of what the sources of a view that joins on arrival yield."""
        if one.choice != "arrival":
            return
        for source in one.view.shape.sources:
            one.met.append(f"met{self._case.seed}_{self._met_count}")
            self._met_count += 1
            self._ask(f"CREATE UNLOGGED TABLE {one.met[-1]} AS {source.format_map(self._relations)} WITH NO DATA")

    def _rename(self, step: Step) -> None:
        one = self._living.get(step.name)
        if one is None:
            return
        text = f"ALTER VIEW {one.name} RENAME TO {one.name}r"
        self._story.append(text)
        ours, theirs = simple(self._ours[ADMIN], text), simple(self._admin, text)
        if is_refused(ours, theirs, self._case.counts):
            self._ask(f"ALTER VIEW {one.name}r RENAME TO {one.name}")
            return
        compare(ours, theirs, ordered=True, story=self._story)
        one.name += "r"

    def _state(self, step: Step) -> None:
        """Empty a view, or stop it and let it go on."""
        one = self._living.get(step.name)
        if one is None or one.view.shape.views:
            return
        text = f"SELECT {step.word}('{one.name}')"
        self._story.append(text)
        ours = simple(self._ours[ADMIN], text)
        if ours.sqlstate in WRONG_KIND:
            self._case.counts[f"life {step.word} refused {ours.sqlstate}"] += 1
            return
        if ours.sqlstate:
            self._fail(ours.message)
        number = self._last_number()
        start, end = one.ranges[-1]
        match step.word:
            case "truncate_continuous_view":
                one.ranges = [(number, end if end is None else number)]
                for met in one.met:
                    self._ask(f"TRUNCATE {met}")
            case "deactivate" if end is None:
                one.ranges[-1] = (start, number)
            case "activate" if end is not None:
                one.ranges.append((number, None))
        self._ask(f"CREATE OR REPLACE VIEW {one.name} AS {self._oracle_text(one)}")
        if step.word == "truncate_continuous_view":
            self._forget(step.name)

    def _forget(self, changed: str) -> None:
        """Versions that were read before a definition changed may not be read again, neither of the
        view nor of those above it.
        """
        for name in (changed, *self._dependents(changed)):
            self._living[name].shown.clear()
        self._remember()

    def _drop(self, step: Step) -> None:
        letter = next((letter for letter, name in self._relations.items() if name == step.name), step.name)
        if letter not in self._relations and letter not in self._living:
            return
        gone = self._dependents(letter)
        shown = self._living[letter].name if letter in self._living else self._relations[letter]
        kind = "VIEW" if letter in self._living else "FOREIGN TABLE" if letter in STREAMS else "TABLE"
        text = f"DROP {kind} {shown}{step.word}"
        self._story.append(text)
        ours = simple(self._ours[ADMIN], text)
        if gone and step.word != " CASCADE":
            if ours.sqlstate != DEPENDED_ON:
                self._fail(f"{gone} need it: {ours.sqlstate} {ours.message}")
            return
        if ours.sqlstate or ours.tag != f"DROP {kind}":
            self._fail(f"{ours.sqlstate} {ours.tag} {ours.message}")
        for name in (*gone, letter):
            if name in self._living:
                one = self._living.pop(name)
                self._ask(f"DROP VIEW IF EXISTS {one.name} CASCADE")
                after = simple(self._ours[ADMIN], f"SELECT * FROM {one.name}")
                if after.sqlstate != "42P01":
                    self._fail(f"{one.name} is still there: {after.sqlstate}")
        if letter in self._relations:
            self._ask(f"DROP TABLE {self._relations.pop(letter)} CASCADE")

    def _dependents(self, name: str) -> list[str]:
        """Return the views that need a relation, those that need others first."""
        found: list[str] = []
        for other, one in self._living.items():
            if name in one.reads and other not in found:
                found += [further for further in self._dependents(other) if further not in found]
                found.append(other)
        return found
