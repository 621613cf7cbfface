"""approx_count_distinct gives over streams and tables what a model in plain Python makes of the
values, over commits, crashes and any order of the rows, with the error that its pages state.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from ringbuffer.scalar.texts.sketches import distinct_estimate
from tests.engine.ddl.test_view_life_cycle import Server
from tests.engine.interpreted import interpreted

WORD = (1 << 64) - 1
BITS, MIX, SEED = 12, -7046029254386353131 & WORD, 0x51ED270B7A3C9F15
SIZE, RANKS = 1 << BITS, 64 - BITS
STANDARD_ERROR = 1.04 / math.sqrt(SIZE)
NAMES = [f"a name that has the number {number}" for number in range(2_000)]


def mixed(state: int, word: int) -> int:
    state = (state ^ word) * MIX & WORD
    return state ^ state >> 32


def finished(state: int) -> int:
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        state = (state ^ state >> 33) * factor & WORD
    return state ^ state >> 33


def text_hash(text: str) -> int:
    data = text.encode()
    state, whole = mixed(SEED, len(data)), len(data) // 8 * 8
    for at in range(0, whole, 8):
        state = mixed(state, int.from_bytes(data[at : at + 8], "little"))
    for byte in data[whole:]:
        state = mixed(state, byte)
    return finished(state)


def word_hash(word: int) -> int:
    return finished(mixed(SEED, word & WORD))


def registers(hashes: Iterable[int]) -> list[int]:
    found = [0] * SIZE
    for one in hashes:
        register, rest = one >> RANKS, one & ((1 << RANKS) - 1)
        found[register] = max(found[register], RANKS + 1 - rest.bit_length())
    return found


def estimate(ranks: Iterable[int]) -> int:
    """Return Ertl's estimate, by sums of his series instead of loops that end at a fixed point."""
    counts = Counter(ranks)
    if counts[0] == SIZE:
        return 0
    x = counts[0] / SIZE
    below = x + sum(x ** (2**k) * 2 ** (k - 1) for k in range(1, 60) if x > 0 and 2**k * math.log(x) > -700)
    y = 1 - counts[RANKS + 1] / SIZE
    above = 0.0 if y in (0, 1) else (1 - y - sum((1 - y ** (2.0**-k)) ** 2 * 2.0**-k for k in range(1, 60))) / 3
    total = SIZE * above * 2.0**-RANKS + sum(counts[k] * 2.0**-k for k in range(1, RANKS + 1)) + SIZE * below
    found: float = SIZE * SIZE / (2 * math.log(2) * total)
    return round(found)


@pytest.mark.slow
def test_streams_and_tables_give_what_the_model_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("views.upkeep.kernels.load_kernel", interpreted)
    draw, server = random.Random(5), Server(tmp_path)
    columns = "(k int, t text, x int8, f float8, n numeric, d date)"
    counted = "approx_count_distinct(t) AS t, approx_count_distinct(x) AS x, approx_count_distinct(x) FILTER (WHERE x > 0) AS p"
    server.client.run(f"CREATE FOREIGN TABLE s {columns} SERVER stream", f"CREATE TABLE kept {columns}")
    server.client.run(f"CREATE VIEW v AS SELECT k, {counted} FROM s GROUP BY k")
    server.client.run("CREATE VIEW w AS SELECT approx_count_distinct(f) AS f, approx_count_distinct(n) AS n FROM s")
    texts: dict[int, list[str]] = {0: [], 1: [], 2: []}
    words: dict[int, list[int]] = {0: [], 1: [], 2: []}
    for rows in (1, 300, 40, 2):
        listed = []
        for _ in range(rows):
            k, t, x = draw.randrange(3), draw.choice((*NAMES, None)), draw.choice((-(1 << 63), draw.randint(-900, 900)))
            texts[k] += [] if t is None else [t]
            words[k].append(x)
            f, n = draw.choice(("'0'", "'-0'", "'NaN'", "1.5")), draw.choice(("1.0", "1.00", "'NaN'", "-3", "'-3.000'"))
            listed.append(f"({k}, {'NULL' if t is None else repr(t)}, {x}, {f}, {n}, '2024-01-0{draw.randint(1, 9)}')")
        server.client.run(f"INSERT INTO s VALUES {', '.join(listed)}", f"INSERT INTO kept VALUES {', '.join(listed)}")
        server.crash(rows == 40)
        wanted = []
        for k in sorted(key for key in words if words[key]):
            hashes = (map(text_hash, texts[k]), map(word_hash, words[k]), (word_hash(x) for x in words[k] if x > 0))
            wanted.append(str([str(k).encode(), *(str(estimate(registers(some))).encode() for some in hashes)]))
        assert server.rows("SELECT * FROM v ORDER BY k") == wanted
        over_table = f"SELECT k, {counted} FROM (SELECT * FROM kept ORDER BY x, t DESC) q GROUP BY k ORDER BY k"
        assert server.rows(over_table) == wanted
    # 0 and -0 are equal, and so are decimals of other scales; these few numbers are exact.
    same = server.rows("SELECT count(DISTINCT f), count(DISTINCT n) FROM kept")
    assert server.rows("SELECT * FROM w") == same
    assert server.rows(
        "SELECT approx_count_distinct(d) = 9, approx_count_distinct(f::text) FROM kept WHERE f IS NULL"
    ) == ["[b'f', b'0']"]
    # Equal intervals may have other texts, so they are counted.
    assert server.rows("SELECT approx_count_distinct(i) FROM (VALUES (interval '1 month'), ('30 days')) t(i)") == [
        "[b'1']"
    ]


def test_the_error_is_that_of_the_paper() -> None:
    draw, errors = np.random.default_rng(11), []
    for share in np.linspace(0.5, 6, 100):
        count = int(10**share)
        hashes = draw.integers(0, 1 << 64, count, dtype=np.uint64)
        rest = (hashes & np.uint64((1 << RANKS) - 1)).astype(np.float64)
        ranks = RANKS + 1 - np.where(rest > 0, np.frexp(rest)[1], 0)
        kept = np.zeros(SIZE, np.uint8)
        np.maximum.at(kept, (hashes >> np.uint64(RANKS)).astype(np.int64), ranks.astype(np.uint8))
        found, _ = distinct_estimate(SIZE, kept.ctypes.data, 0)
        assert found == estimate(kept.tolist())
        errors.append(found / count - 1)
    assert max(map(abs, errors)) < 4 * STANDARD_ERROR
    assert math.sqrt(sum(one * one for one in errors) / len(errors)) < 1.1 * STANDARD_ERROR
    assert abs(sum(errors) / len(errors)) < 3 * STANDARD_ERROR / math.sqrt(len(errors))


def test_what_has_no_meaning_is_refused(tmp_path: Path) -> None:
    client = Server(tmp_path).client
    for text, state in (
        ("approx_count_distinct(DISTINCT x)", "0A000"),
        ("approx_count_distinct(ARRAY[x]) OVER ()", "0A000"),
        ("approx_count_distinct(x, x)", "42883"),
        ("approx_count_distinct(*)", "42883"),
    ):
        (said, *_) = client.ask(f"SELECT {text} FROM (VALUES (1)) t(x)")
        assert said.startswith(f"E ERROR {state}"), said
