"""The declarations of a statement: its tag, whether it writes or defines, its names, and the rights
that it needs.

A statement is a frozen dataclass below `Statement`. The runner of statements goes through these
declarations in loops and knows no statement by name. Must not know a catalog.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import ClassVar


class Naming(Enum):
    """The way in which the name in a field is found along the search_path, before the statement is
    done.

    Attributes:
        NEW: a relation that is made.
        NEW_AT_POSITION: a table that is made, whose position is told when its schema is
            not there.
        KNOWN: a relation or index that is to be there, unless the statement says IF EXISTS.
        ALL_KNOWN: several of these, with their positions.
        DROPPED: relations or indexes that are to be dropped, with their positions.
        TYPE: a type of the database that is to be there.
        DROPPED_TYPES: types that are to be dropped.
        FUNCTION: a user's function that is to be there.
        FUNCTIONS: several of these, unless the statement says IF EXISTS.
        BESIDE: the new name of what `name` is, in the same schema.
        LIKES: the relations that a new table is to be like.
        OPTIONS: the options of a sequence, among them the table that owns it.
        CHANGE: a change of the relation `name`, perhaps of its name.
        CHANGES: several of these.
        TYPES: columns or changes, whose types may be of the database.
        STATEMENT: a statement within the statement.
    """

    NEW = auto()
    NEW_AT_POSITION = auto()
    KNOWN = auto()
    ALL_KNOWN = auto()
    DROPPED = auto()
    TYPE = auto()
    DROPPED_TYPES = auto()
    FUNCTION = auto()
    FUNCTIONS = auto()
    BESIDE = auto()
    LIKES = auto()
    OPTIONS = auto()
    CHANGE = auto()
    CHANGES = auto()
    TYPES = auto()
    STATEMENT = auto()


class Right(Enum):
    """The right that a role needs for the relation or object in a field.

    The rights that a query or a write needs are read off its bound tree instead.

    Attributes:
        CREATE: to make a relation or type in its schema.
        CREATE_AT_POSITION: the same; the position of the name is told.
        REPLACE: to own the relation, if the statement says OR REPLACE.
        OWN: to own the relation.
        OWN_PART: to own the relation, of which the statement means a part.
        DROP: to own each relation or its schema.
        OWN_INDEX: to own the table of an index.
        OWN_INDEXES: the same of several.
        OWN_TYPE: to own a type.
        OWN_TYPES: to own several types.
        OWN_FUNCTION: to own a function.
        OWN_FUNCTIONS: to own several functions.
        INSERT: to insert into the relation.
        TRUNCATE: to empty each relation.
        LOCK: to lock each relation in the statement's mode.
        LIKE: to read the relations that a new table is to be like.
        REFER: to refer to the tables of foreign keys.
        LINK: to let a table own the sequence: both have one owner.
        MOVE: to make something in the schema into which the relation or type is moved.
        NAME_SCHEMAS: to use the schemas that a query's text names.
        READ_FILE: to read a file of the server, if the statement names one.
        WRITE_FILE: to write one.
        CHECKPOINT: to ask for a checkpoint.
        STATEMENT: what the statement within the statement needs.
    """

    CREATE = auto()
    CREATE_AT_POSITION = auto()
    REPLACE = auto()
    OWN = auto()
    OWN_PART = auto()
    DROP = auto()
    OWN_INDEX = auto()
    OWN_INDEXES = auto()
    OWN_TYPE = auto()
    OWN_TYPES = auto()
    OWN_FUNCTION = auto()
    OWN_FUNCTIONS = auto()
    INSERT = auto()
    TRUNCATE = auto()
    LOCK = auto()
    LIKE = auto()
    REFER = auto()
    LINK = auto()
    MOVE = auto()
    NAME_SCHEMAS = auto()
    READ_FILE = auto()
    WRITE_FILE = auto()
    CHECKPOINT = auto()
    STATEMENT = auto()


@dataclass(frozen=True)
class Statement:
    """One request of a client. The subclasses are frozen dataclasses.

    Attributes:
        text: the user's own text without the semicolon.
        writes: a read-only transaction refuses it, by its tag.
        defines: it changes the catalog, so that its names are those of the newest one.
    """

    text: str
    writes: ClassVar[bool] = False
    defines: ClassVar[bool] = False

    def __init_subclass__(
        cls,
        *,
        tag: str | None = None,
        defines: bool | None = None,
        writes: bool | None = None,
        named: tuple[tuple[str, Naming], ...] | None = None,
        rights: tuple[tuple[str, Right], ...] | None = None,
    ) -> None:
        """Take the declarations in the head of a class.

        A statement that defines also writes, unless the head says otherwise.
        """
        writes = defines if writes is None else writes
        declared = {"tag": tag, "defines": defines, "writes": writes, "named": named, "rights": rights}
        for name, value in declared.items():
            if value is not None:
                setattr(cls, name, value)

    @property
    def tag(self) -> str:
        """The name of the statement in CommandComplete and in errors.

        A count of rows may follow it.
        """
        return ""

    @property
    def named(self) -> tuple[tuple[str, Naming], ...]:
        """The fields that have names of relations or types, in the order in which the names are
        looked up.
        """
        return ()

    @property
    def rights(self) -> tuple[tuple[str, Right], ...]:
        """The rights that the role needs, each with the field that has the object, in the order of
        the checks.
        """
        return ()


@dataclass(frozen=True)
class Empty(Statement):
    """An empty statement: between two semicolons, or in an empty message."""

    text: str = ""
