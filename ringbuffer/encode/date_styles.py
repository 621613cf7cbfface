"""Dates and timestamps as text in the styles that a session may ask for beside ISO: SQL, Postgres
and German.

Enters: Arrow arrays in the forms of views. Leaves: EncodedColumn. A style is the parts of the ISO
text in another order, with the day of the week, and the abbreviation of the zone instead of its
distance. Few sessions ask for them, so each different value is made in Python, once.
"""

from __future__ import annotations

import re
from datetime import date
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc

from ringbuffer.encode import text as encode_text
from ringbuffer.encode.encoded_column import EncodedColumn, fixed_values, string_column
from ringbuffer.scalar.calendars.calendar import ERA_YEARS
from ringbuffer.scalar.calendars.time_zones import zone_abbreviation

ISO = re.compile(r"(\d+)-(\d\d)-(\d\d)(?: ([\d:.]+)(?:[+-][\d:]+)?)?( BC)?")
# Of a zone's abbreviation as many letters are shown.
ABBREVIATION_LETTERS_MAX = 10
# A cycle of the calendar that Python has, in which each day of any year has a twin.
CYCLE_START_YEAR = 2000
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def styled_dates(array: pa.Array, family: str, zone: str, date_style: str) -> EncodedColumn:
    """Return the text of dates, timestamps or timestamps of a zone; date_style: 'SQL, DMY' and the
    like.
    """
    style, order = date_style.split(", ")
    encoded = pc.dictionary_encode(array)
    column = encode_text.text_column(encoded.dictionary, family, zone)
    data, ends = bytes(column.data), column.ends.tolist()
    moments = fixed_values(encoded.dictionary, "int64").tolist() if family == "timestamptz" else []
    texts = []
    for index, (start, end) in enumerate(pairwise(ends)):
        abbreviation = ""
        if moments:
            abbreviation = " " + zone_abbreviation(moments[index], zone)[:ABBREVIATION_LETTERS_MAX]
        texts.append(restyled(data[start:end].decode(), style, order, abbreviation))
    return string_column(pa.array(texts, pa.string()).take(encoded.indices))


def restyled(iso: str, style: str, order: str, abbreviation: str = "") -> str:
    """Return an ISO text in another style; infinity is the same in all."""
    parts = ISO.fullmatch(iso)
    if parts is None:
        return iso
    year, month, day, clock, era = parts.groups(default="")
    first, second = (day, month) if order == "DMY" else (month, day)
    if style == "German":
        text = f"{day}.{month}.{year}"
    elif style == "SQL":
        text = f"{first}/{second}/{year}"
    elif not clock:
        text = f"{first}-{second}-{year}"
    else:
        named = MONTHS[int(month) - 1]
        first, second = (day, named) if order == "DMY" else (named, day)
        return f"{weekday(year, month, day, era)} {first} {second} {clock} {year}{abbreviation}{era}"
    return f"{text} {clock}{abbreviation}{era}" if clock else f"{text}{era}"


def weekday(year: str, month: str, day: str, era: str) -> str:
    """Return the day of the week of a date; era: ' BC' or ''."""
    astronomical = 1 - int(year) if era else int(year)
    twin = date(CYCLE_START_YEAR + astronomical % ERA_YEARS, int(month), int(day))
    return WEEKDAYS[twin.weekday()]
