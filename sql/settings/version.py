"""The versions that clients are told: drivers and psql choose their behaviour by PostgreSQL's
version.
"""

from __future__ import annotations

POSTGRES_VERSION = "15.0"
POSTGRES_VERSION_NUMBER = 150_000
VERSION_TEXT = f"PostgreSQL {POSTGRES_VERSION} (Antumbra)"
