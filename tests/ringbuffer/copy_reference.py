"""COPY's two formats in plain Python, one character after the other, as PostgreSQL 15 describes
them: the model for the decoders' tests.

Only what is valid: lines end with \\n, values are texts. Leaves: rows of str or None.
"""

from __future__ import annotations

Fields = list[str | None]

ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def read_text(data: str, delimiter: str, null: str) -> list[Fields]:
    """Return the rows of COPY text."""
    rows: list[Fields] = []
    at = 0
    while at < len(data):
        raw: list[str] = [""]
        while data[at] != "\n":
            if data[at] == "\\":
                raw[-1] += data[at : at + 2]
                at += 2
            elif data[at] == delimiter:
                raw.append("")
                at += 1
            else:
                raw[-1] += data[at]
                at += 1
        at += 1
        if raw == ["\\."]:
            break
        rows.append([None if field == null else unescaped(field) for field in raw])
    return rows


def unescaped(field: str) -> str:
    """Return a field without its backslash escapes."""
    result = bytearray()
    at = 0
    while at < len(field):
        if field[at] != "\\" or at + 1 == len(field):
            result += field[at].encode()
            at += 1
            continue
        character = field[at + 1]
        digits = ""
        if character in "01234567":
            while len(digits) < 3 and field[at + 1 + len(digits) : at + 2 + len(digits)] in tuple("01234567"):
                digits += field[at + 1 + len(digits)]
            result.append(int(digits, 8) & 255)
            at += 1 + len(digits)
        elif character == "x" and field[at + 2 : at + 3] in tuple("0123456789abcdefABCDEF"):
            while len(digits) < 2 and field[at + 2 + len(digits) : at + 3 + len(digits)] in tuple(
                "0123456789abcdefABCDEF"
            ):
                digits += field[at + 2 + len(digits)]
            result.append(int(digits, 16))
            at += 2 + len(digits)
        else:
            result += ESCAPES.get(character, character).encode()
            at += 2
    return result.decode()


def read_csv(data: str, delimiter: str, null: str, quote: str, escape: str) -> list[Fields]:
    """Return the rows of COPY CSV."""
    rows: list[Fields] = []
    at = 0
    while at < len(data):
        if data[at : at + 3] == "\\.\n":
            break
        fields: Fields = []
        value, marked, quoted = "", False, False
        while True:
            character = data[at]
            following = data[at + 1 : at + 2]
            at += 1
            if quoted and character == escape and following in (quote, escape) and following:
                value += following
                at += 1
            elif character == quote:
                quoted = not quoted
                marked = True
            elif not quoted and character in (delimiter, "\n"):
                fields.append(None if not marked and value == null else value)
                value, marked = "", False
                if character == "\n":
                    break
            else:
                value += character
        rows.append(fields)
    return rows
