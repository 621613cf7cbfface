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
    """

    NEW = auto()
    """A relation that is made."""
    NEW_AT_POSITION = auto()
    """A relation or type that is made, whose position is told when its schema is not there."""
    KNOWN = auto()
    """A relation or index that is to be there, unless the statement says IF EXISTS."""
    ALL_KNOWN = auto()
    """Several of these, with their positions."""
    DROPPED = auto()
    """Relations or indexes that are to be dropped, with their positions."""
    TYPE = auto()
    """A type of the database that is to be there."""
    DROPPED_TYPES = auto()
    """Types that are to be dropped."""
    FUNCTION = auto()
    """A user's function that is to be there."""
    FUNCTIONS = auto()
    """Several of these, unless the statement says IF EXISTS."""
    BESIDE = auto()
    """The new name of what `name` is, in the same schema."""
    LIKES = auto()
    """The relations that a new table is to be like."""
    OPTIONS = auto()
    """The options of a sequence, among them the table that owns it."""
    CHANGE = auto()
    """A change of the relation `name`, perhaps of its name."""
    CHANGES = auto()
    """Several of these."""
    TYPES = auto()
    """Columns or changes, whose types may be of the database."""
    STATEMENT = auto()
    """A statement within the statement."""


class Right(Enum):
    """The right that a role needs for the relation or object in a field.

    The rights that a query or a write needs are read off its bound tree instead.
    """

    CREATE = auto()
    """To make a relation or type in its schema."""
    CREATE_AT_POSITION = auto()
    """The same; the position of the name is told."""
    REPLACE = auto()
    """To own the relation, if the statement says OR REPLACE."""
    OWN = auto()
    """To own the relation."""
    OWN_PART = auto()
    """To own the relation, of which the statement means a part."""
    DROP = auto()
    """To own each relation or its schema."""
    OWN_INDEX = auto()
    """To own the table of an index."""
    OWN_INDEXES = auto()
    """The same of several."""
    OWN_TYPE = auto()
    """To own a type."""
    OWN_TYPES = auto()
    """To own several types."""
    OWN_FUNCTION = auto()
    """To own a function."""
    OWN_FUNCTIONS = auto()
    """To own several functions."""
    INSERT = auto()
    """To insert into the relation."""
    TRUNCATE = auto()
    """To empty each relation."""
    LOCK = auto()
    """To lock each relation in the statement's mode."""
    LIKE = auto()
    """To read the relations that a new table is to be like."""
    REFER = auto()
    """To refer to the tables of foreign keys."""
    LINK = auto()
    """To let a table own the sequence: both have one owner."""
    MOVE = auto()
    """To make something in the schema into which the relation or type is moved."""
    NAME_SCHEMAS = auto()
    """To use the schemas that a query's text names."""
    READ_FILE = auto()
    """To read a file of the server, if the statement names one."""
    WRITE_FILE = auto()
    """To write one."""
    CHECKPOINT = auto()
    """To ask for a checkpoint."""
    STATEMENT = auto()
    """What the statement within the statement needs."""


@dataclass(frozen=True)
class Statement:
    """One request of a client. The subclasses are frozen dataclasses.

    Attributes:
        text: the user's own text without the semicolon.
    """

    text: str
    writes: ClassVar[bool] = False
    """Whether a read-only transaction refuses it, by its tag."""
    defines: ClassVar[bool] = False
    """Whether it changes the catalog, so that its names are those of the newest one."""

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
