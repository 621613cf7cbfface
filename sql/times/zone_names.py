"""The names of time zones: of the time zone database, abbreviations, and fixed distances from UTC
in POSIX's form.

Enters: the text after AT TIME ZONE, or a word of a timestamp. Leaves: the database's spelling, or
seconds east of UTC where daylight saving never applies. PostgreSQL reads an abbreviation first: CET
is an hour east of UTC, summer and winter, while SET TIME ZONE 'CET' is the zone of that name.
"""

from __future__ import annotations

import re
from functools import lru_cache
from zoneinfo import available_timezones

from sql.errors import SqlError, not_supported

# PostgreSQL's file timezonesets/Default, by the distance from UTC.
FIXED = {
    "-10:00": "hst taht",
    "-09:30": "mart",
    "-09:00": "akst gamt",
    "-08:00": "akdt pst",
    "-07:00": "mst pdt",
    "-06:00": "cst galt mdt",
    "-05:00": "act cdt cot est pet",
    "-04:00": "amt ast bot edt",
    "-03:30": "nft nst",
    "-03:00": "adt bra brt clst gft pmst pyst uyt wgt",
    "-02:30": "ndt",
    "-02:00": "brst fnt pmdt uyst wgst",
    "-01:00": "azot egt fnst",
    "+00:00": "azost egst gmt uct ut utc wet z zulu",
    "+01:00": "bst cet met mez wat wetdst",
    "+02:00": "bdst cest cetdst eet ist mest mesz metdst sast",
    "+03:00": "eat eest eetdst fet idt",
    "+03:30": "irt",
    "+04:00": "msd mut ret sct",
    "+04:30": "aft",
    "+05:00": "must mvt pkt tft tjt uzt",
    "+05:45": "npt",
    "+06:00": "almt bdt btt kgst pkst uzst xjt yekst",
    "+06:30": "mmt",
    "+07:00": "almst cxt ict wast",
    "+08:00": "awst bnt bort cct hkt myt pht wadt",
    "+08:45": "acwst",
    "+09:00": "awsst jayt jst kst pwt ulast wdt",
    "+09:30": "acst cast",
    "+10:00": "aest chut ddut kdt ligt mpt pgt trut yapt",
    "+10:30": "acdt acsst cadt lhst sadt",
    "+11:00": "aedt aesst pont vut",
    "+12:00": "fjt gilt mht nzst nzt tvt wakt wft",
    "+12:45": "chast",
    "+13:00": "fjst nzdt tot",
    "+13:45": "chadt",
}
# Abbreviations that have meant different distances in different years, which only the history of
# their zones can tell.
MOVING = frozenset(
    """
    amst anast anat arst art azst azt ckt clt davt easst east fkst fkt gest get gyt iot irkst irkt kgt kost krast krat lhdt lint lkt magst
    magt mawt msk novst novt nut omsst omst petst pett pyt sgt tkt tmt ulat vet vlast vlat volt yakst yakt yekt
    """.split()
)
MOVING_HINT = "Use the name of a zone, such as Europe/Moscow."
# An abbreviation and the hours WEST of UTC, as in 'UTC+3', '<+0530>-05:30' and, without
# abbreviation, '-05:30'.
POSIX_ZONE = re.compile(r"(?:<[^<>]*>|[A-Za-z]*)([+-]?)(\d{1,3})(?::(\d{1,2}))?(?::(\d{1,2}))?")
# The same, and the rules of its daylight saving time.
POSIX_RULES = re.compile(POSIX_ZONE.pattern + r"(?:<[^<>]*>|[A-Za-z]+).*")
POSIX_HOURS_MAX = 167


def offset_seconds(text: str) -> int:
    """Return the seconds that [+-]hh:mm means."""
    hours, minutes = text[1:].split(":")
    seconds = int(hours) * 3600 + int(minutes) * 60
    return -seconds if text[0] == "-" else seconds


# Abbreviations in lower case -> seconds east of UTC.
ABBREVIATIONS = {word: offset_seconds(offset) for offset, words in FIXED.items() for word in words.split()}


@lru_cache(maxsize=1)
def zone_names() -> dict[str, str]:
    """Return the names of all zones by their lower-case spelling."""
    return {name.lower(): name for name in available_timezones()}


@lru_cache(maxsize=1024)
def fixed_seconds(name: str) -> int | None:
    """Return the seconds east of UTC of a zone in POSIX's form without daylight saving, None for
    other names.
    """
    match = POSIX_ZONE.fullmatch(name)
    if match is None or int(match[2]) > POSIX_HOURS_MAX or int(match[3] or 0) > 59 or int(match[4] or 0) > 59:
        return None
    seconds = int(match[2]) * 3600 + int(match[3] or 0) * 60 + int(match[4] or 0)
    return seconds if match[1] == "-" else -seconds


def fixed_abbreviation(name: str) -> str:
    """Return the abbreviation of a zone in POSIX's form."""
    match = POSIX_ZONE.fullmatch(name)
    assert match is not None, name
    return name[: match.start(1)].strip("<>")


def fixed_zone(seconds: int) -> str:
    """Return the zone so many seconds east of UTC in POSIX's form, as SET TIME ZONE names it for a
    number of hours.
    """
    hours, rest = divmod(abs(seconds), 3600)
    text = f"{hours:02d}"
    if rest:
        text += f":{rest // 60:02d}"
    if rest % 60:
        text += f":{rest % 60:02d}"
    east, west = ("-", "+") if seconds < 0 else ("+", "-")
    return f"<{east}{text}>{west}{text}"


def zone_meant(written: str, position: int | None = None) -> str | int:
    """Return the name of a zone, or the seconds east of UTC of a fixed one.

    Raises 22023 for an unknown zone.
    """
    word = written.lower()
    if word in ABBREVIATIONS:
        return ABBREVIATIONS[word]
    if word in MOVING:
        raise not_supported(f'the time zone abbreviation "{written}"', position, hint=MOVING_HINT)
    name = zone_names().get(word)
    if name is not None:
        return name
    fixed = fixed_seconds(written)
    if fixed is not None:
        return fixed
    if POSIX_RULES.fullmatch(written):
        raise not_supported(f'the time zone "{written}"', position, hint=MOVING_HINT)
    raise SqlError("22023", f'time zone "{written}" not recognized', position)


def meant_zone(written: str) -> str:
    """Return the name of the zone that a text means after AT TIME ZONE. Raises 22023 and 0A000."""
    meant = zone_meant(written)
    return fixed_zone(meant) if isinstance(meant, int) else meant
