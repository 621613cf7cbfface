"""Ledger of what each client was told, transaction by transaction, and whether a server that was
killed still says the same.

Enters: the transactions of each client's lives, the moment of the kill, and what the views and the
table say after the restart. Leaves: which transactions are there. Raises BrokenPromiseError for one
that is lost, doubled, or there by half. Must not know a connection.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeVar

Value = TypeVar("Value", int, str)


class BrokenPromiseError(AssertionError):
    """The server does not keep what it has acknowledged, or keeps half of something."""


@dataclass(frozen=True, slots=True)
class Tally:
    """The rows of a relation, folded as its views fold them. low, high: of the tuples' numbers;
    first, last: of their notes.
    """

    rows: int = 0
    total: int = 0
    low: int | None = None
    high: int | None = None
    first: str | None = None
    last: str | None = None

    def plus(self, other: Tally) -> Tally:
        """Return the tally of both."""
        return Tally(
            self.rows + other.rows,
            self.total + other.total,
            least(self.low, other.low),
            greatest(self.high, other.high),
            least(self.first, other.first),
            greatest(self.last, other.last),
        )


# A relation's name -> the tally of its rows; without those that have none.
Effects = Mapping[str, Tally]


class State(Enum):
    """How far a transaction came: never asked to commit, asked, acknowledged, or refused and rolled
    back.
    """

    OPEN = "open"
    SENT = "sent"
    ACKNOWLEDGED = "acknowledged"
    FAILED = "failed"


@dataclass(slots=True)
class Unit:
    """One transaction. what: its kind, for people. sent_s: when the message that commits it was
    sent; answered_s: when it was answered.
    """

    what: str
    is_mixed: bool = False
    state: State = State.OPEN
    effects: dict[str, Tally] = field(default_factory=dict)
    sent_s: float = 0.0
    answered_s: float = 0.0

    def add(self, relation: str, tally: Tally) -> None:
        """Count rows of a relation."""
        self.effects[relation] = self.effects.get(relation, Tally()).plus(tally)


@dataclass(slots=True)
class Life:
    """Deeds of one client between two starts of the server, in its order. waits_for_log: its
    synchronous_commit is on.
    """

    client: int
    number: int
    waits_for_log: bool
    units: list[Unit] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Death:
    """The end of a server. window_s: what synchronous_commit = off may lose before it; 0: it was
    shut down and lost nothing.

    late_s: how much later than it should be anything on the machine was at that time.
    """

    at_s: float
    window_s: float
    late_s: float = 0.0

    def is_beyond(self, unit: Unit) -> bool:
        """Tell whether a transaction was answered before the window began; how late the machine was
        is left out of account.
        """
        return unit.answered_s <= self.at_s - self.window_s


@dataclass(frozen=True, slots=True)
class Settlement:
    """How a life turned out. lost: acknowledged within the window and not there; in_flight: neither
    answered nor failed; kept: there.
    """

    kept: tuple[Unit, ...]
    lost: tuple[Unit, ...]
    in_flight: tuple[Unit, ...]


def settle(life: Life, observed: Effects, death: Death) -> Settlement:
    """Return which transactions of a life are there. Raises BrokenPromiseError unless they are the
    first so many, with all acknowledged.

    A connection's transactions commit one after the other, so what is there is a prefix, however
    many were in flight.
    """
    units = [unit for unit in life.units if unit.state in (State.SENT, State.ACKNOWLEDGED)]
    acknowledged = sum(unit.state is State.ACKNOWLEDGED for unit in units)
    assert all(unit.state is State.ACKNOWLEDGED for unit in units[:acknowledged]), "answers come in order"
    needed = acknowledged
    if not life.waits_for_log:
        while needed and may_be_lost(units[needed - 1], death):
            needed -= 1
    effects = fold(units[:needed])
    for count in range(needed, len(units) + 1):
        if effects == observed:
            return Settlement(tuple(units[:count]), tuple(units[count:acknowledged]), tuple(units[acknowledged:]))
        if count < len(units):
            add_to(effects, units[count])
    raise BrokenPromiseError(story(life, units, needed, acknowledged, observed, death))


def may_be_lost(unit: Unit, death: Death) -> bool:
    """Tell whether a session with synchronous_commit = off may lose an acknowledged transaction:
    never one on tables.
    """
    late_s = death.late_s if death.window_s else 0.0
    return not unit.is_mixed and unit.answered_s > death.at_s - death.window_s - late_s


def require_newest_lost(settlements: Iterable[Settlement]) -> None:
    """Raise BrokenPromiseError if something is lost and something that was only sent after its
    answer is there.
    """
    found = list(settlements)
    lost = min((unit.answered_s for one in found for unit in one.lost), default=None)
    kept = max((unit.sent_s for one in found for unit in one.kept), default=None)
    if lost is not None and kept is not None and kept > lost:
        raise BrokenPromiseError(
            f"a transaction is lost, and one that began to commit {kept - lost:.6f} s after it is there"
        )


def fold(units: Iterable[Unit]) -> dict[str, Tally]:
    """Return what transactions leave together."""
    effects: dict[str, Tally] = {}
    for unit in units:
        add_to(effects, unit)
    return effects


def add_to(effects: dict[str, Tally], unit: Unit) -> None:
    for relation, tally in unit.effects.items():
        effects[relation] = effects.get(relation, Tally()).plus(tally)


class Ledger:
    """All lives that are settled: they must never change again."""

    def __init__(self) -> None:
        self.settled: dict[tuple[int, int], dict[str, Tally]] = {}

    def check(
        self, lives: Iterable[Life], observed: Mapping[tuple[int, int], Effects], death: Death
    ) -> list[Settlement]:
        """Compare what is there, by client and life, with all that was; the lives given are settled
        by it. Raises BrokenPromiseError.
        """
        newest = {(life.client, life.number): life for life in lives}
        for key in self.settled.keys() | observed.keys():
            if key not in newest and self.settled.get(key, {}) != observed.get(key, {}):
                raise BrokenPromiseError(
                    f"client {key[0]}, life {key[1]} was settled as {self.settled.get(key, {})} and is now {observed.get(key, {})}"
                )
        settlements = [settle(life, observed.get(key, {}), death) for key, life in newest.items()]
        require_newest_lost(settlements)
        for key, settlement in zip(newest, settlements, strict=True):
            effects = fold(settlement.kept)
            if effects:
                self.settled[key] = effects
        return settlements

    def rows(self, relation: str) -> Tally:
        """Return the tally of all settled rows of a relation."""
        tally = Tally()
        for effects in self.settled.values():
            tally = tally.plus(effects.get(relation, Tally()))
        return tally


def story(life: Life, units: list[Unit], needed: int, acknowledged: int, observed: Effects, death: Death) -> str:
    """Say what is wrong with a life, and with which transaction, if it is one."""
    least_effects, most_effects = fold(units[:needed]), fold(units)
    commit = "on" if life.waits_for_log else "off"
    in_flight = len(units) - acknowledged
    lines = [f"client {life.client}, life {life.number}, synchronous_commit = {commit}:"]
    lines.append(
        f"  {needed} of {acknowledged} acknowledged transactions must be there, and {in_flight} in flight may be"
    )
    ages = [f"{death.at_s - unit.answered_s:.3f}" for unit in units[:acknowledged]]
    lines.append(f"  {death}; they were answered so many seconds before: {' '.join(ages[-20:])}")
    for relation in sorted(observed.keys() | most_effects.keys()):
        lines.append(f"  {relation}: {observed.get(relation)}")
        lines.append(f"    at least {least_effects.get(relation)}")
        lines.append(f"    at most  {most_effects.get(relation)}")
    for count in range(acknowledged, len(units) + 1):
        expected = fold(units[:count])
        for place, unit in enumerate(units):
            if differs_by(observed, expected, unit, -1):
                lines.append(f"  as if {count} were there without number {place} ({unit.what})")
            if differs_by(observed, expected, unit, 1):
                lines.append(f"  as if {count} were there and number {place} ({unit.what}) twice")
    for unit in life.units:
        if unit.state in (State.OPEN, State.FAILED) and differs_by(observed, fold(units[:needed]), unit, 1):
            lines.append(f"  as if one that never committed were there ({unit.what}, {unit.state.value})")
    return "\n".join(lines)


def differs_by(observed: Effects, expected: Effects, unit: Unit, sign: int) -> bool:
    """Tell whether two effects differ by one transaction, in numbers and sums of rows."""
    for relation in observed.keys() | expected.keys() | unit.effects.keys():
        mine, other, one = (each.get(relation, Tally()) for each in (observed, expected, unit.effects))
        if (mine.rows - other.rows, mine.total - other.total) != (sign * one.rows, sign * one.total):
            return False
    return True


def least(one: Value | None, other: Value | None) -> Value | None:
    """Return the lesser that there is; texts by their code points, whose order is that of their
    bytes.
    """
    return other if one is None else one if other is None else min(one, other)


def greatest(one: Value | None, other: Value | None) -> Value | None:
    return other if one is None else one if other is None else max(one, other)
