"""A server that is no more names its end to the test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oracle.antumbra import AntumbraServer


@pytest.mark.slow
def test_a_server_that_was_killed_is_named(tmp_path: Path) -> None:
    server = AntumbraServer(tmp_path / "data").start()
    server.connect().close()
    server.kill()
    with pytest.raises(AssertionError, match="ended with status -9"):
        server.connect()
