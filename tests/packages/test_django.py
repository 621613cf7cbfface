"""Django, unmodified: it migrates its own apps, works with their models, and reads a view as a
model.
"""

from __future__ import annotations

from tests.oracle.antumbra import AntumbraServer
from tests.packages.running import run_client


def test_django(server: AntumbraServer) -> None:
    run_client(server, "django")
