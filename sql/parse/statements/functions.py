"""CREATE, ALTER and DROP FUNCTION, and functions as other statements name them: name [(arguments)].

Bodies are in SQL: a string, RETURN expression, or BEGIN ATOMIC with one statement.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sql.catalog.functions import INPUTS, OUTPUTS
from sql.errors import SqlError, not_supported
from sql.functions.polymorphic import GROUPS
from sql.names.relation_keys import written_schema
from sql.parse.grammar import expressions as grammar
from sql.parse.grammar import queries
from sql.parse.grammar.cursor import Cursor
from sql.parse.grammar.types import type_name
from sql.parse.statements.declaration import Naming, Right, Statement
from sql.parse.statements.options import comment_text, signed_number
from sql.parse.statements.parts import RoleSpec
from sql.parse.statements.roles import role_spec
from sql.parse.statements.rules import begins
from sql.parse.syntax import Expression
from sql.parse.type_names import CATALOG_HINT, open_type
from sql.types.datatypes import SqlType, is_of_catalog

# Types of arguments and results that no value has, beside the polymorphic ones and void.
PSEUDO_TYPES = frozenset(
    """
    any anyrange anymultirange anycompatiblerange anycompatiblemultirange cstring event_trigger fdw_handler
    index_am_handler internal language_handler trigger tsm_handler table_am_handler
    """.split()
)
MODES = {"in": "i", "out": "o", "inout": "b", "variadic": "v"}
REDUNDANT = "conflicting or redundant options"
# Attributes that are words alone, with their names and values.
ATTRIBUTES: dict[tuple[str, ...], tuple[str, str | bool]] = {
    ("immutable",): ("volatility", "i"),
    ("stable",): ("volatility", "s"),
    ("volatile",): ("volatility", "v"),
    ("strict",): ("strict", True),
    ("returns", "null", "on", "null", "input"): ("strict", True),
    ("called", "on", "null", "input"): ("strict", False),
    ("leakproof",): ("leakproof", True),
    ("not", "leakproof"): ("leakproof", False),
}
PARALLEL = {"safe": "s", "restricted": "r", "unsafe": "u"}


@dataclass(frozen=True)
class FunctionParameter:
    """An argument in a definition, or a column of RETURNS TABLE.

    Attributes:
        mode: as in pg_proc: 'i', 'o', 'b', 'v', 't'.
        default: the expression or None.
    """

    name: str
    mode: str
    type: SqlType
    default_text: str
    position: int
    default: Expression | None = None


@dataclass(frozen=True)
class FunctionName:
    """A function that is to be there: name [(types)].

    Attributes:
        arguments: the types of a call; None: the one function of the name is meant.
        oid: once the function is found, 0 where IF EXISTS found none.
    """

    name: str
    arguments: tuple[SqlType, ...] | None
    position: int
    oid: int = 0


@dataclass(frozen=True)
class CreateFunction(
    Statement,
    tag="CREATE FUNCTION",
    defines=True,
    named=(("name", Naming.NEW),),
    rights=(("name", Right.CREATE_AT_POSITION),),
):
    """The statement CREATE [OR REPLACE] FUNCTION name (parameters) RETURNS type ... body.

    Attributes:
        result: None where none is written, or record (has_record).
        has_table: RETURNS TABLE was written.
        form, body: as of FunctionDescription.
        body_start: where the body's text begins in the statement's message; 0: its characters are
            not those of the message one by one.
        attributes: 'volatility', 'strict', 'parallel', 'cost', 'rows', 'leakproof', where they are
            written.
    """

    name: str
    name_position: int
    or_replace: bool
    parameters: tuple[FunctionParameter, ...]
    result: SqlType | None
    returns_set: bool
    has_table: bool
    form: str
    body: str
    body_start: int
    attributes: dict[str, Any] = field(default_factory=dict)
    has_record: bool = False


@dataclass(frozen=True)
class AlterFunction(
    Statement,
    tag="ALTER FUNCTION",
    defines=True,
    named=(("function", Naming.FUNCTION),),
    rights=(("function", Right.OWN_FUNCTION), ("new_schema", Right.MOVE)),
):
    """The statement ALTER FUNCTION name action.

    Attributes:
        action: 'rename', 'set schema' or 'attributes'.
    """

    function: FunctionName
    action: str
    new_name: str = ""
    attributes: dict[str, Any] = field(default_factory=dict)

    @property
    def new_schema(self) -> str:
        """The schema into which the statement moves the function, or the empty text."""
        return self.new_name if self.action == "set schema" else ""


@dataclass(frozen=True)
class ChangeFunctionOwner(Statement, tag="ALTER FUNCTION", defines=True, named=(("function", Naming.FUNCTION),)):
    """ALTER FUNCTION name OWNER TO role."""

    function: FunctionName
    role: RoleSpec


@dataclass(frozen=True)
class DropFunction(
    Statement,
    tag="DROP FUNCTION",
    defines=True,
    named=(("functions", Naming.FUNCTIONS),),
    rights=(("functions", Right.OWN_FUNCTIONS),),
):
    """DROP FUNCTION [IF EXISTS] functions [CASCADE | RESTRICT]."""

    functions: tuple[FunctionName, ...]
    if_exists: bool
    cascade: bool


@dataclass(frozen=True)
class CommentOnFunction(
    Statement,
    tag="COMMENT",
    defines=True,
    named=(("function", Naming.FUNCTION),),
    rights=(("function", Right.OWN_FUNCTION),),
):
    """COMMENT ON FUNCTION name IS comment; None takes the comment away."""

    function: FunctionName
    comment: str | None


@begins("create function")
def create_function(cursor: Cursor) -> CreateFunction:
    """Read the statement from its first word."""
    cursor.expect("create")
    or_replace = cursor.accept("or", "replace")
    cursor.expect("function")
    name_position = cursor.position
    name = defined_name(cursor)
    parameters = parameter_list(cursor)
    result: SqlType | None = None
    returns_set = has_table = has_record = False
    if cursor.accept("returns"):
        if cursor.at("table") and cursor.ahead(1).value == "(":
            cursor.advance()
            if any(one.mode in OUTPUTS for one in parameters):
                raise SqlError("42601", "OUT and INOUT arguments aren't allowed in TABLE functions", name_position)
            parameters = (*parameters, *table_columns(cursor))
            returns_set = has_table = True
        else:
            returns_set = cursor.accept("setof")
            has_record = cursor.accept("record")
            result = None if has_record else plain_type(cursor)
    options = Options(cursor)
    options.read()
    form, body, body_start = options.definition()
    return CreateFunction(
        cursor.statement_text, name, name_position, or_replace, parameters, result, returns_set, has_table,
        form, body, body_start, options.attributes, has_record,
    )  # fmt: skip


def defined_name(cursor: Cursor) -> str:
    """Read the name of a function as a definition has it."""
    is_bare_name = cursor.function_name()
    name = cursor.relation_name()
    if not is_bare_name and written_schema(name) is None:
        cursor.fail()
    return name


class Options:
    """The options of a definition, each at most once, in any order; the body is one of them."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.attributes: dict[str, Any] = {}
        self.language: str | None = None
        self.body: tuple[str, str, int] | None = None

    def read(self, altering: bool = False) -> None:
        """Read options as long as there are any."""
        cursor = self.cursor
        while not cursor.at_end_of_statement():
            position = cursor.position
            if not self._attribute(position) and (altering or not self._definition(position)):
                return

    def definition(self) -> tuple[str, str, int]:
        """Return the form, the text and the place of the body. Raises 42P13."""
        if self.body is None:
            raise SqlError("42P13", "no function body specified")
        if self.language is None and self.body[0] == "string":
            raise SqlError("42P13", "no language specified")
        return self.body

    def _set(self, name: str, value: Any, position: int) -> bool:
        if name in self.attributes:
            raise SqlError("42601", REDUNDANT, position)
        self.attributes[name] = value
        return True

    def _attribute(self, position: int) -> bool:
        """Read one option that ALTER FUNCTION has, too."""
        cursor = self.cursor
        for words, (name, value) in ATTRIBUTES.items():
            if cursor.accept(*words):
                return self._set(name, value, position)
        if cursor.accept("parallel"):
            place = cursor.position
            parallel = PARALLEL.get(cursor.name())
            if parallel is None:
                raise SqlError("42601", 'parameter "parallel" must be SAFE, RESTRICTED, or UNSAFE', place)
            return self._set("parallel", parallel, position)
        word = cursor.accept_any("cost", "rows")
        if word is not None:
            number = float(signed_number(cursor))
            if number <= 0:
                raise SqlError("22023", f"{word.upper()} must be positive")
            return self._set(word, number, position)
        external = cursor.accept("external")
        if cursor.accept("security"):
            if cursor.one_of("definer", "invoker") == "definer":
                raise not_supported("SECURITY DEFINER", position)
            return self._set("security", "invoker", position)
        if external:
            cursor.fail()
        for unknown in ("window", "support", "transform", "set", "reset"):
            if cursor.at(unknown):
                raise not_supported(f"{unknown.upper()} of a function", position)
        return False

    def _definition(self, position: int) -> bool:
        cursor = self.cursor
        if cursor.accept("language"):
            if self.language is not None:
                raise SqlError("42601", REDUNDANT, position)
            place = cursor.position
            self.language = (cursor.string() if cursor.token.kind == "string" else cursor.label()).lower()
            if self.language != "sql":
                known = self.language in ("plpgsql", "c", "internal")
                if known:
                    raise not_supported(f"the language {self.language} of a function", place)
                raise SqlError("42704", f'language "{self.language}" does not exist')
            return True
        if cursor.at("as"):
            cursor.advance()
            token, start = cursor.token, 0
            written = cursor.text[token.start : token.end]
            text = cursor.string()
            if text and written.count(text) == 1 and len(written) - len(text) <= 2 * (written.find(text)):
                start = token.start + written.find(text) + 1
            if cursor.at_operator(","):
                raise SqlError("42P13", 'only one AS item needed for language "sql"')
            return self._take(("string", text, start), position)
        if cursor.accept("return"):
            start = cursor.position
            _, text = cursor.with_text(grammar.expression)
            return self._take(("return", text, start), position)
        if cursor.at_words("begin", "atomic"):
            cursor.expect("begin", "atomic")
            if not queries.at_query(cursor) and not cursor.at_operator("("):
                raise not_supported("a function whose body is not one SELECT", cursor.position)
            start = cursor.position
            _, text = cursor.with_text(queries.query)
            cursor.expect_operator(";")
            if not cursor.accept("end"):
                raise not_supported("a function whose body is not one SELECT", cursor.position)
            return self._take(("atomic", text, start), position)
        return False

    def _take(self, body: tuple[str, str, int], position: int) -> bool:
        if self.body is not None:
            same = self.body[0] == body[0] == "string"
            raise SqlError(
                "42601" if same else "42P13", REDUNDANT if same else "duplicate function body specified", position
            )
        self.body = body
        return True


def parameter_list(cursor: Cursor, defaults: bool = True) -> tuple[FunctionParameter, ...]:
    """Read ([mode] [name] type [DEFAULT expression], ...)."""
    return cursor.listed_or_none(lambda cursor: parameter(cursor, defaults))


def parameter(cursor: Cursor, defaults: bool) -> FunctionParameter:
    """Read one argument; its mode may stand before or after its name."""
    position = cursor.position
    mode = parameter_mode(cursor)
    name = ""
    if at_parameter_name(cursor):
        name = cursor.advance().value
        mode = mode or parameter_mode(cursor)
    if cursor.at("setof"):
        raise SqlError("42P13", "functions cannot accept set arguments")
    kind = plain_type(cursor)
    text, default = "", None
    if defaults and (cursor.accept("default") or cursor.accept_operator("=")):
        if mode == "o":
            raise SqlError("42P13", "only input parameters can have default values")
        default, text = cursor.with_text(grammar.expression)
    return FunctionParameter(name, mode or "i", kind, text, position, default)


def parameter_mode(cursor: Cursor) -> str:
    """Read IN, OUT, INOUT, IN OUT or VARIADIC, if it is next."""
    word = cursor.accept_any(*MODES)
    if word is None:
        return ""
    return "b" if word == "in" and cursor.accept("out") else MODES[word]


def at_parameter_name(cursor: Cursor) -> bool:
    """Tell whether the next word is the name of an argument, and no type: a type follows it."""
    after = cursor.ahead(1)
    if not cursor.function_name() or after.kind not in ("word", "quoted"):
        return False
    is_type = cursor.token.value == "double" and after.value == "precision" and cursor.token.kind == "word"
    return not is_type and not (after.kind == "word" and after.value in ("default", "array"))


def table_columns(cursor: Cursor) -> tuple[FunctionParameter, ...]:
    """Read (name type, ...) of RETURNS TABLE."""
    return cursor.listed(table_column)


def table_column(cursor: Cursor) -> FunctionParameter:
    """Read name type."""
    position = cursor.position
    if not cursor.function_name():
        cursor.fail()
    return FunctionParameter(cursor.advance().value, "t", plain_type(cursor), "", position)


def plain_type(cursor: Cursor) -> SqlType:
    """Read a type, whose modifiers mean nothing here. Raises 0A000 for pseudo-types."""
    written = type_name(cursor)
    if cursor.at_operator("%"):
        raise not_supported("%TYPE", written.position)
    if written.schema in ("", "pg_catalog") and written.name in PSEUDO_TYPES:
        raise not_supported(f"the type {written.name} in a function", written.position)
    if written.schema in ("", "pg_catalog") and written.name in (*GROUPS, "void") and not written.array:
        return SqlType(written.name)
    found = open_type(written)
    if is_of_catalog(found) and found.row.category != "P":
        raise not_supported(f"the type {written.text} of a function", written.position, hint=CATALOG_HINT)
    return SqlType(found.family)


def function_name(cursor: Cursor) -> FunctionName:
    """Read name [(types)] of a function that is to be there; names and OUT arguments say
    nothing.
    """
    position = cursor.position
    name = cursor.relation_name()
    if not cursor.at_operator("("):
        return FunctionName(name, None, position)
    parameters = parameter_list(cursor, defaults=False)
    return FunctionName(name, tuple(one.type for one in parameters if one.mode in INPUTS), position)


@begins("alter function")
def alter_function(cursor: Cursor) -> AlterFunction | ChangeFunctionOwner:
    """Read ALTER FUNCTION name RENAME TO | SET SCHEMA | OWNER TO | attributes."""
    cursor.expect("alter", "function")
    function = function_name(cursor)
    if cursor.accept("owner", "to"):
        role = role_spec(cursor)
        return ChangeFunctionOwner(cursor.statement_text, function, role)
    if cursor.accept("rename"):
        cursor.expect("to")
        new_name = cursor.name()
        return AlterFunction(cursor.statement_text, function, "rename", new_name)
    if cursor.accept("set", "schema"):
        new_name = cursor.name()
        return AlterFunction(cursor.statement_text, function, "set schema", new_name)
    if cursor.at("depends", "no"):
        raise not_supported("ALTER FUNCTION ... DEPENDS ON EXTENSION", cursor.position)
    options = Options(cursor)
    options.read(altering=True)
    if not options.attributes:
        cursor.fail()
    cursor.accept("restrict")
    return AlterFunction(cursor.statement_text, function, "attributes", attributes=options.attributes)


@begins("drop function")
def drop_function(cursor: Cursor) -> DropFunction:
    """Read DROP FUNCTION [IF EXISTS] functions [CASCADE | RESTRICT]."""
    cursor.expect("drop", "function")
    if_exists = cursor.accept("if", "exists")
    functions = cursor.several(function_name)
    cascade = cursor.cascade()
    return DropFunction(cursor.statement_text, functions, if_exists, cascade)


def comment_on_function(cursor: Cursor) -> CommentOnFunction:
    """Read the rest of COMMENT ON before FUNCTION."""
    cursor.one_of("function", "routine")
    function = function_name(cursor)
    text = comment_text(cursor)
    return CommentOnFunction(cursor.statement_text, function, text)
