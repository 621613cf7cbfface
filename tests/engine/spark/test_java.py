"""Java is chosen, and the error says so where none will do."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.spark.java import JavaError, find_java, parse_version


def make_java(home: Path, version: str) -> Path:
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2026-01-20' >&2\n")
    program.chmod(0o755)
    return program


def test_versions_old_and_new() -> None:
    assert parse_version('openjdk version "17.0.15" 2025-04-15') == 17
    assert parse_version('java version "1.8.0_402"') == 8
    assert parse_version('openjdk version "21" 2023-09-19') == 21
    assert parse_version("no java here") is None


def test_java_home_comes_first_then_the_path(tmp_path: Path) -> None:
    make_java(tmp_path / "a", "17.0.1")
    on_path = make_java(tmp_path / "b", "21.0.1")
    both = {"JAVA_HOME": str(tmp_path / "a"), "PATH": f"{on_path.parent}:/usr/bin:/bin"}
    assert find_java(both) == tmp_path / "a"
    assert find_java({"PATH": both["PATH"]}) == tmp_path / "b"


@pytest.mark.parametrize(
    ("version", "complaint"), [("11.0.2", "is Java 11; Spark needs Java 17"), ("odd", "does not tell its version")]
)
def test_a_java_that_will_not_do(tmp_path: Path, version: str, complaint: str) -> None:
    make_java(tmp_path, version)
    with pytest.raises(JavaError, match=complaint):
        find_java({"JAVA_HOME": str(tmp_path)})


def test_no_java_at_all(tmp_path: Path) -> None:
    with pytest.raises(JavaError, match=r"no Java found.*apt-get install") as caught:
        find_java({"PATH": str(tmp_path)})
    assert "\n" not in str(caught.value)
    with pytest.raises(JavaError, match="has no bin/java"):
        find_java({"JAVA_HOME": str(tmp_path)})
