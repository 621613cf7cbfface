"""The settings of one session: SET, RESET, SHOW and SET LOCAL, undone by ROLLBACK.

Enters: names and values as the client writes them. Leaves: shown values, changes to report, and
`SessionSettings` for bind. A value that is set in a transaction lasts when the transaction commits;
a value that is set with LOCAL ends with the transaction. No I/O, no clock.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sql.catalog.catalog import SessionSettings
from sql.errors import SqlError
from sql.names.suggestions import did_you_mean
from sql.parse.lexer import refuse_unsafe_strings
from sql.settings.shown_variables import ShownVariables
from sql.settings.startup import startup_values
from sql.settings.table import (
    BATCH,
    BY_NAME,
    FOR_SUPERUSERS,
    MESSAGE_LEVELS,
    PRIVATE,
    SERIALIZABLE,
    TABLE,
    TRANSACTION_DEFAULTS,
    Setting,
    private,
    require_settable,
)
from sql.settings.values import checked_value, shown_value
from sql.times.input_styles import InputStyles
from sql.values.encodings import UTF8, Encoding, encoding_named

# The settings that say who the session is, in the order in which they are set.
IDENTITY = ("session_authorization", "role")
# A name with a dot is the client's own; any value is allowed.
CUSTOM_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*(?:\.[A-Za-z_][A-Za-z0-9_$]*)+")

# TimeZone, IntervalStyle, bytea_output, extra_float_digits, DateStyle: texts of values depend on
# them.
Shown = tuple[str, str, str, int, str]


@dataclass(frozen=True)
class SettingsMark:
    """The values that were set at a savepoint."""

    session: Mapping[str, str]
    local: Mapping[str, str]


class Settings:
    """The values of a session's settings.

    Attributes:
        user: the name by which the client was let in.
        check_identity: tells whether a role that the session is to become is a superuser. Raises
            SqlError when the session can't become that role; without it, no other role exists.
        check_batch: raises SqlError where the name of a transaction's writes can't change any more.
        server: the settings of the whole server by name, which a session can only look at.
    """

    def __init__(
        self,
        user: str = "antumbra",
        database: str = "antumbra",
        process_id: int = 0,
        server: Mapping[str, Setting] = MappingProxyType({}),
    ) -> None:
        self.user = user
        self.database = database
        self.process_id = process_id
        self.check_identity: Callable[[str, str], bool] | None = None
        self.check_batch: Callable[[], None] = lambda: None
        self._known = {**BY_NAME, **server}
        self._start: dict[str, str] = {name: setting.default for name, setting in self._known.items()}
        self._start["session_authorization"] = user
        self._session: dict[str, str] = dict(self._start)
        self._local: dict[str, str] = {}
        self._before: dict[str, str] | None = None
        self._has_temporary = False
        self._unusable: frozenset[str] = frozenset()
        self._is_trusted = True
        self._told: dict[str, str] = {}
        self._told_at: SessionSettings | None = None
        self._captured: SessionSettings | None = None
        self._shown_variables = ShownVariables()
        # Called when a setting has changed.
        self.watchers: list[Callable[[], None]] = []
        self._encoding_at: str | None = None
        self._encoding = UTF8
        # What is often asked, forgotten after a change.
        self._flags: dict[str, bool] = {}
        self._idle_ms: tuple[int, int] | None = None

    @classmethod
    def for_startup(
        cls, parameters: Mapping[str, str], server: Mapping[str, Setting] = MappingProxyType({})
    ) -> Settings:
        """Return a new session's settings; RESET goes back to the values that the client sends."""
        user = parameters.get("user", "antumbra")
        settings = cls(user, parameters.get("database") or user, server=server)
        for name, value in startup_values(parameters):
            try:
                settings._start[name.lower()] = checked_value(settings._settable(name), value)
            except SqlError as error:
                error.severity = "FATAL"
                raise
        settings._session = dict(settings._start)
        return settings

    def value(self, name: str) -> str:
        """Return the kept value of a setting, by its lower-case name. Raises 42704."""
        found = self._local.get(name)
        if found is not None:
            return found
        if name in TRANSACTION_DEFAULTS and self._session[name] == self._start[name]:
            return self.value(TRANSACTION_DEFAULTS[name])
        found = self._session.get(name)
        if found is None:
            raise unrecognized(name, self._known)
        return found

    def show(self, name: str) -> str:
        """Return the value as SHOW prints it. Raises 42704, and 42501 for one of superusers."""
        lowered = name.lower()
        if not self._may_show(lowered):
            raise private(lowered)
        return self._shown_value(lowered)

    def _shown_value(self, name: str) -> str:
        value, setting = self.value(name), self._known.get(name)
        return value if setting is None else shown_value(setting, value)

    def show_all(self) -> list[list[str]]:
        """Return (name, setting, description) of all settings, as SHOW ALL does."""
        return [
            [setting.name, self.show(setting.name), setting.description]
            for name, setting in sorted(self._known.items())
            if self._may_show(name)
        ]

    def kept(self) -> list[tuple[Setting, str]]:
        """Return all settings with their kept values, by name."""
        return [(one, self.value(name)) for name, one in sorted(self._known.items()) if self._may_show(name)]

    def _may_show(self, name: str) -> bool:
        return name not in PRIVATE or self._is_superuser

    @property
    def _is_superuser(self) -> bool:
        """True while the session acts as a superuser: it became one, and still is one."""
        return self._is_trusted and self.value("is_superuser") == "on"

    @property
    def session_user(self) -> str:
        """The role of session_authorization, whose rights the session has."""
        return self.value("session_authorization")

    @property
    def current_user(self) -> str:
        """The role of `role`, where that is set, else session_user."""
        role = self.value("role")
        return self.session_user if role == "none" else role

    @property
    def time_zone(self) -> str:
        """The session's TimeZone."""
        return self.value("timezone")

    @property
    def shown(self) -> Shown:
        """The settings that the text of values depends on, as `Shown` lists them."""
        digits = int(self.value("extra_float_digits"))
        return self.time_zone, self.value("intervalstyle"), self.value("bytea_output"), digits, self.value("datestyle")

    @property
    def input_styles(self) -> InputStyles:
        """The styles in which texts are read as values, beside TimeZone."""
        return self.captured().input_styles

    @property
    def read_only(self) -> bool:
        """The setting transaction_read_only, here or in the next statement by itself."""
        return self._has("transaction_read_only", "on")

    @property
    def waits_for_log(self) -> bool:
        """The setting synchronous_commit; without a standby all values but off are on."""
        return not self._has("synchronous_commit", "off")

    @property
    def is_serializable(self) -> bool:
        """True where transaction_isolation, here or in the next statement, is serializable."""
        return self._has("transaction_isolation", SERIALIZABLE)

    def _has(self, name: str, value: str) -> bool:
        found = self._flags.get(name)
        if found is None:
            found = self._flags[name] = self.value(name) == value
        return found

    def checked_text(self, text: str) -> str:
        """Return a client's text. Raises 0A000 for constants that the client means otherwise."""
        if not self.is_conforming:
            refuse_unsafe_strings(text)
        return text

    @property
    def is_conforming(self) -> bool:
        """The setting standard_conforming_strings: a backslash in a plain constant is itself."""
        return self.value("standard_conforming_strings") == "on"

    @property
    def encoding(self) -> Encoding:
        """The setting client_encoding; UTF8 for SQL_ASCII, as nothing is converted then."""
        name = self.value("client_encoding")
        if self._encoding_at != name:
            found = encoding_named(name)
            self._encoding_at, self._encoding = name, found if found is not None and found.converts else UTF8
        return self._encoding

    @property
    def idle_timeouts_ms(self) -> tuple[int, int]:
        """The settings idle_in_transaction_session_timeout and idle_session_timeout; 0: none."""
        if self._idle_ms is None:
            names = ("idle_in_transaction_session_timeout", "idle_session_timeout")
            self._idle_ms = (int(self.value(names[0])), int(self.value(names[1])))
        return self._idle_ms

    @property
    def batch(self) -> str:
        """The setting antumbra.batch, the name of what a transaction writes; empty: it has none."""
        return self.value(BATCH)

    @property
    def lock_timeout_ms(self) -> int:
        """The setting lock_timeout; 0: none."""
        return int(self.value("lock_timeout"))

    @property
    def publish_interval_ms(self) -> int:
        """The setting stream_publish_interval; 0: a COPY commits at its end."""
        return int(self.value("stream_publish_interval"))

    @property
    def waits_for_room(self) -> bool:
        """The setting stream_string_overflow: a commit waits for room in a string buffer."""
        return self.value("stream_string_overflow") == "wait"

    @property
    def stream_timeout_ms(self) -> int:
        """The setting stream_timeout; 0: a scan of a stream ends after the rows that are there."""
        return int(self.value("stream_timeout"))

    @property
    def scans_from_latest(self) -> bool:
        """The setting stream_scan_start: a scan of a stream begins after the present rows."""
        return self.value("stream_scan_start") == "latest"

    @property
    def query_memory_max_bytes(self) -> int:
        """The setting query_memory_max: the bytes of rows of streams that one query collects."""
        return int(self.value("query_memory_max")) * 1024

    @property
    def view_staleness_ms(self) -> int:
        """The setting view_staleness: the age that versions of views may have in a SELECT."""
        return int(self.value("view_staleness"))

    @property
    def min_stream_kernel_bytes(self) -> int:
        """The setting min_stream_kernel_size: groupings of a ring this large run in kernels."""
        return int(self.value("min_stream_kernel_size")) * 1024

    @property
    def min_spark_groups(self) -> int:
        """The setting min_spark_groups: so many groups of streams go on in Spark; -1: never."""
        return int(self.value("min_spark_groups"))

    @property
    def statement_timeout_ms(self) -> int:
        """The setting statement_timeout; 0: none."""
        return int(self.value("statement_timeout"))

    def lets_through(self, severity: str) -> bool:
        """Tell whether client_min_messages lets a message of this severity through."""
        level = severity.lower()
        if level not in MESSAGE_LEVELS:
            return True
        return MESSAGE_LEVELS.index(level) >= MESSAGE_LEVELS.index(self.value("client_min_messages"))

    def captured(self) -> SessionSettings:
        """Return the settings that bind captures; the same object until a setting changes."""
        if self._captured is None:
            shown = self._shown_variables.of(self._session, self._local, self._shown_value)
            self._captured = SessionSettings(
                self.time_zone,
                self.value("search_path"),
                self.current_user,
                self.database,
                self.process_id,
                tuple(sorted(item for item in shown.items() if self._may_show(item[0]))),
                session_user=self.session_user,
                has_temporary=self._has_temporary,
                unusable=self._unusable,
            )
        return self._captured

    def set(self, name: str, value: str | None, local: bool = False) -> None:
        """Set a setting; the value None is its start value.

        The name 'all' with None is RESET ALL.
        """
        if name == "all" and value is None:
            self.reset_all()
            return
        if name in ("transaction", "session characteristics"):
            self._set_modes(value or "", local)
            return
        lowered = name.lower()
        setting = self._settable(lowered)
        if value is None:
            kept = self._start.get(lowered, "")
        else:
            # A setting with a dot does not exist before it is set.
            so_far = (self.value(lowered), self._start[lowered]) if lowered in self._start else ()
            kept = checked_value(setting, value, *so_far)
        if lowered in IDENTITY:
            self._become(lowered, kept, local)
        elif lowered == BATCH and kept != self.batch:
            self.check_batch()
        self._change(lowered, kept, local or lowered in TRANSACTION_DEFAULTS)

    def let_in(self, is_superuser: bool) -> None:
        """Let the client in with the role and settings that it asked for at startup."""
        asked = [(name, self._start[name]) for name in (*FOR_SUPERUSERS, *IDENTITY)]
        self._start |= FOR_SUPERUSERS | {"session_authorization": self.user, "role": "none"}
        self._start["is_superuser"] = "on" if is_superuser else "off"
        self._is_trusted = is_superuser
        self._session = dict(self._start)
        for name, value in asked:
            if value != self._start[name]:
                self.set(name, value)
        self._start = dict(self._session)
        self.commit()
        # Values may have been looked at before.
        self._changed()

    def note_temporary(self) -> None:
        """Note that the session has temporary relations from now on, which come first."""
        if not self._has_temporary:
            self._has_temporary = True
            self._changed()

    def note_rights(self, unusable: frozenset[str], is_superuser: bool) -> None:
        """Note the schemas that the session may not use, and whether it acts as a superuser."""
        if unusable != self._unusable or is_superuser != self._is_trusted:
            self._unusable, self._is_trusted = unusable, is_superuser
            self._changed()

    def set_config(self, name: str | None, value: str | None, local: bool) -> str:
        """Set a setting as set_config does; return its value as SHOW prints it. Raises 22004."""
        if name is None:
            raise SqlError("22004", "SET requires parameter name")
        self._settable(name)
        self.set(name, value, local)
        return self.show(name)

    def reset_all(self) -> None:
        """Return every setting to its start value, but for those that say who the session is."""
        if self.batch != self._start[BATCH]:
            self.check_batch()
        self._remember()
        kept = {name: self.value(name) for name in (*IDENTITY, "is_superuser")}
        self._session = {**dict.fromkeys(self._session, ""), **self._start, **kept}
        self._local.clear()
        self._changed()

    def begin(self, modes: Iterable[str] = ()) -> None:
        """Note the start of a transaction block with its modes."""
        self._remember()
        self._set_modes(", ".join(modes), local=True)

    def mark(self) -> SettingsMark:
        """Return the values of the transaction block, for `go_back`."""
        self._remember()
        return SettingsMark(dict(self._session), dict(self._local))

    def go_back(self, mark: SettingsMark) -> None:
        """Undo all SETs after a mark of the same transaction block."""
        if mark.session != self._session or mark.local != self._local:
            self._session, self._local = dict(mark.session), dict(mark.local)
            self._changed()

    def commit(self) -> None:
        """Keep the values that were set; end those that were set LOCAL."""
        self._before = None
        if self._local:
            for name in self._local.keys() - self._session.keys():
                # A custom setting, of which the name stays.
                self._session[name] = ""
            self._local.clear()
            self._changed()

    def rollback(self) -> None:
        """Undo all SETs since the transaction began."""
        if self._before is not None and self._before != self._session:
            self._session = self._before
            self._changed()
        self.commit()

    def reports(self) -> list[tuple[str, str]]:
        """Return the reported settings with their values."""
        found = [(setting.name, self.show(setting.name)) for setting in TABLE if setting.reported]
        self._told = dict(found)
        return found

    def changed_reports(self) -> list[tuple[str, str]]:
        """Return the reported settings that differ from those that the client was told."""
        if self._captured is not None and self._told_at is self._captured:
            return []
        changed = [
            (setting.name, value)
            for setting in TABLE
            if setting.reported and self._told.get(setting.name) != (value := self.show(setting.name))
        ]
        self._told.update(changed)
        self._told_at = self.captured()
        return changed

    def _changed(self, name: str | None = None) -> None:
        """Forget what was computed from the settings. name: of the only changed setting."""
        self._captured = self._idle_ms = None
        self._flags.clear()
        self._shown_variables.forget(name)
        for tell in self.watchers:
            tell()

    def _settable(self, name: str) -> Setting:
        """Return the setting, or raise 42704, 55P02 or 42501."""
        setting = self._known.get(name.lower())
        if setting is None:
            if CUSTOM_NAME.fullmatch(name):
                return Setting(name, "", "string", "")
            raise unrecognized(name, self._known)
        require_settable(setting, self._is_superuser)
        return setting

    def _change(self, name: str, value: str, local: bool) -> None:
        self._remember()
        if local:
            self._local[name] = value
        else:
            self._session[name] = value
            self._local.pop(name, None)
        self._changed(name)

    def _become(self, name: str, value: str, local: bool) -> None:
        if self.check_identity is None:
            if value not in (self.user, "none"):
                raise SqlError("42501", f'permission denied to set {name.replace("_", " ")} "{value}"')
            return
        is_superuser = self.check_identity(name, value)
        if name == "session_authorization":
            self._change("role", "none", local)
        self._change("is_superuser", "on" if is_superuser else "off", local)

    def _remember(self) -> None:
        if self._before is None:
            self._before = dict(self._session)

    def _set_modes(self, modes: str, local: bool) -> None:
        """Set transaction modes of this transaction, or as the session's defaults."""
        prefix = "" if local else "default_"
        for mode in filter(None, modes.split(", ")):
            if mode.startswith("isolation level "):
                level = checked_value(BY_NAME["transaction_isolation"], mode.removeprefix("isolation level "))
                self._change(prefix + "transaction_isolation", level, local)
            elif mode.startswith("read "):
                self._change(prefix + "transaction_read_only", "on" if mode == "read only" else "off", local)
            else:
                self._change(prefix + "transaction_deferrable", "off" if mode.startswith("not") else "on", local)


def unrecognized(name: str, known: Iterable[str]) -> SqlError:
    """Return the 42704 error, with a hint when a known name is close."""
    return SqlError(
        "42704", f'unrecognized configuration parameter "{name}"', hint=did_you_mean(name, known, "the parameter")
    )


def default_value(name: str) -> str | None:
    """Return the default of a setting as SHOW prints it, None for an unknown one."""
    setting = BY_NAME.get(name.lower())
    return None if setting is None else shown_value(setting, setting.default)
