"""Random templates of intervals: to_char gives PostgreSQL's texts and errors, also of negative
parts, of hours beyond a day and of what no calendar has.
"""

from __future__ import annotations

from random import Random

from sql.times.interval_templates import format_interval
from sql.times.interval_values import Interval
from tests.oracle.postgres import PostgresCluster
from tests.randomized.test_number_templates import differences, literal, ours

SEED, PAIRS = 31, 600
PATTERNS = (
    "HH HH12 HH24 MI SS MS US FF1 FF2 FF3 FF4 FF5 FF6 SSSS SSSSS MM DDD IDDD DD WW IW W Q CC J YYYY IYYY YYY IYY YY IY Y I Y,YYY "
    "RM rm AM am A.M. p.m. hh24 mi ss yyyy"
).split()
DAYS_ALONE = "TZ tz TZH OF BC b.c. AD MONTH Mon Day dy D ID".split()


def template(random: Random) -> str:
    """Return a template; one in some is of what only days of a calendar have."""
    parts = []
    for _ in range(random.randint(0, 5)):
        name = random.choice(DAYS_ALONE if random.random() < 0.02 else PATTERNS)
        ends = (
            random.choice(["", "FM", "TM"]),
            random.choice(["", "", "TH", "th"]),
            random.choice([" ", "-", '"x y"', ""]),
        )
        parts.append(f"{ends[0]}{name}{ends[1]}{ends[2]}")
    return "".join(parts)


def interval(random: Random) -> Interval:
    """Return months, days and microseconds, each often 0."""
    size = random.choice([3, 40, 3000, 200_000])
    clock = random.choice([0, random.randint(-(10**12), 10**12), random.randint(-90_000, 90_000) * 10**6])
    months, days = (random.randint(-most, most) * (random.random() < 0.8) for most in (3 * size, size))
    return months, days, clock


def test_format(postgres: PostgresCluster) -> None:
    random = Random(SEED)
    pairs = [(interval(random), template(random)) for _ in range(PAIRS)]
    answers = [ours(lambda pair=pair: format_interval(*pair)) for pair in pairs]  # type: ignore[misc]
    assert sum("|" in (answer or "") for answer in answers) > PAIRS // 100
    said = [
        f"to_char(make_interval(months => {months}, days => {days}) + {clock} * interval '1 us', {literal(pattern)})"
        for (months, days, clock), pattern in pairs
    ]
    found = differences(postgres, said, answers)
    assert not found, "\n".join(found)
