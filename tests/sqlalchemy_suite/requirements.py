"""Requirements of SQLAlchemy's suite that Antumbra meets: what is switched on beyond its defaults,
and what is off by decision.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy.testing import exclusions
from sqlalchemy.testing.requirements import SuiteRequirements

OPEN = """
sequences sequences_optional reflects_pk_names comment_reflection comment_reflection_full_unicode
view_reflection view_column_reflection check_constraint_reflection inline_check_constraint_reflection unique_constraint_reflection
unicode_ddl datetime_interval datetime_literals datetime_timezone datetime_historic date_historic timestamp_microseconds
infinity_floats precision_numerics_enotation_small precision_numerics_retains_significant_digits
precision_generic_float_type precision_numerics_many_significant_digits cast_precision_numerics_many_significant_digits
array_type json_type savepoints update_from delete_from tuple_in tuple_in_w_empty window_functions window_range ctes
ctes_on_dml ctes_with_update_delete ctes_with_values intersect except_ nullsordering standalone_null_binds_whereclause
server_side_cursors supports_distinct_on order_by_col_from_union insert_executemany_returning delete_returning
insert_returning update_returning isolation_level autocommit uuid_data_type
expressions_against_unbounded_text sql_expression_limit_offset
parens_in_union_contained_select_w_limit_offset parens_in_union_contained_select_wo_limit_offset
aggregate_order_by binary_literals identity_columns identity_columns_standard unusual_column_name_characters
update_where_target_in_subquery create_table_as supports_is_distinct_from
foreign_key_constraint_option_reflection_ondelete fk_constraint_option_reflection_ondelete_restrict
foreign_key_constraint_option_reflection_onupdate fk_constraint_option_reflection_onupdate_restrict
temporary_tables temp_table_reflection temp_table_names has_temp_table temporary_views temp_table_reflect_indexes
unique_constraints_reflect_as_index schemas schema_reflection schema_create_delete cross_schema_fk_reflection constraint_comment_reflection
""".split()
CLOSED = """
two_phase_transactions computed_columns computed_columns_stored computed_columns_virtual
""".split()


class Requirements(SuiteRequirements):
    """SQLAlchemy's defaults with the two lists."""

    def get_isolation_levels(self, _config: Any) -> dict[str, Any]:
        """Return the levels: all are one."""
        return {
            "default": "REPEATABLE READ",
            "supported": ["AUTOCOMMIT", "READ COMMITTED", "READ UNCOMMITTED", "REPEATABLE READ", "SERIALIZABLE"],
        }


def _open(_: SuiteRequirements) -> Any:
    return exclusions.open()  # type: ignore[no-untyped-call]


def _closed(_: SuiteRequirements) -> Any:
    return exclusions.closed()  # type: ignore[no-untyped-call]


for _name in (*OPEN, *CLOSED):
    assert hasattr(SuiteRequirements, _name), _name
    setattr(Requirements, _name, property(_open if _name in OPEN else _closed))
