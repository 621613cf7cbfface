"""Finding the Java that Spark runs on: JAVA_HOME first, then `java` on the PATH.

Version 17 or newer.

Leaves: the JAVA_HOME to run Spark with. Raises JavaError with one line for a person. Must not start
Spark.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

JAVA_MAJOR_MIN = 17
ANSWER_S_MAX = 30.0
REMEDY = "install one with: sudo apt-get install openjdk-17-jre-headless (or 21, or set JAVA_HOME)"

VERSION = re.compile(r'version "(\d+)(?:\.(\d+))?')


class JavaError(Exception):
    """There is no Java that Spark can run on; the text is one line that says what to do."""


def find_java(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the home folder of a Java that is new enough. Raises JavaError."""
    home = environment.get("JAVA_HOME")
    if home:
        program = Path(home) / "bin" / "java"
        source = f"JAVA_HOME={home}"
        if not os.access(program, os.X_OK):
            raise JavaError(f"{source} has no bin/java; Spark needs Java {JAVA_MAJOR_MIN} or newer: {REMEDY}")
    else:
        found = shutil.which("java", path=environment.get("PATH"))
        if found is None:
            raise JavaError(f"no Java found; Spark needs Java {JAVA_MAJOR_MIN} or newer: {REMEDY}")
        program = Path(found).resolve()
        source = str(program)
    major = java_major(program)
    if major is None:
        raise JavaError(f"{source} does not tell its version; Spark needs Java {JAVA_MAJOR_MIN} or newer: {REMEDY}")
    if major < JAVA_MAJOR_MIN:
        raise JavaError(f"{source} is Java {major}; Spark needs Java {JAVA_MAJOR_MIN} or newer: {REMEDY}")
    return program.parent.parent


def java_major(program: Path) -> int | None:
    """Return the major version of the Java at `program`, or None if it does not answer like one."""
    try:
        answer = subprocess.run(
            [program, "-version"], capture_output=True, text=True, check=False, timeout=ANSWER_S_MAX
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return parse_version(answer.stderr + answer.stdout)


def parse_version(text: str) -> int | None:
    """Return the major version in what `java -version` prints: 17 for "17.0.15", 8 for
    "1.8.0_402".
    """
    match = VERSION.search(text)
    if match is None:
        return None
    first, second = match.groups()
    return int(second) if first == "1" and second is not None else int(first)
