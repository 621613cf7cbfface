"""Runs of automata in kernels, beside one in plain Python with sets of states; also where memory is
so short that rows are forgotten.
"""

from __future__ import annotations

from random import Random

import pytest

from engine.embedded.patterns import alphabet as regular_alphabet
from engine.embedded.patterns import machines as regular_machines
from engine.embedded.patterns.matcher import Program
from ringbuffer.patterns.automata import USED
from sql.errors import SqlError
from sql.patterns.automata import STEP_WORDS_MAX, Automaton, chain_automaton
from sql.patterns.grammar import parsed
from tests.randomized.regular_patterns import RandomPattern

# The automaton of each has another shape: shifts that lead far, links of many states, several words
# of states, conditions.
PATTERNS = [
    "[ab]*a[ab]{70}",
    "(a|bb|aba){20}b?",
    "(a?){40}b{3}",
    "(ab?c?){30}|c",
    "(?:abc|abd|ba|bc|cab|ca|c|bab|cc|acab|aca|bbb|ccc|aab|aac|caa|cba|bca)+",
    "^a.*$|\\yb+\\y",
    "(?=a+b)a*|(?<=c)b+",
    "(a|b)*?c",
    "a{1,30}b{1,30}c",
    "",
]


def next_states(automaton: Automaton, states: set[int], holding: int) -> set[int]:
    """Return the states after some, each move by itself."""
    found = set()
    for conditions, state, following in automaton.moves():
        if state in states and conditions & ~holding == 0:
            found |= {target for target in range(following.bit_length()) if following >> target & 1}
    return found


def spans_of(program: Program, text: str) -> list[tuple[int, int]]:
    """Return the matches of a text, each looked for from each place with sets of states."""
    automaton = chain_automaton([program.pattern.root.plain])
    symbols = program.symbols_of(text)
    meanings = program.alphabet.meanings.tolist()
    classes = program.alphabet.classes
    found, start = [], 0
    while start <= len(text):
        states, ends = {automaton.starts[0]}, []
        for place in range(start, len(text) + 1):
            holding, number = meanings[2 * symbols[place]], meanings[2 * symbols[place] + 1]
            lasts = sum(some for conditions, some in automaton.last.items() if conditions & ~holding == 0)
            if any(lasts >> state & 1 for state in states):
                ends.append(place)
            states = {
                state
                for state in next_states(automaton, states, holding)
                if number in classes.classes_of.get(automaton.sets[state] or (), ())
            }
        if not ends:
            start += 1
            continue
        end = ends[0] if program.pattern.shortest else ends[-1]
        found.append((start, end))
        start = end + (start == end)
    return found


def text_of(random: Random, length: int) -> str:
    return "".join(random.choice("aaabbc \n") for _ in range(length))


@pytest.fixture
def short_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let blocks of a run be of a few places, and rows be forgotten after these."""
    monkeypatch.setattr(regular_alphabet, "ROWS_BYTES_MAX", 1)
    monkeypatch.setattr(regular_machines, "ROWS_MIN", 16)
    monkeypatch.setattr(regular_machines, "BLOCK_PLACES_MAX", 7)
    monkeypatch.setattr(regular_alphabet, "PIECE_CHARACTERS", 5)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_matches_are_those_of_sets_of_states(pattern: str) -> None:
    program = Program(parsed(pattern))
    for seed in range(4):
        text = text_of(Random(seed), 40)
        assert list(program.search(text).spans()) == spans_of(program, text), (seed, text)


@pytest.mark.turns(6)
@pytest.mark.usefixtures("short_memory")
@pytest.mark.parametrize("pattern", PATTERNS)
def test_matches_are_the_same_where_memory_is_short(pattern: str) -> None:
    program = Program(parsed(pattern))
    for seed in range(4):
        text = text_of(Random(seed), 40)
        for count in (1, 2, 512):
            assert list(program.search(text).spans(count=count)) == spans_of(program, text), (seed, text)
    assert all(
        rows.head[USED] <= 16 for machine in program.alphabet.made for rows in (machine.leftward, machine.rightward)
    )


def test_captures_are_the_same_where_memory_is_short(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """With memory, what comes is compared with PostgreSQL by the random suite."""
    cases = []
    for seed in range(400):
        case = RandomPattern(seed)
        text = case.text * 4
        try:
            cases.append((case.pattern, text, captured(case.pattern, text)))
        except SqlError:
            continue
    request.getfixturevalue("short_memory")
    assert len(cases) > 300
    for pattern, text, expected in cases:
        assert captured(pattern, text) == expected, (pattern, text)


def captured(pattern: str, text: str) -> list[list[tuple[int, int] | None]]:
    search = Program(parsed(pattern)).search(text)
    return [search.captures(span) for span in search.spans()]


@pytest.mark.parametrize(
    "pattern", ["(a{100}){100}", "[ab]*a[ab]{200}", "(a{1,100}){1,100}", "(a?){255}a{255}", "(a|b)*a(a|b){200}"]
)
def test_a_long_text_takes_no_more_memory_than_a_short_one(pattern: str) -> None:
    random = Random(5)
    program = Program(parsed(pattern))
    for length in (3_000, 300_000):
        text = "".join(random.choice("ab") for _ in range(length))
        search = program.search(text)
        ends_bytes = search.right.ends.nbytes + search.right.rows.nbytes
        for span in search.spans(count=1):
            search.captures(span)
            break
        assert program.bytes < regular_alphabet.ROWS_BYTES_MAX + (6 << 20)
        assert ends_bytes < 1 << 20


def test_steps_of_long_patterns_are_bounded() -> None:
    """A step reads at most so many words, and a run over a text goes over a character twice, three
    times with captures.
    """
    program = Program(parsed("(a{100}){100}"))
    assert STEP_WORDS_MAX <= 6_000
    steps = program.root.step_words
    assert steps < 2 * program.root.words


def test_patterns_with_too_many_links_are_refused() -> None:
    """Of 20,000 parts that may all be empty, each is followed by all others."""
    for pattern in [
        "(a?){255}" * 40,
        "(?:(?:a?b?){100}c?){40}",
        "(?:" + "|".join("x" + chr(0x4E00 + n) for n in range(5_000)) + ")",
    ]:
        with pytest.raises(SqlError, match="regular expression is too complex") as caught:
            Program(parsed(pattern))
        assert caught.value.sqlstate == "2201B"


def many_texts(seed: int) -> list[str]:
    random = Random(seed)
    return list({"".join(random.choice("aaabbc \nAé") for _ in range(random.randrange(30))): None for _ in range(25)})


def check_ahead() -> int:
    """Compare what is found of many texts at once with what is found of each. Return how many texts
    were looked at at once.
    """
    count = 0
    for seed in range(80):
        case, texts = RandomPattern(seed), many_texts(seed)
        try:
            program, alone = Program(parsed(case.pattern)), Program(parsed(case.pattern))
        except SqlError:
            continue
        for is_first in (True, False):
            program.ahead.clear()
            program.look_ahead(texts, is_first)
            count += len(program.ahead)
            for text in texts:
                expected = list(alone.search(text).spans())
                assert program.matches(text) == bool(expected), (seed, text)
                found = program.search(text)
                is_ahead = text in program.ahead
                assert list(found.spans()) == (expected[:1] if is_first and is_ahead else expected), (seed, text)
                assert [found.captures(span) for span in expected] == [
                    alone.search(text).captures(span) for span in expected
                ]
    return count


def test_many_texts_at_once() -> None:
    assert check_ahead() > 1_500


@pytest.mark.usefixtures("short_memory")
def test_many_texts_at_once_where_memory_is_short() -> None:
    """Few of them have room there; others are matched by themselves."""
    assert check_ahead() > 100
