"""Texts that are code to somebody: to Python, to DuckDB, to Spark, to the shell. To tests they are
names and constants.
"""

from __future__ import annotations

import random

MARK = "hostile"
FRAGMENTS = (
    *('"""', "'''", '"', "'", "`", "\\", "\\\\", '\\"', "\\'", "\\`", "\\\n", "\n", "\r", "\r\n", "\t", " " * 4, "\x0b", "\x0c"),
    *(chr(code) for code in (*range(1, 9), *range(14, 32), 127, 0x85, 0xA0, 0x2028, 0x2029, 0xFEFF, 0x202E)),
    *("\\x41", "\\x", "\\u0041", "\\u0027", "\\047", "\\ud800", "\\udfff", "\\N{BULLET}", "\\0", "\\777", "{", "}", "{{", "{0}"),
    *("{x!r}", "{0.__class__}", "f'{1}'", "%s", "%(x)s", "%_", "$1", "$$", "$a$", "${env:PATH}", "${spark:spark.app.name}", "#", "@"),
    *("-*- coding: utf-7 -*-", ";", ":", ",", "(", ")", "[", "]", "=", "?", "::", "--", "/*", "*/", "/*+", "(SELECT ", ")t1--"),
    *("import os", "open('/tmp/x', 'w')", "__import__('os')", "eval(input())", "def f():", "return end", "; DROP TABLE t; --"),
    *("UNION SELECT", "FROM read_csv('/etc/passwd')", "FROM catalog.definitions", "row", "rows", "np", "min", "kernel", "None"),
    *("class", "lambda", "item", "t1", "é", "ﬁ", "𝕏", "ß", "İ", "ⅷ", "\U0010ffff"),
)  # fmt: skip


def hostile(randomness: random.Random, bytes_max: int) -> str:
    """Return a text that has `MARK` in it, of 13 bytes at least: more than fits into the words of a
    value in a kernel.
    """
    start = "(SELECT " if randomness.random() < 0.2 else randomness.choice(("", "", *FRAGMENTS))
    if randomness.random() < 0.2:
        start = "x" * randomness.randint(0, max(bytes_max - 20, 0))
    text = start + MARK + "".join(randomness.choices(FRAGMENTS, k=randomness.randint(6, 18)))
    return text.encode()[:bytes_max].decode(errors="ignore")
