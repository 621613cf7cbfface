"""The system catalog as images know it: who answers for the relations that every database has.

The room that has them is above this one, and tells by `provides_system`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from sql.catalog.catalog import ConstraintDescription, RelationDescription, SessionSettings
from sql.errors import not_supported
from sql.tree.relations import BoundQuery

if TYPE_CHECKING:
    from engine.catalog.image import CatalogImage, TableEntry
    from sql.types.datatypes import SqlType


class System(Protocol):
    """See `sql.catalog.catalog.KnowsSystem`."""

    def relation(self, schema: str, name: str) -> RelationDescription | None:
        """Return a relation of pg_catalog or information_schema."""

    def view(self, key: str, settings: SessionSettings) -> BoundQuery | None:
        """Return the query of a view of the catalog."""

    def oid(self, image: CatalogImage, kind: str, text: str, settings: SessionSettings, position: int | None) -> int:
        """Return the oid of a name."""

    def name(self, image: CatalogImage, kind: str, oid: int, settings: SessionSettings) -> str:
        """Return the name of an oid."""

    def operator_class(self, method: str, name: str, kind: SqlType) -> str:
        """Return the name of the operator class of an index over values of a type, '' for the
        default one. name: '' for the default one. Raises 42704 and 42804.
        """

    def named(self, image: CatalogImage, relation: str, name: str) -> int | None:
        """Return the oid of the object of a relation of pg_catalog that has a name."""

    def index_texts(self, image: CatalogImage, entry: TableEntry, index: ConstraintDescription) -> list[str]:
        """Return the expressions of an index as errors show them, then its WHERE."""


class NoSystem:
    """The answers where nobody has told: there are no relations of the catalog."""

    def relation(self, schema: str, name: str) -> None:
        """See System."""

    def view(self, key: str, settings: SessionSettings) -> None:
        """See System."""

    def oid(self, image: CatalogImage, kind: str, text: str, settings: SessionSettings, position: int | None) -> int:
        """See System."""
        raise not_supported(f"a value of type {kind} here", position)

    def name(self, image: CatalogImage, kind: str, oid: int, settings: SessionSettings) -> str:
        """See System."""
        raise not_supported(f"a value of type {kind} here")

    def operator_class(self, method: str, name: str, kind: SqlType) -> str:
        """See System."""
        return name

    def named(self, image: CatalogImage, relation: str, name: str) -> int | None:
        """See System."""

    def index_texts(self, image: CatalogImage, entry: TableEntry, index: ConstraintDescription) -> list[str]:
        """See System."""
        return [index.text for _ in index.expressions]


class OverImage:
    """The system catalog of a catalog that stands over an image."""

    image: CatalogImage

    def system_relation(self, schema: str, name: str) -> RelationDescription | None:
        """See `sql.catalog.catalog.KnowsSystem`."""
        return the_system().relation(schema, name)

    def system_view(self, key: str, settings: SessionSettings) -> BoundQuery | None:
        """See `sql.catalog.catalog.KnowsSystem`."""
        return the_system().view(key, settings)

    def object_oid(self, kind: str, text: str, settings: SessionSettings, position: int | None) -> int:
        """See `sql.catalog.catalog.KnowsSystem`."""
        return the_system().oid(self.image, kind, text, settings, position)

    def object_name(self, kind: str, oid: int, settings: SessionSettings) -> str:
        """See `sql.catalog.catalog.KnowsSystem`."""
        return the_system().name(self.image, kind, oid, settings)


# The one that answers.
_systems: list[System] = [NoSystem()]


def provides_system(system: System) -> None:
    """Let `system` answer for all images."""
    _systems[:] = [system]


def the_system() -> System:
    """Return the one that answers."""
    (system,) = _systems
    return system
