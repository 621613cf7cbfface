"""A row that was decoded at Bind, and a stream that is altered before Execute."""

from __future__ import annotations

import pytest

from tests.end_to_end.raw_client import FLUSH, SYNC, RawClient, bind, execute, parse
from tests.oracle.antumbra import AntumbraServer


@pytest.mark.slow
def test_a_bound_row_goes_into_the_stream_as_it_is_at_execute(server: AntumbraServer) -> None:
    with server.connect() as other:
        other.execute("CREATE FOREIGN TABLE ba (k int, t text) SERVER stream")
        client = RawClient(server.port, "antumbra", "antumbra")
        client.send(parse("INSERT INTO ba (k, t) VALUES ($1, $2)"), bind([b"7", b"x"]), FLUSH)
        client.read_until("2")
        other.execute("ALTER FOREIGN TABLE ba ADD COLUMN n int DEFAULT 5")
        assert "C INSERT 0 1" in client.ask(execute(), SYNC)
        client.hang_up()
        assert other.execute("SELECT k, t, n FROM ba").fetchall() == [(7, "x", 5)]
        other.execute("DROP FOREIGN TABLE ba CASCADE")
