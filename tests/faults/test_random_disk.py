"""Random lives of the simulated disk: as a real one while the power is on, and after a power loss
what a plain model allows.
"""

from __future__ import annotations

import errno
import random
from dataclasses import dataclass
from pathlib import Path

import pytest

from engine.storage.storage import DiskStorage, Storage
from tests.faults.disk_model import NOTHING, ModelDisk, contents, everything
from tests.faults.simulated_storage import Failure, SimulatedStorage

FOLDER = Path("/data")
NAMES = ("a", "b", "c")
KINDS = ("write", "write", "write", "sync", "truncate", "create", "rename", "remove", "sync_folder")
FILE_BYTES_MAX = 12


@dataclass(frozen=True)
class Step:
    """Something to be done. other: the new name; size: of the new file, or to truncate to."""

    kind: str
    name: str
    other: str
    position: int
    size: int
    data: bytes


def random_step(chance: random.Random) -> Step:
    position, size = chance.randrange(FILE_BYTES_MAX), chance.randrange(FILE_BYTES_MAX)
    data = chance.randbytes(chance.randrange(FILE_BYTES_MAX))
    return Step(chance.choice(KINDS), chance.choice(NAMES), chance.choice(NAMES), position, size, data)


def do(step: Step, storage: Storage, folder: Path = FOLDER) -> int | None:
    """Do a step; return the code of the error that it was answered with."""
    path = folder / step.name
    try:
        match step.kind:
            case "create":
                storage.create(path, step.size).close()
            case "rename":
                storage.rename(path, folder / step.other)
            case "remove":
                storage.remove(path)
            case "sync_folder":
                storage.sync_folder(folder)
            case kind:
                file = storage.open(path)
                if kind == "write":
                    file.write(step.position, step.data)
                elif kind == "sync":
                    file.sync()
                else:
                    file.truncate(step.size)
                file.close()
    except OSError as error:
        return error.errno
    return None


def test_as_a_disk_while_the_power_is_on(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    chance = random.Random(pytestconfig.getoption("--seed"))
    simulated, disk = SimulatedStorage(0, FOLDER), DiskStorage()
    for _ in range(1000):
        step = random_step(chance)
        assert do(step, simulated) == do(step, disk, tmp_path), step
        assert everything(simulated, FOLDER) == everything(disk, tmp_path), step


def follow(step: Step, code: int | None, model: ModelDisk, storage: SimulatedStorage) -> None:
    """Let the model do what was just done."""
    if code == errno.ENOENT:
        assert model.names[step.name].now is NOTHING
        return
    failed = code is not None
    match step.kind:
        case "create" if failed:
            model.fail_to_create(step.name, step.size)
        case "create":
            model.create(step.name, step.size)
        case "write" if failed:
            model.file(step.name).write_some(step.position, step.data, contents(storage, FOLDER / step.name))
        case "write":
            model.file(step.name).write(step.position, step.data)
        case "sync" | "sync_folder":
            for cell in model.names.values() if step.kind == "sync_folder" else model.file(step.name).cells:
                cell.fail_to_sync() if failed else cell.sync()
        case "truncate" if not failed:
            model.file(step.name).truncate(step.size)
        case "rename" if not failed:
            model.rename(step.name, step.other)
        case "remove" if not failed:
            model.names[step.name].set(NOTHING)


def test_the_image_is_a_function_of_the_seed() -> None:
    def images(seed: int) -> list[dict[str, bytes]]:
        storage, chance, found = SimulatedStorage(seed, FOLDER), random.Random(7), []
        for _ in range(3):
            for _ in range(30):
                do(random_step(chance), storage)
            storage = storage.crash()
            found.append(everything(storage, FOLDER))
        return found

    assert images(1) == images(1)
    assert len({str(images(seed)) for seed in range(10)}) == 10


def test_a_power_loss_leaves_what_the_model_allows(pytestconfig: pytest.Config) -> None:
    seed = pytestconfig.getoption("--seed")
    print(f"seed {seed}")
    seen, possible = 0, 0
    for life in range(max(pytestconfig.getoption("--cases") // 4, 20)):
        chance = random.Random(seed + life)
        storage = SimulatedStorage(seed + life, FOLDER)
        for _ in range(3):
            model = ModelDisk(NAMES, everything(storage, FOLDER), 2 * FILE_BYTES_MAX)
            if chance.random() < 0.7:
                storage.fail_at(chance.randint(1, 20), Failure.ONCE)
            for _ in range(chance.randint(1, 20)):
                step = random_step(chance)
                follow(step, do(step, storage), model, storage)
                assert everything(storage, FOLDER) == {
                    name: model.file(name).now for name in NAMES if model.names[name].now is not NOTHING
                }
            images = [everything(storage.crash(number), FOLDER) for number in range(40)]
            for image in images:
                assert model.may_be(image), (life, image)
            # What may be is seen, too: names that are there and that are not.
            for name in NAMES:
                possible += len({file is NOTHING for file in model.names[name].may_be})
                seen += len({name not in image for image in images})
            storage = storage.crash()
    assert 0.98 * possible < seen <= possible
