"""What a processor does in one instruction or two, where arithmetic on NumPy's scalars takes many:
functions for kernels, each beside the plain one that says what it computes and that runs without
compilation. This module knows nothing of the rules.
"""

from __future__ import annotations

import math
from typing import Any, TypeVar

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from tradesbench_gym.core.jit import compiled_as

A = TypeVar("A")

_MOST_FETCHED = 1024
"""Bytes up to which a nested array is fetched whole."""


@intrinsic  # type: ignore[untyped-decorator]
def high_half(_typing: Any, a: Any, b: Any) -> Any:
    """The high 64 bits of the product of two unsigned 64-bit numbers; for kernels only."""
    del a, b

    def write(_context: Any, builder: Any, _signature: Any, words: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(*(builder.zext(word, wide) for word in words))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), write


@intrinsic  # type: ignore[untyped-decorator]
def _without_owner(_typing: Any, array: Any) -> Any:
    def write(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        seen = make_array(signature.args[0])(context, builder, value=given[0])
        for owner in ("meminfo", "parent"):
            setattr(seen, owner, ir.Constant(getattr(seen, owner).type, None))
        return seen._getvalue()

    return array(array), write


def borrowed(array: A) -> A:
    """The array as one that its caller keeps alive, which kernels need not count references to.

    Handing an array to a function of the rules costs two atomic additions, and a step does that a
    hundred times: a fifth of its time. For kernels to call on their arguments, once.
    """
    return array


@compiled_as(borrowed)
def _borrowed_at_once(array: A) -> A:
    return _without_owner(array)  # type: ignore[no-any-return]


@intrinsic  # type: ignore[untyped-decorator]
def _fetch_lines(_typing: Any, array: Any, index: Any) -> Any:
    del index
    size = array.dtype.bitwidth // 8 if isinstance(array.dtype, types.Number) else array.dtype.size
    whole = isinstance(array, types.NestedArray) and size * math.prod(array.shape) <= _MOST_FETCHED
    length = size * math.prod(array.shape) if whole else size

    def write(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        seen = make_array(signature.args[0])(context, builder, value=given[0])
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        start = builder.bitcast(seen.data, byte)
        start = builder.gep(start, [builder.mul(given[1], ir.Constant(given[1].type, size))])
        kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
        ask = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        for line in range(0, length, 64):
            place = builder.gep(start, [ir.Constant(ir.IntType(64), line)])
            builder.call(ask, [place, *(ir.Constant(word, number) for number in (1, 3, 1))])
        return context.get_dummy_value()

    return types.void(array, types.int64), write


def fetch(array: Any, index: Any) -> None:
    """Ask the processor for a whole nested array, or one element of another, before it is needed.

    Changes nothing: a batch of runs is larger than any cache, and to wait for the memory of the
    next run while this one is played costs nothing.
    """


@compiled_as(fetch)
def _fetch_at_once(array: Any, index: Any) -> None:
    _fetch_lines(array, index)


@intrinsic  # type: ignore[untyped-decorator]
def _copy_bytes(_typing: Any, source: Any, target: Any) -> Any:
    if source != target or not isinstance(source, types.NestedArray):
        raise TypeError(f"{source} is not copied whole into {target}")
    length = math.prod(source.shape) * (source.dtype.bitwidth // 8)

    def write(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        arrays = [
            make_array(kind)(context, builder, value=value)
            for kind, value in zip(signature.args, given, strict=True)
        ]
        from_, to = (builder.bitcast(array.data, byte) for array in arrays)
        cgutils.raw_memcpy(builder, to, from_, ir.Constant(ir.IntType(64), length), 1)
        return context.get_dummy_value()

    return types.void(source, target), write


def copy_whole(source: Any, target: Any) -> None:
    """Copy a nested array into another of its kind: one move where a loop over it takes ten."""
    target[...] = source


@compiled_as(copy_whole)
def _copy_whole_at_once(source: Any, target: Any) -> None:
    _copy_bytes(source, target)


@intrinsic  # type: ignore[untyped-decorator]
def _convert(_typing: Any, table: Any, row: Any, target: Any, at: Any) -> Any:
    del row, at
    count, whole = table.shape[-1], isinstance(target.dtype, types.Integer)

    def write(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        entries = _row_of(context, builder, signature.args[0], given[0], given[1])
        kind = context.get_value_type(target.dtype)
        many = ir.VectorType(kind, count)
        made = builder.trunc(entries, many) if whole else builder.sitofp(entries, many)
        place = make_array(signature.args[2])(context, builder, value=given[2]).data
        place = builder.bitcast(builder.gep(place, [given[3]]), many.as_pointer())
        builder.store(made, place, align=1)
        return context.get_dummy_value()

    return types.void(table, types.int64, target, types.int64), write


def _row_of(context: Any, builder: Any, kind: Any, value: Any, row: Any) -> Any:
    """A row of a nested array as one vector."""
    table = make_array(kind)(context, builder, value=value)
    many = ir.VectorType(context.get_value_type(kind.dtype), kind.shape[-1])
    rows = builder.bitcast(table.data, many.as_pointer())
    return builder.load(builder.gep(rows, [row]), align=1)


def convert_row(table: Any, row: Any, target: Any, at: Any) -> None:
    """Write a row of a nested array of whole numbers into an array of a smaller or another type,
    from a place on: in two moves where a loop over it takes two for each entry.
    """
    target[at : at + table.shape[-1]] = table[row]


@compiled_as(convert_row)
def _convert_row_at_once(table: Any, row: Any, target: Any, at: Any) -> None:
    _convert(table, row, target, at)


@intrinsic  # type: ignore[untyped-decorator]
def _compare(_typing: Any, table: Any, row: Any) -> Any:
    del row

    def write(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        entries = _row_of(context, builder, signature.args[0], given[0], given[1])
        none = builder.icmp_signed(">=", entries, ir.Constant(entries.type, None))
        bits = builder.bitcast(none, ir.IntType(table.shape[-1]))
        return builder.zext(bits, ir.IntType(64))

    return types.uint64(table, types.int64), write


def bits_of_row(table: Any, row: Any) -> Any:
    """Which entries of a row of a nested array are 0 or more, a bit for each, the first lowest."""
    return np.uint64(sum(1 << i for i, entry in enumerate(table[row]) if entry >= 0))


@compiled_as(bits_of_row)
def _bits_of_row_at_once(table: Any, row: Any) -> Any:
    return _compare(table, row)


@intrinsic  # type: ignore[untyped-decorator]
def _add_in_one(_typing: Any, counter: Any, amount: Any) -> Any:
    del amount

    def write(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        place = make_array(signature.args[0])(context, builder, value=given[0]).data
        return builder.atomic_rmw("add", place, given[1], "seq_cst")

    return types.int64(counter, types.int64), write


def add_shared(counter: Any, amount: Any) -> Any:
    """Add to a counter of several threads, int64, shape (1,); what it was before.

    All that a thread wrote before is seen by one that has read its addition.
    """
    before = counter[0]
    counter[0] += amount
    return before


@compiled_as(add_shared)
def _add_shared_at_once(counter: Any, amount: Any) -> Any:
    return _add_in_one(counter, amount)


@intrinsic  # type: ignore[untyped-decorator]
def _count_zeros(_typing: Any, bits: Any) -> Any:
    def write(_context: Any, builder: Any, _signature: Any, given: Any) -> Any:
        return builder.cttz(given[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(bits), write


def lowest_bit(bits: Any) -> Any:
    """The place of the lowest 1 in a word, uint64, that is not 0."""
    word = int(bits)
    return np.int64((word & -word).bit_length() - 1)


@compiled_as(lowest_bit)
def _lowest_bit_at_once(bits: Any) -> Any:
    return _count_zeros(bits)
