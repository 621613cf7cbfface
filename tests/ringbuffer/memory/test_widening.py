"""Every value of a smaller type becomes what numpy makes of it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from ringbuffer.memory.widening import FORMS, WIDER, widen, widenings

NAMES = {form: name for name, form in FORMS.items()}
PAIRS = [(NAMES[form], NAMES[wider]) for form, several in WIDER.items() for wider in several]


def samples(name: str) -> list[float]:
    if name == "float32":
        return [0.0, -0.0, 1.5, -3.25e-40, 3.4028235e38, float("inf"), float("-inf"), float("nan")]
    info = np.iinfo(name)
    return [0, 1, -1, 255, 256, -256, 32767, -32768, info.min, info.max]


@pytest.mark.parametrize(("name", "wider"), PAIRS)
def test_as_numpy_does(name: str, wider: str) -> None:
    source, target = np.zeros(1, dtype=name), np.zeros(3, dtype=wider)
    table = widenings([(source, target[1:2])])
    for value in samples(name):
        source[0] = value
        widen(table)
        assert target[1:2].tobytes() == source.astype(wider).tobytes() and not target[::2].any()


def test_several_at_once() -> None:
    arrays = [(np.array([index], dtype="int16"), np.zeros(1, dtype="float64")) for index in range(5)]
    widen(widenings(arrays))
    assert [target[0] for _, target in arrays] == list(range(5))
    widen(widenings([]))


def test_nothing_else_is_widened() -> None:
    for name, wider in itertools.product(FORMS, FORMS):
        if (name, wider) not in PAIRS:
            with pytest.raises(KeyError):
                widenings([(np.zeros(1, dtype=name), np.zeros(1, dtype=wider))])
    with pytest.raises(KeyError):
        widenings([(np.zeros(1, dtype="int8"), np.zeros(1, dtype="int64"))])
