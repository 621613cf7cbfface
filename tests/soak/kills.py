"""The ways in which a server of the soak ends: at any moment, inside a checkpoint, inside a mixed
COMMIT, or asked to.

Enters: a victim that clients are busy with. Leaves: the moment of its death, and which of the kinds
it really was, seen from outside: a CHECKPOINT that was sent and not answered, a file that was being
written.
"""

from __future__ import annotations

import random
import select
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass

import psycopg
from psycopg.pq import ExecStatus

from tests.soak.client import Connection, ConnectionLostError, Watch, expect, flush, lost_when_it_ends
from tests.soak.ledger import Death
from tests.soak.victim import Victim

WORK_S_MAX = 1.5
WAIT_S_MAX = 10.0
STOP_S_MAX = 1.0
IN_CHECKPOINT = "kill inside a checkpoint"


@dataclass
class Killer:
    """Ends a server. checkpoint_s: how long a checkpoint took lately. counts: what was met."""

    victim: Victim
    draw: random.Random
    window_s: float
    counts: Counter[str]
    checkpoint_s: float = 0.05

    def at_random(self, _: Watch) -> Death:
        """Kill at any moment."""
        time.sleep(self.draw.uniform(0, WORK_S_MAX))
        return self._kill()

    def in_checkpoint(self, _: Watch) -> Death:
        """Send CHECKPOINT, and kill before it is answered."""
        time.sleep(self.draw.uniform(0, WORK_S_MAX))
        with closing(psycopg.connect(self.victim.dsn, autocommit=True)) as connection:
            send_checkpoint(connection)
            begun_s = time.monotonic()

            def is_answered() -> bool:
                return bool(select.select([connection.pgconn.socket], [], [], 0)[0])

            # From the sending, which meets what comes before and after the file; or from the
            # moment when the file is there.
            if self.draw.random() < 0.5:
                self.victim.wait_for(self.victim.is_writing_checkpoint, is_answered)
            moment_s = time.monotonic() + self.draw.uniform(0, self.checkpoint_s)
            in_time = self.victim.wait_until(moment_s, is_answered)
            took_s = time.monotonic() - begun_s
            self.checkpoint_s = self.checkpoint_s * 1.05 if in_time else (3 * self.checkpoint_s + took_s) / 4
            death, is_writing = self._look_and_kill()
            if took_answer(connection):
                self.counts["kill behind a checkpoint"] += 1
            else:
                # One with its file open is counted already.
                self.counts[IN_CHECKPOINT] += not is_writing
            return death

    def in_mixed_commit(self, watch: Watch) -> Death:
        """Kill between a client's COMMIT of a table and a stream and its answer; the ledger counts
        which it was.
        """
        time.sleep(self.draw.uniform(0, WORK_S_MAX))
        watch.mixed_sent.clear()
        watch.mixed_sent.wait(WAIT_S_MAX)
        time.sleep(self.draw.uniform(0, watch.mixed_s))
        return self._kill()

    def asked_to_stop(self, watch: Watch) -> Death:
        """Send SIGTERM, and wait for the end or kill before it."""
        time.sleep(self.draw.uniform(0, WORK_S_MAX))
        watch.is_stopping = True
        self.victim.ask_to_stop()
        if self.draw.random() < 0.5:
            assert self.victim.wait_stopped() == 0
            self.counts["clean stop"] += 1
            return Death(time.monotonic(), 0.0)
        time.sleep(self.draw.uniform(0, STOP_S_MAX))
        has_ended = self.victim.has_ended
        death = self._kill()
        if has_ended:
            self.counts["clean stop"] += 1
            return Death(death.at_s, 0.0)
        self.counts["kill while it stops"] += 1
        return death

    def _kill(self) -> Death:
        return self._look_and_kill()[0]

    def _look_and_kill(self) -> tuple[Death, bool]:
        """Kill, and tell whether a checkpoint's file was open just before; the server makes
        checkpoints by itself too.
        """
        is_writing = self.victim.is_writing_checkpoint()
        death = Death(time.monotonic(), self.window_s)
        self.victim.kill()
        self.counts[IN_CHECKPOINT] += is_writing
        self.counts[f"{IN_CHECKPOINT}, its file open"] += is_writing
        return death, is_writing


def send_checkpoint(connection: Connection) -> None:
    """Send CHECKPOINT without waiting for its answer."""
    with lost_when_it_ends(connection):
        connection.pgconn.send_query(b"CHECKPOINT")
    flush(connection)


def took_answer(connection: Connection) -> bool:
    """Tell whether a server that is dead has answered before. Raises psycopg.Error for an answer
    that is an error.
    """
    try:
        expect(connection, ExecStatus.COMMAND_OK)
    except ConnectionLostError:
        return False
    return True
