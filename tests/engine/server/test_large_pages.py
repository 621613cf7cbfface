"""The server starts itself again with large pages once, and where that makes sense alone; what it
starts does not get the setting.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from engine.server import large_pages
from engine.server.large_pages import SETTING, VARIABLE, use_large_pages


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[str, list[str]]]:
    """Give pages to who asks; return the programs that were started."""
    found: list[tuple[str, list[str]]] = []
    system = tmp_path / "enabled"
    system.write_text("always [madvise] never\n")
    monkeypatch.setattr(large_pages, "SYSTEM_SETTING", system)
    monkeypatch.setattr(os, "execv", lambda path, arguments: found.append((path, arguments)))
    monkeypatch.delenv(VARIABLE, raising=False)
    return found


def test_it_is_started_again_once(started: list[tuple[str, list[str]]]) -> None:
    use_large_pages()
    assert started == [(sys.executable, [sys.executable, *sys.orig_argv[1:]])]
    assert os.environ[VARIABLE] == SETTING
    use_large_pages()
    assert len(started) == 1
    assert os.environ[VARIABLE] == ""


def test_settings_of_the_operator_stay(started: list[tuple[str, list[str]]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "glibc.malloc.arena_max=2")
    use_large_pages()
    assert os.environ[VARIABLE] == f"glibc.malloc.arena_max=2:{SETTING}"
    use_large_pages()
    assert os.environ[VARIABLE] == "glibc.malloc.arena_max=2"
    monkeypatch.setenv(VARIABLE, "glibc.malloc.hugetlb=0")
    use_large_pages()
    assert len(started) == 1 and os.environ[VARIABLE] == "glibc.malloc.hugetlb=0"


@pytest.mark.parametrize("text", ["[always] madvise never", "always madvise [never]", None])
def test_the_system_gives_them_to_all_or_to_none(
    text: str | None, started: list[tuple[str, list[str]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if text is None:
        monkeypatch.setattr(large_pages, "SYSTEM_SETTING", tmp_path / "none")
    else:
        large_pages.SYSTEM_SETTING.write_text(text)
    use_large_pages()
    assert not started and VARIABLE not in os.environ
