"""docs/tour.md shows the rooms as they are, and names none that is not there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bench.rooms import PACKAGES, PAGE, arrows, page, reduced

TREE = Path(__file__).parents[1]
NAMED = re.compile(r"`((?:engine|views|sql|ringbuffer|tests|docs|bench)/[\w/.*]*)`")


def test_the_pictures_are_of_today() -> None:
    assert PAGE.read_text() == page(), "run python -m bench.rooms"


@pytest.mark.parametrize("package", PACKAGES)
def test_no_rooms_import_each_other(package: str) -> None:
    rooms = arrows(package)
    assert len(rooms) <= 30
    assert any(reduced(rooms).values())


def test_every_place_that_the_tour_names_is_there() -> None:
    names = NAMED.findall(PAGE.read_text())
    assert len(names) > 40
    missing = [name for name in names if not list(TREE.glob(name.rstrip("/")))]
    assert not missing
