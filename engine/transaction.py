"""A client's transaction: its staged statements and its catalog changes, in statement order, until COMMIT or ROLLBACK.

No I/O and no locks here; `engine.database` commits it. `image` is the transaction's own catalog once it has done DDL.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.catalog import CatalogImage
from engine.staging import StatementStage
from views.view import ContinuousView


@dataclass
class CatalogChange:
    """The catalog after one DDL statement."""

    image: CatalogImage


Operation = StatementStage | CatalogChange


@dataclass
class Transaction:
    """explicit: between BEGIN and COMMIT; otherwise one statement, one Query message, or a pipeline up to Sync.

    now_us: the transaction's now(). failed: an error happened; only ROLLBACK (or COMMIT, which rolls back) goes on. built: the views that
    it created, whether they are to stay or not.
    """

    now_us: int
    explicit: bool = False
    failed: bool = False
    image: CatalogImage | None = None
    holds_ddl_lock: bool = False
    operations: list[Operation] = field(default_factory=list)
    built: list[ContinuousView] = field(default_factory=list)

    def change_catalog(self, image: CatalogImage) -> None:
        """Record the catalog after a DDL statement."""
        self.image = image
        self.operations.append(CatalogChange(image))

    def drop(self) -> None:
        """Forget all operations (ROLLBACK)."""
        for operation in self.operations:
            if isinstance(operation, StatementStage):
                operation.close()
        self.operations.clear()
        self.image = None
