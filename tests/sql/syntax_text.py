"""The grammar's nodes printed as SQL again, with parentheses around everything: two texts mean the
same if PostgreSQL says so.
"""

from __future__ import annotations

from collections.abc import Iterable

from sql.parse.syntax import (
    ArrayComparison,
    ArrayItems,
    Between,
    Body,
    CaseWhen,
    Collation,
    CommonTable,
    Constant,
    Derived,
    Distinctness,
    Expression,
    FieldSelection,
    FromItem,
    FunctionCall,
    FunctionTable,
    GroupingSets,
    GroupItem,
    InList,
    JoinClause,
    Like,
    Logic,
    Name,
    NamedArgument,
    Operation,
    ParameterNumber,
    Query,
    Row,
    SelectBody,
    SetOperation,
    SortItem,
    Star,
    Subquery,
    Subscript,
    Table,
    Target,
    Test,
    TypeCast,
    TypeName,
    ValuesBody,
    WindowDefinition,
    WindowedTable,
)

# Calls that SQL spells in words, from their arguments.
SPELLINGS = {
    "timezone": "({1} AT TIME ZONE {0})",
    "overlaps": "(({0}, {1}) OVERLAPS ({2}, {3}))",
    "position": "POSITION({1} IN {0})",
    "btrim": "TRIM(BOTH {1} FROM {0})",
    "ltrim": "TRIM(LEADING {1} FROM {0})",
    "rtrim": "TRIM(TRAILING {1} FROM {0})",
    "substring": "SUBSTRING({0} FROM {1} FOR {2})",
    "overlay": "OVERLAY({0} PLACING {1} FROM {2} FOR {3})",
}
SPELLED_NAMES = frozenset({"coalesce", "greatest", "least", "nullif", "grouping"})
WITHOUT_PARENTHESES = frozenset(
    """
    current_date current_time current_timestamp localtime localtimestamp current_user session_user user current_role
    current_catalog current_schema
    """.split()
)


def identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def dotted(parts: Iterable[str]) -> str:
    return ".".join(identifier(part) for part in parts)


def listed(items: Iterable[Expression]) -> str:
    return ", ".join(expression_text(item) for item in items)


def quoted(text: str) -> str:
    return "E'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


# Queries.


def query_text(query: Query) -> str:
    """Return the query as SQL."""
    parts = [with_text(query.common_tables), body_text(query.body), order_text(query.order_by)]
    if query.limit is not None and query.with_ties:
        parts.append(f"FETCH FIRST ({expression_text(query.limit)}) ROWS WITH TIES")
    elif query.limit is not None:
        parts.append(f"LIMIT {expression_text(query.limit)}")
    if query.offset is not None:
        parts.append(f"OFFSET {expression_text(query.offset)}")
    for clause in query.locking:
        tables = ", ".join(identifier(name) for name, _ in clause.tables)
        wait = {"nowait": " NOWAIT", "skip": " SKIP LOCKED"}.get(clause.wait, "")
        parts.append(f"{clause.strength}{f' OF {tables}' if tables else ''}{wait}")
    return " ".join(part for part in parts if part)


def with_text(common: tuple[CommonTable, ...]) -> str:
    if not common:
        return ""
    items = [
        f"{identifier(item.name)}{columns_text(item.column_aliases)} AS ({query_text(item.query)})" for item in common
    ]
    return f"WITH {'RECURSIVE ' if common[0].recursive else ''}{', '.join(items)}"


def body_text(body: Body) -> str:
    match body:
        case SelectBody():
            return select_text(body)
        case ValuesBody():
            rows = [
                f"({', '.join('DEFAULT' if item is None else expression_text(item) for item in row)})"
                for row in body.rows
            ]
            return f"VALUES {', '.join(rows)}"
        case SetOperation():
            operator = body.operator.upper() + (" ALL" if body.all else "")
            return f"({body_text(body.left)}) {operator} ({body_text(body.right)})"
        case Query():
            return query_text(body)


def select_text(body: SelectBody) -> str:
    distinct = "DISTINCT " if body.distinct else ""
    if body.distinct_on:
        distinct = f"DISTINCT ON ({listed(body.distinct_on)}) "
    parts = [f"SELECT {distinct}{', '.join(target_text(item) for item in body.targets)}"]
    if body.from_items:
        parts.append(f"FROM {', '.join(from_text(item) for item in body.from_items)}")
    if body.where is not None:
        parts.append(f"WHERE {expression_text(body.where)}")
    if body.group_by:
        quantifier = "DISTINCT " if body.group_distinct else ""
        parts.append(f"GROUP BY {quantifier}{', '.join(group_text(item) for item in body.group_by)}")
    if body.having is not None:
        parts.append(f"HAVING {expression_text(body.having)}")
    if body.windows:
        definitions = [f"{identifier(name)} AS {window_text(definition)}" for name, definition in body.windows]
        parts.append(f"WINDOW {', '.join(definitions)}")
    return " ".join(parts)


def target_text(item: Target) -> str:
    text = expression_text(item.expression)
    return text if item.alias is None else f"{text} AS {identifier(item.alias)}"


def group_text(item: GroupItem) -> str:
    if not isinstance(item, GroupingSets):
        return expression_text(item)
    inner = f"({', '.join(group_text(one) for one in item.items)})"
    return {"list": "", "sets": "GROUPING SETS ", "rollup": "ROLLUP ", "cube": "CUBE "}[item.kind] + inner


def order_text(items: tuple[SortItem, ...]) -> str:
    return f"ORDER BY {', '.join(sort_text(item) for item in items)}" if items else ""


def sort_text(item: SortItem) -> str:
    nulls = {None: "", True: " NULLS FIRST", False: " NULLS LAST"}[item.nulls_first]
    return expression_text(item.expression) + (" DESC" if item.descending else "") + nulls


def window_text(definition: WindowDefinition) -> str:
    if definition.exact:
        return identifier(definition.base or "")
    parts = [identifier(definition.base)] if definition.base else []
    if definition.partition_by:
        parts.append(f"PARTITION BY {listed(definition.partition_by)}")
    parts.append(order_text(definition.order_by))
    if definition.frame is not None:
        unit, start, end, exclusion = definition.frame
        bounds = []
        for item in (start, end):
            words = item.kind.replace("_", " ").upper().replace("CURRENT", "CURRENT ROW")
            bounds.append(words if item.offset is None else f"{expression_text(item.offset)} {words}")
        parts.append(f"{unit} BETWEEN {bounds[0]} AND {bounds[1]}" + (f" EXCLUDE {exclusion}" if exclusion else ""))
    return f"({' '.join(part for part in parts if part)})"


# FROM.


def from_text(item: FromItem) -> str:
    match item:
        case Table():
            return dotted(item.name) + alias_text(item.alias, item.column_aliases)
        case Derived():
            lateral = "LATERAL " if item.lateral else ""
            return f"{lateral}({query_text(item.query)}){alias_text(item.alias, item.column_aliases)}"
        case FunctionTable():
            text = call_text(item.calls[0])
            if len(item.calls) > 1:
                text = f"ROWS FROM ({', '.join(call_text(call) for call in item.calls)})"
            ordinality = " WITH ORDINALITY" if item.ordinality else ""
            return text + ordinality + alias_text(item.alias, item.column_aliases)
        case WindowedTable():
            spans = ", ".join(map(expression_text, (item.time, *item.spans)))
            keys = f" PARTITION BY ({', '.join(map(expression_text, item.partition_by))})" if item.partition_by else ""
            call = f"{item.kind}(TABLE {dotted(item.source.name)}{keys}, {spans})"
            return call + alias_text(item.alias, item.column_aliases)
        case JoinClause():
            return f"({join_text(item)})"


def alias_text(alias: str | None, columns: tuple[str, ...]) -> str:
    return "" if alias is None else f" AS {identifier(alias)}{columns_text(columns)}"


def columns_text(columns: tuple[str, ...]) -> str:
    return f" ({', '.join(identifier(column) for column in columns)})" if columns else ""


def join_text(item: JoinClause) -> str:
    words = ("NATURAL " if item.natural else "") + item.kind.upper()
    text = f"{from_text(item.left)} {words} JOIN {from_text(item.right)}"
    if item.using:
        return f"{text} USING ({', '.join(identifier(name) for name, _ in item.using)})"
    return text if item.condition is None else f"{text} ON {expression_text(item.condition)}"


# Expressions.


def expression_text(item: Expression) -> str:
    """Return the expression as SQL, in parentheses wherever operators are."""
    match item:
        case Name():
            return dotted(item.parts)
        case Star():
            return ".".join([*(identifier(part) for part in item.qualifier), "*"])
        case Constant():
            return constant_text(item)
        case ParameterNumber():
            return f"${item.number}"
        case Operation():
            operands = [expression_text(operand) for operand in item.operands]
            return f"({' '.join([*operands[:-1], item.operator, operands[-1]])})"
        case Logic():
            texts = [expression_text(operand) for operand in item.operands]
            return f"(NOT {texts[0]})" if item.operator == "not" else f"({f' {item.operator} '.join(texts)})"
        case CaseWhen():
            return case_text(item)
        case Collation():
            return f'({expression_text(item.operand)} COLLATE "C")'
        case TypeCast():
            return f"CAST({expression_text(item.operand)} AS {type_text(item.type)})"
        case FunctionCall():
            return call_text(item)
        case Row():
            return f"ROW({listed(item.items)})" if item.text[0] != "(" else f"({listed(item.items)})"
        case ArrayItems():
            return f"ARRAY[{listed(item.items)}]"
        case Subscript():
            return subscript_text(item)
        case FieldSelection():
            return f"({expression_text(item.operand)}).{identifier(item.name)}"
        case Subquery():
            return subquery_text(item)
        case NamedArgument():
            return f"{identifier(item.name)} => {expression_text(item.value)}"
        case _:
            return predicate_text(item)


def subscript_text(item: Subscript) -> str:
    """Return the operand in parentheses with all its subscripts, which PostgreSQL takes
    together.
    """
    bounds = ["" if bound is None else expression_text(bound) for bound in (item.lower, item.upper)]
    inner = (
        subscript_text(item.operand) if isinstance(item.operand, Subscript) else f"({expression_text(item.operand)})"
    )
    return f"{inner}[{' : '.join(bounds) if item.is_slice else bounds[0]}]"


def constant_text(item: Constant) -> str:
    match item.kind:
        case "null":
            return "NULL"
        case "string":
            return quoted(item.value)
    return item.value


def predicate_text(item: Test | Distinctness | Between | InList | Like | ArrayComparison) -> str:
    if isinstance(item, ArrayComparison):
        return f"({expression_text(item.operand)} {item.operator} {item.quantifier} ({expression_text(item.array)}))"
    negated = "NOT " if item.negated else ""
    if isinstance(item, Distinctness):
        return f"({expression_text(item.left)} IS {negated}DISTINCT FROM {expression_text(item.right)})"
    operand = expression_text(item.operand)
    match item:
        case Test():
            return f"({operand} IS {negated}{item.kind})"
        case Between():
            symmetric = "SYMMETRIC " if item.symmetric else ""
            low, high = expression_text(item.low), expression_text(item.high)
            return f"({operand} {negated}BETWEEN {symmetric}({low}) AND {high})"
        case InList():
            return f"({operand} {negated}IN ({listed(item.items)}))"
        case Like():
            escape = "" if item.escape is None else f" ESCAPE {expression_text(item.escape)}"
            word = "ILIKE" if item.case_insensitive else "LIKE"
            return f"({operand} {negated}{word} {expression_text(item.pattern)}{escape})"


def subquery_text(item: Subquery) -> str:
    query = f"({query_text(item.query)})"
    if item.operand is None:
        return {"scalar": "", "exists": "EXISTS ", "array": "ARRAY"}[item.kind] + query
    return f"({expression_text(item.operand)} {item.operator} {item.kind} {query})"


def case_text(item: CaseWhen) -> str:
    parts = ["CASE"] if item.operand is None else [f"CASE {expression_text(item.operand)}"]
    parts += [f"WHEN {expression_text(condition)} THEN {expression_text(value)}" for condition, value in item.branches]
    if item.default is not None:
        parts.append(f"ELSE {expression_text(item.default)}")
    return f"({' '.join(parts)} END)"


def type_text(item: TypeName) -> str:
    modifiers = f"({', '.join(str(modifier) for modifier in item.modifiers)})" if item.modifiers else ""
    name = f"interval {item.fields}" if item.fields else identifier(item.name)
    if item.name == "interval" and not item.fields:
        name = "interval"
    return name + modifiers + ("[]" if item.array else "")


def call_text(item: FunctionCall) -> str:
    if item.name in WITHOUT_PARENTHESES and not item.text.endswith("()"):
        return f"{item.name}({listed(item.arguments)})" if item.arguments else item.name
    if item.spelled:
        return spelled_text(item)
    inner = "*" if item.star else ("DISTINCT " if item.distinct else "") + listed(item.arguments)
    text = f"{identifier(item.name)}({' '.join(part for part in (inner, order_text(item.order_by)) if part)})"
    if item.within_group:
        text += f" WITHIN GROUP ({order_text(item.within_group)})"
    if item.filter is not None:
        text += f" FILTER (WHERE {expression_text(item.filter)})"
    return text if item.over is None else f"{text} OVER {window_text(item.over)}"


def spelled_text(item: FunctionCall) -> str:
    texts = [expression_text(argument) for argument in item.arguments]
    if item.name in SPELLINGS:
        # An argument that was left out goes with the word before it.
        spelling = SPELLINGS[item.name]
        for place, word in ((1, "{1} "), (2, " FOR {2}"), (3, " FOR {3}")):
            spelling = spelling if place < len(texts) else spelling.replace(word, "")
        return spelling.format(*texts)
    if item.name == "extract":
        return f"EXTRACT({texts[0].removeprefix('E')} FROM {texts[1]})"
    if item.name in ("normalize", "is_normalized"):
        form = "".join(str(one.value) for one in item.arguments[1:] if isinstance(one, Constant))
        if item.name == "normalize":
            return f"NORMALIZE({texts[0]}{', ' * bool(form)}{form})"
        return f"({texts[0]} IS {form} NORMALIZED)"
    if item.name in SPELLED_NAMES:
        return f"{item.name}({', '.join(texts)})"
    return f"pg_catalog.{identifier(item.name)}({', '.join(texts)})"
