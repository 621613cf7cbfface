"""SQL in, rows out, over a real socket: every `.slt` file beside this one is a script of statements
and their answers.

Form: a line `statement ok`, `statement error SQLSTATE [position]` or `query`, then the SQL up to an
empty line; a query's rows follow a line `----`, values joined by `|`, NULL as `NULL`, in any order
unless the query has ORDER BY. `pytest tests/slt --rewrite` writes what the server answers into the
files; the diff is then the review.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest
from psycopg import pq

from tests.oracle.antumbra import AntumbraServer

FILES = sorted(Path(__file__).parent.glob("*.slt"))


@dataclass
class Block:
    """One statement of a script and its expected answer; comments before it are kept."""

    comments: list[str] = field(default_factory=list)
    head: str = ""
    sql: str = ""
    rows: list[str] = field(default_factory=list)

    def text(self) -> str:
        """The block as the file holds it."""
        lines = [*self.comments, self.head, self.sql]
        if self.head == "query":
            lines += ["----", *self.rows]
        return "\n".join(lines) + "\n"


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_script(path: Path, server: AntumbraServer, request: pytest.FixtureRequest) -> None:
    blocks = list(read_blocks(path.read_text()))
    assert blocks, path
    rewrite = request.config.getoption("--rewrite")
    with server.connect() as connection:
        for block in blocks:
            head, rows = run_block(connection, block)
            if rewrite:
                block.head, block.rows = head, rows
                continue
            assert (head, rows) == (block.head, block.rows), f"{path.name}: {block.sql}"
    if rewrite:
        path.write_text("\n".join(block.text() for block in blocks))


def read_blocks(text: str) -> Iterator[Block]:
    """Yield the blocks of a script."""
    for part in text.split("\n\n"):
        lines = [line for line in part.split("\n") if line]
        block = Block()
        while lines and lines[0].startswith("#"):
            block.comments.append(lines.pop(0))
        if not lines:
            continue
        block.head = lines.pop(0)
        if "----" in lines:
            cut = lines.index("----")
            lines, block.rows = lines[:cut], lines[cut + 1 :]
        block.sql = "\n".join(lines)
        yield block


def run_block(connection: psycopg.Connection[tuple[object, ...]], block: Block) -> tuple[str, list[str]]:
    """Return the head and the rows that the server's answer stands for."""
    result = connection.pgconn.exec_(block.sql.encode())
    if result.status == pq.ExecStatus.FATAL_ERROR:
        state = (result.error_field(pq.DiagnosticField.SQLSTATE) or b"").decode()
        position = result.error_field(pq.DiagnosticField.STATEMENT_POSITION)
        shown = f" {position.decode()}" if position and len(block.head.split()) == 4 else ""
        return f"statement error {state}{shown}", []
    if not result.nfields:
        return "statement ok", []
    rows = [
        "|".join(_shown(result.get_value(row, column)) for column in range(result.nfields))
        for row in range(result.ntuples)
    ]
    return "query", rows if "order by" in block.sql.lower() else sorted(rows)


def _shown(value: bytes | None) -> str:
    return "NULL" if value is None else value.decode()
