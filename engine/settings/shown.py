"""The server's own settings as SHOW shows them: their names, also PostgreSQL's where there is one,
values and descriptions.

Enters: the configuration. Leaves: settings that SET refuses with 55P02.
"""

from __future__ import annotations

from dataclasses import fields

from engine.settings.config import ServerConfig
from sql.settings.table import Setting

POSTGRES_NAMES = {"host": "listen_addresses", "connections_max": "max_connections", "data_dir": "data_directory"}


def server_settings(config: ServerConfig) -> dict[str, Setting]:
    """Return the settings by name.

    The address is the one on which the server listens if `config` has that.
    """
    shown = {}
    for field in fields(ServerConfig):
        value = getattr(config, field.name)
        if isinstance(value, bool):
            text, kind = "on" if value else "off", "bool"
        elif isinstance(value, int):
            text, kind = str(value), "integer"
        else:
            text, kind = "" if value is None else f"{value:g}" if isinstance(value, float) else str(value), "string"
        unit = "B" if "_bytes" in field.name else "ms" if field.name.endswith("_ms") else ""
        for name in (field.name, POSTGRES_NAMES.get(field.name)):
            if name is not None:
                shown[name] = Setting(name, text, kind, field.metadata["description"], unit=unit, context="postmaster")
    return shown
