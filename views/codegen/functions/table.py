"""The one table from canonical functions to what writes them."""

from __future__ import annotations

from views.codegen.expressions import FunctionWriter
from views.codegen.functions import casts, comparisons, kernels, lists, logic, times

FUNCTIONS: dict[str, FunctionWriter] = {
    **casts.FUNCTIONS,
    **kernels.FUNCTIONS,
    **comparisons.FUNCTIONS,
    **lists.FUNCTIONS,
    **logic.FUNCTIONS,
    **times.FUNCTIONS,
}
