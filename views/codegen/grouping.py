"""The layout of the groups of a stream pipeline in the rows of a hash table.

The table is ringbuffer/groups/hash_table.py. Enters: the keys and aggregates of a `StreamPipeline`.
Leaves: a `Grouping`, from which the kernel that folds rows, the program that merges tables and the
export of results all take their word offsets. Must not write code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ringbuffer.groups.aggregates import STATE_BITS, STORED, WORDS, State
from ringbuffer.groups.first_rows import (
    BIT_SHIFT,
    DESCENDING,
    FORM_SHIFT,
    KIND_MASK,
    KIND_WORDS,
    LATER,
    NULLS_FIRST,
    ORDERS,
    ROWS_MASK,
    VALUES_MAX,
    WIDTH_SHIFT,
    Kind,
)
from ringbuffer.groups.hash_table import ENTRY_WORDS_MAX, TableLayout
from sql.errors import SqlError, not_supported
from sql.functions.table import AGGREGATE_ROWS
from sql.tree.expressions import AggregateCall, Call, Case, Expression, Literal, SortKey
from sql.types.datatypes import BOOL, FLOAT8, TEXT, SqlType
from views.codegen.expressions import position_of
from views.codegen.values import (
    COMPARED_WORDS,
    FLOATS,
    INTEGERS,
    compared_form,
    has_equality,
    has_order,
    is_string,
    shown_words,
)
from views.model.nodes import ELEMENT, FIRST_ROWS, LAST, OF_FIRST_ROWS, PAIR, StreamPipeline
from views.model.refusals import not_in_kernels
from views.model.trees import meaning

KEYS_MAX = 63  # bits of the null mask
# Kernels take the places of texts among the keys as bits of one word.
TEXT_KEYS_WORDS_MAX = 63
# An exact variance is read from sums and sums of squares of 64-bit numbers.
SQUARED_PRECISION_MAX = 18
HASH_WORDS = 1
# Argument, filter, second argument, and whether NULLs are kept.
InputKey = tuple[Expression | None, Expression | None, Expression | None, bool]
# The number of the input, the function, how many rows, and the order.
FirstKey = tuple[int, str, int, tuple[SortKey, ...]]
# So many words several first rows take at most.
FIRST_WORDS_MAX = 1 << 15


@dataclass(frozen=True, slots=True)
class KeySlot:
    """The place of a key.

    Attributes:
        word: in the entry, whose word 0 is the null mask.
        shown_word: of the value that is shown, where that differs from the value that is compared.
    """

    expression: Expression
    type: SqlType
    null_bit: int
    word: int
    shown_word: int | None


@dataclass(slots=True)
class InputSlot:
    """An argument under a filter, which several aggregates may share.

    Attributes:
        argument: None: count(*).
        other: the second one of a pair.
        keeps_nulls: rows without a value count as well; each is an element of a list.
        count_word, states: by word of the row.
        generation: 0, or how many times aggregates had been added when this one came.
    """

    argument: Expression | None
    filter: Expression | None
    other: Expression | None = None
    keeps_nulls: bool = False
    count_word: int = 0
    states: dict[State, int] = field(default_factory=dict)
    generation: int = 0


@dataclass(slots=True)
class FirstValue:
    """A value of the first row of each group.

    Attributes:
        form: how it is kept and compared (ringbuffer/groups/first_rows.py).
        word: its place.
    """

    expression: Expression
    form: int
    word: int = 0


@dataclass(slots=True)
class FirstRow:
    """The kept values of the first row of each group in an order, or of several first rows.

    Attributes:
        input: the number of the input whose rows and count it shares.
        rows_max: how many rows are kept, 0: one row, whose values are no lists.
        mask_word: the place of its null mask; those of further rows come after it.
    """

    input: int
    values: list[FirstValue]
    rows_max: int = 0
    mask_word: int = 0

    @property
    def row_words(self) -> int:
        """How many words a row has."""
        return WORDS[State.FIRST] + sum(value_words(value.form) for value in self.values)

    @property
    def words(self) -> int:
        """How many words all rows have."""
        return self.row_words * max(self.rows_max, 1)

    @property
    def head(self) -> int:
        """The head of its steps in the merge program."""
        several = self.rows_max << STATE_BITS | self.row_words << WIDTH_SHIFT if self.rows_max else 0
        return int(State.FIRST) | several

    def place_of(self, call: AggregateCall) -> int:
        """Return the number of the value that an aggregate asks for."""
        return [meaning(value.expression) for value in self.values].index(meaning(kept_value(call)))


@dataclass(frozen=True, slots=True)
class AggregateSlot:
    """The place of an aggregate.

    Attributes:
        input: the number of its input.
        state: from which it is read.
        first: the number of the first row that has it, where the state is one.
    """

    call: AggregateCall
    input: int
    state: State
    first: int = 0


@dataclass(frozen=True, slots=True)
class Grouping:
    """The layout of a whole row.

    Attributes:
        table: layout for the table.
        merge_steps: (kind, word, count word), which merge one row into another.
    """

    table: TableLayout
    keys: tuple[KeySlot, ...]
    inputs: tuple[InputSlot, ...]
    aggregates: tuple[AggregateSlot, ...]
    merge_steps: tuple[tuple[int, int, int], ...]
    firsts: tuple[FirstRow, ...] = ()

    @property
    def is_ordered(self) -> bool:
        """True where it matters which row came first."""
        return bool(self.firsts) or any(slot.keeps_nulls for slot in self.inputs)


def make_grouping(pipeline: StreamPipeline) -> Grouping:
    """Return the layout of a pipeline's groups.

    Raises SqlError 0A000 for an aggregate without a mergeable state.
    """
    if len(pipeline.keys) > KEYS_MAX:
        raise not_supported(f"a GROUP BY with more than {KEYS_MAX} keys")
    keys, key_words, entry_words, text_mask = place_keys(tuple(key for _, key in pipeline.keys))
    inputs, aggregates, firsts = place_aggregates(tuple(call for _, call in pipeline.aggregates), pipeline.added)
    if any(entry_words + first.row_words > ENTRY_WORDS_MAX for first in firsts):
        raise not_supported(f"DISTINCT ON whose rows need more than {ENTRY_WORDS_MAX} words")
    if any(first.words > FIRST_WORDS_MAX for first in firsts):
        raise not_supported(f"first rows of each group that need more than {8 * FIRST_WORDS_MAX} bytes")
    word = HASH_WORDS + entry_words
    steps: list[tuple[int, int, int]] = []
    for number, slot in enumerate(inputs):
        slot.count_word = word
        word += WORDS[State.COUNT]
        for first in firsts:
            if first.input == number:
                steps += place_first(first, word, slot.count_word)
                word += first.words
        for state in slot.states:
            slot.states[state] = word
            steps.append((int(state) | stored_form(state, slot) << STATE_BITS, word, slot.count_word))
            word += WORDS[state]
        steps.append((int(State.COUNT), slot.count_word, slot.count_word))
    table = TableLayout(key_words, entry_words, word, text_mask)
    return Grouping(table, keys, inputs, aggregates, tuple(steps), firsts)


def stored_form(state: State, slot: InputSlot) -> int:
    """Return the form in which a state compares its values, 0 where the state says it."""
    if state not in STORED:
        return 0
    assert slot.argument is not None
    form = compared_form(slot.argument.type)
    assert form is not None
    return form


def place_first(first: FirstRow, word: int, count_word: int) -> list[tuple[int, int, int]]:
    """Assign words to a first row, from `word` on, and return the steps that merge it."""
    first.mask_word = word
    steps = [(first.head, word, len(first.values))]
    word += WORDS[State.FIRST]
    for value in first.values:
        value.word = word
        steps.append((value.form, word, count_word))
        word += value_words(value.form)
    return steps


def value_words(form: int) -> int:
    """Return how many words a value of a first row has."""
    return KIND_WORDS[Kind(form & KIND_MASK)]


def first_value(number: int, expression: Expression, order: SortKey | None, is_later: bool) -> FirstValue:
    """Return a value of a first row.

    order: the sort key that it is, None: it decides nothing. is_later: of equal rows the later one
    is kept.
    """
    form = int(kind_of(expression.type)) | number << BIT_SHIFT | (LATER if is_later else 0)
    if order is not None:
        if not has_order(expression.type):
            raise not_in_kernels(f"the order of values of type {expression.type.sql_name}", position_of(expression))
        form |= (compared_form(expression.type) or 0) << FORM_SHIFT
        form |= ORDERS | (DESCENDING if order.descending else 0) | (NULLS_FIRST if order.nulls_first else 0)
    return FirstValue(expression, form)


def kind_of(kind: SqlType) -> Kind:
    """Return how values of a type are kept. Raises SqlError 0A000 for a type without words."""
    if kind.family in COMPARED_WORDS or kind.is_enum:
        return Kind.WORD
    if kind.family in FLOATS:
        return Kind.FLOAT
    if is_string(kind) and kind.record is None:
        return Kind.TEXT
    if kind.family == "numeric":
        return Kind.NUMERIC if kind.display_scale is None else Kind.INT128
    raise not_supported(f"a first row of each group that has a {kind.sql_name}")


def place_keys(expressions: tuple[Expression, ...]) -> tuple[tuple[KeySlot, ...], int, int, int]:
    """Return (slots, key words, entry words, text mask).

    Shown words come after all compared ones.
    """
    compared = 1
    words = []
    text_mask = 0
    for expression in expressions:
        if not has_equality(expression.type):
            raise not_in_kernels(f"a key of type {expression.type.sql_name}", position_of(expression))
        words.append(compared)
        if is_string(expression.type) and expression.type.family != "interval":
            text_mask |= 1 << compared
        compared += key_words(expression.type)
    shown = compared
    slots = []
    for position, expression in enumerate(expressions):
        shown_word = None
        if count := shown_words(expression.type):
            shown_word = shown
            shown += count
            text_mask |= (count - 1) << shown_word
        slots.append(KeySlot(expression, expression.type, position, words[position], shown_word))
    if shown > ENTRY_WORDS_MAX:
        raise not_supported(f"a GROUP BY whose keys need more than {ENTRY_WORDS_MAX} words")
    if text_mask and shown > TEXT_KEYS_WORDS_MAX:
        hint = "A text takes two words: leave some keys out, or join texts into one by jsonb_build_array()."
        raise not_supported(f"a GROUP BY of texts whose keys need more than {TEXT_KEYS_WORDS_MAX} words", hint=hint)
    return tuple(slots), compared, shown, text_mask


def has_room_for_keys(kinds: Sequence[SqlType]) -> bool:
    """Tell whether the rows of a group table have room for keys of these types."""
    words = 1 + sum(key_words(kind) + shown_words(kind) for kind in kinds)
    texts = any((is_string(kind) and kind.family != "interval") or shown_words(kind) > 1 for kind in kinds)
    return len(kinds) <= KEYS_MAX and words <= (TEXT_KEYS_WORDS_MAX if texts else ENTRY_WORDS_MAX)


def key_words(kind: SqlType) -> int:
    """Return how many words of a key are compared.

    A decimal of variable scale is compared without trailing zeros, an interval by the 128 bits of
    its microseconds.
    """
    if kind.family == "numeric":
        return 3 if kind.display_scale is None else 2
    return 2 if is_string(kind) else 1


def place_aggregates(
    calls: tuple[AggregateCall, ...], added: tuple[int, ...] = ()
) -> tuple[tuple[InputSlot, ...], tuple[AggregateSlot, ...], tuple[FirstRow, ...]]:
    """Return the inputs, the place from which each aggregate is read, and the kept first rows.

    Each argument under a filter is one input. First rows of one input in one order are one. What
    was added later shares no input with what was there: it has counted other rows, and its words
    come last.
    """
    inputs: list[InputSlot] = []
    numbers: dict[InputKey, int] = {}
    generation = 0
    slots: list[AggregateSlot] = []
    firsts: dict[FirstKey, list[AggregateCall]] = {}
    for place, call in enumerate(calls):
        if place in added:
            numbers = {}
            generation += 1
        if call.distinct:
            raise not_supported(
                f"{call.function}(DISTINCT ...) in the first grouping of a continuous view", call.position
            )
        state = state_of(call)
        slot = input_of(call, state)
        slot.generation = generation
        key = input_key(slot)
        if key not in numbers:
            numbers[key] = len(inputs)
            inputs.append(slot)
        if state is State.SUM_SQUARES:
            inputs[numbers[key]].states[State.SUM_INTEGER] = 0
        if state not in (State.COUNT, State.FIRST):
            inputs[numbers[key]].states[state] = 0
        slots.append(AggregateSlot(call, numbers[key], state))
        if state is State.FIRST:
            first = (numbers[key], call.function, rows_kept(call), tuple(map(meant_key, call.order_by)))
            firsts.setdefault(first, []).append(call)
            slots[-1] = replace(slots[-1], first=list(firsts).index(first))
    return tuple(inputs), tuple(slots), tuple(first_row(place, same) for (place, *_), same in firsts.items())


def meant_key(key: SortKey) -> SortKey:
    """Return a sort key, equal for all that mean the same."""
    return replace(key, expression=meaning(key.expression))


def input_of(call: AggregateCall, state: State) -> InputSlot:
    """Return the input of an aggregate that is read from a state."""
    argument, other, *_ = (*(call.arguments if state is not State.FIRST else ()), None, None)
    return InputSlot(argument, call.filter, other, state is State.LIST)


def input_key(slot: InputSlot) -> InputKey:
    """Return what aggregates of one input have in common."""
    return (
        None if slot.argument is None else meaning(slot.argument),
        None if slot.filter is None else meaning(slot.filter),
        None if slot.other is None else meaning(slot.other),
        slot.keeps_nulls,
    )


def first_row(place: int, calls: Sequence[AggregateCall]) -> FirstRow:
    """Return the values to keep for aggregates over one first row, keys of its order first; the
    last row is the first one from the end.

    place: the number of their input.
    """
    is_later = calls[0].function == LAST
    order = [
        replace(key, descending=key.descending != is_later, nulls_first=key.nulls_first != is_later)
        for key in calls[0].order_by
    ]
    values = [first_value(number, key.expression, key, is_later) for number, key in enumerate(order)]
    known = {meaning(value.expression) for value in values}
    for argument in map(kept_value, calls):
        if meaning(argument) not in known:
            known.add(meaning(argument))
            values.append(first_value(len(values), argument, None, is_later))
    if len(values) > VALUES_MAX:
        raise not_supported(f"DISTINCT ON with more than {VALUES_MAX} columns")
    return FirstRow(place, values, rows_kept(calls[0]))


def rows_kept(call: AggregateCall) -> int:
    """Return how many rows an aggregate of first rows keeps, 0: one, and its value is no list."""
    if call.function != FIRST_ROWS:
        return 0
    number = call.arguments[1]
    assert isinstance(number, Literal) and isinstance(number.value, int)
    if not 0 < number.value <= ROWS_MASK:
        raise not_supported(f"more than {ROWS_MASK} first rows of each group")
    return number.value


def kept_value(call: AggregateCall) -> Expression:
    """Return what an aggregate of first rows keeps of a row: its argument, or an element of a
    list.
    """
    argument = call.arguments[0]
    return Call(ELEMENT, (argument,), TEXT) if call.function == FIRST_ROWS else argument


def state_of(call: AggregateCall) -> State:
    """Return the state that an aggregate needs besides the count."""
    if call.function in OF_FIRST_ROWS:
        return State.FIRST
    kind = call.arguments[0].type if call.arguments else None
    row = AGGREGATE_ROWS.get(call.function)
    name = None if row is None else row.state(kind)
    if name == "COUNT":
        return State.COUNT
    if name is None or (kind is not None and (call.order_by or not is_kept(name, kind))):
        what = f"{call.function}({'' if kind is None else kind.sql_name}{' ORDER BY ...' if call.order_by else ''})"
        raise not_supported(f"{what} in a continuous view", call.position)
    return State[name]


def has_state(call: AggregateCall) -> bool:
    """Tell whether groups keep a state of an aggregate."""
    try:
        if state_of(call) is State.FIRST:
            first_row(0, [call])
            return call.function != FIRST_ROWS or is_kept("LIST", call.arguments[0].type)
    except SqlError:
        return False
    return True


def has_room(calls: tuple[AggregateCall, ...]) -> bool:
    """Tell whether a group has room for the first rows of which aggregates are."""
    if not all(map(has_state, calls)):
        return False
    try:
        *_, firsts = place_aggregates(calls)
    except SqlError:
        return False
    return all(first.row_words <= ENTRY_WORDS_MAX and first.words <= FIRST_WORDS_MAX for first in firsts)


def is_kept(state: str, kind: SqlType) -> bool:
    """Tell whether values of a type can be kept in a state.

    Sums of squares need few digits, extremes of stored values an order, lists a type of their own.
    """
    match state:
        case "SUM_SQUARES":
            return (
                kind.family in INTEGERS or kind.family in FLOATS or 0 < (kind.precision or 0) <= SQUARED_PRECISION_MAX
            )
        case "MIN_STORED" | "MAX_STORED":
            return has_order(kind)
        case "LIST":
            return not kind.is_array and kind.record is None
    return True


def guarded_argument(slot: InputSlot) -> Expression | None:
    """Return the expression to evaluate per row for an input.

    It is NULL where the filter does not hold, so that the filter guards errors.
    """
    if slot.argument is not None and slot.other is not None:
        return Call(PAIR, (guarded(slot.argument, slot.filter), guarded(slot.other, slot.filter)), FLOAT8)
    if slot.keeps_nulls and slot.argument is not None:
        return guarded(Call(ELEMENT, (slot.argument,), TEXT), slot.filter)
    if slot.filter is None:
        return slot.argument
    return guarded(Literal(True, BOOL) if slot.argument is None else slot.argument, slot.filter)


def guarded(argument: Expression, condition: Expression | None) -> Expression:
    """Return an expression that is NULL where a condition does not hold."""
    if condition is None:
        return argument
    return Case(((condition, argument),), Literal(None, argument.type), argument.type)
