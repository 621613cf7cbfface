"""The definition of a view, which outlives the process: what the client has said, and nothing
derived.

Enters: a CREATE VIEW statement and the session's settings. Leaves: `ViewDefinition`, and its plain
form for the catalog file. Must not hold a plan, state or a version: those are made from the
definition again after a restart.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, replace

from sql.catalog.catalog import SessionSettings
from sql.errors import SqlError
from sql.names.relation_keys import name_of
from sql.names.suggestions import quoted_list
from sql.parse.statements.create_view import OPTIONS, CreateView
from sql.times.interval_input import interval_value
from sql.values.durations import quantity

MONTH_DAYS = 30
DAY_US = 86_400_000_000
# More often nobody can look, and all the time would go into refreshes.
REFRESH_US_MIN = 10_000
REFRESH_US_MAX = 365 * DAY_US
REFRESH_RANGE = "The interval is at least 10 milliseconds, and at most 365 days."
# The units of `max_bytes` as the values of options arrive, in small letters.
BYTES = {"b": 1.0, "kb": 1024.0, "mb": 1024.0**2, "gb": 1024.0**3, "tb": 1024.0**4}
CAP_MAX = (1 << 62) - 1
COUNT = re.compile("[0-9]{1,19}")
BOOLEANS = {"on": True, "true": True, "off": False, "false": False}


@dataclass(frozen=True)
class JoinChoice:
    """How a view joins a stream with tables and other streams.

    Attributes:
        eager_grouping: true if a stream may be grouped below a join that no stream pipeline can
            probe.
        stream_join: the state of a table that a stream's row meets: 'frozen', that of CREATE VIEW,
            which can't be changed; 'arrival', that of the row's commit; or 'retroactive', the
            reader's.
        freeze_tables: true if the tables above the groups are as they were at CREATE VIEW too, so
            that they say which groups are kept.
    """

    eager_grouping: bool = True
    stream_join: str = "frozen"
    freeze_tables: bool = False


@dataclass(frozen=True)
class Caps:
    """How large the states of a view may become together.

    Attributes:
        groups_max, bytes_max: 0: no limit.
    """

    groups_max: int = 0
    bytes_max: int = 0


@dataclass(frozen=True)
class Lateness:
    """The way in which windows of time close, and rows count that come after them.

    Attributes:
        lateness_us: see `views.model.nodes.Closing`, as the others.
    """

    lateness_us: int
    drops: bool = True
    on_close: bool = False


@dataclass(frozen=True)
class ViewDefinition:
    """The name, oid and text of a view, with the session values with which its query was bound.

    Attributes:
        text: the whole CREATE VIEW statement.
        query_text: its SELECT, which starts `query_offset` characters into the text.
        column_names: the names in parentheses, which may be fewer than the columns; none where a
            query stands above the view's states, since the catalog has that query and its columns.
        on_error: 'reject' or 'skip'.
        upper_maintenance: how what stands above the groups is kept: 'delta', by the groups that
            have changed; 'spark', run whole; 'auto', the former where that is possible.
        refresh_us: the age at which a version is made anew by itself, 0: only for readers.
        emits: what such a version changes becomes rows of a stream.
        lateness: None: windows of time do not close.
    """

    name: str
    oid: int
    text: str
    query_text: str
    query_offset: int
    column_names: tuple[str, ...]
    settings: SessionSettings
    on_error: str = "reject"
    joins: JoinChoice = JoinChoice()
    refresh_us: int = 0
    caps: Caps = Caps()
    emits: bool = False
    lateness: Lateness | None = None
    upper_maintenance: str = "auto"

    @property
    def shown(self) -> str:
        """The name in messages."""
        return name_of(self.name)

    def to_dict(self) -> dict[str, object]:
        """Return the form that the catalog file holds: strings, integers, lists and dicts only."""
        return {
            "name": self.name,
            "oid": self.oid,
            "text": self.text,
            "query_text": self.query_text,
            "query_offset": self.query_offset,
            "column_names": list(self.column_names),
            "time_zone": self.settings.time_zone,
            "search_path": self.settings.search_path,
            "on_error": self.on_error,
            "eager_grouping": self.joins.eager_grouping,
            "stream_join": self.joins.stream_join,
            "freeze_tables": self.joins.freeze_tables,
            "refresh_us": self.refresh_us,
            "max_groups": self.caps.groups_max,
            "max_bytes": self.caps.bytes_max,
            "emits": self.emits,
            "lateness": None if self.lateness is None else list(astuple(self.lateness)),
            "upper_maintenance": self.upper_maintenance,
        }

    @staticmethod
    def from_dict(plain: Mapping[str, object]) -> ViewDefinition:
        """Return the definition that `to_dict` wrote."""
        oid, offset, names = plain["oid"], plain["query_offset"], plain["column_names"]
        assert isinstance(oid, int) and isinstance(offset, int) and isinstance(names, list), f"catalog entry {plain!r}"
        lateness = plain.get("lateness")
        assert lateness is None or isinstance(lateness, list), f"catalog entry {plain!r}"
        return ViewDefinition(
            name=str(plain["name"]),
            oid=oid,
            text=str(plain["text"]),
            query_text=str(plain["query_text"]),
            query_offset=offset,
            column_names=tuple(str(name) for name in names),
            settings=SessionSettings(
                time_zone=str(plain["time_zone"]), search_path=str(plain["search_path"]), is_shared=True
            ),
            on_error=checked("on_error", str(plain["on_error"])),
            joins=JoinChoice(
                bool(plain.get("eager_grouping", True)),
                str(plain.get("stream_join", "frozen")),
                bool(plain.get("freeze_tables", False)),
            ),
            refresh_us=int(str(plain.get("refresh_us", 0))),
            caps=Caps(int(str(plain.get("max_groups", 0))), int(str(plain.get("max_bytes", 0)))),
            emits=bool(plain.get("emits", False)),
            lateness=None if lateness is None else Lateness(*lateness),
            upper_maintenance=str(plain.get("upper_maintenance", "auto")),
        )


@dataclass(frozen=True)
class StateDefinition:
    """The groups that a stream pipeline in the plan of a view leaves, as far as they outlive the
    process.

    Attributes:
        view: whose plan it is.
        oid: under which log and checkpoints know them; groups that begin anew get another oid.
        number: of the stream pipeline in the plan, from 0, None: no query stands above its rows.
        kept: what is kept instead of what the text asks for (`views.share.reuse`), in the form of
            the catalog file.
        since: what counts only from some time on: the texts of aggregates and conditions, with
            that time in microseconds.
    """

    view: ViewDefinition
    oid: int
    number: int | None = None
    kept: str | None = None
    since: tuple[tuple[str, int], ...] = ()

    @property
    def name(self) -> str:
        """The name by which queries scan the rows above the groups.

        No client can write that of one of several states: names of clients end after 63 bytes.
        """
        if self.number is None:
            return self.view.name
        number, oid = self.number, self.view.oid
        return f"state {number} of {oid}, which is a grouping of a stream that a view over several of them keeps"

    @property
    def label(self) -> str:
        """The name in plans, which tells the states of a view apart."""
        return self.view.shown if self.number is None else f"state {self.number + 1} of {self.view.shown}"

    def to_dict(self) -> dict[str, object]:
        """Return the form that the catalog file holds; the number follows from the order there."""
        return {"state": self.oid, "kept": self.kept, "since": self.since}

    @staticmethod
    def from_dict(plain: Mapping[str, object], view: ViewDefinition, number: int | None = None) -> StateDefinition:
        """Return the definition that `to_dict` wrote.

        Groups that have not begun anew have the oid of their relation in older files.
        """
        oid, kept = plain.get("state"), plain.get("kept")
        oid = plain["oid"] if oid is None else oid
        assert isinstance(oid, int) and (kept is None or isinstance(kept, str)), f"catalog entry {plain!r}"
        since = plain.get("since", ())
        assert isinstance(since, list | tuple), f"catalog entry {plain!r}"
        return StateDefinition(view, oid, number, kept, tuple((text, time_us) for text, time_us in since))


def only_state(view: ViewDefinition) -> StateDefinition:
    """Return the state of a view over which no query stands."""
    return StateDefinition(view, view.oid)


def define_view(statement: CreateView, oid: int, settings: SessionSettings) -> ViewDefinition:
    """Return the definition of a CREATE VIEW statement in a session.

    Raises 22023 for an unknown option.
    """
    options = statement.options
    for name in options:
        if name not in OPTIONS:
            raise SqlError(
                "22023",
                f'unrecognized parameter "{name}"',
                hint=f"The options of a continuous view are {', '.join(OPTIONS)}.",
            )
    default_join = dict(settings.variables).get("default_stream_join", "frozen")
    joins = JoinChoice(
        BOOLEANS[checked("eager_grouping", options.get("eager_grouping", "on"))],
        checked("stream_join", options.get("stream_join", default_join)),
        BOOLEANS[checked("freeze_tables", options.get("freeze_tables", "off"))],
    )
    lateness = lateness_of(options)
    if lateness is not None:
        # Slices, and groups below joins, are no windows.
        joins = replace(joins, eager_grouping=False)
        if joins.stream_join == "retroactive":
            raise SqlError("22023", "windows do not close where stream_join = retroactive groups below joins")
    if joins.stream_join == "retroactive" and not joins.eager_grouping:
        raise SqlError("22023", "stream_join = retroactive needs eager grouping, which eager_grouping = off forbids")
    if joins.freeze_tables and joins.stream_join != "frozen":
        raise SqlError("22023", f"freeze_tables = on contradicts stream_join = {joins.stream_join}")
    definition = ViewDefinition(
        name=statement.name,
        oid=oid,
        text=statement.text,
        query_text=statement.query_text,
        query_offset=statement.query_offset,
        column_names=statement.column_names,
        settings=settings,
        on_error=checked("on_error", options.get("on_error", "reject")),
        joins=joins,
        lateness=lateness,
        upper_maintenance=checked("upper_maintenance", options.get("upper_maintenance", "auto")),
    )
    return with_values(definition, {name: value for name, value in options.items() if name in CHANGES})


def with_values(definition: ViewDefinition, options: Mapping[str, str | None]) -> ViewDefinition:
    """Return the definition with other values of options that may change while the view is there.

    None: the default again. Raises 22023.
    """
    for name, value in options.items():
        definition = CHANGES[name](definition, value)
    return definition


def with_values_of(definition: ViewDefinition, other: ViewDefinition) -> ViewDefinition:
    """Return the definition with those options of another one that may change."""
    return replace(definition, refresh_us=other.refresh_us, caps=other.caps, emits=other.emits)


def with_refresh(definition: ViewDefinition, text: str | None) -> ViewDefinition:
    """Return the definition with another `refresh_every`."""
    return replace(definition, refresh_us=0 if text is None else interval_us(text))


def with_groups_max(definition: ViewDefinition, text: str | None) -> ViewDefinition:
    """Return the definition with another `max_groups`."""
    return replace(definition, caps=replace(definition.caps, groups_max=0 if text is None else count_of(text)))


def with_bytes_max(definition: ViewDefinition, text: str | None) -> ViewDefinition:
    """Return the definition with another `max_bytes`."""
    return replace(definition, caps=replace(definition.caps, bytes_max=0 if text is None else bytes_of(text)))


def with_output(definition: ViewDefinition, text: str | None) -> ViewDefinition:
    """Return the definition with another `output`."""
    return replace(definition, emits=BOOLEANS[checked("output", "off" if text is None else text)])


# The options that may change while the view is there.
CHANGES: dict[str, Callable[[ViewDefinition, str | None], ViewDefinition]] = {
    "refresh_every": with_refresh,
    "max_groups": with_groups_max,
    "max_bytes": with_bytes_max,
    "output": with_output,
}


def count_of(text: str) -> int:
    """Return the number of `max_groups`. Raises 22023."""
    if not COUNT.fullmatch(text) or not 1 <= int(text) <= CAP_MAX:
        message = f'invalid value for option "max_groups": "{text}"'
        raise SqlError("22023", message, hint="It is a number of groups, at least 1; RESET takes the cap away.")
    return int(text)


def bytes_of(text: str) -> int:
    """Return the bytes of `max_bytes`. Raises 22023."""
    found = quantity(text, BYTES)
    if found is None or not 1 <= found <= CAP_MAX:
        message = f'invalid value for option "max_bytes": "{text}"'
        raise SqlError("22023", message, hint="It is a size, such as '64 MB' or '2 GB'; RESET takes the cap away.")
    return found


def lateness_of(options: Mapping[str, str]) -> Lateness | None:
    """Return what options say of windows and late rows, None: nothing. Raises 22023."""
    if options.keys().isdisjoint(("emit", "lateness", "late")):
        return None
    found = span_us("lateness", options.get("lateness", "0 s"))
    if not 0 <= found <= REFRESH_US_MAX:
        message = f'invalid value for option "lateness": "{options["lateness"]}"'
        raise SqlError("22023", message, detail="The interval is at most 365 days.")
    emit, late = (checked(name, options.get(name, OPTIONS[name][0])) for name in ("emit", "late"))
    return Lateness(found, late == "drop", emit == "on_close")


def span_us(name: str, text: str) -> int:
    """Return the microseconds of an option that is an interval. Raises 22023."""
    try:
        months, days, micros = interval_value(text)
    except SqlError as error:
        message = f'invalid value for option "{name}": "{text}"'
        raise SqlError("22023", message, hint="It is an interval, such as '1 s' or '5 min'.") from error
    return (months * MONTH_DAYS + days) * DAY_US + micros


def interval_us(text: str) -> int:
    """Return the microseconds of `refresh_every`. Raises 22023."""
    found = span_us("refresh_every", text)
    if not REFRESH_US_MIN <= found <= REFRESH_US_MAX:
        raise SqlError("22023", f'invalid value for option "refresh_every": "{text}"', detail=REFRESH_RANGE)
    return found


def checked(name: str, value: str) -> str:
    """Return a value of an option that has several, in lower case. Raises 22023."""
    folded = value.lower()
    if folded not in OPTIONS[name]:
        choices = quoted_list(OPTIONS[name])
        raise SqlError("22023", f'invalid value for option "{name}": "{value}"', detail=f"Valid values are {choices}.")
    return folded
