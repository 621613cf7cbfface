"""The setting search_path: the schemas in which a bare name is looked for, in order.

Enters: the setting as it is kept, the user. Leaves: names of schemas, whether these exist or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

# A quoted name, or the text between commas. A part that is neither is passed over up to the next
# comma.
ITEM = re.compile(r'\s*+(?:"((?:[^"]|"")*+)"\s*+(?=,|$)|([^",]*+)(?=,|$)|[^,]++)(?:,|$)')


@lru_cache(maxsize=256)
def path_names(search_path: str, user: str) -> tuple[str, ...]:
    """Return the names in a search_path in their order, each once; $user is the user's."""
    found: dict[str, None] = {}
    for quoted, plain in ITEM.findall(search_path):
        name = quoted.replace('""', '"') if quoted else plain.rstrip()
        name = user if name == "$user" else name
        if name:
            found[name] = None
    return tuple(found)


def path_text(names: Iterable[str]) -> str:
    """Return a search_path of these names, which means the same to every user."""
    return ", ".join('"' + name.replace('"', '""') + '"' for name in names if name != "$user")
