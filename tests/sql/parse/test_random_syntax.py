"""Statements with words left out, doubled, swapped or put in: our grammar finds the same fault at
the same word as PostgreSQL's.
"""

from __future__ import annotations

import random
import re

import pytest

from sql.parse.lexer import scan
from tests.oracle.postgres import PostgresCluster
from tests.sql.parse.test_syntax import DATA, failed_transaction, our_answer, postgres_answer

SEEDS = range(4)
CASES = 1500

# Where PostgreSQL's grammar looks further than ours before it finds its fault, which is seldom.
DIFFERENCES_PER_THOUSAND = 5

# Statements that would end the failed transaction.
ENDS = re.compile(r"(^|;)\s*(commit|rollback|end|abort)\b", re.IGNORECASE)


def words_of(line: str) -> list[str]:
    return [line[token.start : token.end] for token in scan(line) if token.kind not in ("end", "error")]


def damaged(words: list[str], vocabulary: list[str], source: random.Random) -> list[str]:
    """Return the words with one or two changes."""
    words = list(words)
    for _ in range(source.choice((1, 1, 1, 2))):
        place = source.randrange(len(words))
        match source.randrange(5):
            case 0 if len(words) > 1:
                del words[place]
            case 1:
                words.insert(place, source.choice(vocabulary))
            case 2:
                words[place] = source.choice(vocabulary)
            case 3:
                words.insert(place, words[place])
            case 4 if place + 1 < len(words):
                words[place], words[place + 1] = words[place + 1], words[place]
    return words


@pytest.mark.parametrize("seed", SEEDS)
def test_faults_are_found_where_postgres_finds_them(seed: int, postgres: PostgresCluster) -> None:
    source = random.Random(seed)
    lines = [words_of(line) for path in sorted(DATA.glob("*.sql")) for line in path.read_text().splitlines()]
    lines = [words for words in lines if words]
    vocabulary = [word for words in lines for word in words]
    wrong = []
    with failed_transaction(postgres) as connection:
        for _ in range(CASES):
            text = " ".join(damaged(source.choice(lines), vocabulary, source))
            if ENDS.search(text):
                continue
            ours, theirs = our_answer(text), postgres_answer(connection, text)
            refused = ours is not None and ours[0] == "0A000"
            found_later = theirs is None and ours is not None and not str(ours[1]).startswith("syntax error")
            if ours != theirs and not refused and not found_later:
                wrong.append(f"{text}\n  ours:   {ours}\n  theirs: {theirs}")
    print("\n".join(wrong))
    assert len(wrong) * 1000 <= CASES * DIFFERENCES_PER_THOUSAND, "\n".join(wrong)
