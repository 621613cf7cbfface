"""Averages, deviations and regressions of the sums of floats that float_frames.py adds.

sums: float64[n, 6]. A result is float64[n] and where there is none, bool[n]. Must not know SQL.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ringbuffer.groups.float_frames import COUNT, PLAIN, REAL, SQUARES, XX, XY, YY, X, Y

Floats = npt.NDArray[np.float64]
Result = tuple[Floats, npt.NDArray[np.bool_]]


def _over(place: int, less: int = 0, root: bool = False) -> Callable[[Floats], Result]:
    """Return the function that divides a sum by the count, or by one less."""

    def result(sums: Floats) -> Result:
        values = sums[:, place] / (sums[:, COUNT] - less)
        return np.sqrt(values) if root else values, sums[:, COUNT] <= less

    return result


def _sum(place: int) -> Callable[[Floats], Result]:
    return lambda sums: (sums[:, place], sums[:, COUNT] == 0)


def _slope(sums: Floats) -> Result:
    return sums[:, XY] / sums[:, XX], _without_x(sums)


def _intercept(sums: Floats) -> Result:
    return (sums[:, Y] - sums[:, X] * sums[:, XY] / sums[:, XX]) / sums[:, COUNT], _without_x(sums)


def _determination(sums: Floats) -> Result:
    found = (sums[:, XY] * sums[:, XY]) / (sums[:, XX] * sums[:, YY])
    return np.where(sums[:, YY] == 0, 1.0, found), _without_x(sums)


def _correlation(sums: Floats) -> Result:
    return sums[:, XY] / np.sqrt(sums[:, XX] * sums[:, YY]), _without_x(sums) | (sums[:, YY] == 0)


def _without_x(sums: Floats) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = (sums[:, COUNT] == 0) | (sums[:, XX] == 0)
    return found


# How the values of an aggregate are added; of all others as pairs.
KINDS = {
    "sum": PLAIN,
    "real_sum": REAL,
    **dict.fromkeys(("avg", "var_pop", "var_samp", "stddev_pop", "stddev_samp"), SQUARES),
}
RESULTS: dict[str, Callable[[Floats], Result]] = {
    "sum": _sum(X),
    "real_sum": _sum(X),
    "avg": _over(X),
    "var_pop": _over(XX),
    "var_samp": _over(XX, 1),
    "stddev_pop": _over(XX, root=True),
    "stddev_samp": _over(XX, 1, root=True),
    "regr_sxx": _sum(XX),
    "regr_syy": _sum(YY),
    "regr_sxy": _sum(XY),
    "regr_avgx": _over(X),
    "regr_avgy": _over(Y),
    "covar_pop": _over(XY),
    "covar_samp": _over(XY, 1),
    "corr": _correlation,
    "regr_r2": _determination,
    "regr_slope": _slope,
    "regr_intercept": _intercept,
}
