"""The names in statements other than queries, found along the session's search_path before anything is done.

Enters: a parsed statement, the image that it sees. Leaves: the same statement with keys of relations (`sql.names.relation_keys`) in the
place of names. What is not there gets a key that nothing has, so that whoever does the statement says so in its own words. Raises 3F000 for
schemas that are not there. Queries, INSERT, UPDATE and DELETE are left to bind.
"""

from __future__ import annotations

from dataclasses import replace

from engine.catalog.image import CatalogImage
from engine.ddl.table_names import index_names
from sql import interrupts
from sql.bind.open_types import with_types
from sql.catalog.catalog import SessionSettings
from sql.catalog.schemas import SYSTEM, find_type, found_key, meant_schema
from sql.errors import SqlError
from sql.names.relation_keys import TEMPORARY, dotted, in_schema_of, name_of, relation_key, unknown, written_schema
from sql.parse.statements.access import ChangeOwner, CommentOn, GrantPrivileges
from sql.parse.statements.objects import (
    AlterType,
    AlterView,
    Comment,
    CreateIndex,
    CreateType,
    DropIndex,
    DropType,
    RenameIndex,
)
from sql.parse.statements.session_statement import LockTable
from sql.parse.statements.statement import (
    AlterSequence,
    AlterTable,
    CopyFrom,
    CopyTo,
    CreateSequence,
    CreateStream,
    CreateTable,
    CreateView,
    DropRelation,
    Explain,
    Maintenance,
    SequenceOptions,
    Statement,
    TableChange,
    Truncate,
)
from sql.types.enums import EnumType

# Names that are looked for at once, which takes some microseconds each.
NAMES_AT_ONCE_MAX = 256


def resolved(statement: Statement, image: CatalogImage, settings: SessionSettings) -> Statement:
    """Return the statement with keys."""
    names = Names(image, settings)
    match statement:
        case CreateTable() | CreateStream():
            name = names.new(statement.name, statement.name_position)
            if isinstance(statement, CreateTable) and statement.likes:
                likes = tuple(replace(one, name=names.known(one.name)) for one in statement.likes)
                statement = replace(statement, likes=likes)
            return replace(with_types(statement, names.own_type), name=name)
        case CreateView():
            return replace(statement, name=names.new(statement.name))
        case CreateSequence():
            return replace(statement, name=names.new(statement.name), options=names.options(statement.options))
        case AlterSequence():
            known = names.known(statement.name, statement.if_exists)
            return replace(statement, name=known, options=names.options(statement.options))
        case AlterTable():
            known = names.known(statement.name, statement.if_exists)
            changes = tuple(names.change(one, known) for one in statement.changes)
            return with_types(replace(statement, name=known, changes=changes), names.own_type)
        case AlterView():
            known = names.known(statement.name, statement.if_exists)
            return replace(statement, name=known, change=names.change(statement.change, known))
        case RenameIndex():
            known = names.known(statement.name, statement.if_exists)
            return replace(statement, name=known, new_name=in_schema_of(known, statement.new_name))
        case CreateType():
            return replace(statement, name=names.new(statement.name, statement.name_position))
        case AlterType():
            return replace(statement, name=names.known_type(statement.name))
        case DropType():
            return replace(
                statement, names=tuple(names.dropped_type(name, statement.if_exists) for name in statement.names)
            )
        case ChangeOwner() | CommentOn() if statement.kind == "type":
            return replace(statement, name=names.known_type(statement.name))
        case ChangeOwner() if statement.kind != "schema":
            return replace(statement, name=names.known(statement.name, statement.if_exists))
        case Comment() | CopyFrom():
            return replace(statement, name=names.known(statement.name))
        case CopyTo() if statement.query is None:
            return replace(statement, name=names.known(statement.name))
        case CreateIndex():
            return replace(statement, table=names.known(statement.table))
        case Truncate():
            return replace(statement, names=names.all_known(statement.names))
        case Maintenance() | LockTable():
            return replace(statement, tables=names.all_known(statement.tables))
        case GrantPrivileges() if statement.kind in ("table", "sequence"):
            return replace(statement, names=names.all_known(statement.names))
        case DropRelation() | DropIndex():
            return replace(statement, names=tuple(names.dropped(statement.names, statement.if_exists)))
        case Explain() if isinstance(statement.statement, CreateView):
            view = statement.statement
            return replace(statement, statement=replace(view, name=names.new(view.name)))
        case _:
            return statement


def names_many(statement: Statement) -> bool:
    """Tell whether looking for the names of a statement takes so long that other clients would notice."""
    match statement:
        case Truncate() | GrantPrivileges() | DropRelation() | DropIndex() | DropType():
            return len(statement.names) > NAMES_AT_ONCE_MAX
        case Maintenance() | LockTable():
            return len(statement.tables) > NAMES_AT_ONCE_MAX
    return False


class Names:
    """The names of one statement."""

    def __init__(self, image: CatalogImage, settings: SessionSettings) -> None:
        self._image = image
        self._settings = settings
        self._indexes: set[str] | None = None

    def known(self, written: str, if_exists: bool = False) -> str:
        """Return the key of a relation or index that is to be there. Raises 3F000."""
        if not if_exists:
            self._require_schema(written)
        return self._found(written, unknown(name_of(written) if if_exists else dotted(written)))

    def all_known(self, names: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
        """Return `known` of several names with their positions."""
        return tuple((self.known(name), position) for name, position in names)

    def dropped(self, names: tuple[tuple[str, int], ...], if_exists: bool) -> list[tuple[str, int]]:
        """Return the keys of what is to be dropped; a schema that need not be there stays in the name. Raises 3F000."""
        found = []
        for written, position in names:
            schema = written_schema(written)
            is_there = schema is None or meant_schema(schema, self._settings) in self._image.schemas
            if if_exists and not is_there:
                found.append((written, position))
                continue
            self._require_schema(written)
            found.append((self._found(written, unknown(name_of(written))), position))
        return found

    def new(self, written: str, position: int | None = None) -> str:
        """Return the key of a relation that is made; the schema of temporary ones is made with the first. Raises 3F000."""
        schema = written_schema(written)
        if schema is None:
            return relation_key(creation_schema(self._image, self._settings, position), written)
        if schema != TEMPORARY:
            self._require_schema(written, position)
        return relation_key(meant_schema(schema, self._settings), name_of(written))

    def known_type(self, written: str) -> str:
        """Return the key of a type that is to be there. Raises 3F000."""
        self._require_schema(written)
        return found_key(written, self._settings, self._image.types.get)

    def dropped_type(self, written: str, if_exists: bool) -> str:
        """Return the key of a type that is to be dropped; a schema that need not be there stays in the name. Raises 3F000."""
        schema = written_schema(written)
        if if_exists and schema is not None and schema not in self._image.schemas:
            return written
        return self.known_type(written)

    def options(self, options: SequenceOptions) -> SequenceOptions:
        """Return the options of a sequence with the key of the table that owns it."""
        if not options.owned_by:
            return options
        table, column = options.owned_by
        return replace(options, owned_by=(self.known(table), column))

    def own_type(self, written: str) -> EnumType | None:
        """Return the type of the database that a name means, or None. Raises 3F000."""
        return find_type(written, self._image, self._settings)

    def change(self, change: TableChange, relation: str) -> TableChange:
        """Return a renaming with the new key. Raises 3F000."""
        if change.action == "rename":
            return replace(change, new_name=in_schema_of(relation, change.new_name))
        return change

    def _found(self, written: str, otherwise: str) -> str:
        interrupts.check()
        key = found_key(written, self._settings, self._is_there)
        return key if self._is_there(key) else otherwise

    def _is_there(self, key: str) -> bool:
        if key in self._image.entries:
            return True
        if self._indexes is None:
            # Once for all names.
            self._indexes = index_names(self._image)
        return key in self._indexes

    def _require_schema(self, written: str, position: int | None = None) -> None:
        schema = written_schema(written)
        if schema is not None and meant_schema(schema, self._settings) not in self._image.schemas:
            raise SqlError("3F000", f'schema "{schema}" does not exist', position)


def creation_schema(image: CatalogImage, settings: SessionSettings, position: int | None = None) -> str:
    """Return the schema in which a relation with a bare name is made. Raises 3F000 when the search_path has none."""
    for name in settings.named_path:
        if name == TEMPORARY or name in image.schemas:
            return meant_schema(name, settings)
        if name == SYSTEM:
            raise SqlError("42501", f"permission denied to create in schema {SYSTEM}", position)
    raise SqlError("3F000", "no schema has been selected to create in", position)
