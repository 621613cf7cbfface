"""Sixty-four bytes at once for kernels: masks of the bytes that have a given value.

A mask is a word; the first byte is its lowest bit. Enter: addresses at which 64 bytes can be read,
masks as int64. All are intrinsics: callable from compiled functions only. Must not know what the
bytes mean.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.extending import intrinsic

from ringbuffer.memory.addresses import I64, types

BLOCK_BYTES = 64
BYTE = ir.IntType(8)
BLOCK = ir.VectorType(BYTE, BLOCK_BYTES)


def _block_at(builder: Any, address: Any) -> Any:
    return builder.load(builder.inttoptr(address, BLOCK.as_pointer()), align=1)


def _equal_mask(typing: Any, address: Any, byte: Any) -> Any:
    """equal_mask(address, byte) -> the bytes from `address` on that are `byte`."""

    def generate(context: Any, builder: Any, signature: Any, words: Any) -> Any:
        lane = ir.Constant(ir.IntType(32), 0)
        one = builder.insert_element(ir.Constant(BLOCK, ir.Undefined), builder.trunc(words[1], BYTE), lane)
        lanes = ir.Constant(ir.VectorType(ir.IntType(32), BLOCK_BYTES), None)
        equal = builder.shuffle_vector(one, ir.Constant(BLOCK, ir.Undefined), lanes)
        return builder.bitcast(builder.icmp_signed("==", _block_at(builder, words[0]), equal), I64)

    return types.int64(types.int64, types.int64), generate


def _high_mask(typing: Any, address: Any) -> Any:
    """high_mask(address) -> the bytes from `address` on that are above 0x7F."""

    def generate(context: Any, builder: Any, signature: Any, words: Any) -> Any:
        return builder.bitcast(
            builder.icmp_signed("<", _block_at(builder, words[0]), ir.Constant(BLOCK, [0] * BLOCK_BYTES)), I64
        )

    return types.int64(types.int64), generate


def _copy_block(typing: Any, target: Any, source: Any) -> Any:
    """copy_block(target, source): copy 64 bytes."""

    def generate(context: Any, builder: Any, signature: Any, words: Any) -> Any:
        block = _block_at(builder, words[1])
        builder.store(block, builder.inttoptr(words[0], BLOCK.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate


def _ones_count(typing: Any, word: Any) -> Any:
    """ones_count(word) -> int64: how many bits are set."""

    def generate(context: Any, builder: Any, signature: Any, words: Any) -> Any:
        return builder.ctpop(words[0])

    return types.int64(types.int64), generate


equal_mask: Any = intrinsic(_equal_mask)
high_mask: Any = intrinsic(_high_mask)
copy_block: Any = intrinsic(_copy_block)
ones_count: Any = intrinsic(_ones_count)
