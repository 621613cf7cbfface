"""Functions that the session answers (sequences, advisory locks, other sessions), and changes of
views.

The engine puts the session's number before the arguments of a call that is `of_session`.
"""

from __future__ import annotations

from sql.errors import not_supported
from sql.functions.printing import Printer
from sql.functions.rows import STABLE, VOLATILE, Function
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


def of_session(canonical: str, signatures: str, names: str = "") -> Function:
    """Return the row of a function that the session answers."""
    return Function(
        canonical,
        names or canonical,
        signatures,
        strict=False,
        volatility=VOLATILE,
        duckdb=_of_session,
        of_session=True,
    )


def advisory(name: str, result: str) -> tuple[Function, ...]:
    """Return the rows of a function of one advisory lock, which one number names or two."""
    return of_session(name, f"int8 > {result}"), of_session(f"{name}_pair", f"int4 int4 > {result}", name)


# Calls that change a continuous view, in a SELECT of nothing else.
VIEW_CHANGES = ("activate", "deactivate", "truncate_continuous_view")
LOCKS = [
    *(
        (f"pg_{verb}advisory_{scope}lock{form}", result)
        for verb, result in (("", "void"), ("try_", "bool"))
        for scope in ("", "xact_")
        for form in ("", "_shared")
    ),
    *((f"pg_advisory_unlock{form}", "bool") for form in ("", "_shared")),
]
ADVISORY = (
    *(row for name, result in LOCKS for row in advisory(name, result)),
    of_session("pg_advisory_unlock_all", "> void"),
)
FUNCTIONS = (
    *(Function(name, name, "text > void", strict=False, volatility=VOLATILE) for name in VIEW_CHANGES),
    of_session("nextval", "text > int8"),
    of_session("currval", "text > int8"),
    of_session("lastval", "> int8"),
    of_session("setval", "text int8 > int8; text int8 bool > int8"),
    of_session("set_config", "text text bool > text"),
    of_session("pg_notify", "text text > void"),
    of_session("pg_sleep", "float8 > void"),
    of_session("pg_cancel_backend", "int4 > bool"),
    of_session("pg_terminate_backend", "int4 > bool"),
    *ADVISORY,
    Function("current_setting", strict=False, volatility=STABLE),
    Function(
        "gen_random_uuid", "gen_random_uuid", "> uuid", strict=False, volatility=VOLATILE,
        duckdb="CAST(uuid() AS VARCHAR)",
    ),
)  # fmt: skip
# Each of these calls as it is in a tree.
OF_SESSION = frozenset(row.canonical for row in FUNCTIONS if row.of_session)
ADVISORY_CALLS = frozenset(row.canonical for row in ADVISORY)
