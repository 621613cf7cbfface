"""Checksums of long runs of bytes: 64 bytes at a time, by the processor's carry-less product.

A run of bytes is a polynomial over bits, of which only the remainder counts. So the first 64 bytes
may be replaced by what they are worth 64 bytes later, until 16 bytes are left that have the
remainder of all. The factors are powers of x modulo zlib's polynomial, its bits the other way round
(Intel, "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ"). Must not know what the
bytes mean.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import cgutils as untyped_cgutils
from numba.extending import intrinsic

from ringbuffer.memory.addresses import I64, types

cgutils: Any = untyped_cgutils

HAS_PRODUCT = bool(llvm.get_host_cpu_features().get("pclmul", False))
LANES_COUNT = 4
LANE_BYTES = 16
FOLD_BYTES = LANES_COUNT * LANE_BYTES
# What the two words of a lane are worth 64 and 16 bytes later.
FOUR_LANES = (0x154442BD4, 0x1C6E41596)
ONE_LANE = (0x1751997D0, 0x0CCAA009E)
LANE = ir.VectorType(I64, 2)


def _product(builder: Any, lane: Any, factors: tuple[int, int], words: int) -> Any:
    byte = ir.IntType(8)
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(LANE, [LANE, LANE, byte]), "llvm.x86.pclmulqdq"
    )
    return builder.call(function, [lane, ir.Constant(LANE, list(factors)), ir.Constant(byte, words)])


def _moved(builder: Any, lane: Any, factors: tuple[int, int], onto: Any) -> Any:
    """Return `onto` with what `lane` is worth there."""
    both = builder.xor(_product(builder, lane, factors, 0x00), _product(builder, lane, factors, 0x11))
    return builder.xor(both, onto)


def _fold(typing: Any, address: Any, folds: Any, crc: Any) -> Any:
    """fold(address, folds, crc) -> (low, high): 16 bytes with the remainder of 64 * `folds` bytes,
    at least 64.

    crc: the inverted checksum of what comes before; that of the 16 bytes begins with 0.
    """
    signature = types.UniTuple(types.int64, 2)(types.int64, types.int64, types.int64)

    def generate(context: Any, builder: Any, signature: Any, words: Any) -> Any:
        def lane_at(place: Any, index: int) -> Any:
            at = builder.add(place, ir.Constant(I64, LANE_BYTES * index))
            return builder.load(builder.inttoptr(at, LANE.as_pointer()), align=1)

        start, count, before = words
        first = builder.insert_element(ir.Constant(LANE, [0, 0]), before, ir.Constant(ir.IntType(32), 0))
        lanes = [cgutils.alloca_once(builder, LANE) for _ in range(LANES_COUNT)]
        for index, kept in enumerate(lanes):
            lane = lane_at(start, index)
            builder.store(builder.xor(lane, first) if index == 0 else lane, kept)
        with cgutils.for_range(builder, count, start=ir.Constant(I64, 1)) as loop:
            place = builder.add(start, builder.mul(loop.index, ir.Constant(I64, FOLD_BYTES)))
            for index, kept in enumerate(lanes):
                builder.store(_moved(builder, builder.load(kept), FOUR_LANES, lane_at(place, index)), kept)
        result = builder.load(lanes[0])
        for kept in lanes[1:]:
            result = _moved(builder, result, ONE_LANE, builder.load(kept))
        ends = [builder.extract_element(result, ir.Constant(ir.IntType(32), index)) for index in range(2)]
        return context.make_tuple(builder, signature.return_type, ends)

    return signature, generate


fold: Any = intrinsic(_fold)
