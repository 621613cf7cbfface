"""How long does one call of a regular expression take on 10 kB, and how long a row of a column of
lines?

Patterns on which matchers that try and go back never end, or of which every place of the text has a
state of its own; each is called as a statement's first, when it is compiled, and as its next. No
call is wanted to take more than 50 ms. Lines go through the embedded engine. Prints lines with
milliseconds of the thread, and a checksum of the answers.
"""

from __future__ import annotations

import argparse
import time
import zlib
from collections.abc import Callable
from functools import partial
from random import Random

import duckdb

from bench.workload import SEED
from engine.embedded.functions import regular_expressions as functions
from engine.embedded.functions.registration import register_functions
from sql.functions.arguments import RUN

WANTED_MS = 50
CALLS: dict[str, Callable[[str, str], object]] = {
    "~": lambda text, pattern: functions.matches(text, pattern, ""),
    "regexp_match": lambda text, pattern: functions.first_match(text, pattern, ""),
    "regexp_matches g": lambda text, pattern: functions.every_match(text, pattern, "g"),
    "regexp_replace g": lambda text, pattern: functions.replace(text, pattern, "<\\1>", "g"),
    "regexp_split": lambda text, pattern: functions.split(text, pattern, ""),
}
LINES: dict[str, str] = {
    "substring": rf"regexp_part(s, 'HTTP/1.\d (\d+)', {RUN})",
    "regexp_replace": rf"regexp_replaced(s, '\d+', '#', 'g', {RUN})",
    "regexp_match": rf"regexp_first_match(s, '(\w+) (\S+)', '', {RUN})",
    "regexp_count": rf"regexp_counted(s, '\d', 1, '', {RUN})",
    "~": rf"regexp_matches_any(s, 'a{{3}}|\yHTTP\y', '', {RUN})",
}


def texts_of(length: int) -> list[tuple[str, str]]:
    """Return patterns with texts of a length."""
    random = Random(SEED)
    letters, equal = "".join(random.choice("ab") for _ in range(length)), "a" * length
    return [
        ("^(a+)+$", equal + "!"),
        ("(.*)*x", equal + "x"),
        ("(a?){255}a{255}", equal),
        ("(a{100}){100}", equal),
        ("(a{1,100}){1,100}", equal),
        ("(a|b)*a(a|b){200}", letters),
        ("[ab]*a[ab]{200}", letters),
        ("((a)|(b)|(c))*", letters),
        ("(" * 45 + "a|b" + ")*" * 45, letters),
        ("(?<=a.*)b(?=.*c)", letters),
        ("(a)|b", letters),
    ]


def thread_ms(call: Callable[[], object]) -> tuple[float, object]:
    began_s = time.thread_time()
    answer = call()
    return (time.thread_time() - began_s) * 1000, answer


def answers(engine: duckdb.DuckDBPyConnection, query: str) -> object:
    return engine.execute(query).fetchall()


def run(length: int, lines_count: int) -> tuple[int, float]:
    """Print the lines. Return a checksum of all answers, and what the longest call took in ms."""
    checksum, longest_ms = 0, 0.0
    functions.matches("a", "b", "")
    for pattern, text in texts_of(length):
        print(f"{pattern[:30]:30}", end="")
        for name, call in CALLS.items():
            functions.PROGRAMS.clear()
            first_ms, answer = thread_ms(partial(call, text, pattern))
            next_ms, again = thread_ms(partial(call, text, pattern))
            assert answer == again
            checksum = zlib.crc32(repr(answer).encode(), checksum)
            longest_ms = max(longest_ms, first_ms, next_ms)
            print(f"  {name} {first_ms:.1f} {next_ms:.1f}", end="")
        print()
    with duckdb.connect(config={"threads": 1}) as engine:
        register_functions(engine)
        engine.execute(
            "CREATE TABLE lines AS SELECT 'GET /index' || (i % 5000) || '.html?a=' || i || ' HTTP/1.1 ' || (200 + i % 300) || ' agent' AS s"
            f" FROM range({lines_count}) r(i)"
        )
        for name, call_text in LINES.items():
            query = f"SELECT md5(string_agg(({call_text})::VARCHAR, ',')) FROM lines"
            taken_ms, answer = thread_ms(partial(answers, engine, query))
            checksum = zlib.crc32(repr(answer).encode(), checksum)
            print(f"{name:30}  {taken_ms * 1000 / lines_count:.1f} µs for a line")
    return checksum, longest_ms


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--length", type=int, default=10_000, help="characters of the texts")
    parser.add_argument("--lines", type=int, default=100_000, help="rows of the column of lines")
    arguments = parser.parse_args()
    checksum, longest_ms = run(arguments.length, arguments.lines)
    print(f"checksum {checksum:08x}; the longest call took {longest_ms:.0f} ms, wanted: {WANTED_MS}")
