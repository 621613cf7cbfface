"""Texts that may be about the catalog: found piece by piece, wherever the word stands, in a time
that is linear in the text.
"""

from __future__ import annotations

import time

import pytest

from engine.system_catalog.routing import BEGINNINGS, PIECE, WORDS, has_words

WRITTEN = (
    *(
        "pg_class",
        "PG_x",
        "information_schema",
        "regclass",
        "RegType",
        "format_type",
        "has_table_privilege",
        "col_description",
    ),
    *("current_schemas", "aclexplode", "_pg_expandarray", "parse_ident", "int2vector", "oidvector", "aclitem", "xid"),
    *("getdatabaseencoding", "inet_server_addr", "inet_client_port", "current_setting", "txid_current"),
)


@pytest.mark.parametrize("word", WRITTEN)
def test_a_word_is_found_wherever_it_stands(word: str) -> None:
    assert any(beginning in word.lower() for beginning in BEGINNINGS)
    for place in (0, 1, PIECE - len(word), PIECE - 3, PIECE - 1, PIECE, 3 * PIECE - 2):
        text = " " * place + word + " " * 40
        assert has_words(text) and WORDS.search(text)


@pytest.mark.parametrize("text", ["", "SELECT region FROM t", "taxid", "SELECT 1", "x" * (3 * PIECE), "reg " * PIECE])
def test_other_words_are_none(text: str) -> None:
    assert not has_words(text) and not WORDS.search(text)


def test_a_constant_of_megabytes_is_looked_through_at_once() -> None:
    began_s = time.perf_counter()
    assert not has_words("x" * 8_000_000)
    assert time.perf_counter() - began_s < 1
