"""Planned queries are kept: those that were asked again, and a few that may be."""

from __future__ import annotations

from engine.spark.prepared import ONCE_MAX, PREPARED_MAX, PreparedQueries, PreparedQuery, QueryKey


def run(queries: PreparedQueries, sql: str) -> list[str]:
    """Run a query; return the names of those that are forgotten for it."""
    key = QueryKey(sql, ())
    query = queries.take(key) or PreparedQuery(sql, frozenset({f"of {sql}"}), ())
    return [gone.name for gone in queries.give(key, query)]


def test_queries_that_are_asked_once_take_no_place_of_those_that_are_asked_again() -> None:
    queries = PreparedQueries()
    for _ in range(2):
        assert run(queries, "again") == []
    gone = [name for number in range(10 * PREPARED_MAX) for name in run(queries, f"once {number}")]
    assert gone == [f"once {number}" for number in range(10 * PREPARED_MAX - ONCE_MAX)]
    assert queries.take(QueryKey("again", ())) is not None


def test_the_one_that_was_used_longest_ago_goes_first() -> None:
    queries = PreparedQueries()
    names = [f"query {number}" for number in range(PREPARED_MAX + 1)]
    gone = [gone for name in names for _ in range(2) for gone in run(queries, name)]
    assert gone == names[:1]


def test_of_two_that_ran_at_once_one_is_kept() -> None:
    queries, key = PreparedQueries(), QueryKey("both", ())
    first, second = (PreparedQuery(name, frozenset(), ()) for name in ("first", "second"))
    assert queries.give(key, first) == []
    assert queries.give(key, second) == [second]
    assert queries.take(key) is first


def test_readers_of_a_view_are_found_however_often_they_ran() -> None:
    for times in (1, 2):
        queries = PreparedQueries()
        for _ in range(times):
            run(queries, "q")
        assert [query.name for query in queries.take_readers("of q")] == ["q"]
        assert queries.take(QueryKey("q", ())) is None
