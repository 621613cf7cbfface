"""The encodings of client_encoding and of COPY's ENCODING besides UTF8, by PostgreSQL's names.

An encoding is here if its Python codec says of every character what PostgreSQL says; the others are
known by name, and refused. Importing this module registers all of them.
"""

from __future__ import annotations

import re

from engine.dialect import euc_jp
from sql.values.encodings import Encoding, register_encodings

# No encoding: bytes are not converted, so they are those of UTF8.
SQL_ASCII = Encoding("SQL_ASCII", "utf-8")
_GB18030 = Encoding(
    "GB18030",
    "gb18030",
    re.compile(rb"[\x81-\xfe](?:[0-9][\x81-\xfe][0-9]|[\x40-\x7e\x80-\xfe])"),
    re.compile(rb".[0-9].{0,2}|.{1,2}", re.DOTALL),
)
_EUC_JP = Encoding(
    "EUC_JP",
    euc_jp.NAME,
    re.compile(rb"\x8e[\xa1-\xdf]|\x8f[\xa1-\xfe]{2}|[\xa1-\xfe]{2}"),
    re.compile(rb"\x8f.{0,2}|.{1,2}", re.DOTALL),
)
_LATIN = {1: 1, 2: 2, 3: 3, 4: 4, 5: 9, 6: 10, 7: 13, 8: 14, 9: 15, 10: 16}
_ALIASES = {"win": "win1251", "alt": "win866", "koi8": "koi8r"} | dict.fromkeys(
    ("abc", "tcvn", "tcvn5712", "vscii"), "win1258"
)


def _table() -> dict[str, Encoding]:
    """Return the encodings by their names without punctuation."""
    found = {"sqlascii": SQL_ASCII, "gb18030": _GB18030, "eucjp": _EUC_JP}
    found["euccn"] = Encoding("EUC_CN", "gb2312", re.compile(rb"[\xa1-\xfe]{2}"))
    found["koi8r"] = Encoding("KOI8R", "koi8-r")
    found["koi8u"] = Encoding("KOI8U", "koi8-u")
    for number, part in _LATIN.items():
        found[f"latin{number}"] = found[f"iso8859{part}"] = Encoding(f"LATIN{number}", f"iso8859-{part}")
    for part in (5, 6, 7, 8):
        found[f"iso8859{part}"] = Encoding(f"ISO_8859_{part}", f"iso8859-{part}")
    for page in (866, 874, *range(1250, 1259)):
        found[f"win{page}"] = found[f"windows{page}"] = Encoding(f"WIN{page}", f"cp{page}")
    return found | {alias: found[name] for alias, name in _ALIASES.items()}


register_encodings(
    _table(),
    """
    big5 eucjis2004 euckr euctw gbk johab mskanji muleinternal shiftjis shiftjis2004 sjis uhc win932 win936 win949 win950
    windows932 windows936 windows949 windows950
    """.split(),
)
