"""The functions of the system catalog: name, arguments, result.

`engine/system_catalog/functions` has what each of them computes. In a tree a function has its name
with `catalog_` before it and all of its arguments; the engine puts the session's number before
them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from sql.errors import not_supported
from sql.functions.printing import Printer
from sql.functions.rows import STABLE, Function
from sql.functions.signatures import Signature
from sql.tree.expressions import Call, Cast, Expression
from sql.types.datatypes import OIDS_OF_NAMES, TEXT, SqlType
from sql.types.records import RecordType, record_family

PREFIX = "catalog_"
NUMBERS = frozenset({"oid", "int2", "int4", "int8", "bool", "xid"})
# Functions of texts that the catalog itself has made, and of names of nothing.
TOLERANT = frozenset({"pg_get_expr", "obj_description"})
# name(arguments | arguments that can be left out) result. An `object` is an oid, or a text that
# names it; bool/int4 is either, as its text. `rows`: a set of rows with these columns.
ROWS = """
acldefault(char oid) aclitem[]
aclexplode(aclitem[]) rows grantor oid, grantee oid, privilege_type text, is_grantable bool
col_description(oid int4) text
current_schemas(bool) name[]
current_setting(text | bool) text
format_type(oid int4) text
getdatabaseencoding() name
has_any_column_privilege(object object | object) bool
has_column_privilege(object object object | object) bool
has_database_privilege(object object | object) bool
has_foreign_data_wrapper_privilege(object object | object) bool
has_function_privilege(object object | object) bool
has_language_privilege(object object | object) bool
has_schema_privilege(object object | object) bool
has_sequence_privilege(object object | object) bool
has_server_privilege(object object | object) bool
has_table_privilege(object object | object) bool
has_tablespace_privilege(object object | object) bool
has_type_privilege(object object | object) bool
inet_client_addr() inet
inet_client_port() int4
inet_server_addr() inet
inet_server_port() int4
obj_description(oid | name) text
pg_blocking_pids(int4) int4[]
pg_char_to_encoding(name) int4
pg_client_encoding() name
pg_collation_is_visible(oid) bool
pg_column_is_updatable(regclass int2 bool) bool
pg_conf_load_time() timestamptz
pg_conversion_is_visible(oid) bool
pg_database_size(object) int8
pg_encoding_to_char(int4) name
pg_function_is_visible(oid) bool
pg_get_constraintdef(oid | bool) text
pg_get_expr(pg_node_tree oid | bool) text
pg_get_function_arg_default(oid int4) text
pg_get_function_arguments(oid) text
pg_get_function_identity_arguments(oid) text
pg_get_function_result(oid) text
pg_get_function_sqlbody(oid) text
pg_get_functiondef(oid) text
pg_get_indexdef(oid | int4 bool) text
pg_get_keywords() rows word text, catcode char, barelabel bool, catdesc text, baredesc text
pg_get_partition_constraintdef(oid) text
pg_get_partkeydef(oid) text
pg_get_ruledef(oid | bool) text
pg_get_serial_sequence(text text) text
pg_get_statisticsobjdef(oid) text
pg_get_statisticsobjdef_columns(oid) text
pg_get_triggerdef(oid | bool) text
pg_get_userbyid(oid) name
pg_get_viewdef(object | bool/int4) text
pg_has_role(object object | object) bool
pg_indexes_size(regclass) int8
pg_is_other_temp_schema(oid) bool
pg_is_wal_replay_paused() bool
pg_listening_channels() setof text
pg_my_temp_schema() oid
pg_opclass_is_visible(oid) bool
pg_operator_is_visible(oid) bool
pg_opfamily_is_visible(oid) bool
pg_options_to_table(text[]) rows option_name text, option_value text
pg_partition_ancestors(oid) setof regclass
pg_partition_tree(oid) rows relid regclass, parentrelid regclass, isleaf bool, level int4
pg_postmaster_start_time() timestamptz
pg_relation_filenode(regclass) oid
pg_relation_is_publishable(regclass) bool
pg_relation_is_updatable(regclass bool) int4
pg_relation_size(regclass | text) int8
pg_sequence_last_value(regclass) int8
pg_show_all_settings() rows name text, setting text, unit text, category text, short_desc text,
    extra_desc text, context text, vartype text, source text, min_val text, max_val text,
    enumvals text[], boot_val text, reset_val text, sourcefile text, sourceline int4,
    pending_restart bool
pg_size_bytes(text) int8
pg_size_pretty(int8/numeric) text
pg_stat_get_numscans(oid) int8
pg_stat_get_tuples_inserted(oid) int8
pg_statistics_obj_is_visible(oid) bool
pg_table_is_visible(oid) bool
pg_table_size(regclass) int8
pg_tablespace_location(oid) text
pg_tablespace_size(object) int8
pg_timezone_abbrevs() rows abbrev text, utc_offset interval, is_dst bool
pg_timezone_names() rows name text, abbrev text, utc_offset interval, is_dst bool
pg_total_relation_size(regclass) int8
pg_trigger_depth() int4
pg_ts_config_is_visible(oid) bool
pg_ts_dict_is_visible(oid) bool
pg_ts_parser_is_visible(oid) bool
pg_ts_template_is_visible(oid) bool
pg_type_is_visible(oid) bool
shobj_description(oid name) text
to_regclass(text) regclass
to_regcollation(text) regcollation
to_regnamespace(text) regnamespace
to_regoper(text) regoper
to_regoperator(text) regoperator
to_regproc(text) regproc
to_regprocedure(text) regprocedure
to_regrole(text) regrole
to_regtype(text) regtype
txid_current() int8
txid_current_if_assigned() int8
"""


@dataclass(frozen=True, slots=True)
class CatalogFunction:
    """A function of the catalog.

    Attributes:
        arguments: families, or 'object'.
        required: the least number of arguments.
        result: the family of a value.
        fields: of the rows that the function returns.
    """

    name: str
    arguments: tuple[str, ...]
    required: int
    result: str
    returns_rows: bool = False
    fields: tuple[tuple[str, str], ...] = ()

    @property
    def only_numbers(self) -> bool:
        """True for a function of oids and other numbers alone: none fails, whatever they mean."""
        return all(kind in NUMBERS for kind in self.arguments)

    @property
    def canonical(self) -> str:
        """The name of a call in a tree."""
        return PREFIX + self.name

    def signatures(self) -> tuple[Signature, ...]:
        """Return the overloads."""
        return tuple(
            Signature(self.canonical, kinds, self.result)
            for count in range(self.required, len(self.arguments) + 1)
            for kinds in product(*(kinds_of(kind) for kind in self.arguments[:count]))
        )


def kinds_of(kind: str) -> tuple[str, ...]:
    """Return the families that an argument may have."""
    return ("text", "oid") if kind == "object" else tuple(kind.split("/"))


def is_text(kind: str) -> bool:
    """Tell whether an argument may be of several families, and comes as a text."""
    return len(kinds_of(kind)) > 1


def function_of(row: str) -> CatalogFunction:
    """Return the function of a row of `ROWS`."""
    name, _, rest = row.partition("(")
    written, _, result = rest.partition(") ")
    needed, _, more = (part.split() for part in written.partition("|"))
    arguments, word = (*needed, *more), result.partition(" ")
    if word[0] == "rows":
        fields = tuple((one.split()[0], one.split()[1]) for one in word[2].split(","))
        record = record_family(RecordType(tuple((field, SqlType(kind)) for field, kind in fields)))
        return CatalogFunction(name, arguments, len(needed), record, True, fields)
    return CatalogFunction(name, arguments, len(needed), word[2] or word[0], word[0] == "setof")


def rows_of(text: str) -> list[str]:
    """Return the rows of `ROWS`; a line that begins with blanks goes on with the row before."""
    return text.strip().replace("\n    ", " ").split("\n")


CATALOG = {one.name: one for one in map(function_of, rows_of(ROWS))}
# Output and input of the types of names, as which casts are bound; no client can call them. In
# their names stands a blank.
NAME_FORMS = {
    one.name: one
    for kind in OIDS_OF_NAMES
    for one in (
        CatalogFunction(f"{kind} out", ("oid",), 1, "text"),
        CatalogFunction(f"{kind} outs", ("oid[]",), 1, "text[]"),
        CatalogFunction(f"{kind} in", ("text",), 1, kind),
        CatalogFunction(f"{kind} ins", ("text[]",), 1, f"{kind}[]"),
    )
}
TRANSACTION_AGE = CatalogFunction("age", ("xid",), 1, "int4")
BY_CANONICAL = {one.canonical: one for one in (*CATALOG.values(), *NAME_FORMS.values(), TRANSACTION_AGE)}
# The session answers these calls, as those of `sql.functions.table.OF_SESSION`.
OF_CATALOG = frozenset(BY_CANONICAL)


def catalog_text(printer: Printer, name: str, arguments: Sequence[Expression], texts: Sequence[str]) -> str:
    """Return a call in DuckDB, where `engine/system_catalog` registers the functions.

    Raises 0A000 where no session has put its number before the arguments.
    """
    known = BY_CANONICAL[name]
    if len(arguments) == len(known.arguments):
        raise not_supported(f"the function {known.name} here")
    number, *values = texts
    given = []
    for kind, argument, text in zip(known.arguments, arguments[1:], values, strict=True):
        if is_text(kind) and argument.type.family == "numeric":
            given.append(printer.text(Cast(argument, TEXT)))
        elif kind != "object":
            given.append(f"CAST({text} AS {printer.type_name(TEXT if is_text(kind) else SqlType(kind))})")
        elif argument.type.family == "oid":
            given.append(f"('#' || CAST({text} AS VARCHAR))")
        else:
            given.append(f"('=' || {text})")
    return f"{registered_name(name)}({', '.join([number, *given])})"


def registered_name(canonical: str) -> str:
    """Return the name of a function of the catalog in DuckDB."""
    return "session_" + canonical.replace(" ", "_")


def _call(printer: Printer, node: Call, texts: list[str]) -> str:
    return catalog_text(printer, node.function, node.arguments, texts)


def row_of(known: CatalogFunction, names: str) -> Function:
    """Return the row of a function of one value."""
    signatures = "; ".join(f"{' '.join(one.arguments)} > {one.result}" for one in known.signatures() if names)
    can_fail = not known.only_numbers and known.name not in TOLERANT
    return Function(
        known.canonical, names, signatures, strict=False, can_fail=can_fail, volatility=STABLE, duckdb=_call
    )


FUNCTIONS = (
    *(row_of(one, one.name) for one in CATALOG.values() if not one.returns_rows),
    row_of(TRANSACTION_AGE, "age"),
    *(row_of(one, "") for one in NAME_FORMS.values()),
)
