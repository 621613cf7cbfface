"""Sums of reals, deviations and regressions of floats with PostgreSQL's digits: its own steps, in the order of the rows.

Enters: one Arrow list column per argument, of float32 or float64, one list per group. Leaves: one float per group. The steps are those of
PostgreSQL's float8_accum and float8_regr_accum (Youngs and Cramer); whole columns at once where all is finite, one by one elsewhere.
Raises ValueError with the mark of 22003 for sums that overflow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from engine.embedded.arrow_numerics import one_array
from engine.embedded.error_mark import marked
from sql.errors import SqlError

Floats = npt.NDArray[np.float64]
# Count, sums of x, of its squared deviations, of y, of its squared deviations, of the products of both.
Sums = tuple[float, float, float, float, float, float]


def float4_sum(values: pa.Array) -> pa.Array:
    """Return the sums of lists of reals, each rounded to a real at every step; NULL of none."""
    with np.errstate(over="ignore", invalid="ignore"):
        sums = [np.add.accumulate(one)[-1] if len(one) else None for one in _lists(values)]
    return pa.array(sums, pa.float32())


def float8_deviation(values: pa.Array, names: pa.Array) -> pa.Array:
    """Return a variance or a deviation, by its name, of lists of floats."""
    return pa.array(
        [_deviation(one, name) for one, name in zip(_lists(values), names.to_pylist(), strict=True)], pa.float64()
    )


def float8_regression(ys: pa.Array, xs: pa.Array, names: pa.Array) -> pa.Array:
    """Return an aggregate of pairs, by its name, of lists of floats; a pair with a NULL in it counts nothing."""
    found = []
    for y, x, name in zip(_slices(ys), _slices(xs), names.to_pylist(), strict=True):
        known = pc.and_(y.is_valid(), x.is_valid())
        found.append(RESULTS[name](regression_sums(_floats(y.filter(known)), _floats(x.filter(known)))))
    return pa.array(found, pa.float64())


def _lists(values: pa.Array) -> Iterator[Floats]:
    """Yield the values of each list, without NULLs."""
    for one in _slices(values):
        yield _floats(one.drop_null())


def _slices(values: pa.Array) -> Iterator[pa.Array]:
    """Yield the values of each list; those of NULL are none."""
    lists = one_array(values)
    for index in range(len(lists)):
        yield lists[index].values if lists[index].is_valid else pa.array([], lists.type.value_type)


def _floats(values: pa.Array) -> Floats:
    floats: Floats = values.to_numpy(zero_copy_only=False)
    return floats


def _deviation(values: Floats, name: str) -> float | None:
    count = len(values)
    divisor = count - 1 if name.endswith("samp") else count
    if divisor <= 0:
        return None
    result = squared_deviations(values) / divisor
    return math.sqrt(result) if name.startswith("stddev") else result


def squared_deviations(values: Floats) -> float:
    """Return the sum of the squared deviations from the mean. Raises 22003."""
    with np.errstate(all="ignore"):
        sums, counts = np.add.accumulate(values), np.arange(1, len(values) + 1, dtype=np.float64)
        off = (values * counts - sums)[1:]
        terms = off * off / (counts[1:] * counts[:-1])
        squares = float(np.add.accumulate(terms)[-1]) if len(terms) else 0.0
    if np.isfinite(sums).all() and math.isfinite(squares):
        return squares
    return regression_steps(values, values)[2]


def regression_sums(ys: Floats, xs: Floats) -> Sums:
    """Return the sums of pairs. Raises 22003."""
    if not len(xs):
        return (0.0,) * 6
    with np.errstate(all="ignore"):
        counts = np.arange(1, len(xs) + 1, dtype=np.float64)
        sums_x, sums_y = np.add.accumulate(xs), np.add.accumulate(ys)
        off_x, off_y = (xs * counts - sums_x)[1:], (ys * counts - sums_y)[1:]
        scale = 1.0 / (counts[1:] * counts[:-1])
        parts = [off_x * off_x * scale, off_y * off_y * scale, off_x * off_y * scale]
        xx, yy, xy = (float(np.add.accumulate(part)[-1]) if len(part) else 0.0 for part in parts)
    if np.isfinite(sums_x).all() and np.isfinite(sums_y).all() and all(map(math.isfinite, (xx, yy, xy))):
        return float(len(xs)), float(sums_x[-1]), xx, float(sums_y[-1]), yy, xy
    return regression_steps(ys, xs)


def regression_steps(ys: Floats, xs: Floats) -> Sums:
    """Return the sums of pairs of which some are no finite numbers, or are too large. Raises 22003."""
    n = sx = sxx = sy = syy = sxy = 0.0
    with np.errstate(all="ignore"):
        for y, x in zip(ys, xs, strict=True):
            before, was_x, was_y = n, sx, sy
            n, sx, sy = n + 1.0, sx + x, sy + y
            if before > 0.0:
                off_x, off_y, scale = x * n - sx, y * n - sy, 1.0 / (n * before)
                sxx, syy, sxy = sxx + off_x * off_x * scale, syy + off_y * off_y * scale, sxy + off_x * off_y * scale
                large_x, large_y = np.isinf(sx) or np.isinf(sxx), np.isinf(sy) or np.isinf(syy)
                fine_x, fine_y = not (np.isinf(was_x) or np.isinf(x)), not (np.isinf(was_y) or np.isinf(y))
                if (large_x and fine_x) or (large_y and fine_y) or (np.isinf(sxy) and fine_x and fine_y):
                    raise ValueError(marked(SqlError("22003", "value out of range: overflow")))
                sxx, syy, sxy = (math.nan if np.isinf(one) else one for one in (sxx, syy, sxy))
            else:
                sxx, syy = (0.0 if np.isfinite(one) else math.nan for one in (x, y))
                sxy = sxx + syy
    return float(n), float(sx), float(sxx), float(sy), float(syy), float(sxy)


def _slope(sums: Sums) -> float | None:
    _, _, xx, _, _, xy = sums
    return None if xx == 0 else xy / xx


def _intercept(sums: Sums) -> float | None:
    n, x, xx, y, _, xy = sums
    return None if xx == 0 else (y - x * xy / xx) / n


def _determination(sums: Sums) -> float | None:
    _, _, xx, _, yy, xy = sums
    return None if xx == 0 else 1.0 if yy == 0 else (xy * xy) / (xx * yy)


def _correlation(sums: Sums) -> float | None:
    _, _, xx, _, yy, xy = sums
    return None if xx == 0 or yy == 0 else xy / math.sqrt(xx * yy)


def _over(place: int, less: int = 0) -> Callable[[Sums], float | None]:
    """Return what divides a sum by the count, or by one less."""
    return lambda sums: sums[place] / (sums[0] - less) if sums[0] > less else None


def _sum(place: int) -> Callable[[Sums], float | None]:
    return lambda sums: sums[place] if sums[0] > 0 else None


RESULTS: dict[str, Callable[[Sums], float | None]] = {
    "regr_sxx": _sum(2),
    "regr_syy": _sum(4),
    "regr_sxy": _sum(5),
    "regr_avgx": _over(1),
    "regr_avgy": _over(3),
    "covar_pop": _over(5),
    "covar_samp": _over(5, 1),
    "corr": _correlation,
    "regr_r2": _determination,
    "regr_slope": _slope,
    "regr_intercept": _intercept,
}

FLOAT_AGGREGATES: list[tuple[str, list[str], str, Callable[..., pa.Array]]] = [
    ("float4_sum", ["FLOAT[]"], "FLOAT", float4_sum),
    ("float8_deviation", ["DOUBLE[]", "VARCHAR"], "DOUBLE", float8_deviation),
    ("float8_regression", ["DOUBLE[]", "DOUBLE[]", "VARCHAR"], "DOUBLE", float8_regression),
]
