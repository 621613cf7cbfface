"""Groups by many keys: of more words than a word has bits, and more than kernels tell texts by."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.session_client import World

ROWS = (0, 1, 0, 0)


@pytest.mark.parametrize(("kind", "count"), [("int", 30), ("text", 20), ("text", 40)])
def test_wide_rows_are_one_group_each(tmp_path: Path, kind: str, count: int) -> None:
    world = World(tmp_path)
    client = world.client()
    names = [f"c{number}" for number in range(count)]
    client.ask(f"CREATE FOREIGN TABLE s ({', '.join(f'{name} {kind}' for name in names)}) SERVER stream")
    (made, *_) = client.ask(f"CREATE VIEW v AS SELECT {', '.join(names)}, count(*) FROM s GROUP BY {', '.join(names)}")
    assert made == "C CREATE VIEW"
    for row in ROWS:
        values = (f"'{'a long text ' * (kind == 'text')}{number + row}'" for number in range(count))
        assert client.ask(f"INSERT INTO s VALUES ({', '.join(values)})")[0] == "C INSERT 0 1"
    found = [line for line in client.ask(f"SELECT count, {names[-1]} FROM v ORDER BY count") if line[0] == "D"]
    last = "a long text " * (kind == "text")
    assert found == [f"D [b'1', b'{last}{count}']", f"D [b'3', b'{last}{count - 1}']"]
    world.close()
