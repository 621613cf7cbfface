"""The soak: clients insert numbered tuples, their server dies again and again, and after each start
it must say what it has promised.

Enters: a folder, a seed, bounds. Leaves: counts of what was met. Raises BrokenPromiseError at the
first promise that is not kept.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import psycopg

from tests.soak.client import SoakClient, Watch
from tests.soak.kills import IN_CHECKPOINT, Killer
from tests.soak.ledger import BrokenPromiseError, Death, Ledger, Life, Settlement, State
from tests.soak.pulse import Pulse
from tests.soak.schema import STREAMS, observe, statements
from tests.soak.victim import Victim

CLIENTS = 8
# The kinds of kills that are to be met most of all, and how they are counted.
KINDS = (IN_CHECKPOINT, "kill inside recovery", "kill inside a mixed commit")
SETTINGS = {
    "checkpoint_log_bytes": ("1MB", "4MB", "1GB"),
    "checkpoint_interval_s": ("0", "0.5", "300"),
    "log_flush_interval_ms": ("50", "200"),
}


class Soak:
    """One server, its clients, and what they know. set_up() once, then live() again and again,
    finish() at the end.
    """

    def __init__(self, victim: Victim, seed: int, counts: Counter[str]) -> None:
        self.victim = victim
        self.ledger = Ledger()
        self.counts = counts
        self._draw = random.Random(seed)
        self._clients = [SoakClient(number, seed) for number in range(CLIENTS)]
        self._killer = Killer(victim, self._draw, 0.0, counts)
        self._life = 0
        self._ways: tuple[tuple[int, str, Callable[[Watch], Death]], ...] = (
            (2, "at a random moment", self._killer.at_random),
            (3, "at a checkpoint", self._killer.in_checkpoint),
            (3, "at a mixed commit", self._killer.in_mixed_commit),
            (1, "asked to stop", self._killer.asked_to_stop),
        )

    @property
    def kills(self) -> int:
        """How many processes were killed."""
        return self.counts["kills"]

    def set_up(self) -> None:
        """Start a server for the first time and make the relations."""
        self._launch()
        self.victim.wait_ready()
        with psycopg.connect(self.victim.dsn, autocommit=True) as connection:
            for text in statements():
                connection.execute(text.encode())

    def live(self) -> None:
        """Let the clients work until the server dies; start it again, with some kills on the way,
        and look at what is there.
        """
        self._life += 1
        mode = self._draw.choice(("all on", "all on", "all off", "each its own"))
        lives = [
            Life(client.number, self._life, mode == "all on" or (mode != "all off" and self._draw.random() < 0.5))
            for client in self._clients
        ]
        watch = Watch()
        death = self._die(lives, watch)
        self._count_in_flight(lives)
        self._restart(self._draw.choice((0, 0, 1, 1, 2)))
        settlements = self._settle(lives, death)
        self.counts["lost beyond the window, as late as the machine was"] += sum(
            death.is_beyond(unit) for settlement in settlements for unit in settlement.lost
        )
        if mode == "all on":
            self._require_seen(watch)
        self._count(settlements, lives)

    def finish(self) -> None:
        """Stop the server; what is there after that must be what was there before."""
        self.victim.ask_to_stop()
        assert self.victim.wait_stopped() == 0
        self._restart(0)
        self._settle([], Death(0.0, 0.0))
        self.victim.ask_to_stop()
        assert self.victim.wait_stopped() == 0

    # One life.

    def _die(self, lives: list[Life], watch: Watch) -> Death:
        weights = [weight for weight, _, _ in self._ways]
        [(_, name, way)] = self._draw.choices(self._ways, weights)
        self.counts[f"life that ends {name}"] += 1
        with Pulse(self.victim.folder.parent) as pulse, ThreadPoolExecutor(CLIENTS) as pool:
            running = [
                pool.submit(client.live, self.victim.dsn, life, watch)
                for client, life in zip(self._clients, lives, strict=True)
            ]
            try:
                death = way(watch)
                # A flush waits for its turn, and then for the disk.
                death = replace(death, late_s=2 * pulse.late_s)
                self.counts["ms that the machine was late at most"] = max(
                    self.counts["ms that the machine was late at most"], round(1000 * pulse.late_s)
                )
            finally:
                # Whatever happened, the clients end when the server does.
                self.victim.kill()
            for one in running:
                one.result()
        self.counts["kills"] += death.window_s > 0
        return death

    def _launch(self) -> None:
        settings = {name: self._draw.choice(values) for name, values in SETTINGS.items()}
        self._killer.window_s = 2 * int(settings["log_flush_interval_ms"]) / 1000
        self.victim.launch({"log_segment_bytes": "1MB", **settings})

    def _restart(self, kills: int) -> None:
        """Start the server; so many times it is killed again before it is ready, mostly in its
        recovery.
        """
        for _ in range(kills):
            self._kill_in_recovery()
        self._launch()
        try:
            self.victim.wait_ready()
        except RuntimeError as error:
            raise BrokenPromiseError(str(error)) from error

    def _kill_in_recovery(self) -> None:
        self._launch()
        begun = self.victim.wait_for(self.victim.is_recovering, self._has_got_somewhere)
        moment_s = time.monotonic() + self._draw.uniform(0, self.victim.recovery_s)
        self.victim.wait_until(moment_s, self._has_got_somewhere)
        if self.victim.has_ended:
            # It says why in the next start, which nobody kills.
            return
        self.victim.kill()
        self.counts["kills"] += 1
        if self.victim.was_ready():
            self.counts["kill behind recovery"] += 1
        else:
            self.counts["kill inside recovery" if begun else "kill before recovery"] += 1

    def _has_got_somewhere(self) -> bool:
        return self.victim.has_spoken or self.victim.has_ended

    def _settle(self, lives: list[Life], death: Death) -> list[Settlement]:
        with psycopg.connect(self.victim.dsn, autocommit=True) as connection:
            return self.ledger.check(lives, observe(connection), death)

    def _require_seen(self, watch: Watch) -> None:
        """With synchronous_commit on, what a reader has seen is there for ever."""
        for stream in STREAMS:
            rows = self.ledger.rows(stream).rows
            if rows < watch.seen[stream]:
                raise BrokenPromiseError(f"{watch.seen[stream]} rows of {stream} were seen, {rows} are there")

    # What was met.

    def _count_in_flight(self, lives: list[Life]) -> None:
        self.counts["kill inside a mixed commit"] += any(
            unit.is_mixed and unit.state is State.SENT for life in lives for unit in life.units
        )

    def _count(self, settlements: list[Settlement], lives: list[Life]) -> None:
        for life, settlement in zip(lives, settlements, strict=True):
            kept = set(map(id, settlement.kept))
            for unit in settlement.in_flight:
                self.counts["in flight, and there" if id(unit) in kept else "in flight, and not there"] += 1
            self.counts["acknowledged with off and lost in the window"] += len(settlement.lost)
            for unit in life.units:
                self.counts[f"transaction {unit.state.value}"] += 1
                if unit.state is State.ACKNOWLEDGED:
                    rows = sum(tally.rows for relation, tally in unit.effects.items() if relation in STREAMS)
                    self.counts["tuples acknowledged"] += rows
