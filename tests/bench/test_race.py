"""The race: its medians, ratios, tables and drawings, what it resumes, its peers, and tiny runs of
its parts.
"""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from bench.charts import bars
from bench.race import __main__ as race
from bench.race import beside, numbers, page, peers, results, tpch, tpch_peers
from bench.race.contests import CONTESTS
from bench.race.measuring import MILLISECONDS, Arena, Series, Sizes
from bench.race.results import Conditions, Results
from bench.race.targets import TARGETS, Target, series_of

SVG = "{http://www.w3.org/2000/svg}"
TINY = Sizes(runs_count=1, seconds=1, share=0.002)
TREE = "0" * 64


def conditions(tree: str = TREE, peers: tuple[str, ...] = ("postgres",)) -> Conditions:
    return Conditions(tree, TINY, peers, "a machine", 0.25, 1.5)


def test_runs_are_interleaved_and_the_first_does_not_count(tmp_path: Path) -> None:
    seen: list[str] = []

    def measure(whose: str, first: float) -> float:
        seen.append(whose)
        return first + len(seen)

    arena = Arena(Sizes(runs_count=3), tmp_path, peers.Peers([], tmp_path))
    arena.race("rows", "rows/s", {"a": lambda: measure("a", 0.0), "b": lambda: measure("b", 100.0)})
    assert "".join(seen) == "abababab"
    assert [one.values for one in arena.series] == [(3.0, 5.0, 7.0), (104.0, 106.0, 108.0)]
    assert arena.series[0].median == 5.0 and arena.series[0].text == "5.00 (3.00 to 7.00)"
    assert arena.peer("duckdb") is None


def test_a_target_is_about_the_ratios_of_runs() -> None:
    found = [
        Series("rows", "Antumbra", "rows/s", (10.0, 40.0, 30.0)),
        Series("rows", "Other", "rows/s", (10.0, 10.0, 15.0)),
        Series("time", "Antumbra", MILLISECONDS, (2.0, 4.0, 5.0)),
        Series("time", "Other", MILLISECONDS, (4.0, 4.0, 5.0)),
    ]
    assert Target("a", "rows", "Antumbra", "Other", 2).line(found) == (
        "| a | 30 / 10 rows/s | 2.00 (1.00 to 4.00) | 2 | holds |"
    )
    assert Target("b", "time", "Antumbra", "Other", 1.5).line(found) == (
        "| b | 4 / 4 ms | 1.00 (1.00 to 2.00) | 1.5 | **falls short** |"
    )
    assert "| 2.50 (2.00 to 5.00) | 3 | **falls short** |" in Target("c", "time", "Antumbra", 10.0, 3).line(found)
    assert Target("d", "time", "Antumbra", ("rows", "Other"), 1).found(found)[1] == [5.0, 2.5, 3.0]
    assert Target("e", "rows", "Antumbra", "Nobody", 1).line(found) == "| e | 30 / not measured | | 1 | |"
    assert series_of(found, "rows", "Nobody") is None


def test_a_part_is_there_on_its_tree_with_its_sizes_and_peers(tmp_path: Path) -> None:
    Results("wire", tmp_path).keep("copy", conditions(), 3.0, [Series("rows", "Antumbra", "rows/s", (1.0, 3.0))])
    Results("wire", tmp_path).keep("single", conditions(peers=("duckdb", "postgres")), 3.0, [])
    found = Results("wire", tmp_path)
    assert found.has("copy", TREE, TINY, ["postgres"]) and found.has("copy", TREE, TINY, [])
    assert not found.has("copy", "1" * 64, TINY, ["postgres"])
    assert not found.has("copy", TREE, Sizes(), ["postgres"])
    assert not found.has("copy", TREE, TINY, ["postgres", "duckdb"])
    assert not found.has("values", TREE, TINY, ["postgres"])
    assert found.has("single", TREE, TINY, ["postgres", "duckdb"])
    assert found.series == [Series("rows", "Antumbra", "rows/s", (1.0, 3.0))]
    assert found.conditions["copy"]["busy"] == 0.25
    cut_off = replace(conditions(), is_cut_off=True)
    Results("wire", tmp_path).keep("values", cut_off, 3.0, [])
    assert not Results("wire", tmp_path).has("values", TREE, TINY, ["postgres"])


def part_that_ends(how: BaseException | None) -> Callable[[Arena], None]:
    def part(arena: Arena) -> None:
        arena.keep("rows", "Antumbra", "rows/s", [1.0])
        arena.peer("gone")
        if how is not None:
            raise how

    return part


def test_a_part_that_is_cut_off_keeps_what_it_has_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = {
        "whole": part_that_ends(None),
        "cut": part_that_ends(SystemExit(race.CUT_OFF)),
        "failed": part_that_ends(ValueError("wrong")),
    }
    monkeypatch.setattr(race, "CONTESTS", {"wire": parts})
    monkeypatch.setattr(race, "digest", lambda: TREE)
    monkeypatch.setattr(results, "LOOK_S", 0.01)
    monkeypatch.setattr(peers, "environment", lambda name: Path(sys.executable))
    chosen = ["gone", "duckdb"]
    race.run("wire", "whole", TINY, chosen, tmp_path)
    with pytest.raises(SystemExit):
        race.run("wire", "cut", TINY, chosen, tmp_path)
    with pytest.raises(ValueError, match="wrong"):
        race.run("wire", "failed", TINY, chosen, tmp_path)
    found = Results("wire", tmp_path)
    assert {name: len(part["series"]) for name, part in found.conditions.items()} == {"whole": 1, "cut": 1}
    # Without the peer that it has missed, which may be there next time.
    assert found.has("whole", TREE, TINY, ["duckdb"]) and not found.has("whole", TREE, TINY, chosen)
    assert not found.has("cut", TREE, TINY, [])
    page.write(tmp_path)
    assert "whole, cut, cut off and so without its last lines." in " ".join(capsys.readouterr().out.split())
    # What has ended is not given up for less.
    monkeypatch.setattr(race, "CONTESTS", {"wire": {"whole": parts["cut"]}})
    with pytest.raises(SystemExit):
        race.run("wire", "whole", TINY, ["duckdb"], tmp_path)
    assert Results("wire", tmp_path).has("whole", TREE, TINY, ["duckdb"])


def test_a_part_that_is_stopped_ends_what_it_has_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[bool] = []

    def part(arena: Arena) -> None:
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            # A second signal does not disturb the end.
            signal.raise_signal(signal.SIGTERM)
            ended.append(arena.folder.is_dir())

    monkeypatch.setattr(race, "CONTESTS", {"wire": {"copy": part}})
    monkeypatch.setattr(race, "digest", lambda: TREE)
    monkeypatch.setattr(results, "LOOK_S", 0.01)
    handler = signal.getsignal(signal.SIGTERM)
    try:
        with pytest.raises(SystemExit, match=str(race.CUT_OFF)):
            race.main(["wire", "--here", "--peers", "", "--results", str(tmp_path)])
    finally:
        signal.signal(signal.SIGTERM, handler)
    assert ended == [True] and not any(tmp_path.iterdir())


def test_a_race_goes_on_with_what_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[str] = []

    def run_apart(contest: str, part: str, sizes: Sizes, chosen: Any, folder: Path) -> str:
        ran.append(part)
        if part == "copy":
            return "cut off"
        Results(contest, folder).keep(part, conditions(), 1.0, [])
        return ""

    monkeypatch.setattr(race, "digest", lambda: TREE)
    monkeypatch.setattr(race, "run_apart", run_apart)
    parts = [("wire", "single"), ("wire", "copy"), ("wire", "values")]
    assert race.run_all(parts, TINY, ["postgres"], tmp_path, again=False) == ["wire, copy"]
    assert race.run_all(parts, TINY, ["postgres"], tmp_path, again=False) == ["wire, copy"]
    assert ran == ["single", "copy", "values", "copy"]
    assert "[1/3] wire, single: there already" in capsys.readouterr().err
    race.run_all(parts[:1], TINY, ["postgres"], tmp_path, again=True)
    assert ran[-1] == "single"


def test_tables_and_drawings_are_made_of_the_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    series = [
        Series("COPY", "Antumbra", "rows/s", (2000.0,)),
        Series("COPY", "PostgreSQL", "rows/s", (1000.0,)),
        Series("COPY", "Umbra", "rows/s", (4000.0,)),
    ]
    Results("wire", tmp_path).keep("copy", conditions(), 90.0, series)
    page.write(tmp_path)
    text = capsys.readouterr().out
    assert "| what | Antumbra | PostgreSQL | Umbra |" in text
    assert "| COPY, rows/s | 2,000 (2,000 to 2,000) | 1,000 (1,000 to 1,000) | 4,000 (4,000 to 4,000) |" in text
    assert "Tree 0000000, 1 parts in 2 minutes. Others used 25% of the processors" in text
    assert (
        "\nThe contest of the wire: INSERTs of one row" in text and "Parts of tree 0000000, 1 runs of 0.002 of" in text
    )
    assert "| single INSERT, simple, 1 connection, against PostgreSQL logged | not measured | | 1.1 | |  |" in text
    Results("wire", tmp_path).keep(
        "values", conditions("7" * 64), 90.0, [replace(series[0], what=TARGETS["wire"][0].what)]
    )
    page.write(tmp_path)
    text = capsys.readouterr().out
    assert (
        "2 trees (0000000, 7777777)" in " ".join(text.split()) and "| 2,000 / not measured | | 1 | | 7777777 |" in text
    )
    root = ElementTree.fromstring((tmp_path / "wire.svg").read_text())
    drawn = [bar for bar in root.iter(f"{SVG}rect") if bar.get("class") == "bar"]
    assert len(drawn) == 2 and drawn[0].get("width") == drawn[1].get("width") and drawn[0].get("x") != drawn[1].get("x")
    assert ElementTree.fromstring(bars("nothing", {})) is not None


def test_each_target_has_a_name_of_its_own() -> None:
    names = [target.name for targets in TARGETS.values() for target in targets]
    assert len(set(names)) == len(names) and set(TARGETS) <= set(CONTESTS)


def test_encodings_have_the_same_rows() -> None:
    rows = numbers.numbers(50)
    assert numbers.delimited(rows, ",").decode().split("\n")[7] == ",".join(map(str, rows[7]))
    binary = numbers.binary(rows)
    assert len(binary) == 19 + 50 * (2 + 6 * 8) + 2 and binary[19:25] == b"\0\6\0\0\0\4"
    assert int.from_bytes(binary[25:29], "big") == rows[0, 0]
    messages = numbers.copy_messages(b"x" * (numbers.MESSAGE_BYTES + 1))
    assert messages[:5] == b"d\0\1\0\4" and messages.endswith(b"d\0\0\0\5xc\0\0\0\4")


def test_latencies_are_read_from_the_log_of_pgbench() -> None:
    assert beside.latencies_of("0 1 2500 0 1700000000 1 40\n1 2 500 0 1700000000 2 10\n") == [2.5, 0.5]


def test_clickhouse_gets_the_columns_without_constraints() -> None:
    assert tpch_peers.clickhouse_columns("region") == "r_regionkey Int64, r_name String, r_comment String"
    assert "s_phone String, s_acctbal Decimal(15,2)" in tpch_peers.clickhouse_columns("supplier")
    assert "l_linenumber Int32" in tpch_peers.clickhouse_columns("lineitem")
    assert "l_shipdate Date32" in tpch_peers.clickhouse_columns("lineitem")


def test_answers_of_other_types_are_equal() -> None:
    ours = [("x ", Decimal("0.10"), date(1995, 3, 1)), ("y", 2, date(1995, 3, 2))]
    tpch.require_equal("q", "Other", ours, [["y", 2.0, "1995-03-02"], ["x", 0.1, "1995-03-01"]])
    with pytest.raises(AssertionError, match=r"q: .* but Other"):
        tpch.require_equal("q", "Other", ours, [["y", 2.0, "1995-03-02"], ["x", 0.2, "1995-03-01"]])


def test_a_peer_answers_lines(tmp_path: Path) -> None:
    peer = peers.Peer("duckdb", Path(sys.executable), tmp_path)
    try:
        assert peer.version.startswith("DuckDB ")
        assert peer.ask("rows", "SELECT 1, 'a'") == [[1, "a"]]
        assert peer.seconds("run", "CREATE TABLE t (a integer)") > 0
        both = peer.both_ms("rows", "SELECT 1")
        assert 0 < both[peers.INSIDE] < both[peers.ROUND_TRIP]
        with pytest.raises(peers.PeerError, match="nowhere"):
            peer.ask("run", "SELECT * FROM nowhere")
        assert peer.ask("rows", "SELECT 2") == [[2]]
    finally:
        peer.stop()


def test_a_peer_that_cannot_be_had_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "gone.txt").write_text("no-index-has-this==1\n")
    monkeypatch.setattr(peers, "PACKAGES", tmp_path)
    monkeypatch.setattr(peers, "environment", lambda name: Path(sys.executable))
    assert peers.names() == ["postgres", "gone"]
    with peers.Peers(["gone"], tmp_path) as found:
        assert found.get("gone") is None and found.get("gone") is None and found.get("other") is None
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 1 and re.fullmatch(r"gone is left out: it has ended: .*bench\.peers\.gone.*", told[0])


def test_unknown_names_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        race.main(["wires"])
    with pytest.raises(SystemExit):
        race.main(["wire", "--peers", "oracle"])
    assert "no contest wires" in capsys.readouterr().err


QUICK = {("wire", "copy"), ("micro", "2 views"), ("reads", "unchanged")}
SLOW = [
    pytest.param(contest, part, marks=pytest.mark.slow if (contest, part) in QUICK else pytest.mark.long)
    for contest, parts in CONTESTS.items()
    for part in parts
]


@pytest.mark.turns(6)
@pytest.mark.parametrize(("contest", "part"), SLOW)
def test_a_tiny_run(contest: str, part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(race, "digest", lambda: TREE)
    monkeypatch.setattr(results, "LOOK_S", 0.01)
    race.run(contest, part, TINY, [peers.POSTGRES], tmp_path)
    found = Results(contest, tmp_path)
    assert found.series and all(min(one.values) > 0 for one in found.series)
    assert found.has(part, TREE, TINY, [peers.POSTGRES])
