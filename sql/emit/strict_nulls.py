"""Strict functions with a constant NULL among their arguments: they are NULL, and their other
arguments are not computed.

PostgreSQL folds such calls when it plans, so that `lpad(NULL, 1 / i)` does not divide. Enters: a
tree whose constants have been computed, since constants that fail do so first. Leaves: the tree,
with NULL in place of such calls. Must not change an expression that can be other than NULL.
"""

from __future__ import annotations

from sql.tree.expressions import Call, Cast, Expression, Literal
from sql.tree.relations import Project, Relation, Values
from sql.tree.walks import all_relations, children, inputs, map_relation, operator_expressions, walk

# Canonical names. Left out are functions that have a value for a NULL (concat, array_append), and
# and, or, IN, whose other operands decide.
STRICT = frozenset(
    """
    abs acos add add_inet add_interval add_interval_value age age_today array_contained array_contains array_dims array_length array_lower
    array_ndims array_overlaps ascii asin atan atan2 bit_and bit_length bit_not bit_or bit_xor bpchar_length bytea_bits bytea_length
    bytea_md5 bytea_part bytea_position cardinality cbrt ceil chr cidr_abbrev concat_op cos cosh cot date_add_days date_at_time
    date_at_timetz date_bin date_difference date_part date_subtract_days date_trunc days_add_date decode degrees divide encode eq exp
    extract factorial floor format_float format_number format_time from_zone gcd ge get_byte gt ilike imatches inet_add inet_broadcast
    inet_difference inet_family inet_holds inet_holds_or_equal inet_host inet_hostmask inet_masklen inet_merge inet_netmask inet_network
    inet_output inet_overlaps inet_same_family inet_subtract inet_within inet_within_or_equal initcap interval_add interval_add_time
    interval_add_timetz interval_difference interval_divide interval_multiply interval_negate interval_sum isfinite json_array_length
    json_extract_path json_extract_path_text json_field json_field_text json_item json_item_text json_path json_path_text json_strip_nulls
    json_typeof jsonb_array_length jsonb_concat jsonb_contained jsonb_contains jsonb_delete_item jsonb_delete_name jsonb_delete_names
    jsonb_delete_path jsonb_exists jsonb_exists_all jsonb_exists_any jsonb_extract_path jsonb_extract_path_text jsonb_insert jsonb_pretty
    jsonb_set jsonb_strip_nulls jsonb_typeof justify_days justify_hours justify_interval lcm le left length like ln log log10 lower lpad lt
    make_date make_interval make_time make_timestamp make_timestamptz matches md5 min_scale modulo multiply ne negate not_ilike
    not_imatches not_like not_matches octet_length overlay plus power quote_ident quote_literal quotient radians read_date read_number
    read_timestamp regexp_count regexp_instr regexp_like regexp_match regexp_part regexp_replace regexp_split regexp_substr repeat replace
    reverse right round rpad scale set_byte set_masklen sha224 sha256 sha384 sha512 shift_left shift_right sign similar_part
    similar_to_escape sin sinh split_part sqrt starts_with strpos subscript substring subtract subtract_interval tan tanh time_add
    time_at_date time_difference time_span time_subtract times_interval timetz_add timetz_at_date timetz_subtract to_hex to_timestamp
    to_zone translate trim_array trim_both trim_left trim_right trim_scale trunc upper width_bucket
    """.split()
)


def without_strict_nulls(root: Relation) -> Relation:
    """Return the tree with NULL for every strict call of a constant NULL.

    The same tree where there is none.
    """
    is_null: dict[int, bool] = {}
    for relation in all_relations(root):
        if any(map(_is_one_row, inputs(relation))):
            # PostgreSQL puts the values of a single row in first, so that their failures remain.
            continue
        for item in operator_expressions(relation):
            if not isinstance(item, Literal):
                _note(item, is_null)
    if not any(is_null.values()):
        return root

    def folded(node: Expression) -> Expression | None:
        return Literal(None, node.type) if isinstance(node, Call | Cast) and is_null.get(id(node)) else None

    return map_relation(root, folded)


def _is_one_row(relation: Relation) -> bool:
    while isinstance(relation, Project):
        relation = relation.input
    return isinstance(relation, Values) and len(relation.rows) == 1 and bool(relation.schema)


def _note(expression: Expression, is_null: dict[int, bool]) -> None:
    """Note by their ids which calls in an expression are NULL for sure."""
    for node in reversed(list(walk(expression))):
        match node:
            case Call() if node.function in STRICT:
                is_null[id(node)] = any(_is_null(part, is_null) for part in children(node))
            case Cast():
                is_null[id(node)] = _is_null(node.operand, is_null)


def _is_null(node: Expression, is_null: dict[int, bool]) -> bool:
    return node.value is None if isinstance(node, Literal) else is_null.get(id(node), False)
