"""Random calls of the functions and operators of the table of functions, by signature.

A row that is not drawn is named here with the reason. Which types columns and constants have is the
business of the makers of expressions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from sql.functions import (
    addresses,
    arrays,
    bytes,
    comparisons,
    enums,
    intervals,
    json,
    mathematics,
    numbers,
    patterns,
    texts,
    times,
)
from sql.functions.rows import VOLATILE, Function
from sql.functions.signatures import Signature

MODULES = (addresses, arrays, bytes, comparisons, enums, intervals, json, mathematics, numbers, patterns, texts, times)
FAMILY_OF = {row.canonical: module.__name__.rpartition(".")[2] for module in MODULES for row in module.FUNCTIONS}
# Rows that are not drawn, with the reason.
LEFT_OUT: Mapping[str, str] = {
    **dict.fromkeys(
        ("add", "subtract", "multiply", "divide", "modulo", "negate"),
        "The makers of numbers draw arithmetic, with operands that stay in range.",
    ),
    **dict.fromkeys(
        ("exp", "factorial", "sinh", "cosh", "cot", "cotd", "tan", "tand"),
        "Arithmetic on the results leaves the range.",
    ),
    **dict.fromkeys(("age_today",), "The answer depends on the day."),
    **dict.fromkeys(("json_of_values", "json_of_pairs", "json_of_value"), "Bind makes them of calls of other names."),
}
# Rows that fail for values of the domains: only where an expression may fail.
FAILING = frozenset(
    """
    log10 log ln sqrt power asin acos asind acosd acosh atanh get_byte set_byte get_bit set_bit decode
    convert_from convert json_array_length jsonb_array_length jsonb_delete_name
    jsonb_delete_item jsonb_delete_names jsonb_delete_path jsonb_set jsonb_insert jsonb_set_lax json_object
    json_object_lists jsonb_object jsonb_object_lists set_masklen inet_merge add_inet inet_subtract inet_difference
    shift_left parse_ident
    """.split()
)
# Grammar of their own: nothing is called by these names with commas.
SPELLED = frozenset({"position", "extract", "overlaps"})
PATTERNS = ("'a'", "'^[a-c]+'", "'(b|x)'", "'l{2}o?'")
OPTIONS = ("''", "'i'")
SMALL = ("0", "1", "3", "12")
# Each text has a number for each template, most often not the whole of the text.
NUMBER_TEXTS = ("'1,234.5'", "'-12'", "' 7.25-'", "'+3x4'", "'<98>'", "'5%6 7'", "'$ 1.5'", "'1-2'")
NUMBER_TEMPLATES = (
    *("'99'", "'9999'", "'S9,999.9'", "'999S'", "'99G999D9MI'", "'FM9999D9PR'", "'99V99'", "'9999TH'", "'L9x99'"),
    *("'SG9 999'", "'PL999'", "'B0,999'", "'9\"a\"99'"),
)
# What stands in the place of an argument that has few good values.
ARGUMENTS: Mapping[str, Mapping[int, Sequence[str]]] = {
    "substring": {2: SMALL},
    "bytea_part": {2: SMALL},
    "overlay": {2: ("1", "3"), 3: SMALL},
    "repeat": {1: SMALL},
    "lpad": {1: SMALL},
    "rpad": {1: SMALL},
    "format": {0: ("'a %% b'",)},
    "chr": {0: ("65", "233", "8364")},
    "is_normalized": {1: ("'NFC'", "'NFD'")},
    "similar_to_escape": {1: ("'!'", "''")},
    "regexp_part": {1: PATTERNS},
    "regexp_like": {1: PATTERNS, 2: OPTIONS},
    "regexp_replace": {1: PATTERNS, 3: ("'g'", "'i'")},
    "regexp_match": {1: PATTERNS, 2: OPTIONS},
    "regexp_split": {1: PATTERNS, 2: OPTIONS},
    "regexp_count": {1: PATTERNS, 2: ("1", "2"), 3: OPTIONS},
    "regexp_instr": {1: PATTERNS},
    "regexp_substr": {1: PATTERNS},
    **{name: {1: PATTERNS} for name in ("matches", "imatches", "not_matches", "not_imatches")},
    "encode": {1: ("'hex'", "'base64'", "'escape'")},
    "convert_to": {1: ("'UTF8'",)},
    "width_bucket": {1: ("0",), 2: ("100",), 3: ("5",)},
    "make_date": {0: ("2024", "-45"), 1: ("2", "12"), 2: ("1", "29")},
    "make_time": {0: ("0", "23"), 1: ("59",), 2: ("1.5", "0")},
    "make_timestamp": {0: ("2024",), 1: ("2",), 2: ("29", "1"), 3: ("23",), 4: ("0",), 5: ("1.5",)},
    "make_timestamptz": {
        0: ("2024",),
        1: ("2",),
        2: ("1",),
        3: ("23",),
        4: ("0",),
        5: ("1.5",),
        6: ("'Europe/Berlin'",),
    },
    "jsonb_set_lax": {4: ("'use_json_null'", "'delete_key'", "'return_target'")},
    "read_number": {0: NUMBER_TEXTS, 1: NUMBER_TEMPLATES},
    # PostgreSQL's int4 wraps around when V multiplies it.
    "format_number": {1: [each for each in NUMBER_TEMPLATES if "V" not in each]},
    "format_float": {1: ("'99'", "'S0999'", "'FM9,999PR'")},
    "read_timestamp": {0: ("'2024-02-29'",), 1: ("'YYYY-MM-DD'",)},
    "read_date": {0: ("'2024-02-29'",), 1: ("'YYYY-MM-DD'",)},
    "make_interval": dict.fromkeys(range(7), ("0", "3", "-2")),
}


Call = tuple[Function, str, Signature]


def calls(families: Sequence[str]) -> Mapping[str, Sequence[Call]]:
    """Return the calls by the families of their results, where arguments and results are of
    families.
    """
    known = frozenset(families)
    found: dict[str, list[Call]] = {}
    for module in MODULES:
        for row in module.FUNCTIONS:
            if row.canonical in LEFT_OUT or row.volatility == VOLATILE:
                continue
            for names, signature in row.named_overloads:
                if known.issuperset((*signature.arguments, signature.result)) and not signature.variadic:
                    found.setdefault(signature.result, []).extend(
                        (row, name, signature) for name in names if name not in SPELLED
                    )
    return found


def call_text(random: Random, call: Call, operands: Sequence[str]) -> str:
    """Return the text of a call with operands, with constants where it takes only constants."""
    row, name, _ = call
    few = ARGUMENTS.get(row.canonical, {})
    texts = [
        row.constants.get(place) or (random.choice(few[place]) if place in few else operand)
        for place, operand in enumerate(operands)
    ]
    if name[0].isalpha() or name[0] == "_":
        return f"{name}({', '.join(texts)})"
    return f"({name} {texts[0]})" if len(texts) == 1 else f"({texts[0]} {name} {texts[1]})"
