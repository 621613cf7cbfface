"""The settings of a session that differ from their defaults, as SHOW shows them.

The shown values are kept, so that one SET among thousands computes one of them. Enters: names of
changed settings. Leaves: shown values by name. Must not know the meaning of settings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sql.settings.table import BY_NAME


class ShownVariables:
    """The kept values of the settings of one session."""

    def __init__(self) -> None:
        # Names of the settings whose shown value may have changed; None: all of them.
        self._anew: set[str] | None = None
        self._shown: dict[str, str] = {}

    def forget(self, name: str | None) -> None:
        """Note that a setting has another value; None: any setting may have."""
        if name is None:
            self._anew = None
        elif self._anew is not None:
            self._anew.add(name)

    def of(self, session: Mapping[str, str], local: Mapping[str, str], show: Callable[[str], str]) -> dict[str, str]:
        """Return the shown values of the settings that the session and its transaction have set."""
        if self._anew is None:
            self._shown = {}
        for name in {*session, *local} if self._anew is None else self._anew:
            value = local.get(name, session.get(name))
            if value is None or (name in BY_NAME and value == BY_NAME[name].default):
                self._shown.pop(name, None)
            else:
                self._shown[name] = show(name)
        self._anew = set()
        return self._shown
