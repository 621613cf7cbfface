"""Automata of regular expressions as text, for `engine/spark_automata.java`: numbers with blanks
between them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sql.patterns.automata import bits, chain_automaton
from sql.patterns.character_classes import CharacterClasses
from sql.patterns.trees import Pattern

NUMBERS_MAX = 20_000
STATES_MAX = 300
KINDS = (
    "text_start", "text_end", "line_start", "line_end", "word_start", "word_end", "word_edge", "no_word_edge",
)  # fmt: skip


def automaton_text(pattern: Pattern) -> str | None:
    """Return what tells whether a text matches a pattern, or None if that looks around or is
    large.
    """
    if any(condition.part is not None for condition in pattern.conditions):
        return None
    automaton = chain_automaton([pattern.root.plain])
    if len(automaton.sets) > STATES_MAX:
        return None
    classes = CharacterClasses(pattern)
    numbers = [len(classes.borders), *classes.borders, *classes.numbers, len(automaton.sets), classes.count]
    for number in range(classes.count):
        numbers += counted(
            state
            for state, characters in enumerate(automaton.sets)
            if characters is not None and number in classes.classes_of[characters]
        )
    numbers += counted(KINDS.index(condition.kind) for condition in pattern.conditions)
    numbers.append(len(automaton.last))
    for conditions, states in automaton.last.items():
        numbers += [conditions, *counted(bits(states))]
    together: dict[tuple[int, int], int] = {}
    for conditions, state, following in automaton.moves():
        together[conditions, state] = together.get((conditions, state), 0) | following
    numbers.append(len(together))
    for (conditions, state), following in together.items():
        numbers += [conditions, state, *counted(bits(following))]
        if len(numbers) > NUMBERS_MAX:
            return None
    return " ".join(map(str, numbers))


def counted(numbers: Iterable[int]) -> Iterator[int]:
    """Yield how many numbers there are, then these."""
    known = list(numbers)
    yield len(known)
    yield from known
