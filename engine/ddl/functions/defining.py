"""Users' functions: CREATE and ALTER FUNCTION on a catalog image.

Enters: statements whose functions are found, a `TableWork`. Leaves: the work's image. Raises
PostgreSQL's errors.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from engine.catalog.image import (
    CatalogImage,
)
from engine.ddl.functions.naming import with_body
from engine.ddl.functions.replacing import give_way, put
from engine.ddl.table_work import TableWork
from sql.bind.queries.function_bodies import check_default
from sql.catalog.catalog import SessionSettings
from sql.catalog.functions import INPUTS, OUTPUTS, FunctionArgument, FunctionDescription
from sql.catalog.schemas import find_type
from sql.errors import SqlError, not_supported
from sql.functions.polymorphic import ELEMENTS, require_input
from sql.names.relation_keys import name_of, relation_key, schema_of
from sql.parse.statements.functions import AlterFunction, CreateFunction
from sql.parse.type_names import found_type
from sql.types.datatypes import VOID, SqlType


def create_function(statement: CreateFunction, work: TableWork) -> None:
    """Do CREATE [OR REPLACE] FUNCTION. Raises 42723, 42P13, and what its body raises."""
    function = described_function(statement, work)
    known = next((one for one in work.image.functions_called(function.name) if one.families == function.families), None)
    if known is not None and not statement.or_replace:
        message = f'function "{name_of(function.name)}" already exists with same argument types'
        raise SqlError("42723", message)
    if known is not None:
        require_alike(known, function)
        function = replace(function, oid=known.oid)
    settings = work.settings
    objects: set[tuple[str, int]] = set()
    for written, argument in zip(statement.parameters, function.arguments, strict=True):
        if written.default is not None:
            objects |= check_default(written.default, argument, work.image, settings).objects
    function = replace(function, needs=tuple(sorted((oid, 0) for _, oid in objects)), objects=tuple(sorted(objects)))
    if dict(settings.variables).get("check_function_bodies", "on") == "on" or function.form != "string":
        function = checked(statement, function, work.image, settings)
    if known is None:
        work.take_oid()
        put(work, [*work.image.functions.values(), function])
    else:
        give_way(known, function, work)


def replaced_function(statement: CreateFunction, work: TableWork) -> FunctionDescription | None:
    """Return the function that CREATE OR REPLACE replaces, None where it makes a new one."""
    if not statement.or_replace or not work.image.functions_called(statement.name):
        return None
    families = described_function(statement, work).families
    return next((one for one in work.image.functions_called(statement.name) if one.families == families), None)


def described_function(statement: CreateFunction, work: TableWork) -> FunctionDescription:
    """Return the function that a statement defines. Raises 42P13 and 42704."""
    image, settings = work.image, work.settings

    def known(kind: SqlType, quotes: str = "") -> SqlType:
        try:
            return found_type(kind, lambda written: find_type(written, image, settings))
        except SqlError as error:
            if error.sqlstate != "42704" or error.position is None:
                raise
            raise SqlError("42704", error.message.replace('"', quotes), hint=error.hint) from None

    arguments = tuple(
        FunctionArgument(one.name, one.mode, known(one.type), one.default_text) for one in statement.parameters
    )
    check_arguments(arguments)
    outputs = [one for one in arguments if one.mode in OUTPUTS]
    result = None if statement.result is None else known(statement.result, quotes='"')
    if result is None and not outputs:
        if statement.has_record:
            raise not_supported("a function that returns a record of any columns")
        raise SqlError("42P13", "function result type must be specified")
    if not statement.has_table and len(outputs) == 1:
        if result is not None and result.family != outputs[0].type.family:
            message = f"function result type must be {outputs[0].type.row.sql_name} because of OUT parameters"
            raise SqlError("42P13", message)
        result = outputs[0].type
    elif result is not None and outputs:
        raise SqlError("42P13", "function result type must be record because of OUT parameters")
    elif statement.has_table and len(outputs) == 1:
        result = outputs[0].type
    kinds = [one.type.family for one in arguments if one.mode in INPUTS]
    for kind in (*([] if result is None else [result]), *(one.type for one in outputs)):
        require_input(kind.family, kinds)
    if result == VOID and statement.returns_set:
        raise not_supported("a function that returns SETOF void")
    values = _attributes(statement, statement.returns_set)
    rows = values.pop("rows", 1000.0 if statement.returns_set else 0.0)
    shared = settings.shared(is_temporary=True)
    return FunctionDescription(
        statement.name, image.next_oid, arguments, result, statement.returns_set, statement.form, statement.body,
        rows=rows, time_zone=settings.time_zone, search_path=shared.search_path, **values,
    )  # fmt: skip


def _attributes(statement: CreateFunction | AlterFunction, returns_set: bool) -> dict[str, Any]:
    values = {name: value for name, value in statement.attributes.items() if name != "security"}
    if "rows" in values and not returns_set:
        raise SqlError("22023", "ROWS is not applicable when function does not return a set")
    return values


def check_arguments(arguments: tuple[FunctionArgument, ...]) -> None:
    """Raise 42P13 for names that come twice, and for arguments without a default after one with."""
    for place, one in enumerate(arguments):
        if one.mode in INPUTS and any(before.mode == "v" for before in arguments[:place]):
            raise SqlError("42P13", "VARIADIC parameter must be the last input parameter")
        if one.type == VOID and one.mode in INPUTS:
            raise SqlError("42P13", "SQL functions cannot have arguments of type void")
        if one.mode == "v" and not one.type.is_array and one.type.family not in ELEMENTS:
            raise SqlError("42P13", "VARIADIC parameter must be an array")
    for modes in ("iv", "obt"):
        names: set[str] = set()
        for one in arguments:
            if one.name and (one.mode in modes or one.mode == "b"):
                if one.name in names:
                    raise SqlError("42P13", f'parameter name "{one.name}" used more than once')
                names.add(one.name)
    seen = False
    for one in arguments:
        if one.mode in INPUTS:
            if seen and not one.default:
                raise SqlError("42P13", "input parameters after one with a default value must also have defaults")
            seen = bool(one.default)


def checked(
    statement: CreateFunction, function: FunctionDescription, image: CatalogImage, settings: SessionSettings
) -> FunctionDescription:
    """Return the function with what its body names; the places of its errors are places in the
    statement.
    """
    try:
        return with_body(function, image, settings)
    except SqlError as error:
        position = None
        if error.position is not None and statement.body_start:
            offset = len("SELECT ") if function.form == "return" else 0
            position = max(statement.body_start + error.position - 1 - offset, statement.body_start)
        where = error.context or (None if position else f'SQL function "{name_of(function.name)}"')
        raise replace(error, position=position, context=where) from None


def require_alike(known: FunctionDescription, function: FunctionDescription) -> None:
    """Raise 42P13 for a replacement with another result, or other names of arguments."""
    hint = f"Use DROP FUNCTION {known.signature} first."
    if known.returns_set != function.returns_set or family(known.result) != family(function.result):
        detail = None
        raise SqlError("42P13", "cannot change return type of existing function", detail=detail, hint=hint)
    if [(one.name, one.type.family) for one in known.outputs] != [
        (one.name, one.type.family) for one in function.outputs
    ]:
        detail = "Row type defined by OUT parameters is different."
        raise SqlError("42P13", "cannot change return type of existing function", detail=detail, hint=hint)
    for before, after in zip(known.inputs, function.inputs, strict=True):
        if before.name and before.name != after.name:
            raise SqlError("42P13", f'cannot change name of input parameter "{before.name}"', hint=hint)
        if before.default and not after.default:
            raise SqlError("42P13", "cannot remove parameter defaults from existing function", hint=hint)


def family(kind: SqlType | None) -> str:
    """Return the family of a result, 'record' of several columns."""
    return "record" if kind is None else kind.family


def alter_function(statement: AlterFunction, work: TableWork) -> None:
    """Do ALTER FUNCTION. Raises 42723 and 3F000."""
    function = work.image.functions[statement.function.oid]
    match statement.action:
        case "rename":
            changed = replace(function, name=relation_key(schema_of(function.name), statement.new_name))
            require_free(changed, work.image)
        case "set schema":
            if statement.new_name not in work.image.schemas:
                raise SqlError("3F000", f'schema "{statement.new_name}" does not exist')
            changed = replace(function, name=relation_key(statement.new_name, name_of(function.name)))
            if changed.name != function.name:
                require_free(changed, work.image)
        case _:
            changed = replace(function, **_attributes(statement, function.returns_set))
    if changed.strict != function.strict:
        give_way(function, changed, work)
    else:
        put(work, [changed if one.oid == function.oid else one for one in work.image.functions.values()])


def require_free(function: FunctionDescription, image: CatalogImage) -> None:
    """Raise 42723 when a function of the name and arguments exists already."""
    if any(one.families == function.families for one in image.functions_called(function.name)):
        place = (
            f'function {function.signature.replace(",", ", ")} already exists in schema "{schema_of(function.name)}"'
        )
        raise SqlError("42723", place)
