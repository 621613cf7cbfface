"""What a statement needs to be allowed to do, and the error when it is not: 42501 in PostgreSQL's words.

Enters: bound trees as they are about to run, statements that have none, the image that they see, who says them. What a query reads is
only ever told from the tree that runs, never from names. Must not run anything. Superusers never come here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.catalog.image import CatalogImage, Entry, QueryViewEntry, TableEntry
from engine.catalog.privileges import Privileges
from engine.catalog.roles import CHECKPOINTER, PREDEFINED, READ_FILES, WRITE_FILES, Roles
from engine.system_catalog.syntax_nodes import nodes
from sql.bind.delete import BoundDelete
from sql.bind.insert import BoundInsert
from sql.bind.update import BoundUpdate
from sql.catalog.catalog import SessionSettings
from sql.catalog.schemas import found_key
from sql.errors import SqlError
from sql.names.relation_keys import is_temporary, name_of, relation_key, schema_of
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
    Checkpoint,
    Constraint,
    CopyFrom,
    CopyTo,
    CreateSequence,
    CreateStream,
    CreateTable,
    CreateView,
    DropRelation,
    Explain,
    SequenceOptions,
    Statement,
    TableColumn,
    Truncate,
)
from sql.parse.syntax import Query, Table
from sql.tree.relations import BoundQuery

NOTHING = 0
KINDS = {"stream": "foreign table", "table": "table", "sequence": "sequence", "view": "view", "query": "view"}
ANYONE_MAY = "Anyone can COPY to stdout or from stdin. psql's \\copy command also works for anyone."
FILES = {
    CopyFrom: (READ_FILES, "from"),
    CopyTo: (WRITE_FILES, "to"),
}


Bound = BoundQuery | BoundInsert | BoundUpdate | BoundDelete


@dataclass(frozen=True)
class Checks:
    """The rights of one role on what is in one image. roles, privileges: those of this moment, whatever snapshot the statement sees.

    of_owner: of what a view reads, which its owner has named already: no schema is in the way.
    """

    image: CatalogImage
    roles: Roles
    privileges: Privileges
    role: int
    settings: SessionSettings
    of_owner: bool = False

    def check(self, statement: Statement) -> None:
        """Raise 42501 unless the role may do the statement. What it reads is checked with its bound tree, see `bound`."""
        match statement:
            case CopyFrom():
                self._file(statement)
                self.require(statement.name, "a")
            case CopyTo():
                self._file(statement)
            case Explain():
                self.check(statement.statement)
            case Truncate():
                for name, _ in statement.names:
                    self.require(name, "D")
            case LockTable():
                for name, _ in statement.tables:
                    self._lock(name, statement.mode)
            case Checkpoint():
                if not self._has(CHECKPOINTER):
                    raise denied("must be superuser or have privileges of pg_checkpoint to do CHECKPOINT")
            case _:
                self._definition(statement)

    def _definition(self, statement: Statement) -> None:
        match statement:
            case CreateView():
                self._schema(statement.name)
                if statement.or_replace:
                    self.owner(statement.name)
                self._schemas(statement.query)
            case CreateTable() | CreateStream():
                self._schema(statement.name, statement.name_position)
                if isinstance(statement, CreateTable):
                    self._referenced(statement.constraints, statement.columns)
                    for like in statement.likes:
                        self.require(like.name, "r")
            case CreateSequence():
                self._schema(statement.name)
                self._linked(statement.options, self.role)
            case CreateType():
                self._schema(statement.name)
            case AlterType() | DropType():
                self._types(statement)
            case Comment() if statement.part is not None:
                self.owner(statement.name, is_whole=False)
            case AlterTable() | AlterSequence() | AlterView() | Comment():
                self.owner(statement.name)
                if isinstance(statement, AlterSequence) and statement.name in self.image.entries:
                    owner = self.privileges.owner(self.image.entries[statement.name].description.oid)
                    self._linked(statement.options, owner)
                schema = new_schema(statement)
                if schema in self.image.schemas:
                    self._schema(relation_key(schema, ""))
                for change in statement.changes if isinstance(statement, AlterTable) else ():
                    self._referenced(
                        () if change.constraint is None else (change.constraint,),
                        () if change.column is None else (change.column,),
                    )
            case CreateIndex():
                self.owner(statement.table)
            case DropIndex():
                for name, _ in statement.names:
                    self._index_owner(name)
            case RenameIndex():
                self._index_owner(statement.name)
            case DropRelation():
                for name, _ in statement.names:
                    if not self._owns(self.image.schemas.get(schema_of(name), NOTHING)):
                        self.owner(name)

    def _linked(self, options: SequenceOptions, owner: int) -> None:
        """Raise 55000 for a sequence of one owner that a table of another one shall own."""
        table = self.image.entries.get(options.owned_by[0]) if options.owned_by else None
        if table is not None and self.privileges.owner(table.description.oid) != owner:
            raise SqlError("55000", "sequence must have same owner as table it is linked to")

    def _types(self, statement: AlterType | DropType) -> None:
        """Raise 42501 unless the role owns the types, and may make one in the schema that one is moved to."""
        for name in statement.names if isinstance(statement, DropType) else (statement.name,):
            enum = self.image.types.get(name)
            if enum is not None and not self._owns(enum.oid):
                raise denied(f"must be owner of type {enum.shown}")
        if (
            isinstance(statement, AlterType)
            and statement.action == "set schema"
            and statement.new_name in self.image.schemas
        ):
            self._schema(relation_key(statement.new_name, ""))

    def bound(self, bound: Bound) -> None:
        """Raise 42501 unless the role may run a bound tree: read what its text named, lock it, and write what it is about."""
        if not isinstance(bound, BoundQuery):
            for letter in bound.needed:
                self.require(bound.relation.name, letter)
        for name in sorted(bound.named):
            self.read(name)
        for name in sorted({lock.table for one in bound.locked for lock in one.locks}):
            self.require(name, "w")

    def _schemas(self, query: Query) -> None:
        """Raise 42501 for the schemas that a definition names and the role may not use; bound, it is bound for everybody."""
        for node in nodes(query):
            if isinstance(node, Table) and len(node.name) > 1 and node.name[-2] in self.settings.unusable:
                raise SqlError("42501", f"permission denied for schema {node.name[-2]}", node.position)

    def read(self, name: str) -> None:
        """Raise 42501 unless the role may read a relation, and the owner of an ordinary view what is below it."""
        entry = self.image.entries.get(name)
        if entry is None:
            return
        self.require(name, "r")
        if isinstance(entry, QueryViewEntry):
            owner = replace(self, role=self.privileges.owner(entry.description.oid), of_owner=True)
            for used in entry.used:
                below = self.image.by_oid(used.oid)
                if below is not None and used.oid not in entry.parts:
                    owner.read(below.description.name)

    def require(self, name: str, letter: str) -> None:
        """Raise 42501 unless the role has a privilege on a relation. What is not there is refused by others."""
        entry = self.image.entries.get(name)
        if entry is None:
            return
        self._reach(name)
        if not self._may(entry.description.oid, letter):
            raise denied(f"permission denied for {shown(entry)}")

    def owner(self, name: str, is_whole: bool = True) -> None:
        """Raise 42501 unless the role owns a relation. is_whole: the statement is about all of it, and not about a column or the like."""
        entry = self.image.entries.get(name)
        if entry is None:
            return
        self._reach(name)
        if not self._owns(entry.description.oid):
            raise denied(f"must be owner of {shown(entry) if is_whole else f'relation {entry.description.name}'}")

    def _lock(self, name: str, mode: str) -> None:
        """Raise 42501 unless the role may lock a table: who reads it in the weakest mode alone, who inserts in that of writers."""
        entry = self.image.entries.get(name)
        allowed = {"ACCESS SHARE": "r", "ROW EXCLUSIVE": "awdD"}.get(mode, "wdD")
        if entry is not None and not any(self._may(entry.description.oid, letter) for letter in allowed):
            self.require(name, allowed[0])

    def _reach(self, name: str) -> None:
        """Raise 42501 for a relation in a schema that the role may not use."""
        schema = schema_of(name)
        if not (is_temporary(schema) or self._may(self.image.schemas[schema], "U") or self.of_owner):
            raise denied(f"permission denied for schema {schema}")

    def _referenced(self, constraints: Sequence[Constraint], columns: Sequence[TableColumn]) -> None:
        """Raise 42501 for a foreign key to a table that the role may not refer to."""
        for one in (*constraints, *(one for column in columns for one in column.constraints)):
            if one.reference is not None:
                self.require(found_key(one.reference.table, self.settings, self.image.entries.get), "x")

    def _index_owner(self, name: str) -> None:
        for entry in self.image.entries.values():
            known = entry.indexes if isinstance(entry, TableEntry) else ()
            of_schema = schema_of(name) == schema_of(entry.description.name)
            if of_schema and name_of(name) in known and not self._owns(entry.description.oid):
                raise denied(f"must be owner of index {name}")

    def _schema(self, name: str, position: int | None = None) -> None:
        """Raise 42501 unless the role may make a relation in the schema of a key."""
        schema = schema_of(name)
        if is_temporary(schema):
            if self.roles.by_oid(self.role) is None:
                raise SqlError("42704", "the role that it would belong to was dropped")
        elif not self._may(self.image.schemas[schema], "C"):
            raise SqlError("42501", f"permission denied for schema {schema}", position)

    def _file(self, statement: CopyFrom | CopyTo) -> None:
        if statement.file is None:
            return
        group, word = FILES[type(statement)]
        if not self._has(group):
            message = f"must be superuser or have privileges of the {group} role to COPY {word} a file"
            raise SqlError("42501", message, hint=ANYONE_MAY)

    def _may(self, oid: int, letters: str) -> bool:
        return self.privileges.may(self.roles, self.role, oid, letters)

    def _owns(self, oid: int) -> bool:
        return self.roles.has_privileges_of(self.role, self.privileges.owner(oid))

    def _has(self, group: str) -> bool:
        return self.roles.has_privileges_of(self.role, PREDEFINED[group])


def new_schema(statement: AlterTable | AlterSequence | AlterView | Comment) -> str:
    """Return the schema that the statement moves a relation into, if it does."""
    match statement:
        case AlterTable():
            return next((one.new_name for one in statement.changes if one.action == "set schema"), "")
        case AlterView() if statement.change.action == "set schema":
            return statement.change.new_name
        case AlterSequence():
            return statement.schema or ""
    return ""


def shown(entry: Entry) -> str:
    """Return a relation as errors about rights call it."""
    return f"{KINDS[entry.description.kind]} {entry.description.name}"


def denied(message: str) -> SqlError:
    """Return 42501."""
    return SqlError("42501", message)
