"""What the client said a view is, and nothing that is derived from it: the part that outlives the process.

Enters: a CREATE VIEW statement and the session's settings. Leaves: `ViewDefinition`, and its plain form for the catalog file. Must
not hold a plan, state or a version: those are made from the definition again after a restart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sql.catalog import SessionSettings
from sql.errors import SqlError
from sql.statements.statement import CreateView

ON_ERROR_CHOICES = ("reject", "skip")


@dataclass(frozen=True)
class ViewDefinition:
    """A view's name, oid and text, with the session values that its query was bound with.

    text: the whole CREATE VIEW statement; query_text: its SELECT, which starts query_offset characters into the text.
    column_names: the names in parentheses, which may be fewer than the columns. on_error: one of `ON_ERROR_CHOICES`.
    part: which of the text's groupings this is the view of (`views.plan.parts`), None: it is the view that the text makes. state: the
    oid under which log and checkpoints know what it keeps, None: its own; one that begins anew gets another. kept: what its state keeps
    instead of what the text asks for (`views.plan.cover`), in the form of the catalog file.
    """

    name: str
    oid: int
    text: str
    query_text: str
    query_offset: int
    column_names: tuple[str, ...]
    settings: SessionSettings
    on_error: str = "reject"
    part: int | None = None
    state: int | None = None
    kept: str | None = None

    @property
    def state_oid(self) -> int:
        """The oid under which log and checkpoints know what it keeps."""
        return self.oid if self.state is None else self.state

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
            "part": self.part,
            "state": self.state,
            "kept": self.kept,
        }

    @staticmethod
    def from_dict(plain: Mapping[str, object]) -> ViewDefinition:
        """Return the definition that `to_dict` wrote."""
        oid, offset, names = plain["oid"], plain["query_offset"], plain["column_names"]
        part, state, kept = plain.get("part"), plain.get("state"), plain.get("kept")
        assert isinstance(oid, int) and isinstance(offset, int) and isinstance(names, list), f"catalog entry {plain!r}"
        assert part is None or isinstance(part, int), f"catalog entry {plain!r}"
        assert state is None or isinstance(state, int), f"catalog entry {plain!r}"
        assert kept is None or isinstance(kept, str), f"catalog entry {plain!r}"
        return ViewDefinition(
            name=str(plain["name"]),
            oid=oid,
            text=str(plain["text"]),
            query_text=str(plain["query_text"]),
            query_offset=offset,
            column_names=tuple(str(name) for name in names),
            settings=SessionSettings(time_zone=str(plain["time_zone"]), search_path=str(plain["search_path"])),
            on_error=_checked_on_error(str(plain["on_error"])),
            part=part,
            state=state,
            kept=kept,
        )


def define_view(statement: CreateView, oid: int, settings: SessionSettings) -> ViewDefinition:
    """Return the definition that a CREATE VIEW statement makes in a session. Raises 22023 for an option that does not exist."""
    return ViewDefinition(
        name=statement.name,
        oid=oid,
        text=statement.text,
        query_text=statement.query_text,
        query_offset=statement.query_offset,
        column_names=statement.column_names,
        settings=settings,
        on_error=_on_error(statement.options),
    )


def _on_error(options: Mapping[str, str]) -> str:
    for name in options:
        if name != "on_error":
            raise SqlError(
                "22023", f'unrecognized parameter "{name}"', hint="The option of a continuous view is on_error."
            )
    return _checked_on_error(options.get("on_error", "reject"))


def _checked_on_error(value: str) -> str:
    folded = value.lower()
    if folded not in ON_ERROR_CHOICES:
        raise SqlError(
            "22023", f'invalid value for option "on_error": "{value}"', detail='Valid values are "reject" and "skip".'
        )
    return folded
