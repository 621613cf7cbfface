"""The lines of a benchmark's table: what was measured, what is wanted, and on which machine.

Enters: rates and seconds of interleaved runs. Leaves: figures, and the Markdown that `--write` puts
between two marks of bench/README.md. Must not measure anything itself.
"""

from __future__ import annotations

import os
import platform
import re
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

README = Path(__file__).with_name("README.md")


@dataclass(frozen=True, slots=True)
class Figure:
    """A line of the table. value: what the threshold is about; detail: the measured medians."""

    name: str
    detail: str
    value: float
    unit: str
    threshold: float
    more_is_better: bool

    @property
    def holds(self) -> bool:
        """Tell whether the threshold is kept."""
        return self.value >= self.threshold if self.more_is_better else self.value < self.threshold

    @property
    def line(self) -> str:
        """The line of the table."""
        bound = f"{'at least' if self.more_is_better else 'under'} {self.threshold:g}"
        verdict = "holds" if self.holds else "MISSED"
        return f"| {self.name} | {self.detail} | {self.value:.2f} {self.unit} | {bound} | {verdict} |"


def interleaved(runs_count: int, *measures: Callable[[], float]) -> list[list[float]]:
    """Return what each measures, run in turns, so that a slow moment of the machine meets all."""
    rounds = [[measure() for measure in measures] for _ in range(runs_count)]
    return [list(results) for results in zip(*rounds, strict=True)]


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that so large a share of all do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def compared(name: str, ours: Sequence[float], theirs: Sequence[float], threshold: float, whose: str) -> Figure:
    """Return the figure of a rate that is to be at least `threshold` of another."""
    our_rate, their_rate = statistics.median(ours), statistics.median(theirs)
    return Figure(name, f"{our_rate:,.0f} / {their_rate:,.0f}", our_rate / their_rate, f"of {whose}", threshold, True)


def told(*figures: Figure) -> list[Figure]:
    """Return the figures, after a line for the person who waits for the table."""
    for figure in figures:
        print(figure.line, file=sys.stderr, flush=True)
    return list(figures)


def report(figures: Sequence[Figure], checksum: str, runs_count: int) -> str:
    """Return the table in Markdown."""
    lines = ["| what | measured | result | wanted | |", "|---|---|---|---|---|", *(figure.line for figure in figures)]
    lines += ["", f"Median of {runs_count} interleaved runs. Checksum: {checksum}.", f"Machine: {machine()}."]
    return "\n".join(lines)


def write_report(text: str, section: str, page: Path = README) -> None:
    """Put a report into bench/README.md, or another page, between the marks of its section."""
    begin, end = f"<!-- {section}: begin -->", f"<!-- {section}: end -->"
    before, rest = page.read_text().split(begin)
    page.write_text(f"{before}{begin}\n{text}\n{end}{rest.split(end)[1]}")


def machine() -> str:
    """Return what the figures were measured on."""
    models = re.findall(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    memory_kb = re.findall(r"MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text())
    memory = f"{int(memory_kb[0]) / 1024**2:.0f} GB" if memory_kb else "unknown memory"
    return (
        f"{models[0] if models else platform.machine()}, {os.cpu_count()} cores, {memory}, "
        f"Linux {platform.release()}, Python {platform.python_version()}"
    )
