"""The names in statements other than queries, found along the session's search_path before anything
is done.

Enters: a parsed statement, the image that it sees. Leaves: the same statement with keys of
relations (`sql.names.relation_keys`) in the place of names. An unknown name gets a key that nothing
has, so that the function for the statement raises the error in its own words. Raises 3F000 for
unknown schemas. Queries, INSERT, UPDATE and DELETE are left to bind.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

from engine.catalog.image import CatalogImage
from engine.ddl.table_names import index_names
from sql import interrupts
from sql.bind.expressions.coerce import with_type
from sql.catalog.catalog import SessionSettings
from sql.catalog.functions import visible_functions
from sql.catalog.schemas import SYSTEM, find_type, found_key, meant_schema
from sql.errors import SqlError
from sql.names.relation_keys import TEMPORARY, dotted, in_schema_of, name_of, relation_key, unknown, written_schema
from sql.parse.statements.declaration import Naming, Statement
from sql.parse.statements.functions import FunctionName
from sql.parse.statements.parts import LikeRelation, SequenceOptions, TableChange
from sql.parse.type_names import found_type
from sql.types.enums import EnumType

# Names that are looked for at once, which takes some microseconds each.
NAMES_AT_ONCE_MAX = 256


def resolved(statement: Statement, image: CatalogImage, settings: SessionSettings) -> Statement:
    """Return the statement with keys."""
    names = Names(image, settings)
    for field, naming in statement.named:
        statement = replace(cast(Any, statement), **{field: FOUND[naming](names, getattr(statement, field), statement)})
    return statement


def names_many(statement: Statement) -> bool:
    """Tell whether the search for the names of a statement takes so long that other clients would
    notice.
    """
    return any(
        len(getattr(statement, field)) > NAMES_AT_ONCE_MAX for field, naming in statement.named if naming in MANY
    )


class Names:
    """The names of one statement."""

    def __init__(self, image: CatalogImage, settings: SessionSettings) -> None:
        self.image = image
        self.settings = settings
        self._indexes: set[str] | None = None

    def known(self, written: str, if_exists: bool = False, position: int | None = None) -> str:
        """Return the key of a relation or index that must exist. Raises 3F000."""
        if not if_exists:
            self._require_schema(written, position)
        return self._found(written, unknown(name_of(written) if if_exists else dotted(written)))

    def all_known(self, names: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
        """Return `known` of several names with their positions."""
        return tuple((self.known(name), position) for name, position in names)

    def dropped(self, names: tuple[tuple[str, int], ...], if_exists: bool) -> list[tuple[str, int]]:
        """Return the keys of relations that are to be dropped.

        An unknown schema stays in the name with IF EXISTS. Raises 3F000.
        """
        found = []
        for written, position in names:
            schema = written_schema(written)
            is_there = schema is None or meant_schema(schema, self.settings) in self.image.schemas
            if if_exists and not is_there:
                found.append((written, position))
                continue
            self._require_schema(written)
            found.append((self._found(written, unknown(name_of(written))), position))
        return found

    def new(self, written: str, position: int | None = None) -> str:
        """Return the key of a new relation; the schema of temporary ones is made with the first.

        Raises 3F000.
        """
        schema = written_schema(written)
        if schema is None:
            return relation_key(creation_schema(self.image, self.settings, position), written)
        if schema != TEMPORARY:
            self._require_schema(written, position)
        return relation_key(meant_schema(schema, self.settings), name_of(written))

    def known_type(self, written: str) -> str:
        """Return the key of a type that must exist. Raises 3F000."""
        self._require_schema(written)
        return found_key(written, self.settings, self.image.types.get)

    def dropped_type(self, written: str, if_exists: bool) -> str:
        """Return the key of a type that is to be dropped.

        An unknown schema stays in the name with IF EXISTS. Raises 3F000.
        """
        schema = written_schema(written)
        if if_exists and schema is not None and schema not in self.image.schemas:
            return written
        return self.known_type(written)

    def function(self, named: FunctionName, if_exists: bool = False) -> FunctionName:
        """Return a function that must be there with its oid. Raises 42883, 42725, 3F000."""
        schema = written_schema(named.name)
        if schema is not None and meant_schema(schema, self.settings) not in self.image.schemas:
            if if_exists:
                return named
            raise SqlError("3F000", f'schema "{schema}" does not exist')
        wanted = None
        if named.arguments is not None:
            wanted = tuple(found_type(kind, self.own_type).family for kind in named.arguments)
        found = list(visible_functions(named.name, self.image, self.settings))
        fitting = [one for one in found if wanted is None or one.families == wanted]
        if len(fitting) > 1:
            hint = "Specify the argument list to select the function unambiguously."
            raise SqlError("42725", f'function name "{dotted(named.name)}" is not unique', hint=hint)
        if fitting:
            return replace(named, oid=fitting[0].oid)
        if if_exists:
            return named
        if named.arguments is None:
            raise SqlError("42883", f'could not find a function named "{dotted(named.name)}"')
        types = ", ".join(found_type(kind, self.own_type).row.sql_name for kind in named.arguments)
        raise SqlError("42883", f"function {dotted(named.name)}({types}) does not exist")

    def options(self, options: SequenceOptions) -> SequenceOptions:
        """Return the options of a sequence with the key of the table that owns it."""
        if not options.owned_by:
            return options
        table, column = options.owned_by
        return replace(options, owned_by=(self.known(table), column))

    def own_type(self, written: str) -> EnumType | None:
        """Return the type of the database that a name means, or None. Raises 3F000."""
        return find_type(written, self.image, self.settings)

    def likes(self, likes: tuple[LikeRelation, ...]) -> tuple[LikeRelation, ...]:
        """Return the relations after LIKE of a new table with their keys. Raises 3F000."""
        return tuple(replace(one, name=self.known(one.name, position=one.position)) for one in likes)

    def _found(self, written: str, otherwise: str) -> str:
        interrupts.check()
        key = found_key(written, self.settings, self._is_there)
        return key if self._is_there(key) else otherwise

    def _is_there(self, key: str) -> bool:
        if key in self.image.entries:
            return True
        if self._indexes is None:
            # Once for all names.
            self._indexes = index_names(self.image)
        return key in self._indexes

    def _require_schema(self, written: str, position: int | None = None) -> None:
        schema = written_schema(written)
        if schema is not None and meant_schema(schema, self.settings) not in self.image.schemas:
            raise SqlError("3F000", f'schema "{schema}" does not exist', position)


def changed(change: TableChange, relation: str) -> TableChange:
    """Return a change of a relation, with the new key if it is a renaming."""
    if change.action == "rename":
        return replace(change, new_name=in_schema_of(relation, change.new_name))
    return change


def may_be_missing(statement: Any) -> bool:
    """Tell whether a statement says IF EXISTS."""
    return getattr(statement, "if_exists", False)


# The way to find the names in a field, from the session's names, the field's value, and the
# statement with the keys found so far.
FOUND: dict[Naming, Callable[[Names, Any, Any], Any]] = {
    Naming.NEW: lambda names, name, _: names.new(name),
    Naming.NEW_AT_POSITION: lambda names, name, statement: names.new(name, statement.name_position),
    Naming.KNOWN: lambda names, name, statement: names.known(name, may_be_missing(statement)),
    Naming.ALL_KNOWN: lambda names, found, _: names.all_known(found),
    Naming.DROPPED: lambda names, found, statement: tuple(names.dropped(found, statement.if_exists)),
    Naming.TYPE: lambda names, name, _: names.known_type(name),
    Naming.DROPPED_TYPES: lambda names, found, statement: tuple(
        names.dropped_type(name, statement.if_exists) for name in found
    ),
    Naming.FUNCTION: lambda names, function, statement: names.function(function, may_be_missing(statement)),
    Naming.FUNCTIONS: lambda names, found, statement: tuple(
        names.function(one, may_be_missing(statement)) for one in found
    ),
    Naming.BESIDE: lambda _, name, statement: in_schema_of(statement.name, name),
    Naming.LIKES: lambda names, likes, _: names.likes(likes),
    Naming.OPTIONS: lambda names, options, _: names.options(options),
    Naming.CHANGE: lambda _, change, statement: changed(change, statement.name),
    Naming.CHANGES: lambda _, changes, statement: tuple(changed(change, statement.name) for change in changes),
    Naming.TYPES: lambda names, parts, _: tuple(with_type(part, names.own_type) for part in parts),
    Naming.STATEMENT: lambda names, statement, _: resolved(statement, names.image, names.settings),
}
# Fields with names that may be thousands.
MANY = frozenset({Naming.ALL_KNOWN, Naming.DROPPED, Naming.DROPPED_TYPES})


def creation_schema(image: CatalogImage, settings: SessionSettings, position: int | None = None) -> str:
    """Return the schema in which a relation with a bare name is made.

    Raises 3F000 when the search_path has none.
    """
    for name in settings.named_path:
        if name == TEMPORARY or name in image.schemas:
            return meant_schema(name, settings)
        if name == SYSTEM:
            raise SqlError("42501", f"permission denied to create in schema {SYSTEM}", position)
    raise SqlError("3F000", "no schema has been selected to create in", position)
