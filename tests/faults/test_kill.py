"""A server dies at any moment, or at its COMMIT, and is started again: all that was acknowledged is
there, and nothing by half.
"""

from __future__ import annotations

import os
import random
import signal
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from tests.faults.worker import ACCOUNTS, BALANCE, Fate, numbers, opened, work
from tests.oracle.forked import CONTEXT

pytestmark = pytest.mark.slow

WAIT_S_MAX = 60.0


@dataclass
class Account:
    """Words that the victims of one folder have told, and what must be true after each of them."""

    done: set[int] = field(default_factory=set)
    failed: set[int] = field(default_factory=set)
    made: set[int] = field(default_factory=set)
    values: list[int] = field(default_factory=list)
    open: int = 0

    def hear(self, message: tuple[object, ...]) -> None:
        """Take one message of a victim."""
        match message:
            case ("begun", int(n), bool(make)):
                self.open = n
                # A number that came to nothing comes again.
                self.made.discard(n)
                if make:
                    self.made.add(n)
            case ("done", int(n)):
                self.done.add(n)
                self.open = 0
            case ("failed", int(n)):
                self.failed.add(n)
                self.open = 0
            case ("value", int(value)):
                self.values.append(value)


def live(folder: Path, seed: int, fate: Fate, account: Account, moment: tuple[int, float] | None) -> None:
    """Let a victim work until it dies of its fate, or is killed so many messages and seconds after
    it was ready.
    """
    ours, theirs = CONTEXT.Pipe()
    victim = CONTEXT.Process(target=work, args=(folder, seed, fate, theirs))
    victim.start()
    theirs.close()
    if moment is not None:
        listen(ours, account, 1 + moment[0])
        time.sleep(moment[1])
        assert victim.pid is not None
        os.kill(victim.pid, signal.SIGKILL)
    listen(ours, account)
    victim.join(WAIT_S_MAX)
    assert victim.exitcode == (-signal.SIGKILL if moment is not None else 1)


def listen(pipe: Connection, account: Account, count: int | None = None) -> None:
    """Take so many messages, or all until the pipe breaks."""
    try:
        while count is None or count > 0:
            assert pipe.poll(WAIT_S_MAX), "the victim says nothing"
            account.hear(pipe.recv())
            count = None if count is None else count - 1
    except EOFError:
        assert count is None, "the victim died too early"


def check(folder: Path, account: Account, is_there: bool | None = None) -> None:
    """Look at what is left. is_there: whether the transaction that was open must be there; None: it
    may.
    """
    world = opened(folder)
    client = world.client()
    log = {row[0]: row[1] for row in numbers(client, "SELECT n, rows FROM log")}
    assert account.done <= log.keys(), account.done - log.keys()
    assert log.keys() <= account.done | {account.open}
    if is_there is not None:
        assert (account.open in log) == is_there
    parts = {row[0]: row[1] for row in numbers(client, "SELECT n, count(*) FROM part GROUP BY n")}
    assert parts == log
    [(total, count)] = numbers(client, "SELECT sum(balance), count(*) FROM account")
    assert (total, count) == (ACCOUNTS * BALANCE, ACCOUNTS)
    tables = {int(name.split("_")[1]) for name in world.database.catalog.image.entries if name.startswith("made_")}
    assert tables == account.made & log.keys()
    for n in tables:
        assert numbers(client, f"SELECT n FROM made_{n}") == [(n,)]
    assert len(set(account.values)) == len(account.values)
    [(value,)] = numbers(client, "SELECT nextval('numbers')")
    assert value not in account.values and value > max(account.values, default=0)
    account.values.append(value)
    # Rows that are there are guarded by their keys again.
    if log:
        assert any("23505" in line for line in client.ask(f"INSERT INTO log VALUES ({max(log)}, 0, false)"))
    account.done |= log.keys()
    account.open = 0
    world.close()


def test_killed_at_any_moment(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    seed = pytestconfig.getoption("--seed")
    chance = random.Random(seed)
    print(f"seed {seed}")
    account = Account()
    for number in range(max(pytestconfig.getoption("--cases") // 70, 2)):
        live(tmp_path, seed + number, Fate(), account, (chance.randint(0, 20), chance.uniform(0, 0.1)))
        check(tmp_path, account)
    assert account.done


@pytest.mark.turns(2)
@pytest.mark.parametrize(("what", "is_there"), [("dies before", False), ("dies after", True)])
def test_killed_at_commit(what: str, is_there: bool, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    seed = pytestconfig.getoption("--seed")
    chance = random.Random(seed)
    account = Account()
    for number in range(max(pytestconfig.getoption("--cases") // 92, 2)):
        live(tmp_path, seed + number, Fate(what, chance.randint(1, 12)), account, None)
        check(tmp_path, account, is_there)


def test_a_failed_commit_leaves_nothing(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    account = Account()
    live(tmp_path, pytestconfig.getoption("--seed"), Fate("fails", 4), account, (15, 0.0))
    check(tmp_path, account)
    assert len(account.failed) == 1 and not account.failed & account.done
