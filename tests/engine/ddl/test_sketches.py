"""Percentiles, frequencies and filters that estimate give over streams and tables what a model in
plain Python does, of every type, over commits, crashes, UNION ALL, and where sketches are combined.

What is few enough here is exact: up to 200 values a group, and so few different ones that none
share their counters.
"""

from __future__ import annotations

import random
from collections import Counter
from math import ceil
from pathlib import Path

import pytest

from tests.engine.ddl.test_view_life_cycle import Server
from tests.engine.interpreted import interpreted

TYPES = {
    "i2": "int2", "i4": "int4", "i8": "int8", "f4": "float4", "f8": "float8", "n": "numeric", "m": "numeric(8,2)",
    "d": "date", "c": "time", "ts": "timestamp", "tz": "timestamptz",
}  # fmt: skip
DAYS, CLOCKS = (
    [f"20{year:02}-0{month}-11" for year in range(24) for month in (1, 9)],
    ["00:00:00", "07:30:01.5", "23:59:59"],
)
VALUES = {
    "i2": ["-32768", "0", "7", "32767"], "i4": ["-2147483648", "5", "6", "2147483647"],
    "i8": ["-9223372036854775808", "1", "9223372036854775807"], "f4": ["-1.5", "0", "2.25", "Infinity", "NaN"],
    "f8": ["-Infinity", "-2.5", "-1e-300", "0.1", "1e+300", "NaN"], "n": ["-3.5", "0.25", "1000.125"],
    "m": ["-1.25", "0.00", "99.50"], "d": DAYS, "c": CLOCKS, "ts": [f"{day} {CLOCKS[1]}" for day in DAYS],
    "tz": [f"{day} {CLOCKS[1]}+00" for day in DAYS],
}  # fmt: skip
FRACTIONS = ("0.25", "0.9")


COUNTED = "approx_frequency(t, 'b') b, approx_frequency(i8, 1) i, approx_percentile(i4, 0.5) FILTER (WHERE t = 'a') p"
VIEWS = (
    f"CREATE VIEW w AS SELECT k, {COUNTED} FROM s GROUP BY k",
    (
        "CREATE VIEW u AS SELECT approx_percentile(i8, 0.5) p, approx_frequency(t, 'b') b, approx_count_distinct(t) n,"
        " freq_agg(f8) f, approx_top_k(i4, 2) o FROM (SELECT * FROM s UNION ALL SELECT * FROM r) q"
    ),
    (
        "CREATE VIEW sketched AS SELECT k, dist_agg(i8) AS d, freq_agg(t) AS f, bloom_agg(t) AS b, hll_agg(t) AS h, topk_agg(t) AS o"
        " FROM s GROUP BY k"
    ),
    (
        "CREATE VIEW j AS SELECT approx_percentile(a.i8, 0.5) p, approx_count_distinct(b.t) n, approx_frequency(b.t, 'b') f"
        " FROM s a JOIN r b ON a.k = b.k AND a.i4 = b.i4 AND a.i2 = b.i2"
    ),
)


def order_of(name: str, text: str) -> tuple[float, str]:
    return (int(text) if name.startswith("i") else float(text) if name in "f4f8nm" else 0, text)


def percentile(name: str, values: list[str], fraction: str) -> str | None:
    known = sorted(values, key=lambda text: (text == "NaN", order_of(name, text)))
    return known[max(1, ceil(float(fraction) * len(known))) - 1] if known else None


def shown(name: str, text: str | None) -> str:
    if text is not None and name in "nm":
        # Of numerics they are floats.
        text = f"{float(text):.17g}"
    return "None" if text is None else repr(text.encode())


@pytest.mark.slow
def test_streams_and_tables_give_what_the_model_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("views.upkeep.kernels.load_kernel", interpreted)
    draw, server = random.Random(32), Server(tmp_path)
    run = server.client.run
    columns = ", ".join(["k int, t text", *(f"{name} {kind}" for name, kind in TYPES.items())])
    asked = ", ".join(f"approx_percentile({name}, {part})" for name in TYPES for part in FRACTIONS)
    named = ", ".join(
        f"approx_percentile({name}, {part}) AS {name}_{place}" for name in TYPES for place, part in enumerate(FRACTIONS)
    )
    run(f"CREATE FOREIGN TABLE s ({columns}) SERVER stream", f"CREATE FOREIGN TABLE r ({columns}) SERVER stream")
    run(f"CREATE TABLE kept ({columns})", f"CREATE VIEW v AS SELECT k, {named} FROM s GROUP BY k", *VIEWS)
    rows: list[tuple[int, str | None, dict[str, str | None]]] = []
    for count in (60, 40, 3):
        listed = []
        for _ in range(count):
            key, text = draw.randrange(3), draw.choice(("a", "b", "a longer text", None))
            row = {name: draw.choice((*values, None)) for name, values in VALUES.items()}
            rows.append((key, text, row))
            words = [str(key), *("NULL" if one is None else f"'{one}'" for one in (text, *row.values()))]
            listed.append(f"({', '.join(words)})")
        run = server.client.run
        run(f"INSERT INTO s VALUES {', '.join(listed)}", f"INSERT INTO kept VALUES {', '.join(listed)}")
        if count != 60:
            server.crash(count == 40)
        keys = sorted({key for key, *_ in rows})
        wanted, others = [], []
        for key in keys:
            mine = [(text, row) for one, text, row in rows if one == key]
            known = {name: [value for _, row in mine if (value := row[name]) is not None] for name in TYPES}
            found = [shown(name, percentile(name, known[name], part)) for name in TYPES for part in FRACTIONS]
            wanted.append(f"[{', '.join([repr(str(key).encode()), *found])}]")
            filtered = [value for text, row in mine if text == "a" and (value := row["i4"]) is not None]
            texts = Counter(text for text, _ in mine)
            counts = (texts["b"], known["i8"].count("1"))
            others.append(
                f"[{', '.join([repr(str(one).encode()) for one in (key, *counts)])}, {shown('i4', percentile('i4', filtered, '0.5'))}]"
            )
        assert server.rows("SELECT * FROM v ORDER BY k") == wanted
        assert server.rows(f"SELECT k, {asked} FROM kept GROUP BY k ORDER BY k") == wanted
        assert server.rows("SELECT * FROM w ORDER BY k") == others
        assert server.rows(f"SELECT k, {COUNTED} FROM kept GROUP BY k ORDER BY k") == others
    server.client.run("INSERT INTO r SELECT * FROM kept WHERE k > 0")
    whole = "FROM (SELECT * FROM kept UNION ALL SELECT * FROM kept WHERE k > 0) q"
    exact = "percentile_disc(0.5) WITHIN GROUP (ORDER BY i8), count(*) FILTER (WHERE t = 'b'), count(DISTINCT t)"
    wanted = server.rows(f"SELECT {exact}, count(*) FILTER (WHERE f8 = -2.5) {whole}")
    assert server.rows("SELECT p, b, n, freq(f, -2.5::float8) FROM u") == wanted
    exact = "percentile_disc(0.5) WITHIN GROUP (ORDER BY a.i8), count(DISTINCT b.t), count(*) FILTER (WHERE b.t = 'b')"
    wanted = server.rows(
        f"SELECT {exact} FROM kept a JOIN kept b ON a.k = b.k AND a.i4 = b.i4 AND a.i2 = b.i2 AND b.k > 0"
    )
    assert server.rows("SELECT * FROM j") == wanted
    most = "array_agg(i4 ORDER BY c DESC, i4::text) FROM (SELECT i4, count(*) c"
    most += f" {whole} WHERE i4 IS NOT NULL GROUP BY i4 ORDER BY c DESC, i4::text LIMIT 2) m"
    assert server.rows("SELECT o FROM u") == server.rows(f"SELECT {most}")
    # A view's sketches go on to merge where it is read.
    merged = (
        "dist_quantile(combine(d), 0.25), dist_cdf(combine(d), 1), freq(combine(f), 'b'),"
        " bloom_contains(combine(b), 'a'), bloom_contains(combine(b), 'z'), hll_cardinality(combine(h)), topk_freqs(combine(o), 3)"
    )
    same = (
        "(percentile_disc(0.25) WITHIN GROUP (ORDER BY i8))::float8, count(i8) FILTER (WHERE i8 <= 1)::float8 /"
        " count(i8), count(*) FILTER (WHERE t = 'b'), true, false, count(DISTINCT t),"
        " (SELECT array_agg(c ORDER BY c DESC) FROM (SELECT count(*) c FROM kept WHERE t IS NOT NULL GROUP BY t) m)"
    )
    assert server.rows(f"SELECT {merged} FROM sketched") == server.rows(f"SELECT {same} FROM kept")


def test_what_has_no_meaning_is_refused(tmp_path: Path) -> None:
    client = Server(tmp_path).client
    for text, state in (
        ("approx_percentile(DISTINCT x, 0.5)", "0A000"),
        ("approx_percentile(x, 1.5)", "22003"),
        ("approx_percentile(x, 'NaN'::float8)", "22003"),
        ("approx_percentile(x)", "42883"),
        ("approx_percentile(t, 0.5)", "42883"),
        ("approx_percentile(x, y)", "42803"),
        ("approx_frequency(x, y)", "42803"),
        ("freq_agg(j)", "0A000"),
        ("approx_top_k(y * 0.5, 3)", "0A000"),
        ("approx_top_k(x, 0)", "22023"),
        ("topk_values(bloom_agg(x), 2)", "22023"),
        ("freq(freq_agg(t), '{}'::jsonb)", "0A000"),
        ("freq(freq_agg(t), 1)", "22023"),
        ("freq(bloom_agg(x), 1)", "22023"),
        ("bloom_contains('\\x00'::bytea, x) FROM (VALUES (1)) t(x) --", "22023"),
        ("hll_cardinality('\\x00'::bytea), 1 --", "22023"),
        ("combine(t::bytea)", "22023"),
        ("combine(s) FROM (VALUES (convert_to(repeat('x', 4096), 'UTF8')), ('\\x01')) q(s) --", "22023"),
        ("combine(x)", "42883"),
    ):
        (said, *_) = client.ask(f"SELECT {text} FROM (VALUES (1, 2, 'a', '{{}}'::jsonb)) t(x, y, t, j)")
        assert said.startswith(f"E ERROR {state}"), (text, said)
    nothing = (
        "approx_percentile(x, 0.5), approx_frequency(x, 1), freq_agg(x), combine(s), approx_percentile(x, ARRAY[0.5])"
    )
    given = "FROM (VALUES (1, '\\x00'::bytea)) t(x, s)"
    assert client.rows(f"SELECT {nothing} {given} WHERE false") == ["D [None, b'0', None, None, None]"]
    listed = client.rows(f"SELECT approx_percentile(x, ARRAY[0, 1]), approx_percentile(x, NULL) {given}")
    assert listed == ["D [b'{1,1}', None]"]
