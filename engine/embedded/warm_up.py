"""The loops of all functions that are kernels, compiled before a client waits for one.

`python -m engine.embedded.warm_up` does it at set-up, in half a minute; a loop that is missing
later is compiled at the first call of its function. What is compiled already is left as it is.
"""

from __future__ import annotations

from engine.embedded.functions.kernels import KERNELS
from engine.embedded.kernel_functions import kernel_functions


def warm_up() -> None:
    """Compile or load every loop."""
    functions = kernel_functions()
    for loop in dict.fromkeys(row.loop for row in KERNELS):
        functions.code_of(loop)


if __name__ == "__main__":
    warm_up()
