"""Units of work that the workers of a run share out: files, and all that share one Spark as one.

A worker that meets a test with the fixture `spark` starts a JVM, which takes eight seconds of
processor, and its first queries are slow: one worker does that for all.
"""

from __future__ import annotations

import importlib
import os
import re
from functools import cache
from pathlib import Path

import pytest
from xdist.scheduler import LoadFileScheduling

SPARK_FIXTURES = re.compile(r"\b(spark: SparkRuntime|upper: SparkUpperExecutor)\b")


class OneSpark(LoadFileScheduling):  # type: ignore[misc]  # without types
    """Gives a file to one worker, and all files with the fixture `spark` to the same one."""

    def _split_scope(self, nodeid: str) -> str:
        """Return the name of the unit to which a test belongs."""
        return work_unit(nodeid.partition("::")[0])


@cache
def work_unit(path: str) -> str:
    """Return the name of a file's unit of work; path: from the top of the tree."""
    return "spark" if SPARK_FIXTURES.search(Path(path).read_text()) else path


def import_own_share(config: pytest.Config) -> None:
    """Import the n-th test files in the n-th worker, before all are collected.

    The first import of a file rewrites its assertions, which takes longer than all else of
    collecting; what others have rewritten by then is read.
    """
    worker, count = (os.environ[f"PYTEST_XDIST_WORKER{suffix}"] for suffix in ("", "_COUNT"))
    paths = sorted((config.rootpath / "tests").rglob("test_*.py"))
    for path in paths[int(worker.removeprefix("gw")) :: int(count)]:
        importlib.import_module(".".join(path.relative_to(config.rootpath).with_suffix("").parts))
