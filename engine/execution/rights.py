"""The rights that a statement needs, and the error when one is missing: 42501 in PostgreSQL's
words.

Enters: bound trees as they are about to run, statements that have none, the image that they see,
the role that says them. The relations that a query reads are only ever told from the tree that
runs, never from names. Must not run anything. Superusers never come here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from engine.catalog.image import WORDS, CatalogImage, Entry, TableEntry, ViewEntry
from engine.catalog.privileges import Privileges, may_execute
from engine.catalog.roles import CHECKPOINTER, PREDEFINED, READ_FILES, WRITE_FILES, Roles
from engine.system_catalog.catalog_access import require_readable
from engine.system_catalog.syntax_nodes import nodes
from sql.bind.writes.delete import BoundDelete
from sql.bind.writes.insert import BoundInsert
from sql.bind.writes.update import BoundUpdate
from sql.catalog.catalog import SessionSettings
from sql.catalog.schemas import found_key
from sql.errors import SqlError
from sql.names.relation_keys import described, is_output, is_temporary, name_of, relation_key, schema_of
from sql.parse.statements.declaration import Right, Statement
from sql.parse.statements.functions import FunctionName
from sql.parse.statements.parts import Constraint, LikeRelation, TableChange, TableColumn
from sql.parse.statements.sequences import AlterSequence, CreateSequence
from sql.parse.syntax import Query, Table
from sql.tree.relations import BoundQuery

NOTHING = 0
ANYONE_MAY = "Anyone can COPY to stdout or from stdin. psql's \\copy command also works for anyone."

Bound = BoundQuery | BoundInsert | BoundUpdate | BoundDelete
Check = Callable[["Checks", Any, Any], object]


@dataclass(frozen=True)
class Checks:
    """The rights of one role on the objects of one image.

    Attributes:
        roles, privileges: those of this moment, whatever snapshot the statement sees.
        of_owner: for the relations that a view reads, which its owner has named already: no right
            on a schema is needed.
    """

    image: CatalogImage
    roles: Roles
    privileges: Privileges
    role: int
    settings: SessionSettings
    of_owner: bool = False

    def check(self, statement: Statement) -> None:
        """Raise 42501 unless the role may do the statement.

        Its reads are checked with its bound tree, see `bound`.
        """
        for field, right in statement.rights:
            CHECKS[right](self, getattr(statement, field), statement)

    def _linked(self, statement: CreateSequence | AlterSequence) -> None:
        """Raise 55000 for a sequence of one owner that a table of another one shall own."""
        options = statement.options
        known = self.image.entries.get(statement.name) if isinstance(statement, AlterSequence) else None
        owner = self.role if known is None else self.privileges.owner(known.description.oid)
        table = self.image.entries.get(options.owned_by[0]) if options.owned_by else None
        if table is not None and self.privileges.owner(table.description.oid) != owner:
            raise SqlError("55000", "sequence must have same owner as table it is linked to")

    def _owner_of_type(self, name: str) -> None:
        enum = self.image.types.get(name)
        if enum is not None and not self._owns(enum.oid):
            raise denied(f"must be owner of type {described(enum.name)}")

    def function_owner(self, oid: int) -> None:
        """Raise 42501 unless the role owns a function."""
        function = self.image.functions.get(oid)
        if function is not None and not self._owns(oid):
            raise denied(f"must be owner of function {name_of(function.name)}")

    def _owner_of_functions(self, found: Iterable[FunctionName]) -> None:
        for one in found:
            self.function_owner(one.oid)

    def execute(self, called: Iterable[tuple[str, int]]) -> None:
        """Raise 42501 unless the role may call functions, each by its key and oid."""
        for name, oid in sorted(called):
            if not may_execute(self.roles, self.privileges, self.role, oid):
                raise denied(f"permission denied for function {name_of(name)}")

    def _moved_into(self, schema: str | None) -> None:
        if schema is not None and schema in self.image.schemas:
            self._schema(relation_key(schema, ""))

    def _dropped(self, name: str) -> None:
        if not self._owns(self.image.schemas.get(schema_of(name), NOTHING)):
            self.owner(name)

    def bound(self, bound: Bound) -> None:
        """Raise 42501 unless the role may run a bound tree: read the relations in its text, lock
        them, and write its target.
        """
        if not isinstance(bound, BoundQuery):
            for letter in bound.needed:
                self.require(bound.relation.name, letter)
        below = bound.functions_below if isinstance(bound, BoundQuery) else frozenset()
        self.execute(bound.functions | below)
        for name in sorted(bound.named):
            self.read(name)
        for name in sorted({lock.table for one in bound.locked for lock in one.locks}):
            self.require(name, "w")

    def _schemas(self, query: Query) -> None:
        """Raise 42501 for schemas that a definition names and the role may not use.

        The bound definition is for every role.
        """
        for node in nodes(query):
            if isinstance(node, Table) and len(node.name) > 1 and node.name[-2] in self.settings.unusable:
                raise SqlError("42501", f"permission denied for schema {node.name[-2]}", node.position)

    def read(self, name: str) -> None:
        """Raise 42501 unless the role may read a relation, and the owner of an ordinary view the
        relations below it.

        The output of a view is read by who may read the view, which the query names as well.
        """
        entry = self.image.entries.get(name)
        if entry is None or is_output(name):
            require_readable(name, self.roles, self.role)
            return
        self.require(name, "r")
        if isinstance(entry, ViewEntry) and not entry.is_state:
            owner = replace(self, role=self.privileges.owner(entry.description.oid), of_owner=True)
            for used in entry.used:
                below = self.image.by_oid(used.oid)
                if below is not None:
                    owner.read(below.description.name)

    def require(self, name: str, letter: str) -> None:
        """Raise 42501 unless the role has a privilege on a relation.

        The error of an unknown relation is raised elsewhere.
        """
        entry = self.image.entries.get(name)
        if entry is None:
            return
        self._reach(name)
        if not self._may(entry.description.oid, letter):
            raise denied(f"permission denied for {shown(entry)}")

    def owner(self, name: str, is_whole: bool = True) -> None:
        """Raise 42501 unless the role owns a relation.

        is_whole: the statement is about all of it, and not about a column or the like.
        """
        entry = self.image.entries.get(name)
        if entry is None:
            return
        self._reach(name)
        if not self._owns(entry.description.oid):
            raise denied(f"must be owner of {shown(entry) if is_whole else f'relation {entry.description.name}'}")

    def _lock(self, name: str, mode: str) -> None:
        """Raise 42501 unless the role may lock a table: with SELECT in the weakest mode alone, with
        INSERT in that of writers.
        """
        entry = self.image.entries.get(name)
        allowed = {"ACCESS SHARE": "r", "ROW EXCLUSIVE": "awdD"}.get(mode, "wdD")
        if entry is not None and not any(self._may(entry.description.oid, letter) for letter in allowed):
            self.require(name, allowed[0])

    def _reach(self, name: str) -> None:
        """Raise 42501 for a relation in a schema that the role may not use."""
        schema = schema_of(name)
        if not (is_temporary(schema) or self._may(self.image.schemas[schema], "U") or self.of_owner):
            raise denied(f"permission denied for schema {schema}")

    def _referenced(self, parts: Iterable[Constraint | TableColumn | TableChange]) -> None:
        """Raise 42501 for a foreign key to a table that the role may not refer to."""
        for one in constraints_of(parts):
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

    def _file(self, file: str | None, group: str, word: str) -> None:
        if file is not None and not self._has(group):
            message = f"must be superuser or have privileges of the {group} role to COPY {word} a file"
            raise SqlError("42501", message, hint=ANYONE_MAY)

    def _checkpoint(self) -> None:
        if not self._has(CHECKPOINTER):
            raise denied("must be superuser or have privileges of pg_checkpoint to do CHECKPOINT")

    def _may(self, oid: int, letters: str) -> bool:
        return self.privileges.may(self.roles, self.role, oid, letters)

    def _owns(self, oid: int) -> bool:
        return self.roles.has_privileges_of(self.role, self.privileges.owner(oid))

    def _has(self, group: str) -> bool:
        return self.roles.has_privileges_of(self.role, PREDEFINED[group])


def constraints_of(parts: Iterable[Constraint | TableColumn | TableChange | None]) -> Iterator[Constraint]:
    """Yield the constraints that a statement makes.

    parts: constraints, or columns and changes that may have some.
    """
    for part in parts:
        if isinstance(part, Constraint):
            yield part
        elif isinstance(part, TableColumn):
            yield from part.constraints
        elif part is not None:
            yield from constraints_of((part.constraint, part.column))


def shown(entry: Entry) -> str:
    """Return a relation as errors about rights call it."""
    return f"{WORDS[entry.description.kind]} {entry.description.name}"


def denied(message: str) -> SqlError:
    """Return 42501."""
    return SqlError("42501", message)


def name_in(one: str | tuple[str, int] | LikeRelation) -> str:
    """Return a name that may have its position with it."""
    if isinstance(one, LikeRelation):
        return one.name
    return one if isinstance(one, str) else one[0]


def for_each(check: Callable[[Checks, str, Any], None]) -> Check:
    """Return the check of several names by the check of one."""

    def check_all(checks: Checks, names: Iterable[Any], statement: Any) -> None:
        for one in names:
            check(checks, name_in(one), statement)

    return check_all


# The check of a right, from the value of the field that it is about and the statement.
CHECKS: dict[Right, Check] = {
    Right.CREATE: lambda checks, name, _: checks._schema(name),
    Right.CREATE_AT_POSITION: lambda checks, name, statement: checks._schema(name, statement.name_position),
    Right.REPLACE: lambda checks, name, statement: checks.owner(name) if statement.or_replace else None,
    Right.OWN: lambda checks, name, _: checks.owner(name),
    Right.OWN_PART: lambda checks, name, _: checks.owner(name, is_whole=False),
    Right.DROP: for_each(lambda checks, name, _: checks._dropped(name)),
    Right.OWN_INDEX: lambda checks, name, _: checks._index_owner(name),
    Right.OWN_INDEXES: for_each(lambda checks, name, _: checks._index_owner(name)),
    Right.OWN_TYPE: lambda checks, name, _: checks._owner_of_type(name),
    Right.OWN_TYPES: for_each(lambda checks, name, _: checks._owner_of_type(name)),
    Right.OWN_FUNCTION: lambda checks, function, _: checks.function_owner(function.oid),
    Right.OWN_FUNCTIONS: lambda checks, found, _: checks._owner_of_functions(found),
    Right.INSERT: lambda checks, name, _: checks.require(name, "a"),
    Right.TRUNCATE: for_each(lambda checks, name, _: checks.require(name, "D")),
    Right.LOCK: for_each(lambda checks, name, statement: checks._lock(name, statement.mode)),
    Right.LIKE: for_each(lambda checks, name, _: checks.require(name, "r")),
    Right.REFER: lambda checks, parts, _: checks._referenced(parts),
    Right.LINK: lambda checks, _, statement: checks._linked(statement),
    Right.MOVE: lambda checks, schema, _: checks._moved_into(schema),
    Right.NAME_SCHEMAS: lambda checks, query, _: checks._schemas(query),
    Right.READ_FILE: lambda checks, file, _: checks._file(file, READ_FILES, "from"),
    Right.WRITE_FILE: lambda checks, file, _: checks._file(file, WRITE_FILES, "to"),
    Right.CHECKPOINT: lambda checks, _, __: checks._checkpoint(),
    Right.STATEMENT: lambda checks, statement, _: checks.check(statement),
}
