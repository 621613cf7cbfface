"""Generated files are what their golden copies are, and compile."""

from __future__ import annotations

from pathlib import Path

import pytest

from ringbuffer.loader import load_kernel
from tests.views.codegen.make_golden import FINISH, FOLDER, STREAMS, golden_texts
from views.codegen.finish_kernel import generate_finish_kernel
from views.codegen.grouping import make_grouping
from views.codegen.stream_kernel import generate_stream_kernel


def test_every_golden_copy_is_current() -> None:
    texts = golden_texts()
    assert {path.name for path in FOLDER.glob("*.py.txt")} == set(texts)
    for name, text in texts.items():
        assert (FOLDER / name).read_text() == text, (
            f"{name} changed: python -m tests.views.codegen.make_golden rewrites it"
        )


@pytest.mark.parametrize("name", [*STREAMS, "finish"])
def test_golden_kernels_compile(name: str, tmp_path: Path) -> None:
    if name == "finish":
        module = generate_finish_kernel("revenue", "groups", FINISH)
    else:
        module = generate_stream_kernel(name, STREAMS[name], make_grouping(STREAMS[name]))
    _, path = load_kernel(tmp_path, name, module.text, module.function, module.types)
    assert path.read_text() == module.text
    written = path.stat().st_mtime_ns
    load_kernel(tmp_path, name, module.text, module.function, module.types)
    assert path.stat().st_mtime_ns == written


def test_the_fingerprint_follows_the_meaning() -> None:
    stream = STREAMS["totals"]
    first = generate_stream_kernel("a", stream, make_grouping(stream))
    same = generate_stream_kernel("a", stream, make_grouping(stream))
    other = generate_stream_kernel("b", stream, make_grouping(stream))
    assert first.fingerprint == same.fingerprint != other.fingerprint
    assert first.fingerprint in first.text
