"""Formats of dates and times: those of strftime (MySQL, BigQuery, DuckDB, ClickHouse, Trino), of
Java (Spark) and of .NET (T-SQL), as to_char and to_date of PostgreSQL write them.

A pattern that PostgreSQL has no equal for is refused by its letters.
"""

from __future__ import annotations

import re

from sql.dialects.calls import Call

STRFTIME = {
    "Y": "YYYY",
    "y": "YY",
    "m": "MM",
    "d": "DD",
    "H": "HH24",
    "M": "MI",
    "S": "SS",
    "j": "DDD",
    "p": "AM",
    "I": "HH12",
    "F": "YYYY-MM-DD",
    "T": "HH24:MI:SS",
    "b": "Mon",
    "B": "FMMonth",
    "a": "Dy",
    "A": "FMDay",
    "f": "US",
    "u": "ID",
    "e": "FMDD",
    "G": "IYYY",
    "V": "IW",
    "D": "MM/DD/YY",
    "R": "HH24:MI",
    "-d": "FMDD",
    "-m": "FMMM",
}
# As MySQL, and Trino's date_format, write them.
MYSQL = {
    **{name: STRFTIME[name] for name in ("Y", "y", "m", "d", "H", "S", "j", "p", "I", "T", "b", "a", "f")},
    "i": "MI",
    "s": "SS",
    "M": "FMMonth",
    "W": "FMDay",
    "c": "FMMM",
    "e": "FMDD",
    "h": "HH12",
    "k": "FMHH24",
    "r": "HH12:MI:SS AM",
    "l": "FMHH12",
    "v": "IW",
    "x": "IYYY",
}
CLICKHOUSE = {
    **{name: STRFTIME[name] for name in "YymdHSjpIFTbGVuDR"},
    "i": "MI",
    "M": "FMMonth",
    "W": "FMDay",
    "a": "Dy",
    "s": "SS",
}
JAVA = {
    "yyyy": "YYYY",
    "yy": "YY",
    "MM": "MM",
    "M": "FMMM",
    "dd": "DD",
    "d": "FMDD",
    "HH": "HH24",
    "H": "FMHH24",
    "hh": "HH12",
    "mm": "MI",
    "ss": "SS",
    "SSS": "MS",
    "SSSSSS": "US",
    "MMM": "Mon",
    "MMMM": "FMMonth",
    "EEEE": "FMDay",
    "EEE": "Dy",
    "E": "Dy",
    "a": "AM",
    "DDD": "DDD",
    "y": "FMYYYY",
}
NET = {
    **{name: JAVA[name] for name in ("yyyy", "yy", "MM", "M", "dd", "d", "HH", "H", "hh", "mm", "ss", "MMM", "MMMM")},
    "dddd": "FMDay",
    "ddd": "Dy",
    "tt": "AM",
    "fff": "MS",
}
# Patterns of to_char that mean the same in Oracle, Snowflake and PostgreSQL.
ALIKE = re.compile(
    r"""(YYYY|YY|MM|DDD|DD|HH24|HH12|HH|MI|SS|FF[36]|AM|PM|MONTH|Month|MON|Mon|DY|Dy|DAY|Day|Q|IYYY|IW|WW|FM"""
    r"""|yyyy|yy|mm|dd|hh24|hh12|mi|ss|mon|q|[-/:., _]|T(?=HH)|"[^"]*")*""",
)
LETTERS = re.compile(r"'(?P<quoted>[^']*)'|(?P<letters>(?P<one>[A-Za-z])(?P=one)*)|(?P<rest>[^A-Za-z']+)")
QUOTED = re.compile(r"[A-Za-z]+")


def percent_format(text: str, patterns: dict[str, str], call: Call) -> str:
    """Return a format with % before each pattern in to_char's words."""
    found: list[str] = []
    for pattern, plain in re.findall(r"%(-?.)|([^%]+)", text, re.DOTALL):
        if not pattern:
            found.append(quoted(plain))
        elif pattern == "%":
            found.append("%")
        elif pattern in patterns:
            found.append(patterns[pattern])
        else:
            raise call.refuse(f"the pattern %{pattern}")
    return "".join(found)


def letter_format(text: str, patterns: dict[str, str], call: Call) -> str:
    """Return a format of runs of letters, with '...' around what is itself, in to_char's words."""
    found: list[str] = []
    for piece in LETTERS.finditer(text):
        letters = piece["letters"]
        if letters and letters not in patterns:
            raise call.refuse(f"the pattern {letters}")
        found.append(patterns[letters] if letters else quoted(piece["quoted"] or piece["rest"] or ""))
    return "".join(found)


def same_format(text: str, call: Call) -> str:
    """Return a format of Oracle's or Snowflake's that PostgreSQL reads in the same way."""
    if not ALIKE.fullmatch(text):
        raise call.refuse(f"the format '{text}'")
    found = text
    if call.context.dialect == "snowflake":
        # Abbreviated there, whatever their case.
        found = re.sub("mon(?!th)", "Mon", re.sub("dy", "Dy", found, flags=re.IGNORECASE), flags=re.IGNORECASE)
        if re.search("month|day", text, re.IGNORECASE):
            raise call.refuse(f"the format '{text}'")
    return re.sub("FF([36])", lambda digits: {"3": "MS", "6": "US"}[digits[1]], found)


def quoted(plain: str) -> str:
    """Return what stands between patterns, so that to_char takes no letter of it for one."""
    if '"' in plain or "\\" in plain:
        return "".join(f"\\{one}" if one in '"\\' else one for one in plain)
    return QUOTED.sub(lambda letters: f'"{letters[0]}"', plain)
