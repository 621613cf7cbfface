"""Some 600 shapes of costly statements in a small size: each is answered as PostgreSQL does or
refused, and another client is served.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import ModuleType

import pytest

from bench.asking import Asking, asking
from bench.long_statements import line, measured, set_up
from bench.shapes import continuous, nested
from bench.shapes.every import MODULES
from bench.shapes.table import Shape
from tests.oracle.antumbra import AntumbraServer

SCALE = 0.01
# Of those that compile views, and of those that nest, every fifth: all of them are long.
MANY = (continuous, nested)
EVERY = 5
# Of those, and of all of the others, `make test` takes one of so many parts.
PARTS = 10
# Of a loaded machine: what grows faster than its text, or what holds up the server, is far above
# them. The real figures are a bench's.
SECONDS_MAX = 30.0
OTHERS_WAIT_S_MAX = 5.0


def name_of(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2]


@pytest.fixture(scope="module")
def asked(server: AntumbraServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asking]:
    """Another client, which asks for one row again and again."""
    set_up(server.dsn)
    with asking(server.port, tmp_path_factory.mktemp("asked") / "asked") as other:
        yield other
    with server.connect() as connection:
        connection.execute("DROP FOREIGN TABLE shapes CASCADE; DROP TABLE shaped CASCADE")


@pytest.mark.turns(PARTS)
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("module", MODULES, ids=name_of)
def test_shapes(server: AntumbraServer, asked: Asking, module: ModuleType, part: int) -> None:
    shapes = list(module.TABLE.shapes.items())
    check_shapes(server, asked, (shapes[::EVERY] if module in MANY else shapes)[part::PARTS])


@pytest.mark.long
@pytest.mark.parametrize("module", MANY, ids=name_of)
def test_all_shapes_of_many(server: AntumbraServer, asked: Asking, module: ModuleType) -> None:
    check_shapes(server, asked, list(module.TABLE.shapes.items()))


def check_shapes(server: AntumbraServer, asked: Asking, shapes: list[tuple[str, Shape]]) -> None:
    began = time.monotonic()
    found = [measured(server.dsn, asked, name, shape, SCALE) for name, shape in shapes]
    wrong = [
        line(one)
        for one in found
        if not one.is_right or one.took_s > SECONDS_MAX or max(one.waits_s, default=0.0) > OTHERS_WAIT_S_MAX
    ]
    assert not wrong, "\n".join(wrong)
    # It was there all the time.
    assert not found or len(asked.waits_since(began)) > len(found)


def test_there_are_two_hundred() -> None:
    assert sum(len(module.TABLE.shapes) for module in MODULES) > 200
