"""The door of the dialects for a server: it imports the library that reads them with the first
text, so that a process without such a text does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sql.dialects.translation import Translated


def translate(
    text: str, dialect: str, columns_of: Callable[[tuple[str, ...]], Mapping[str, str] | None]
) -> Iterator[Translated]:
    """Return the statements of a text in PostgreSQL's SQL, as `translation.translate` does."""
    from sql.dialects import translation

    return translation.translate(text, dialect, columns_of)
