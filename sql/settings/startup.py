"""The settings that a client sends with its startup message.

Enters: the parameters of the message. Leaves: names and values as the client wrote them; `Settings`
knows whether such settings exist.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sql.errors import SqlError

STARTUP_WORDS = frozenset({"user", "database", "options", "replication"})
OPTION = re.compile(r"(?:\\.|\S)+")


def startup_values(parameters: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the settings among the startup parameters.

    `options` holds -c name=value and --name=value.
    """
    found = []
    words = [re.sub(r"\\(.)", r"\1", word) for word in OPTION.findall(parameters.get("options", ""))]
    while words:
        word = words.pop(0)
        if word == "-c" and words:
            word = "--" + words.pop(0)
        elif word.startswith("-c"):
            word = "--" + word[2:]
        name, equals, value = word.removeprefix("--").partition("=")
        if not word.startswith("--") or not equals:
            raise SqlError("42601", f"invalid command-line argument for server process: {word}", severity="FATAL")
        found.append((name.replace("-", "_"), value))
    found += [
        (name, value)
        for name, value in parameters.items()
        if name not in STARTUP_WORDS and not name.startswith("_pq_.")
    ]
    return found
