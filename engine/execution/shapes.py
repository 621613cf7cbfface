"""Texts of SELECTs that differ in constants alone, prepared once: parsed and bound with parameters
in the place of the constants.

Enters: the text of a Query. Leaves: the prepared statement of its shape and the constants, or None:
the text is parsed as any other. Only constants that are compared with `=`, in conditions that end
the text, are taken for parameters. Must not run anything.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from engine.catalog.image import CatalogImage
from engine.execution.prepared import Prepared, prepare
from engine.scans.point_reads import INTEGERS
from sql.errors import SqlError
from sql.names.relation_keys import name_of
from sql.settings.settings import Settings

CONSTANT = r"('[^']*'|-?[0-9]{1,18})"
CONDITION = rf"[\w.]+[ \t\n]*=[ \t\n]*{CONSTANT}"
# No quote, sign of a comment or parameter stands before the conditions.
SHAPED = re.compile(
    r"[ \t\n]*SELECT\b[^'\"$;/\\-]*?\bFROM[ \t\n]+(?P<relation>[\w.]+)[ \t\n]+WHERE[ \t\n]+(?P<conditions>"
    rf"{CONDITION}(?:[ \t\n]+AND[ \t\n]+{CONDITION})*)[ \t\n]*;?[ \t\n]*\Z",
    re.IGNORECASE | re.ASCII,
)
COMPARED = re.compile(rf"=([ \t\n]*){CONSTANT}")
SHAPE_CHARACTERS_MAX = 1_000
SHAPES_KEPT_MAX = 128


class Shaped(NamedTuple):
    """A statement with parameters, and their values as texts."""

    prepared: Prepared
    values: Sequence[bytes]


class Shapes:
    """The shapes of one session that have come twice."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        # None: a shape has come once, and may not come again.
        self._known: dict[str, Prepared | None] = {}

    def find(self, text: str, image: CatalogImage) -> Shaped | None:
        """Return the statement of a text on one relation, if its shape has come before."""
        match = SHAPED.match(text) if len(text) <= SHAPE_CHARACTERS_MAX else None
        if match is None:
            return None
        begin = match.start("conditions")
        conditions = text[begin : match.end("conditions")]
        shape = text[:begin] + COMPARED.sub(shown_kind, conditions)
        prepared = self._known.get(shape)
        if prepared is None or not self._is_current(prepared, image):
            self._note(shape, text[:begin], conditions, match["relation"], image)
            return None
        constants = [constant for _, constant in COMPARED.findall(conditions)]
        types = prepared.parameter_types
        if any(one[0] != "'" and kind.family not in INTEGERS for one, kind in zip(constants, types, strict=True)):
            # A number is no value of another type, where a constant in quotes may be one.
            return None
        return Shaped(prepared, [unquoted(constant).encode() for constant in constants])

    def _is_current(self, prepared: Prepared, image: CatalogImage) -> bool:
        """Tell whether a statement is right for the catalog and the settings of now, if need be
        after it is bound again.
        """
        try:
            prepared.refresh(image, self._settings)
        except SqlError:
            return False
        return True

    def _note(self, shape: str, head: str, conditions: str, relation: str, image: CatalogImage) -> None:
        """Remember a shape, or, when it comes again, how it is read."""
        if shape not in self._known:
            if len(self._known) >= SHAPES_KEPT_MAX:
                self._known.clear()
            self._known[shape] = None
        elif any(name_of(name) == name_of_text(relation) for name in image.entries):
            self._known[shape] = self._prepared(head, conditions, image)

    def _prepared(self, head: str, conditions: str, image: CatalogImage) -> Prepared | None:
        numbers = iter(range(1, SHAPE_CHARACTERS_MAX))
        text = head + COMPARED.sub(lambda match: f"={match[1]}${next(numbers)}", conditions)
        try:
            prepared = prepare(self._settings.checked_text(text), (), image)
            prepared.refresh(image, self._settings)
        except SqlError:
            # The text itself will tell.
            return None
        return prepared


def name_of_text(relation: str) -> str:
    """Return the last part of a name, as names without quotes are read."""
    return relation.rpartition(".")[2].lower()


def shown_kind(match: re.Match[str]) -> str:
    """Return what stands for a constant in a shape: which kind of constant it is."""
    return f"={match[1]}''" if match[2][0] == "'" else f"={match[1]}0"


def unquoted(constant: str) -> str:
    """Return the text of a constant."""
    return constant[1:-1] if constant[0] == "'" else constant
