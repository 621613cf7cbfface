"""The programs of time templates give PostgreSQL's to_char, for timestamps and in a zone."""

from __future__ import annotations

from random import Random

import pytest

from engine.embedded.functions.time import zone_name
from ringbuffer.scalar.calendars.time_zones import zone_table
from ringbuffer.scalar.texts.format_time import format_timestamp, format_timestamptz, template_program
from ringbuffer.scalar.texts.text_functions import ScratchHeap
from sql.errors import SqlError
from sql.times.civil import TIMESTAMP_US_MIN
from sql.times.templates import PATTERNS, TEMPLATE_MAX
from tests.oracle.postgres import PostgresCluster
from tests.ringbuffer.kernel_values import Texts, text
from views.codegen.functions.templates import program_of

SEED = 20_261_120
CASES = 2_000
ZONES = ("Europe/Berlin", "America/St_Johns", "Asia/Kathmandu", "<+0530>-05:30", "UTC")
TEXTS = ("-", "/", " ", ":", ".", '"ä, YYYY"', "!", "")
ANSWERS = """
SELECT to_char(timestamp '1970-01-01' + us / 1000000 * interval '1 second' + mod(us, 1000000) * interval '1 us', template)
FROM unnest(%s::bigint[], %s::text[]) WITH ORDINALITY AS u(us, template, place) ORDER BY place
"""
ZONED = ANSWERS.replace("timestamp '1970-01-01'", "timestamptz '1970-01-01 00:00+00'")


def random_template(choose: Random) -> str:
    """Return patterns between texts."""
    parts = []
    for _ in range(choose.randint(1, 8)):
        pattern = choose.choice(PATTERNS)
        pattern = choose.choice((pattern, pattern.lower(), pattern.capitalize()))
        ending = choose.choice(("", "", "", "TH", "th"))
        parts.append(choose.choice(("", "FM", "TM")) + pattern + ending + choose.choice(TEXTS))
    return "".join(parts)


def test_random_templates(postgres: PostgresCluster) -> None:
    choose, scratch, maker = Random(SEED), ScratchHeap(1 << 16), Texts()
    templates = [random_template(choose) for _ in range(CASES)]
    moments = [choose.randint(TIMESTAMP_US_MIN // 4, 10 ** choose.randint(12, 17)) for _ in range(CASES)]
    programs = [template_program(*program_of(template)) for template in templates]

    def shown(words: tuple[int, int, int, int]) -> str:
        assert words[3] == 0
        found = text(*words[:3])
        scratch.clear()
        return found

    with postgres.connect() as connection:
        expected = [row[0] for row in connection.execute(ANSWERS, (moments, templates)).fetchall()]
        for us, template, program, right in zip(moments, templates, programs, expected, strict=True):
            assert shown(format_timestamp(us, program, scratch.words)) == right, (us, template)
        for zone in ZONES:
            connection.execute(f"SET TIME ZONE '{zone}'")
            expected = [row[0] for row in connection.execute(ZONED, (moments, templates)).fetchall()]
            table = zone_table(zone)
            for us, template, program, right in zip(moments, templates, programs, expected, strict=True):
                name = maker.words(zone_name(us, zone))
                assert shown(format_timestamptz(us, program, *name, scratch.words, *table)) == right, (us, template)


def test_a_modifier_that_is_not_there() -> None:
    with pytest.raises(SqlError) as refused:
        program_of("FXYYYY")
    assert refused.value.sqlstate == "0A000"


def test_a_template_that_is_too_long() -> None:
    assert len(program_of("-" * TEMPLATE_MAX)) == TEMPLATE_MAX
    with pytest.raises(SqlError) as refused:
        program_of("-" * (TEMPLATE_MAX + 1))
    assert refused.value.sqlstate == "54000"
