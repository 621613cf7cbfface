"""One random case of a stream with tables: views that join them, streams filled from them, reads of
views and tables together.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from random import Random

from tests.randomized.cases import TIME_ZONES, Case, Write, WriteMaker, draw_folding, stream_source
from tests.randomized.expressions import FLOATS
from tests.randomized.joined_views import JoinedViewMaker, filled, joined_table
from tests.randomized.queries import QueryMaker
from tests.randomized.selects import Select, SelectMaker
from tests.randomized.table_columns import random_table_column
from tests.randomized.table_writes import TableWriter
from tests.randomized.tables import Source
from tests.randomized.values import Column
from tests.randomized.views import View


def make_mixed_case(seed: int) -> Case:
    """Return the mixed case of a seed."""
    random = Random(seed)
    counts: Counter[str] = Counter()
    stream = f"s{seed}"
    columns = [random_table_column(random, f"c{index}") for index in range(random.randint(2, 5))]
    fixed, changing = (joined_table(random, f"t{seed}{letter}", letter, columns) for letter in "ef")
    setup = [text for table, create in (fixed, changing) for text in (create, filled(random, table))]
    maker = JoinedViewMaker(random, columns, counts, [fixed[0]], [changing[0]])
    views = [maker.view(f"v{seed}_{index}") for index in range(random.choice([1, 1, 1, 2]))]
    tables = [table.source for table, _ in (fixed, changing)]
    writer = TableWriter(random, {changing[0].name: changing[0]}, tables, counts)
    writer.start(changing[0], 9)

    def table_write() -> Write:
        made = writer.write(changing[0])
        return Write(made.text, made.parameters, made.data, made.binary, made.rows, several=True)

    def stream_from_tables() -> Write:
        counts["insert into a stream from tables"] += 1
        names = ", ".join(column.name for column in columns)
        query = QueryMaker(random, tables, counts).insert_query([assigned_family(column) for column in columns])
        return Write(f"INSERT INTO {stream} ({names}) {query}", several=True)

    writes = WriteMaker(random, stream, columns, counts, [table_write, table_write, *[stream_from_tables] * 3]).writes()
    selects = mixed_selects(random, views, tables, stream_source(stream, columns), counts)
    extended = random.random() < 0.5
    binary = extended and random.random() < 0.5
    counts["case of a stream and tables"] += 1
    time_zone = random.choice(TIME_ZONES)
    cleanup = [f"DROP TABLE {table.name} CASCADE" for table, _ in (fixed, changing)]
    folds = draw_folding(random, counts)
    ends = (tuple(setup), tuple(cleanup), folds)
    return Case(seed, stream, columns, views, writes, selects, time_zone, extended, binary, counts, *ends)


def assigned_family(column: Column) -> str:
    """Return the family of what tables give to a stream's column.

    Views add up floats of columns without extreme values. Such a sum is the same in any order of
    additions only if each of them is exact: whole numbers of two bytes are, a table's floats need
    not be.
    """
    return "int2" if column.family in FLOATS and not column.extreme else column.family


def mixed_selects(
    random: Random, views: Sequence[View], tables: Sequence[Source], stream: Source, counts: Counter[str]
) -> list[Select]:
    """Return reads of each view, and of views, tables and the stream together."""
    selects = [Select(f"SELECT * FROM {view.name}", ordered=False, views=frozenset([view.name])) for view in views]
    select_maker = SelectMaker(random, views, counts)
    selects += [select_maker.select() for _ in range(2)]
    sources = [Source(view.name, view.columns) for view in views]
    for others in (tables, tables, [*tables, stream], [stream]):
        select = QueryMaker(random, [*sources, *sources, *others], counts).select()
        if stream.name in select.text:
            counts["read of a stream"] += 1
        names = frozenset(view.name for view in views if re.search(rf"\b{view.name}\b", select.text))
        selects.append(Select(select.text, select.ordered, select.parameters, names))
    return selects
