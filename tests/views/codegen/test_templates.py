"""The programs of time templates against the embedded engine's to_char, which is compared with
PostgreSQL's.
"""

from __future__ import annotations

from random import Random

import pytest

from engine.embedded.functions.time_formats import formatted
from ringbuffer.scalar.calendars.time_zones import zone_table
from ringbuffer.scalar.texts.format_time import format_timestamp, format_timestamptz, template_program
from ringbuffer.scalar.texts.text_functions import ScratchHeap
from sql.errors import SqlError
from sql.times.civil import TIMESTAMP_US_MIN
from sql.tree.expressions import Call, Column, Literal
from sql.types.datatypes import TEXT, TIMESTAMP
from tests.ringbuffer.kernel_values import text
from views.codegen.functions.templates import FRACTIONS, HALVES, NAMES, NUMBERS, program_of

SEED = 20_261_120
CASES = 1_000
TEXTS = ("-", "/", " ", ":", ".", '"ä, YYYY"', "!")


def called(template: str) -> Call:
    return Call("format_time", (Column(0, "at", TIMESTAMP), Literal(template, TEXT)), TEXT)


def random_template(choose: Random) -> str:
    """Return patterns between texts, which keep them apart."""
    patterns = [*NUMBERS, *FRACTIONS, *HALVES, *NAMES]
    parts = []
    for _ in range(choose.randint(1, 8)):
        pattern = choose.choice(patterns)
        pattern = choose.choice((pattern, pattern.lower(), pattern.capitalize() if pattern in NAMES else pattern))
        parts.append(choose.choice(("", "FM")) + pattern + choose.choice(TEXTS))
    return "".join(parts)


def test_random_templates() -> None:
    choose = Random(SEED)
    scratch = ScratchHeap(1 << 16)
    transitions, offsets = zone_table("Europe/Berlin")
    for _ in range(CASES):
        template = random_template(choose)
        us = choose.randint(TIMESTAMP_US_MIN + 10**12, 10 ** choose.randint(12, 18))
        program = template_program(*program_of(template, called(template)))
        scratch.clear()
        *words, error = format_timestamp(us, program, scratch.words)
        assert (text(*words), error) == (formatted(us, template), 0), (us, template)
        *words, error = format_timestamptz(us, transitions, offsets, program, scratch.words)
        assert (text(*words), error) == (formatted(us, template, "Europe/Berlin"), 0), (us, template)


@pytest.mark.parametrize("template", ["DDth", "Y,YYY", "TZ", "OF", "RM", "BC", "ad", ""])
def test_what_kernels_do_not_have(template: str) -> None:
    with pytest.raises(SqlError) as refused:
        program_of(template, called(template))
    assert refused.value.sqlstate == "0A000"
