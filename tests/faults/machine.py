"""A machine whose disk may fail and whose power may go, and the processes of the database that run
on it one after the other.

Enters: a folder, a plan of failures. Leaves: worlds, each on what its predecessor has left. The log
and the checkpoints are on a simulated disk. The file of the tables is real, because DuckDB writes
it itself; what a power loss leaves of it is the folder as it was at the last COMMIT, without the
names that were not durable. Kernels are not of this disk: each is compiled once per test run.
"""

from __future__ import annotations

import asyncio
import shutil
import threading
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random

import pytest

import engine.database
import engine.embedded.query_engine
import views.upkeep.kernels
from engine.log.commit_log import CommitLog
from engine.log.segments import Segments
from engine.storage.kernel_files import KernelFiles
from engine.storage.storage import TableConnection
from engine.tables.table_store import FILE_NAME, WRITE_AHEAD_SUFFIX
from ringbuffer.compile.loader import Compile, Kernel, load_kernel
from tests.end_to_end.raw_client import Answer, in_full
from tests.engine.embedded_upper import EmbeddedUpper
from tests.engine.session_client import STARTUP, SessionClient, World
from tests.faults.disk_images import Folder
from tests.faults.simulated_storage import PowerLossError, SimulatedStorage
from views.model.protocols import Clock

TABLE_FILES = (FILE_NAME, FILE_NAME + WRITE_AHEAD_SUFFIX)
# Messages that a server first takes for a packet.
PACKETS = (b"B", b"Q")
POLL_S = 0.01
# Kernels are compiled among others who do the same.
ANSWER_S_MAX = 300.0
# Small, so that tuples are overwritten.
SETTINGS: dict[str, object] = {
    "stream_capacity_default": 1024,
    "log_flush_interval_ms": 10_000,
    "copy_block_bytes": 1 << 17,
}


class MachineDisk(SimulatedStorage):
    """The disk of a machine. tables: the real folder of the table engine's file, which is
    `data_dir` as well.

    commits_late: COMMIT of the table engine returns before it is durable.
    """

    def __init__(self, seed: int, tables: Path) -> None:
        super().__init__(seed, tables)
        self.tables = tables
        self.commits_late = False
        self._durable_names: set[str] = set()
        self._late = tables.with_name(tables.name + "_late")

    def commit_tables(self, connection: TableConnection) -> None:
        if self.commits_late:
            copy_tables(self.tables, self._late, TABLE_FILES)
        super().commit_tables(connection)

    def sync_folder(self, path: Path) -> None:
        super().sync_folder(path)
        if path == self.tables and not self._is_ignored(path):
            self._durable_names = {name for name in TABLE_FILES if (self.tables / name).exists()}

    def after_kill(self, tables: Path) -> MachineDisk:
        """Return the disk as the next process finds it in `tables` when this one is gone. This one
        is off.
        """
        with self._lock:
            self._is_off = True
        copy_tables(self.tables, tables, TABLE_FILES)
        return self._moved(tables, self._folders, set(self._durable_names))

    def after_power_loss(self, tables: Path, seed: int) -> MachineDisk:
        """Return what a power loss now leaves, as `seed` says, to be found in `tables`. This one is
        off.
        """
        after = self.crash(seed)
        chance = Random(f"{seed} {self.events} tables")
        names = [name for name in TABLE_FILES if name in self._durable_names or chance.random() < 0.5]
        copy_tables(self._late if self._late.exists() else self.tables, tables, names)
        return self._moved(tables, after._folders, set(TABLE_FILES))

    def _moved(self, tables: Path, folders: dict[Path, Folder], durable_names: set[str]) -> MachineDisk:
        """Return a disk with these folders; what was below our folder is below the other one."""
        disk = MachineDisk(self.seed, tables)
        disk._folders |= {
            tables / path.relative_to(self.tables) if path.is_relative_to(self.tables) else path: folder
            for path, folder in folders.items()
        }
        disk._ignored = self._ignored
        disk._durable_names = durable_names
        disk.commits_late = self.commits_late
        return disk


def copy_tables(source: Path, target: Path, names: tuple[str, ...] | list[str]) -> None:
    """Make `target` a folder with those of the files of the table engine that are there."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    for name in names:
        if (source / name).exists():
            shutil.copyfile(source / name, target / name)


class Machine:
    """Runs one process at a time. disk: of the present or next one; `disk.is_off` once its power is
    gone.
    """

    def __init__(self, folder: Path, seed: int = 0, clock: Clock | None = None) -> None:
        """Make one with an empty disk, whose real files are in a new folder. seed: of what a
        failure leaves.
        """
        folder.mkdir()
        self._folder = folder
        self._clock = clock
        self._generation = 0
        self.world: World | None = None
        self.disk = MachineDisk(seed, self._next_folder())

    def start(self) -> World:
        """Start the database. Raises what keeps it from starting, PowerLossError among it."""
        assert self.world is None, "one process at a time"
        try:
            self.world = World(self.disk.tables, self.disk, self._clock, None, **SETTINGS)
        except BaseException:
            if self.disk.is_off:
                raise PowerLossError("the power went off during the start") from None
            raise
        # All of an opened database but Spark.
        self.world.database.checkpoints.start(self.world.last_checkpoint)
        return self.world

    def client(self) -> MachineClient:
        """Return a new session."""
        assert self.world is not None
        return MachineClient(self.world, self.disk)

    def stop(self) -> None:
        """Stop the database in order; what a failing disk makes of that is a matter of the next
        start. Raises PowerLossError.
        """
        assert self.world is not None
        world, self.world = self.world, None
        try:
            world.database.close()
        finally:
            world.abandon()
            if self.disk.is_off:
                raise PowerLossError("the power went off during the end")

    def restart(self) -> None:
        """Go on with the disk as the last process has left it, whose failures go on as well."""
        failures, trace = self.disk._failures, self.disk.trace
        self.kill()
        self.disk._failures, self.disk.trace = failures, trace

    def kill(self) -> None:
        """End the process, if there is one; nothing that it had not written is there, everything
        else is.
        """
        self._abandon(self.disk.after_kill(self._next_folder()))

    def lose_power(self, seed: int) -> None:
        """Let the power go off, if it has not yet, and come back."""
        self._abandon(self.disk.after_power_loss(self._next_folder(), seed))

    def image(self, seed: int) -> Machine:
        """Return a machine that has lost its power just now, to be looked at beside others. This
        one's power is off.
        """
        machine = Machine(self._folder / f"image_{seed}", seed, self._clock)
        machine.disk = self.disk.after_power_loss(machine._next_folder(), seed)
        return machine

    def end(self) -> None:
        """Give back what the processes held."""
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _abandon(self, disk: MachineDisk) -> None:
        old, self.disk = self.disk, disk
        world, self.world = self.world, None
        if world is not None:
            world.abandon()
        shutil.rmtree(old.tables, ignore_errors=True)

    def _next_folder(self) -> Path:
        self._generation += 1
        path = self._folder / f"process_{self._generation}"
        path.mkdir()
        return path


class MachineClient(SessionClient):
    """A session on a machine: asking it raises PowerLossError when the power goes off before it
    answers.
    """

    def __init__(self, world: World, disk: MachineDisk) -> None:
        self._disk = disk
        super().__init__(world, STARTUP)

    def say(self, data: bytes) -> list[Answer]:
        """Send messages and return all answers in full; a packet goes the way of packets, if it
        can.
        """
        if data[:1] not in PACKETS or not self._runner.run(self._packet(data)):
            self._runner.run(self._handle(data))
        return [in_full(kind, body) for kind, body in self._taken()]

    async def _handle(self, data: bytes) -> None:
        await self._while_on(super()._handle(data))

    async def _packet(self, packet: bytes) -> bool:
        return await self._while_on(super()._packet(packet))

    async def _while_on(self, work: Awaitable[bool] | Awaitable[None]) -> bool:
        """Do the work. Callbacks and threads that the power loss has ended answer no more, so that
        it is asked for as well.
        """
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(self._lost)
        task = asyncio.ensure_future(work)
        waited_s = 0.0
        while not task.done() and not self._disk.is_off:
            assert waited_s < ANSWER_S_MAX, "no answer"
            _, waiting = await asyncio.wait({task}, timeout=POLL_S)
            waited_s += POLL_S if waiting else 0
        if self._disk.is_off:
            task.cancel()
            with suppress(asyncio.CancelledError, PowerLossError):
                await task
            raise PowerLossError("the power went off before the answer")
        return bool(task.result())

    @staticmethod
    def _lost(loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        if not isinstance(context.get("exception"), PowerLossError):
            loop.default_exception_handler(context)


@contextmanager
def shared_kernels(kernels: Path) -> Iterator[None]:
    """Let all databases share their compiled kernels. Threads that a power loss ends do so
    silently.
    """
    loaded: dict[tuple[object, ...], tuple[Kernel, Path]] = {}

    def load(
        folder: Path, name: str, text: str, function: str, types: list[str], compile_text: Compile
    ) -> tuple[Kernel, Path]:
        key = (name, text, function, *types)
        if key not in loaded:
            loaded[key] = load_kernel(kernels, name, text, function, types)
        return loaded[key]

    hook = threading.excepthook

    def quiet(arguments: threading.ExceptHookArgs) -> None:
        if not isinstance(arguments.exc_value, PowerLossError):
            hook(arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(views.upkeep.kernels, "load_kernel", load)
        patch.setattr(KernelFiles, "remove_unused", nothing)
        patch.setattr(engine.database, "SparkUpperExecutor", EmbeddedUpper)
        patch.setattr(threading, "excepthook", quiet)
        yield


@contextmanager
def fast_starts(kernels: Path) -> Iterator[None]:
    """Do so, and without the functions of the embedded engine: most of a start is to make these
    known. The log does nothing by the clock, and no segment is filled slowly: a busy machine would
    have an event more or less.
    """
    tend = CommitLog.tend
    with shared_kernels(kernels), pytest.MonkeyPatch.context() as patch:
        patch.setattr(CommitLog, "tend", lambda log, sync: None if sync else tend(log, sync))
        patch.setattr(Segments, "_fills_fast", lambda segments: bool(segments._kept))
        patch.setattr(engine.embedded.query_engine, "register_functions", nothing)
        yield


def nothing(*_: object) -> None:
    """Stand in for what is not done."""
