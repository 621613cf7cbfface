"""nextval, currval, lastval and setval, and which calls of a relation the session answers.

Enters: calls for a whole column of rows at once, with the number of the session that runs the
statement. Leaves: values in the order of the rows. A value that a session has taken stays taken,
whatever its transaction does. Must not store anything: counters do.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from engine.catalog.image import CatalogImage, SequenceEntry
from engine.embedded.arrow_numerics import one_array
from engine.tables.session_functions import SESSIONS, Backend, answers, answers_rows
from sql.catalog.catalog import SessionSettings
from sql.catalog.schemas import found_key, meant_schema
from sql.errors import SqlError, not_supported
from sql.functions.catalog import OF_CATALOG
from sql.functions.table import OF_SESSION
from sql.names.relation_keys import MARK, PUBLIC, in_temporary_schema, schema_of, written_schema
from sql.parse.grammar.cursor import read_name
from sql.tree.expressions import Call, Expression, Literal
from sql.tree.relations import Relation, TableFunction
from sql.tree.walks import calls, map_expression, map_relation, rewrite_everywhere
from sql.types.datatypes import INT8

# Before the name of a sequence that an identity column takes its value of; nothing that a client
# writes has it.
IMPLICIT = MARK
# Calls whose first argument is the name of a sequence.
NAMED = frozenset({"nextval", "currval", "setval"})

NUMBERS = itertools.count(1)
# Trees with the session's number.
NUMBERED_MAX = 16
# Between transactions.
NO_CATALOG = CatalogImage()
# All calls that the session answers.
ANSWERED = OF_SESSION | OF_CATALOG


def no_context() -> None:
    """Refuse functions of the system catalog outside of a statement."""
    raise not_supported("a function of the system catalog here")


@dataclass(eq=False)
class SequenceSession:
    """The sequences as one session knows them.

    Attributes:
        number: by which DuckDB's functions find the session.
        image: the catalog of the running statement.
        backend: the session's effects on sessions.
        current: oid of a sequence -> the value that this session took last.
        latest: (name, oid) of the sequence used last.
        read_only: true if the running transaction is.
        may: tells whether the session has one of some privileges on an object with an oid.
        settings: the present ones, with the search_path.
        context: returns what the running statement sees of the system catalog.
    """

    image: CatalogImage = NO_CATALOG
    backend: Backend | None = None
    current: dict[int, int] = field(default_factory=dict)
    latest: tuple[str, int] | None = None
    read_only: bool = False
    may: Callable[[int, str], bool] = lambda *_: True
    settings: Callable[[], SessionSettings] = SessionSettings
    context: Callable[[], Any] = no_context
    number: int = field(default_factory=lambda: next(NUMBERS))
    _numbered: dict[int, tuple[Relation, Relation]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        SESSIONS[self.number] = self

    def numbered(self, root: Relation) -> Relation:
        """Return what `in_session` does of a tree that comes again, and names no sequence."""
        known = self._numbered.get(id(root))
        if known is None:
            if len(self._numbered) >= NUMBERED_MAX:
                self._numbered.clear()
            # The tree is kept, so that no other one has its identity.
            known = self._numbered[id(root)] = root, in_session(root, self)
        return known[1]

    def next_values(self, name: str, count: int) -> pa.Array:
        """Return the next `count` values of a sequence, in order.

        Raises 42P01, 42809, 2200H, 25006.
        """
        if self.read_only:
            raise SqlError("25006", "cannot execute nextval() in a read-only transaction")
        implicit = name.startswith(IMPLICIT)
        entry = self._allowed(name.removeprefix(IMPLICIT), "Uw", implicit)
        values = entry.counter.take(entry.description.name, entry.definition, count)
        if count:
            self._took(entry, int(values[-1]))
        return pa.array(values, pa.int64())

    def current_value(self, name: str) -> int:
        """Return the value that the session took last of a sequence.

        Raises 55000 before the first one.
        """
        entry = self._allowed(name, "Ur")
        value = self.current.get(entry.description.oid)
        if value is None:
            raise SqlError(
                "55000", f'currval of sequence "{entry.description.name}" is not yet defined in this session'
            )
        return value

    def last_value(self) -> int:
        """Return the value that the session took last of any sequence.

        Raises 55000 before the first one.
        """
        entry = None if self.latest is None else self.image.by_oid(self.latest[1])
        if entry is None:
            raise SqlError("55000", "lastval is not yet defined in this session")
        if not self.may(entry.description.oid, "Ur"):
            raise SqlError("42501", f"permission denied for sequence {entry.description.name}")
        return self.current[entry.description.oid]

    def set_value(self, name: str, value: int, called: bool) -> int:
        """Set a sequence. Raises 22003 for a value out of its range."""
        if self.read_only:
            raise SqlError("25006", "cannot execute setval() in a read-only transaction")
        entry = self._allowed(name, "w")
        definition = entry.definition
        if not definition.minimum <= value <= definition.maximum:
            raise SqlError(
                "22003",
                f'setval: value {value} is out of bounds for sequence "{entry.description.name}" '
                f"({definition.minimum}..{definition.maximum})",
            )
        entry.counter.set(value, called)
        if called:
            self.current[entry.description.oid] = value
        return value

    def forget(self) -> None:
        """Forget the values that were taken (DISCARD SEQUENCES)."""
        self.current.clear()
        self.latest = None

    def end_transaction(self) -> None:
        """Let go of the catalog that the statements saw, with the relations that are dropped
        later.
        """
        self.image, self.context = NO_CATALOG, no_context

    def _took(self, entry: SequenceEntry, value: int) -> None:
        self.current[entry.description.oid] = value
        self.latest = (entry.description.name, entry.description.oid)

    def _allowed(self, name: str, letters: str, implicit: bool = False) -> SequenceEntry:
        """Return a sequence that the session may use. Raises 42501.

        implicit: for an identity column, whose sequence needs no privilege.
        """
        entry = self.find(name)
        key = entry.description.name
        if implicit and entry.identity:
            return entry
        is_open = schema_of(key) == PUBLIC or in_temporary_schema(key)
        if not is_open and not self.may(self.image.schema_oid(key), "U"):
            raise SqlError("42501", f"permission denied for schema {schema_of(key)}")
        if not self.may(entry.description.oid, letters):
            raise SqlError("42501", f"permission denied for sequence {entry.description.name}")
        return entry

    def find(self, written: str, position: int | None = None) -> SequenceEntry:
        """Return a sequence. Raises 42P01 and 42809."""
        schema = written_schema(read_name(written))
        if schema is not None and meant_schema(schema, self.settings()) not in self.image.schemas:
            raise SqlError("3F000", f'schema "{schema}" does not exist', position)
        name = found_key(read_name(written), self.settings(), self.image.entries.get)
        entry = self.image.entries.get(name)
        if entry is None:
            raise SqlError("42P01", f'relation "{name}" does not exist', position)
        if not isinstance(entry, SequenceEntry):
            raise SqlError("42809", f'"{name}" is not a sequence')
        return entry


def uses_sequences(root: Relation, functions: frozenset[str] = OF_SESSION) -> bool:
    """Tell whether a relation calls one of the functions."""
    return not functions.isdisjoint(calls(root))


def in_session(root: Relation, session: SequenceSession) -> Relation:
    """Return the relation with the session's number in each call.

    A call without a position is the default of an identity column
    (`engine.tables.table_expressions.bound_default`). Raises 42P01 with the position of an unknown
    name.
    """
    number = Literal(session.number, INT8)

    def numbered(node: Expression) -> Expression | None:
        if isinstance(node, Call) and node.function in ANSWERED:
            arguments = tuple(map_expression(one, numbered) for one in node.arguments)
            name = arguments[0] if arguments and node.function in NAMED else None
            if isinstance(name, Literal) and isinstance(name.value, str):
                session.find(name.value, name.position)
                if node.function == "nextval" and node.position is None:
                    name = replace(name, value=IMPLICIT + name.value)
                    return Call(node.function, (number, name), node.type, node.position, node.text)
            return Call(node.function, (number, *arguments), node.type, node.position, node.text)
        return None

    def with_sets(relation: Relation) -> Relation:
        if not isinstance(relation, TableFunction):
            return relation
        calls = ((name, (number, *values) if name in OF_CATALOG else values) for name, values in relation.calls)
        return replace(relation, calls=tuple(calls))

    return rewrite_everywhere(map_relation(root, numbered), with_sets)


@answers("nextval", "VARCHAR", "BIGINT")
def nextval(session: SequenceSession, names: pa.ChunkedArray) -> pa.Array:
    """Return a new value per row; rows of one sequence take their values at once."""
    known = one_array(names).dictionary_encode()
    indexes = known.indices.to_numpy(zero_copy_only=False)
    out = np.zeros(len(indexes), dtype=np.int64)
    missing = np.asarray(known.indices.is_null())
    for place, name in enumerate(known.dictionary.to_pylist()):
        rows = (indexes == place) & ~missing
        out[rows] = session.next_values(name, int(rows.sum())).to_numpy()
    return pa.array(out, mask=missing)


@answers_rows("currval", "VARCHAR", "BIGINT")
def currval(session: SequenceSession, name: str) -> int:
    """Return the session's last value."""
    return session.current_value(name)


@answers("lastval", "", "BIGINT")
def lastval(session: SequenceSession) -> pa.Array:
    """Return the last value of any sequence in the session."""
    return pa.array([session.last_value()], pa.int64())


@answers_rows("setval", "VARCHAR BIGINT BOOLEAN", "BIGINT")
def setval(session: SequenceSession, name: str, value: int, called: bool) -> int:
    """Set a sequence."""
    return session.set_value(name, value, called)
