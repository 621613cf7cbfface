"""The loops of all functions that are kernels, compiled before a client waits for one.

`python -m engine.embedded.warm_up` does it at set-up, in half a minute, and every start of a server
does it for those that are missing. What is compiled is loaded at the first call of its function.
"""

from __future__ import annotations

from engine.embedded.functions.kernels import KERNELS
from engine.embedded.kernel_functions import kernel_functions


def warm_up_functions() -> None:
    """Compile every loop that is not compiled."""
    functions = kernel_functions()
    for loop in dict.fromkeys(row.loop for row in KERNELS):
        functions.compile(loop)


if __name__ == "__main__":
    warm_up_functions()
