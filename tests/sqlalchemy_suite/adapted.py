"""Facts of Antumbra that SQLAlchemy's suite needs before it begins: no extensions to make."""

from __future__ import annotations

from typing import Any

import sqlalchemy.dialects.postgresql.provision  # noqa: F401  (it enters what is replaced here)
from sqlalchemy.testing import provision


def _no_extensions(_url: Any, _engine: Any, _follower: Any) -> None:
    """Make neither citext nor hstore."""


provision.post_configure_engine.fns["postgresql"] = _no_extensions
