"""All shapes, and what their texts find in a database."""

from __future__ import annotations

from bench.shapes import (
    chains,
    constants,
    continuous,
    functions,
    joins,
    lexer,
    lists,
    nested,
    protocol,
    statements,
    wide,
)
from bench.shapes.table import Shape

MODULES = (lexer, constants, chains, nested, lists, statements, functions, protocol, wide, joins, continuous)
SHAPES: dict[str, Shape] = {name: shape for module in MODULES for name, shape in module.TABLE.shapes.items()}

SETUP = (
    "CREATE TABLE shaped (a integer, b integer, c text, d double precision, e numeric)",
    "INSERT INTO shaped SELECT i, i % 7, 'x' || i, i, i FROM generate_series(1, 10) i",
    "CREATE FOREIGN TABLE shapes (k integer, t text) SERVER stream",
    "CREATE VIEW per_k AS SELECT k, count(*) AS n FROM shapes GROUP BY k",
    *(
        f"CREATE VIEW w{i} AS SELECT "
        + (f"x.a FROM w{i - 1} x, w{i - 1} y WHERE x.a = y.a" if i else "a FROM shaped WHERE a = 1")
        for i in range(41)
    ),
    *joins.SETUP,
    "INSERT INTO shapes VALUES (1, 'a'), (2, 'b')",
)
