"""Generated files are what their golden copies are, and compile."""

from __future__ import annotations

from pathlib import Path

import pytest

from ringbuffer.compile.direct_compiler import compile_directly
from ringbuffer.compile.kernel_code import signature
from ringbuffer.compile.kernel_text import kernel_tree
from ringbuffer.compile.loader import load_kernel
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


@pytest.mark.turns(3)
@pytest.mark.parametrize("name", [*STREAMS, "finish"])
def test_golden_kernels_compile(name: str, tmp_path: Path) -> None:
    if name == "finish":
        module = generate_finish_kernel(FINISH)
    else:
        module = generate_stream_kernel(STREAMS[name], make_grouping(STREAMS[name]))
    # Not by way of numba, which takes five times as long.
    assert compile_directly(kernel_tree(module.text), module.name, module.function, signature(module.types)[0])
    _, path = load_kernel(tmp_path, module.name, module.text, module.function, module.types)
    assert path.read_text() == module.text
    written = path.stat().st_mtime_ns
    load_kernel(tmp_path, module.name, module.text, module.function, module.types)
    assert path.stat().st_mtime_ns == written


def test_the_fingerprint_follows_the_meaning() -> None:
    modules = [generate_stream_kernel(stream, make_grouping(stream)) for stream in STREAMS.values()]
    again = [generate_stream_kernel(stream, make_grouping(stream)) for stream in STREAMS.values()]
    assert modules == again
    assert len({module.fingerprint for module in modules}) == len(modules)
    assert all(module.fingerprint in module.text for module in modules)
