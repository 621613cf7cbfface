"""The tables and drawings of the race in bench/README.md, and a few of its lines in the README of
the house, made of bench/results/*.json alone.

What the values of a contest are is told by the first lines of its module.
"""

from __future__ import annotations

import importlib
import statistics
import textwrap
from collections.abc import Sequence
from pathlib import Path

from bench.charts import bars
from bench.figures import README, write_report
from bench.race.contests import CONTESTS
from bench.race.measuring import MILLISECONDS, Series
from bench.race.results import FOLDER, Results
from bench.race.servers import ANTUMBRA
from bench.race.targets import SHOWN_FIRST, TARGETS

SECTION = "race"
COLUMNS_MAX = 100


def write(folder: Path) -> None:
    """Write the drawings beside the results, and the tables into bench/README.md where these are
    its results.
    """
    found = {contest: results for contest in CONTESTS if (results := Results(contest, folder)).series}
    for contest, results in found.items():
        folder.joinpath(f"{contest}.svg").write_text(drawing(contest, results.series))
    text = report(found)
    if folder == FOLDER:
        write_report(text, SECTION)
        write_report(summary(found), SECTION, README.parents[1] / README.name)
    else:
        print(text)


def report(found: dict[str, Results]) -> str:
    """Return all tables in Markdown."""
    lines = ["| what | ours / other's | ratio | at least | | tree |", "|---|---|---|---|---|---|"]
    for contest, targets in TARGETS.items():
        series = found[contest].series if contest in found else []
        trees = found[contest].trees if contest in found else {}
        lines.append(f"| **{contest}** | | | | | |")
        lines += [f"{target.line(series)} {shortened(trees.get(target.what, ''))} |" for target in targets]
    lines += ["", "Medians of interleaved runs; the ratio's least and most of a run in brackets.", conditions(found)]
    for contest, results in found.items():
        lines += ["", f"### {contest}", "", told(contest), "", textwrap.fill(parts_of(results), COLUMNS_MAX)]
        lines += ["", *table(results.series), "", f"![{contest}](results/{contest}.svg)"]
    return "\n".join(lines)


def summary(found: dict[str, Results]) -> str:
    """Return the lines that the README of the house shows."""
    lines = ["| what | Antumbra / the other | how often |", "|---|---|---|"]
    for contest, targets in TARGETS.items():
        series = found[contest].series if contest in found else []
        for target in targets:
            measured, ratios = target.found(series)
            if target.name in SHOWN_FIRST and ratios:
                lines.append(f"| {target.name} | {measured} | {statistics.median(ratios):.2f} |")
    return "\n".join(lines)


def told(contest: str) -> str:
    """Return what the module of a contest says of it."""
    text = importlib.import_module(f"bench.race.{contest}").__doc__ or ""
    return text.strip()


def shortened(tree: str) -> str:
    """Return the start of a digest, by which a reader tells trees apart."""
    return tree[:7]


def parts_of(results: Results) -> str:
    """Return sentences about the trees and runs of a contest's parts."""
    by_tree: dict[str, list[str]] = {}
    for name, part in results.conditions.items():
        cut_off = ", cut off and so without its last lines" if part.get("is_cut_off") else ""
        sizes = part["sizes"]
        share = f" of {sizes['share']:g} of the rows" if sizes["share"] != 1 else ""
        by_tree.setdefault(f"tree {shortened(part['tree'])}, {sizes['runs_count']} runs{share}", []).append(
            name + cut_off
        )
    text = "; ".join(f"{conditions}: {', '.join(names)}" for conditions, names in by_tree.items())
    return f"Parts of {text}."


def conditions(found: dict[str, Results]) -> str:
    """Return a sentence about the tree and the machine of all parts."""
    parts = [part for results in found.values() for part in results.conditions.values()]
    if not parts:
        return "Nothing is measured yet."
    trees = sorted({shortened(part["tree"]) for part in parts})
    busy = [part["busy"] for part in parts]
    text = f"Tree {trees[0]}" if len(trees) == 1 else f"{len(trees)} trees ({', '.join(trees)})"
    minutes = sum(part["seconds"] for part in parts) / 60
    used = f"Others used {statistics.median(busy):.0%} of the processors before a part ({max(busy):.0%} at most)."
    text += f", {len(parts)} parts in {minutes:.0f} minutes. {used} Machine: {parts[-1]['machine']}."
    return textwrap.fill(text, COLUMNS_MAX)


def table(series: Sequence[Series]) -> list[str]:
    """Return a contest's table: a line for each thing that was measured, a column per peer."""
    columns = list(dict.fromkeys(one.whose for one in series))
    lines = [f"| what | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for what in dict.fromkeys(one.what for one in series):
        row = [one for one in series if one.what == what]
        cells = {one.whose: one.text for one in row}
        lines.append(f"| {what}, {row[0].unit} | {' | '.join(cells.get(column, '') for column in columns)} |")
    return lines


def drawing(contest: str, series: Sequence[Series]) -> str:
    """Return bars: how often the best of ours is another's, of times the other way round."""
    shown: dict[str, float] = {}
    for what in dict.fromkeys(one.what for one in series):
        ours = [one for one in series if one.what == what and one.whose.startswith(ANTUMBRA)]
        for other in (one for one in series if one.what == what and not one.whose.startswith(ANTUMBRA)):
            medians = [one.median for one in ours] or [0.0]
            best = min(medians) if other.unit == MILLISECONDS else max(medians)
            # Who answers nothing beside events has no bar.
            if best and other.median:
                ratio = best / other.median
                shown[f"{what}: {other.whose}"] = 1 / ratio if other.unit == MILLISECONDS else ratio
    return bars(f"{contest}: how many times ahead of a peer", shown)
