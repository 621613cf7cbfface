"""`make load`: locust without a browser, for 30 seconds, against a server that this script starts
in a temporary folder.

Prints locust's table of rates, percentiles and failures. The exit status is locust's: not 0 when a
request failed or rows are missing.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.load_stream import create_load_stream
from engine.demo.child import child_server

LOCUSTFILE = Path(__file__).with_name("locustfile.py")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run locust and return its exit status."""
    parser = argparse.ArgumentParser(prog="bench.load", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--seconds", type=int, default=30, help="how long to run (default 30)")
    parser.add_argument("--users", type=int, default=9, help="how many users at once (default 9)")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="antumbra-load-") as folder, child_server(Path(folder) / "data") as child:
        host = f"postgresql://antumbra@127.0.0.1:{child.port}/antumbra"
        # locust counts its time from the first step; what is compiled at first use shall not be
        # part of it.
        create_load_stream(host)
        command = [sys.executable, "-m", "locust", "-f", str(LOCUSTFILE), "--headless", "--only-summary"]
        command += ["--users", str(options.users), "--spawn-rate", str(options.users)]
        command += ["--run-time", f"{options.seconds}s", "--stop-timeout", "10"]
        command += ["--host", host]
        return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
