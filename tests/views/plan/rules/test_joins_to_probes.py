"""Before and after of the rule `joins_to_probes`."""

from __future__ import annotations

from sql.tree.expressions import Call, Column, Literal
from sql.tree.relations import Aggregate, Filter, Join, OutputColumn, Project, Relation, Scan
from sql.types.datatypes import BOOL, INT4, TEXT
from tests.views.building import SALES, add, col, compare, count_star, lit, project, where
from views.plan.rules.joins_to_probes import joins_to_probes

SHOPS = Scan("shops", "table", (OutputColumn("name", TEXT), OutputColumn("region", INT4), OutputColumn("size", INT4)))
REGIONS = Scan("regions", "table", (OutputColumn("id", INT4), OutputColumn("title", TEXT)))
COUNT = (("count", count_star()),)
WIDTH = len(SALES.schema)
SHOP, N = col(SALES, "shop"), col(SALES, "n")


def cross(left: Relation, right: Relation) -> Join:
    return Join(left, right, "cross", None)


def at(index: int, column: Column) -> Column:
    """Return a column as it is addressed at another place."""
    return Column(index, column.name, column.type)


def both(*conditions: Call) -> Call:
    return Call("and", conditions, BOOL)


def test_where_over_a_comma_becomes_a_key_and_sinks_to_its_side() -> None:
    from_clause = cross(SHOPS, SALES)
    name, size = col(from_clause, "name"), col(from_clause, "size")
    shop, n = col(from_clause, "shop"), col(from_clause, "n")
    condition = both(compare("eq", name, shop), compare("gt", n, lit(1)), compare("lt", size, lit(9)))
    before = Aggregate(where(from_clause, condition), (("region", col(from_clause, "region")),), COUNT)
    stream = Filter(SALES, compare("gt", N, lit(1)))
    small = Filter(SHOPS, compare("lt", col(SHOPS, "size"), lit(9)))
    build = project(small, ("region", col(SHOPS, "region")), ("name", col(SHOPS, "name")))
    chain = Join(stream, build, "inner", compare("eq", SHOP, Column(WIDTH + 1, "name", TEXT)))
    assert joins_to_probes(before) == Aggregate(chain, (("region", Column(WIDTH, "region", INT4)),), COUNT)


def test_tables_that_are_equal_to_a_probed_one_are_joined_before() -> None:
    from_clause = cross(cross(SALES, SHOPS), REGIONS)
    links = both(
        compare("eq", col(from_clause, "shop"), col(from_clause, "name")),
        compare("eq", col(from_clause, "region"), col(from_clause, "id")),
    )
    before = Aggregate(where(from_clause, links), (("title", col(from_clause, "title")),), COUNT)
    pair = Join(SHOPS, REGIONS, "inner", compare("eq", Column(1, "region", INT4), Column(3, "id", INT4)))
    build = project(pair, ("title", Column(4, "title", TEXT)), ("name", Column(0, "name", TEXT)))
    chain = Join(SALES, build, "inner", compare("eq", SHOP, Column(WIDTH + 1, "name", TEXT)))
    assert joins_to_probes(before) == Aggregate(chain, (("title", Column(WIDTH, "title", TEXT)),), COUNT)


def test_two_probed_tables_stay_apart_and_what_links_them_is_another_key() -> None:
    from_clause = cross(cross(SALES, SHOPS), REGIONS)
    title, item, id_ = (col(from_clause, name) for name in ("title", "item", "id"))
    links = both(
        compare("eq", col(from_clause, "shop"), col(from_clause, "name")),
        compare("eq", item, title),
        compare("eq", col(from_clause, "region"), id_),
    )
    before = Aggregate(where(from_clause, links), (), COUNT)
    first = project(SHOPS, ("region", col(SHOPS, "region")), ("name", col(SHOPS, "name")))
    chain = Join(SALES, first, "inner", compare("eq", SHOP, Column(WIDTH + 1, "name", TEXT)))
    second = project(REGIONS, ("title", col(REGIONS, "title")), ("id", col(REGIONS, "id")))
    keys = both(
        compare("eq", col(SALES, "item"), Column(WIDTH + 2, "title", TEXT)),
        compare("eq", Column(WIDTH, "region", INT4), Column(WIDTH + 3, "id", INT4)),
    )
    assert joins_to_probes(before) == Aggregate(Join(chain, second, "inner", keys), (), COUNT)


def test_a_left_join_keeps_its_conditions_and_what_filters_its_columns_stays_above() -> None:
    size, name = Column(WIDTH + 2, "size", INT4), Column(WIDTH, "name", TEXT)
    condition = both(compare("eq", SHOP, name), compare("gt", size, lit(2)), compare("gt", N, lit(1)))
    joined = Join(SALES, SHOPS, "left", condition)
    region = Column(WIDTH + 1, "region", INT4)
    before = Aggregate(where(joined, Call("is_null", (region,), BOOL)), (), COUNT)
    build = project(
        Filter(SHOPS, compare("gt", col(SHOPS, "size"), lit(2))),
        ("region", col(SHOPS, "region")),
        ("name", col(SHOPS, "name")),
    )
    keys = both(compare("eq", SHOP, Column(WIDTH + 1, "name", TEXT)), compare("gt", N, lit(1)))
    chain = Join(SALES, build, "left", keys)
    after = Aggregate(Filter(chain, Call("is_null", (Column(WIDTH, "region", INT4),), BOOL)), (), COUNT)
    assert joins_to_probes(before) == after


def test_a_key_that_is_computed_is_a_column_of_the_build_side() -> None:
    shifted = project(SALES, ("next", add(N, lit(1))))
    condition = compare("eq", Column(0, "next", INT4), add(Column(2, "region", INT4), lit(5)))
    before = Aggregate(Join(shifted, SHOPS, "inner", condition), (), COUNT)
    build = project(SHOPS, ("key", add(col(SHOPS, "region"), lit(5))))
    chain = Join(SALES, build, "inner", compare("eq", add(N, lit(1)), Column(WIDTH, "key", INT4)))
    assert joins_to_probes(before) == Aggregate(chain, (), COUNT)


def test_without_an_equality_every_row_is_a_match() -> None:
    joined = Join(SALES, SHOPS, "inner", compare("lt", N, Column(WIDTH + 2, "size", INT4)))
    build = project(SHOPS, ("size", col(SHOPS, "size")))
    condition = compare("lt", N, Column(WIDTH, "size", INT4))
    assert joins_to_probes(Aggregate(joined, (), COUNT)) == Aggregate(Filter(cross(SALES, build), condition), (), COUNT)
    alone = Project(SHOPS, (("column", Literal(True, BOOL)),))
    found = joins_to_probes(Aggregate(cross(SALES, SHOPS), (), COUNT))
    assert isinstance(found, Aggregate) and isinstance(found.input, Join)
    assert isinstance(found.input.right, Project) and found.input.right.items[0][1] == alone.items[0][1]


def test_a_key_in_every_branch_of_an_or_is_a_key() -> None:
    key = compare("eq", SHOP, Column(WIDTH, "name", TEXT))
    size = Column(WIDTH + 2, "size", INT4)
    small, large = compare("lt", size, lit(2)), compare("gt", size, N)
    either = Call("or", (both(small, key), both(key, large)), BOOL)
    build = project(SHOPS, ("size", col(SHOPS, "size")), ("name", col(SHOPS, "name")))
    chain = Join(SALES, build, "inner", compare("eq", SHOP, Column(WIDTH + 1, "name", TEXT)))
    kept = Column(WIDTH, "size", INT4)
    rest = Call("or", (compare("lt", kept, lit(2)), compare("gt", kept, N)), BOOL)
    assert joins_to_probes(Aggregate(Join(SALES, SHOPS, "inner", either), (), COUNT)) == Aggregate(
        Filter(chain, rest), (), COUNT
    )
    sometimes = Call("or", (both(small, key), key), BOOL)
    alone = project(SHOPS, ("name", col(SHOPS, "name")))
    found = joins_to_probes(Aggregate(Join(SALES, SHOPS, "inner", sometimes), (), COUNT))
    assert found == Aggregate(Join(SALES, alone, "inner", compare("eq", SHOP, Column(WIDTH, "name", TEXT))), (), COUNT)


def test_joins_above_the_grouping_and_views_that_have_no_plan_stay() -> None:
    grouping = Aggregate(SALES, (("shop", SHOP),), COUNT)
    above = Join(grouping, SHOPS, "inner", compare("eq", Column(0, "shop", TEXT), Column(2, "name", TEXT)))
    assert joins_to_probes(above) is above
