"""The queries that are about the catalog: they name a relation of it, one of its functions, or a
type of OIDs.

Enters: a query's text and syntax. Leaves: yes or no; the text is looked at first, since nearly all
queries have none of the words.
"""

from __future__ import annotations

import re
from typing import Any

from engine.streams import statistics as stream_statistics
from engine.system_catalog.catalog_functions import FUNCTIONS
from engine.system_catalog.printed import REGISTERED
from engine.system_catalog.static_rows import relations
from engine.system_catalog.syntax_nodes import nodes
from sql import interrupts
from sql.bind.expressions.calls import CALLED_NAMES
from sql.functions.missing import NAMES
from sql.parse.syntax import Constant, FunctionCall, Query, Table, TypeName

TYPES = REGISTERED | {"xid", "oidvector", "int2vector", "aclitem"}
# Words for which it is worth looking at the syntax.
WORDS = re.compile(
    r"\bpg_|information_schema|reg(?:class|type|proc|namespace|role|oper|collation)|format_type|_privilege|"
    r"_description|current_schemas|aclexplode|_expandarray|parse_ident|int2vector|oidvector|aclitem|\bxid\b|getdatabaseencoding|"
    r"inet_(?:server|client)_|current_setting|txid_current",
    re.IGNORECASE,
)


# Every such word has one of these in it, to be looked for first, since nearly every text has none;
# a text may be a constant of megabytes.
BEGINNINGS = (
    *("pg_", "information_schema", "reg", "format_type", "_privilege", "_description", "current_schemas", "aclexplode"),
    *("_expandarray", "parse_ident", "int2vector", "oidvector", "aclitem", "xid", "getdatabaseencoding", "inet_"),
    "current_setting",
)
PIECE = 16_384
WORD_MAX = 32  # characters of a word, so that none is missed between two pieces


def asks_catalog(text: str, query: Query) -> bool:
    """Tell whether a query is to be answered from the catalog."""
    return has_words(text) and any(is_of_catalog(node) for node in nodes(query))


def has_words(text: str) -> bool:
    """Tell whether a word of `WORDS` is in a text."""
    for start in range(0, len(text), PIECE):
        interrupts.check()
        first = max(start - WORD_MAX, 0)
        lowered = text[first : start + PIECE].lower()
        if any(word in lowered for word in BEGINNINGS) and WORDS.search(text, first, start + PIECE + WORD_MAX):
            return True
    return False


def is_of_catalog(node: Any) -> bool:
    """Tell whether a node of a syntax tree names something of the catalog."""
    match node:
        case Table():
            schemas = node.name[-2:-1] or ("pg_catalog",)
            return node.name[-1] != stream_statistics.NAME and (schemas[0], node.name[-1]) in relations()
        case FunctionCall("current_setting"):
            # The value of a setting that the query names is the session's; the rows of settings
            # tell the value of one that a row names.
            return not all(isinstance(argument, Constant) for argument in node.arguments)
        case FunctionCall():
            # The catalog refuses an unknown name, with a line in the log.
            unknown = node.name.startswith("pg_") and node.name not in NAMES
            return (unknown or node.name in FUNCTIONS) and node.name not in CALLED_NAMES
        case TypeName():
            return node.name in TYPES
    return False
