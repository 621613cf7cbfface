"""Which queries are about the catalog: those that name a relation of it, one of its functions, or a type of OIDs.

Enters: a query's text and syntax. Leaves: yes or no; the text is looked at first, since nearly all queries have none of the words.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from typing import Any

from engine import stream_statistics
from engine.system_catalog.catalog_functions import FUNCTIONS
from engine.system_catalog.printed import REGISTERED
from engine.system_catalog.static_rows import relations
from sql.bind.calls import CALLED_NAMES
from sql.syntax import FunctionCall, Query, Table, TypeName

TYPES = REGISTERED | {"xid", "oidvector", "int2vector", "aclitem"}
# Any word that makes it worth looking.
WORDS = re.compile(
    r"\bpg_|information_schema|reg(?:class|type|proc|namespace|role|oper|collation)|format_type|_privilege|"
    r"_description|current_schemas|aclexplode|int2vector|oidvector|aclitem|\bxid\b|getdatabaseencoding|inet_(?:server|client)_addr",
    re.IGNORECASE,
)


def asks_catalog(text: str, query: Query) -> bool:
    """Tell whether a query is to be answered from the catalog."""
    return WORDS.search(text) is not None and any(_is_of_catalog(node) for node in nodes(query))


def _is_of_catalog(node: Any) -> bool:
    match node:
        case Table():
            schemas = node.name[-2:-1] or ("pg_catalog",)
            return node.name[-1] != stream_statistics.NAME and (schemas[0], node.name[-1]) in relations()
        case FunctionCall():
            return node.name in FUNCTIONS and node.name not in CALLED_NAMES
        case TypeName():
            return node.name in TYPES
    return False


def nodes(value: Any) -> Iterator[Any]:
    """Yield a syntax tree's nodes."""
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, tuple):
            stack.extend(node)
        elif dataclasses.is_dataclass(node):
            yield node
            stack.extend(getattr(node, field.name) for field in dataclasses.fields(node))
