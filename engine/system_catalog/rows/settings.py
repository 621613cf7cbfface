"""Rows of pg_settings: the settings as one session sees them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from typing import Any

from engine.system_catalog.static_rows import FOLDER
from sql.settings.table import Setting

NUMBERS = ("integer", "real")
TYPES = {"bool": "bool", "integer": "integer", "real": "real", "enum": "enum"}
CATEGORY = "Antumbra"
# Above it limits are shown with an exponent.
WHOLE_MAX = 1e15


def setting_rows(settings: Iterable[tuple[Setting, str]]) -> list[dict[str, Any]]:
    """Return the rows of pg_settings from settings and their kept values."""
    rows = []
    for one, value in settings:
        limited = one.kind in NUMBERS
        category, extra = described().get(one.name, (CATEGORY, None))
        rows.append({
            "name": one.name, "setting": value, "unit": one.unit or None, "category": category, "short_desc": one.description,
            "extra_desc": extra, "context": one.context, "vartype": TYPES.get(one.kind, "string"),
            "source": "default" if value == one.default else "session", "min_val": _number(one.minimum) if limited else None,
            "max_val": _number(one.maximum) if limited else None, "enumvals": list(one.choices) or None, "boot_val": one.default,
            "reset_val": one.default, "sourcefile": None, "sourceline": None, "pending_restart": False,
        })  # fmt: skip
    return rows


@cache
def described() -> dict[str, tuple[str, str | None]]:
    """Return category and further description of the settings that PostgreSQL has, too."""
    stored = json.loads((FOLDER / "settings.json").read_text())
    return {name: (category, extra) for name, (category, extra) in stored.items()}


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < WHOLE_MAX else f"{value:.6g}"
