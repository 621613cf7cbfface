"""Columns of integers, many values at a time: their bounds, and their lowest bytes.

Enter: addresses of values that lie side by side, of 8 or 4 bytes, or of 16 bytes of which the low
word counts ("wide"), and how many times LANES_COUNT values there are. All are intrinsics: callable
from compiled functions only. Must not know what the numbers mean.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils as untyped_cgutils
from numba.extending import intrinsic

from ringbuffer.memory.addresses import I64, types

cgutils: Any = untyped_cgutils

LANES_COUNT = 16
WORDS = ir.VectorType(I64, LANES_COUNT)
EVEN = ir.Constant(ir.VectorType(ir.IntType(32), LANES_COUNT), [2 * lane for lane in range(LANES_COUNT)])
ODD = ir.Constant(ir.VectorType(ir.IntType(32), LANES_COUNT), [2 * lane + 1 for lane in range(LANES_COUNT)])
# What the values at an address are: int64 words, int32 numbers, the low words of pairs, or their
# lowest 32 bits without a sign.
WORD, HALF, WIDE, LENGTH = range(4)
STEPS = {WORD: 8, HALF: 4, WIDE: 16, LENGTH: 16}


def _splat(builder: Any, word: Any) -> Any:
    first = builder.insert_element(ir.Constant(WORDS, ir.Undefined), word, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), LANES_COUNT), None)
    return builder.shuffle_vector(first, ir.Constant(WORDS, ir.Undefined), zeros)


def _values_at(builder: Any, place: Any, form: int) -> tuple[Any, Any]:
    """Return so many values as words, and of pairs the high words."""
    if form == HALF:
        vector = ir.VectorType(ir.IntType(32), LANES_COUNT)
        halves = builder.load(builder.inttoptr(place, vector.as_pointer()), align=1)
        return builder.sext(halves, WORDS), None
    if form == WORD:
        return builder.load(builder.inttoptr(place, WORDS.as_pointer()), align=1), None
    vector = ir.VectorType(I64, 2 * LANES_COUNT)
    pairs = builder.load(builder.inttoptr(place, vector.as_pointer()), align=1)
    low = builder.shuffle_vector(pairs, pairs, EVEN)
    if form == LENGTH:
        low = builder.and_(low, ir.Constant(WORDS, [0xFFFFFFFF] * LANES_COUNT))
    return low, builder.shuffle_vector(pairs, pairs, ODD)


def _reduced(builder: Any, vector: Any, combine: Any) -> Any:
    words = [builder.extract_element(vector, ir.Constant(ir.IntType(32), lane)) for lane in range(LANES_COUNT)]
    while len(words) > 1:
        words = [combine(builder, *words[index : index + 2]) for index in range(0, len(words), 2)]
    return words[0]


def _smaller(builder: Any, one: Any, other: Any) -> Any:
    return builder.select(builder.icmp_signed("<", one, other), one, other)


def _larger(builder: Any, one: Any, other: Any) -> Any:
    return builder.select(builder.icmp_signed(">", one, other), one, other)


def _bounds(form: int) -> Any:
    def bounds(typing: Any, address: Any, count: Any) -> Any:
        """bounds(address, count) -> (lowest, highest, more) of LANES_COUNT * `count` values, at
        least of LANES_COUNT.

        more: of lengths their sum; of wide values not zero if the high words say more than the
        signs of the low ones.
        """
        signature = types.UniTuple(types.int64, 3)(types.int64, types.int64)

        def generate(context: Any, builder: Any, signature: Any, words: Any) -> Any:
            start, count = words
            low, high, more = (cgutils.alloca_once(builder, WORDS) for _ in range(3))
            first, _ = _values_at(builder, start, form)
            builder.store(first, low)
            builder.store(first, high)
            builder.store(ir.Constant(WORDS, [0] * LANES_COUNT), more)
            with cgutils.for_range(builder, count) as loop:
                place = builder.add(start, builder.mul(loop.index, ir.Constant(I64, STEPS[form] * LANES_COUNT)))
                values, highs = _values_at(builder, place, form)
                builder.store(_smaller(builder, builder.load(low), values), low)
                builder.store(_larger(builder, builder.load(high), values), high)
                if form == WIDE:
                    signs = builder.ashr(values, ir.Constant(WORDS, [63] * LANES_COUNT))
                    builder.store(builder.or_(builder.load(more), builder.xor(signs, highs)), more)
                elif form == LENGTH:
                    builder.store(builder.add(builder.load(more), values), more)
            both = ir.IRBuilder.add if form == LENGTH else ir.IRBuilder.or_
            results = [
                _reduced(builder, builder.load(kept), combine)
                for kept, combine in ((low, _smaller), (high, _larger), (more, both))
            ]
            return context.make_tuple(builder, signature.return_type, results)

        return signature, generate

    return intrinsic(bounds)


def _narrow(form: int, width: int) -> Any:
    def narrow(typing: Any, source: Any, base: Any, target: Any, count: Any) -> Any:
        """narrow(source, base, target, count): store the lowest bytes of LANES_COUNT * `count`
        values less `base` at address `target`.
        """

        def generate(context: Any, builder: Any, signature: Any, words: Any) -> Any:
            start, base, to, count = words
            vector = ir.VectorType(ir.IntType(8 * width), LANES_COUNT)
            bases = _splat(builder, base)
            with cgutils.for_range(builder, count) as loop:
                place = builder.add(start, builder.mul(loop.index, ir.Constant(I64, STEPS[form] * LANES_COUNT)))
                values = builder.sub(_values_at(builder, place, form)[0], bases)
                narrowed = values if width == STEPS[WORD] else builder.trunc(values, vector)
                place = builder.add(to, builder.mul(loop.index, ir.Constant(I64, width * LANES_COUNT)))
                builder.store(narrowed, builder.inttoptr(place, vector.as_pointer()), align=1)
            return context.get_dummy_value()

        return types.void(types.int64, types.int64, types.int64, types.int64), generate

    return intrinsic(narrow)


bounds_of_words: Any = _bounds(WORD)
bounds_of_halves: Any = _bounds(HALF)
bounds_of_wide: Any = _bounds(WIDE)
bounds_of_lengths: Any = _bounds(LENGTH)
words_to_bytes: Any = _narrow(WORD, 1)
words_to_int16: Any = _narrow(WORD, 2)
words_to_int32: Any = _narrow(WORD, 4)
words_to_words: Any = _narrow(WORD, 8)
halves_to_bytes: Any = _narrow(HALF, 1)
halves_to_int16: Any = _narrow(HALF, 2)
halves_to_int32: Any = _narrow(HALF, 4)
wide_to_bytes: Any = _narrow(WIDE, 1)
wide_to_int16: Any = _narrow(WIDE, 2)
wide_to_int32: Any = _narrow(WIDE, 4)
wide_to_words: Any = _narrow(WIDE, 8)
lengths_to_bytes: Any = _narrow(LENGTH, 1)
lengths_to_int16: Any = _narrow(LENGTH, 2)
lengths_to_int32: Any = _narrow(LENGTH, 4)
