"""The results of one group, each as two words and a scale.

Enters: the words of a row of a group table, and where its keys and aggregates are. Leaves: the same
values that `aggregate_results` makes columns of. Must not know SQL.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import kernel
from ringbuffer.groups.aggregates import from_bits, unsigned_word
from ringbuffer.groups.hash_table import Words
from ringbuffer.memory.addresses import bits_of_float
from ringbuffer.memory.error_codes import BIGINT_RANGE, FLOAT_OVERFLOW, NUMERIC_DIGITS, OK
from ringbuffer.scalar.numbers.arithmetic import numeric_average
from ringbuffer.scalar.numbers.int128 import int128_exceeds_digits, signed_word


class Source(IntEnum):
    """The source of a result: a word, whether a word is 0, two words (which a scale may follow), or
    the sum of an aggregate and the word that tells of its range.
    """

    WORD = 0
    IS_ZERO = 1
    PAIR = 2
    SCALED_PAIR = 3
    BIGINT_SUM = 4
    DECIMAL_SUM = 5
    DECIMAL_AVERAGE = 6
    FLOAT_SUM = 7
    FLOAT_AVERAGE = 8


# Words that describe a result: its source, where that is, and what tells whether there is one. That
# is a word that is not 0, or with a BIT from 0 on, a word in which that bit is not set.
SOURCE, AT, SEEN_AT, BIT, SCALE = range(5)
RESULT_WORDS = 5
COUNTED, ALWAYS = -1, -2
# Words of a result.
NULL, LOW, HIGH, SHOWN_SCALE = range(4)
VALUE_WORDS = 4
Table = Annotated[npt.NDArray[np.int64], 2]

IS_ZERO, PAIR, SCALED_PAIR = int(Source.IS_ZERO), int(Source.PAIR), int(Source.SCALED_PAIR)
BIGINT_SUM, DECIMAL_SUM, DECIMAL_AVERAGE = map(int, (Source.BIGINT_SUM, Source.DECIMAL_SUM, Source.DECIMAL_AVERAGE))
FLOAT_SUM, FLOAT_AVERAGE = int(Source.FLOAT_SUM), int(Source.FLOAT_AVERAGE)


@kernel
def row_results(row: Words, results: Table, values: Table) -> int:
    """Write the results of a group; return the error code of the first that is out of range, or 0.

    row: int64[row_words]. results: int64[n, RESULT_WORDS]. values: int64[n, VALUE_WORDS].
    """
    for number in range(len(results)):
        source, at, bit = results[number, SOURCE], results[number, AT], results[number, BIT]
        seen = row[results[number, SEEN_AT]]
        is_null = seen == 0 if bit == COUNTED else bit >= 0 and (seen >> bit) & 1 == 1
        values[number, NULL] = is_null
        if is_null:
            continue
        lo, hi, scale = row[at], row[at] >> 63, results[number, SCALE]
        error = OK
        if source == IS_ZERO:
            lo = 1 if lo == 0 else 0
        elif source in (PAIR, SCALED_PAIR):
            hi = row[at + 1]
            if source == SCALED_PAIR:
                scale = row[at + 2]
        elif source == BIGINT_SUM:
            if row[at + 2] != 0 or row[at + 1] != hi:
                error = BIGINT_RANGE
        elif source in (DECIMAL_SUM, DECIMAL_AVERAGE):
            hi = row[at + 1]
            if row[at + 2] != 0:
                error = NUMERIC_DIGITS
            elif source == DECIMAL_AVERAGE:
                lo, hi, scale, error = numeric_average(lo, hi, scale, seen)
            elif int128_exceeds_digits(lo, hi):
                error = NUMERIC_DIGITS
        elif source == FLOAT_SUM:
            if row[at + 1] != 0:
                error = FLOAT_OVERFLOW
        elif source == FLOAT_AVERAGE:
            if row[at + 2] != 0:
                error = FLOAT_OVERFLOW
            lo = signed_word(bits_of_float(from_bits(unsigned_word(lo)) / seen))
        if error != OK:
            return error
        values[number, LOW], values[number, HIGH], values[number, SHOWN_SCALE] = lo, hi, scale
    return OK
