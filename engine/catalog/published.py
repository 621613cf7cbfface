"""The committed catalog of a server, and the lock under which commits become visible."""

from __future__ import annotations

import threading

from engine.catalog.image import CatalogImage


class PublishedCatalog:
    """The newest committed image of the catalog.

    Attributes:
        image: anybody reads it; the committer exchanges it under `lock`.
        lock: the commit lock, held for pointer swaps and small folds only: never for Spark, a merge
            into global state, or a client.
    """

    def __init__(self) -> None:
        self.image = CatalogImage()
        self.lock = threading.Lock()
