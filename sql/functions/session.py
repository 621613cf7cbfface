"""Functions that the session answers (sequences, other sessions), and changes of views.

The engine puts the session's number before the arguments of a call that is `of_session`.
"""

from __future__ import annotations

from sql.errors import not_supported
from sql.functions.printing import Printer
from sql.functions.rows import VOLATILE, Function
from sql.tree.expressions import Call


def _of_session(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return a call that the session answers.

    A setval of two arguments has also called the sequence.
    """
    if not node.arguments or node.arguments[0].type.family != "int8":
        raise not_supported(f"{node.function} here", node.position)
    if node.function == "setval" and len(texts) == 3:
        texts = [*texts, "TRUE"]
    return f"session_{node.function}({', '.join(texts)})"


def of_session(canonical: str, signatures: str, names: str = "", waits: bool = False, missing: str = "") -> Function:
    """Return the row of a function that the session answers."""
    return Function(
        canonical,
        names or canonical,
        signatures,
        strict=False,
        volatility=VOLATILE,
        duckdb=_of_session,
        of_session=True,
        waits=waits,
        missing=missing,
    )


# Calls that change a continuous view, in a SELECT of nothing else.
IMPORT = "import_state"
VIEW_CHANGES = ("activate", "deactivate", "truncate_continuous_view", IMPORT)
FUNCTIONS = (
    *(Function(name, name, "text > void", strict=False, volatility=VOLATILE) for name in VIEW_CHANGES[:3]),
    Function(IMPORT, IMPORT, "text text > int8", strict=False, volatility=VOLATILE),
    of_session("nextval", "text > int8"),
    of_session("currval", "text > int8"),
    of_session("lastval", "> int8"),
    of_session("setval", "text int8 > int8; text int8 bool > int8"),
    of_session("set_config", "text text bool > text"),
    of_session("pg_notify", "text text > void"),
    of_session("pg_sleep", "float8 > void", waits=True),
    of_session("pg_cancel_backend", "int4 > bool", waits=True),
    of_session("pg_terminate_backend", "int4 > bool", waits=True, missing="int4 int8"),
    Function(
        "gen_random_uuid", "gen_random_uuid", "> uuid", strict=False, volatility=VOLATILE,
        duckdb="CAST(uuid() AS VARCHAR)",
    ),
)  # fmt: skip
