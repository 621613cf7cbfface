"""docs/dialect.md: each statement of its tables is refused with the text beside it."""

from __future__ import annotations

import re
from pathlib import Path

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer

PAGE = Path(__file__).parents[2] / "docs" / "dialect.md"
ROW = re.compile(r"\| `(?P<statement>[^`]+)` \| (?P<text>[^|]+) \| (?P<instead>.*)\|")
ROWS_MIN = 60


def test_each_is_refused_by_name(server: AntumbraServer) -> None:
    rows = [match for line in PAGE.read_text().splitlines() if (match := ROW.fullmatch(line))]
    assert len(rows) >= ROWS_MIN
    with server.connect() as connection:
        connection.execute("CREATE TABLE a (i int, j int)")
        connection.execute("CREATE TABLE b (i int)")
        for row in rows:
            with pytest.raises(psycopg.errors.FeatureNotSupported) as refused:
                connection.execute(row["statement"].encode())
            assert refused.value.diag.message_primary == row["text"], row["statement"]
        connection.execute("DROP TABLE a, b")
