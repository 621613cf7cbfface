"""The race: Antumbra beside its peers, in the same run. `python -m bench.race wire micro` runs
these contests; without a name it makes the tables alone.

Each part of a contest runs in a process of its own for at most 20 minutes, and is kept in
bench/results/<contest>.json as soon as it has ended; of a part that was cut off, what it had found
is kept. A race that was cut off goes on with the parts that are not there. A part counts as there
if it ran to its end on this very tree, with the same sizes and peers. At the end the tables and
drawings of bench/README.md are made of these files.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bench.environments import TREE
from bench.race import page, peers
from bench.race.contests import CONTESTS
from bench.race.measuring import Arena, Sizes
from bench.race.results import FOLDER, Conditions, Results, digest
from engine.demo.child import end_process

PART_S_MAX = 20 * 60
# A server is given a minute to stop.
END_S_MAX = 120
CUT_OFF = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for; return 1 if a part has failed."""
    parser = argparse.ArgumentParser(
        prog="bench.race", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = Sizes()
    known = ",".join(peers.names())
    parser.add_argument("contests", nargs="*", help=f"{', '.join(CONTESTS)}, or all")
    parser.add_argument("--peers", default=known, help=f"separated by commas (default {known})")
    parser.add_argument("--parts", nargs="+", help="these parts of the contests alone")
    parser.add_argument("--runs", type=int, default=default.runs_count, help="interleaved runs (default 5)")
    parser.add_argument("--seconds", type=int, default=default.seconds, help="of each rate in a run (default 2)")
    parser.add_argument("--share", type=float, default=default.share, help="of the rows of a full run (default 1)")
    parser.add_argument("--again", action="store_true", help="run parts that are there")
    parser.add_argument("--results", type=Path, default=FOLDER, help="the folder of the results")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    contests = list(CONTESTS) if options.contests == ["all"] else options.contests
    unknown = [name for name in contests if name not in CONTESTS]
    if unknown:
        parser.error(f"no contest {unknown[0]}: {', '.join(CONTESTS)}")
    sizes = Sizes(options.runs, options.seconds, options.share)
    chosen = [name for name in options.peers.split(",") if name]
    if unknown := [name for name in chosen if name not in peers.names()]:
        parser.error(f"no peer {unknown[0]}: {known}")
    signal.signal(signal.SIGTERM, end)
    parts = [
        (contest, part)
        for contest in contests
        for part in CONTESTS[contest]
        if options.parts is None or part in options.parts
    ]
    if options.here:
        for contest, part in parts:
            run(contest, part, sizes, chosen, options.results)
        return 0
    failed = run_all(parts, sizes, chosen, options.results, options.again)
    page.write(options.results)
    return 1 if failed else 0


def end(*_: object) -> None:
    """End by an exception, as Ctrl-C does, so that servers are stopped. Raises SystemExit."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit(CUT_OFF)


def run_all(
    parts: Sequence[tuple[str, str]], sizes: Sizes, chosen: Sequence[str], folder: Path, again: bool
) -> list[str]:
    """Run each part in a process of its own; return those that have failed."""
    tree, failed = digest(), []
    for number, (contest, part) in enumerate(parts, 1):
        head = f"[{number}/{len(parts)}] {contest}, {part}"
        if not again and Results(contest, folder).has(part, tree, sizes, chosen):
            print(f"{head}: there already", file=sys.stderr)
            continue
        print(head, file=sys.stderr, flush=True)
        began_s = time.perf_counter()
        problem = run_apart(contest, part, sizes, chosen, folder)
        if problem:
            failed.append(f"{contest}, {part}")
        print(f"{head}: {problem or 'done'} after {time.perf_counter() - began_s:.0f} s", file=sys.stderr, flush=True)
    return failed


def run_apart(contest: str, part: str, sizes: Sizes, chosen: Sequence[str], folder: Path) -> str:
    """Run a part in a process; return what went wrong, or nothing."""
    command = [sys.executable, "-m", "bench.race", contest, "--parts", part, "--here", "--peers", ",".join(chosen)]
    command += ["--runs", str(sizes.runs_count), "--seconds", str(sizes.seconds), "--share", str(sizes.share)]
    # Ctrl-C reaches this process alone, which ends the part in order.
    process = subprocess.Popen([*command, "--results", str(folder.resolve())], cwd=TREE, process_group=0)
    try:
        code = process.wait(PART_S_MAX)
    except subprocess.TimeoutExpired:
        return "cut off"
    finally:
        end_process(process, END_S_MAX)
    return "" if code == 0 else "failed"


def run(contest: str, part: str, sizes: Sizes, chosen: Sequence[str], folder: Path) -> None:
    """Run a part in this process, and keep what it finds, also where it is cut off."""
    conditions = Conditions.now(sizes, chosen, digest())
    began_s = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="antumbra-race-") as name:
        # PostgreSQL's own user has to reach its folder.
        os.chmod(name, 0o755)
        with peers.Peers(chosen, Path(name) / "peers") as found:
            arena = Arena(sizes, Path(name), found)

            def keep(is_cut_off: bool) -> None:
                found_so = replace(conditions, peers=found.there, is_cut_off=is_cut_off)
                Results(contest, folder).keep(part, found_so, time.perf_counter() - began_s, arena.series)

            try:
                CONTESTS[contest][part](arena)
            except (SystemExit, KeyboardInterrupt):
                if arena.series and not Results(contest, folder).has(part, conditions.tree, sizes, chosen):
                    keep(is_cut_off=True)
                raise
            keep(is_cut_off=False)


if __name__ == "__main__":
    sys.exit(main())
