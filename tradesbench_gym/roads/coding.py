"""How a column of integers becomes bytes that compress well, and back again, exactly.

A column is differenced (along itself, or in both directions for a square matrix), the differences
are folded to unsigned numbers and their bytes sorted by significance. The module knows arrays and
bytes, not maps, files or compressors.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tradesbench_gym.roads.layout import Int32Array, Int64Array

LAG_CHOICES: Final[tuple[tuple[int, ...], ...]] = ((), (1,), (2,), (1, 1), (1, 2))
SIZES: Final = {"<i4": 4, "<i2": 2, "|i1": 1}


def choose_lags(values: npt.NDArray[Any]) -> tuple[int, ...]:
    """The differencing (a tuple of lags) that leaves the fewest significant bits in `values`."""
    return min(LAG_CHOICES, key=lambda lags: _cost(_difference(values, lags)))


def encode_column(values: npt.NDArray[Any], lags: tuple[int, ...]) -> bytes:
    """Bytes of a 1-D integer column (i1, i2 or i4), differenced by `lags` modulo its width."""
    return _planes(_fold(_difference(values, lags)))


def decode_column(data: bytes, dtype: str, length: int, lags: tuple[int, ...]) -> npt.NDArray[Any]:
    """Inverse of `encode_column`; raises ValueError when `data` has not the right length."""
    values = _unfold(_from_planes(data, dtype, length))
    for lag in reversed(lags):
        values = _accumulate(values, lag)
    return values


def encode_square(matrix: Int32Array) -> tuple[bytes, bytes]:
    """Bytes of the upper triangle of an int32 matrix, and of what the lower one differs by.

    Both parts are differenced along rows and columns: two neighbouring anchors see the rest of the
    map from almost the same place, so most differences of differences are zero. The second part is
    empty when the matrix is symmetric.
    """
    upper = np.triu(matrix)
    mirrored = upper + np.triu(matrix, 1).T
    size = matrix.shape[0]
    differences = _difference_both(mirrored)
    rows, columns = np.triu_indices(size)
    symmetric = _planes(_fold(differences[rows, columns]))
    skew = matrix - mirrored
    if not skew.any():
        return symmetric, b""
    return symmetric, _planes(_fold(_difference_both(skew).reshape(-1)))


def decode_square(symmetric: bytes, skew: bytes, size: int) -> Int32Array:
    """Inverse of `encode_square`: an int32 array of shape (size, size)."""
    triangle = _unfold(_from_planes(symmetric, "<i4", size * (size + 1) // 2))
    matrix = np.empty((size, size), dtype=np.int32)
    start = 0
    for row in range(size):
        stop = start + size - row
        matrix[row, row:] = triangle[start:stop]
        start = stop
    block = 256
    for low in range(0, size, block):
        high = min(low + block, size)
        square = matrix[low:high, low:high]
        square[:] = np.triu(square) + np.triu(square, 1).T
        matrix[high:, low:high] = matrix[low:high, high:].T
    _accumulate_both(matrix)
    if skew:
        rest = _unfold(_from_planes(skew, "<i4", size * size)).reshape(size, size)
        matrix += _accumulate_both(rest)
    return matrix


def _difference(values: npt.NDArray[Any], lags: tuple[int, ...]) -> npt.NDArray[Any]:
    for lag in lags:
        shifted = values.copy()
        shifted[lag:] = values[lag:] - values[:-lag]
        values = shifted
    return values


def _accumulate(values: npt.NDArray[Any], lag: int) -> npt.NDArray[Any]:
    if lag == 1:
        return np.cumsum(values, dtype=values.dtype)
    padded = np.zeros((-(-values.size // lag), lag), dtype=values.dtype)
    padded.reshape(-1)[: values.size] = values
    np.cumsum(padded, axis=0, dtype=values.dtype, out=padded)
    return padded.reshape(-1)[: values.size]


def _difference_both(matrix: Int32Array) -> Int32Array:
    result = matrix.copy()
    result[1:] -= matrix[:-1]
    along = result.copy()
    along[:, 1:] -= result[:, :-1]
    return along


def _accumulate_both(matrix: Int32Array) -> Int32Array:
    np.cumsum(matrix, axis=1, dtype=np.int32, out=matrix)
    for row in range(1, matrix.shape[0]):
        matrix[row] += matrix[row - 1]
    return matrix


def _cost(values: npt.NDArray[Any]) -> int:
    magnitudes = _fold(values).astype(np.int64)
    bits: Int64Array = np.searchsorted(2 ** np.arange(40, dtype=np.int64), magnitudes, side="right")
    return int(bits.sum())


def _fold(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Signed to unsigned, small magnitudes to small numbers: 0, -1, 1, -2 … become 0, 1, 2, 3 …"""
    width = values.dtype.itemsize
    shift = values.dtype.type(8 * width - 1)
    folded: npt.NDArray[Any] = (values << values.dtype.type(1)) ^ (values >> shift)
    return folded.view(f"<u{width}")


def _unfold(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Inverse of `_fold`; works in place, for the largest columns are the largest arrays here."""
    one = values.dtype.type(1)
    sign = values & one
    values >>= one
    np.negative(sign, out=sign)  # 0 or all bits set
    values ^= sign
    return values.view(f"<i{values.dtype.itemsize}")


def _planes(values: npt.NDArray[Any]) -> bytes:
    """All lowest bytes, all second bytes …; empty planes at the top are left out."""
    width = values.dtype.itemsize
    planes = np.ascontiguousarray(values.view(np.uint8).reshape(-1, width).T)
    used = max((k + 1 for k in range(width) if planes[k].any()), default=0)
    return planes[:used].tobytes()


def _from_planes(data: bytes, dtype: str, length: int) -> npt.NDArray[Any]:
    width = SIZES[dtype]
    used = len(data) // length if length else 0
    if len(data) != used * length or used > width:
        raise ValueError(f"{len(data)} bytes are no planes of {length} numbers")
    values: npt.NDArray[Any] = np.zeros(length, dtype=f"<u{width}")
    planes = np.frombuffer(data, dtype=np.uint8).reshape(used, length)
    for significance, plane in enumerate(planes):
        values |= plane.astype(values.dtype) << values.dtype.type(8 * significance)
    return values
