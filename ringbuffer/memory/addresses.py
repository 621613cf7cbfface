"""Raw memory for kernels: loads and stores at an address, copies, 128-bit products and atomics.

A kernel that serves every schema can't name its columns' types, so it writes through addresses. The
owner of the memory keeps it alive and large enough; nothing here checks. All are intrinsics:
callable from compiled functions only. Must not know columns or rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types as untyped_types
from numba.core import cgutils as untyped_cgutils
from numba.extending import intrinsic

types: Any = untyped_types
cgutils: Any = untyped_cgutils

# The conversion to a signed word, as compiled code sees it.
signed_word: Any = np.int64

I64 = ir.IntType(64)
I128 = ir.IntType(128)


def _loader(numba_type: Any, llvm_type: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, words: Any) -> Any:
        pointer = builder.inttoptr(words[0], llvm_type.as_pointer())
        return builder.load(pointer, align=1)

    return intrinsic(lambda typing, address: (numba_type(types.int64), generate))


def _storer(numba_type: Any, llvm_type: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, words: Any) -> Any:
        pointer = builder.inttoptr(words[0], llvm_type.as_pointer())
        builder.store(words[1], pointer, align=1)
        return context.get_dummy_value()

    return intrinsic(lambda typing, address, value: (types.void(types.int64, numba_type), generate))


load_byte = _loader(types.uint8, ir.IntType(8))
load_int16 = _loader(types.int16, ir.IntType(16))
load_int32 = _loader(types.int32, ir.IntType(32))
load_word = _loader(types.int64, I64)
load_float32 = _loader(types.float32, ir.FloatType())
load_float64 = _loader(types.float64, ir.DoubleType())
store_byte = _storer(types.uint8, ir.IntType(8))
store_int16 = _storer(types.int16, ir.IntType(16))
store_int32 = _storer(types.int32, ir.IntType(32))
store_word = _storer(types.int64, I64)
store_float32 = _storer(types.float32, ir.FloatType())
store_float64 = _storer(types.float64, ir.DoubleType())


def _copy_bytes(typing: Any, target: Any, source: Any, count: Any) -> Any:
    """copy_bytes(target, source, count): memcpy between two addresses."""

    def generate(context: Any, builder: Any, signature: Any, words: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        cgutils.raw_memcpy(builder, builder.inttoptr(words[0], byte), builder.inttoptr(words[1], byte), words[2], 1)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


def _call_at(typing: Any, address: Any, first: Any, second: Any, third: Any) -> Any:
    """call_at(address, first, second, third) -> int64: call a C function of three words."""

    def generate(context: Any, builder: Any, signature: Any, words: Any) -> Any:
        form = ir.FunctionType(I64, [I64] * 3)
        return builder.call(builder.inttoptr(words[0], form.as_pointer()), words[1:])

    return types.int64(*[types.int64] * 4), generate


def _multiply_unsigned(typing: Any, a: Any, b: Any) -> Any:
    """multiply_unsigned(a, b) -> (low, high): the 128-bit product of two uint64."""
    signature = types.UniTuple(types.uint64, 2)(types.uint64, types.uint64)

    def generate(context: Any, builder: Any, signature: Any, words: Any) -> Any:
        product = builder.mul(builder.zext(words[0], I128), builder.zext(words[1], I128))
        low = builder.trunc(product, I64)
        high = builder.trunc(builder.lshr(product, ir.Constant(I128, 64)), I64)
        return context.make_tuple(builder, signature.return_type, [low, high])

    return signature, generate


def _trailing_zeros(typing: Any, word: Any) -> Any:
    """trailing_zeros(word) -> int64: how many of the lowest bits are zero; 64 for no bit."""

    def generate(context: Any, builder: Any, signature: Any, words: Any) -> Any:
        return builder.cttz(words[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.int64), generate


def _float_from_bits(typing: Any, bits: Any) -> Any:
    """float_from_bits(bits) -> float64 with these 64 bits."""

    def generate(context: Any, builder: Any, signature: Any, words: Any) -> Any:
        return builder.bitcast(words[0], ir.DoubleType())

    return types.float64(types.uint64), generate


def _float32_from_bits(typing: Any, bits: Any) -> Any:
    """float32_from_bits(bits) -> float32 with these 32 bits."""

    def generate(context: Any, builder: Any, signature: Any, words: Any) -> Any:
        return builder.bitcast(words[0], ir.FloatType())

    return types.float32(types.uint32), generate


def _bits_of_float(typing: Any, value: Any) -> Any:
    """bits_of_float(value) -> uint64: the bits of a float64."""

    def generate(context: Any, builder: Any, signature: Any, words: Any) -> Any:
        return builder.bitcast(words[0], I64)

    return types.uint64(types.float64), generate


def _atomic_add(typing: Any, address: Any, value: Any) -> Any:
    """atomic_add(address, value) -> the int64 before the addition."""

    def generate(context: Any, builder: Any, signature: Any, words: Any) -> Any:
        return builder.atomic_rmw("add", builder.inttoptr(words[0], I64.as_pointer()), words[1], "seq_cst")

    return types.int64(types.int64, types.int64), generate


def _load_acquire(typing: Any, address: Any) -> Any:
    """load_acquire(address) -> int64; later reads are not moved before it."""

    def generate(context: Any, builder: Any, signature: Any, words: Any) -> Any:
        return builder.load_atomic(builder.inttoptr(words[0], I64.as_pointer()), "acquire", 8)

    return types.int64(types.int64), generate


def _store_release(typing: Any, address: Any, value: Any) -> Any:
    """store_release(address, value): a thread that reads the value with load_acquire sees the
    earlier writes.
    """

    def generate(context: Any, builder: Any, signature: Any, words: Any) -> Any:
        builder.store_atomic(words[1], builder.inttoptr(words[0], I64.as_pointer()), "release", 8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate


def _prefetch(typing: Any, address: Any) -> Any:
    """prefetch(address): begin to bring its cache line near.

    Nothing happens at an address that is not ours.
    """

    def generate(context: Any, builder: Any, signature: Any, words: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        flag = ir.IntType(32)
        form = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        function = cgutils.get_or_insert_function(builder.module, form, "llvm.prefetch.p0")
        for_reading, nearest, data = (ir.Constant(flag, value) for value in (0, 3, 1))
        builder.call(function, [builder.inttoptr(words[0], byte), for_reading, nearest, data])
        return context.get_dummy_value()

    return types.void(types.int64), generate


def _element(typing: Any, array: Any, index: Any) -> Any:
    """element(array, index): the value at a place of an array in order, counted over all of its
    dimensions; a place is not negative.
    """
    index = types.unliteral(index)

    def generate(context: Any, builder: Any, signature: Any, words: Any) -> Any:
        data = context.make_array(array)(context, builder, words[0]).data
        return context.unpack_value(builder, array.dtype, builder.gep(data, [words[1]], inbounds=True))

    return array.dtype(array, index), generate


copy_bytes: Any = intrinsic(_copy_bytes)
call_at: Any = intrinsic(_call_at)
multiply_unsigned: Any = intrinsic(_multiply_unsigned)
float_from_bits: Any = intrinsic(_float_from_bits)
trailing_zeros: Any = intrinsic(_trailing_zeros)
float32_from_bits: Any = intrinsic(_float32_from_bits)
bits_of_float: Any = intrinsic(_bits_of_float)
atomic_add: Any = intrinsic(_atomic_add)
load_acquire: Any = intrinsic(_load_acquire)
store_release: Any = intrinsic(_store_release)
prefetch: Any = intrinsic(_prefetch)
element: Any = intrinsic(_element)
