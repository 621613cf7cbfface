"""What SQLAlchemy's suite needs to know of Antumbra before it begins: no extensions to make, no comments on constraints."""

from __future__ import annotations

from typing import Any

import sqlalchemy.dialects.postgresql.provision  # noqa: F401  (it enters what is replaced here)
from sqlalchemy.dialects.postgresql.base import PGDialect
from sqlalchemy.testing import provision

# Its tables have comments on constraints, asked for or not.
PGDialect.supports_constraint_comments = False


def _no_extensions(_url: Any, _engine: Any, _follower: Any) -> None:
    """Make neither citext nor hstore."""


provision.post_configure_engine.fns["postgresql"] = _no_extensions
