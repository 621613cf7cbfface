"""COPY's text and CSV formats: their options and their decoders.

The work is in copy_decoder, copy_rows, copy_text_line and copy_csv_line.
"""

from __future__ import annotations

from dataclasses import dataclass

from ringbuffer.decode.copy_decoder import CopyDecoder
from ringbuffer.decode.copy_lines import ORDINARY, byte_classes
from ringbuffer.decode.copy_rows import FORCE_NOT_NULL, FORCE_NULL
from ringbuffer.decode.slow_fields import Fallback
from ringbuffer.memory.columns import Layout


@dataclass(frozen=True)
class CsvFormat:
    """The options of COPY ... (FORMAT csv).

    Attributes:
        delimiter, quote, escape: one byte each.
        force_not_null, force_null: names of columns of the layout.
    """

    delimiter: str = ","
    null: str = ""
    header: bool = False
    quote: str = '"'
    escape: str = '"'
    force_not_null: frozenset[str] = frozenset()
    force_null: frozenset[str] = frozenset()


class CsvDecoder(CopyDecoder):
    """A decoder of COPY CSV for one statement."""

    def __init__(
        self, layout: Layout, options: CsvFormat = CsvFormat(), fallback: Fallback | None = None, time_zone: str = "UTC"
    ) -> None:
        quote, escape = ord(options.quote), ord(options.escape)
        # The last class of a byte holds: an escape that is the quote is a quote to the lines.
        classes = byte_classes(escape=escape, quote=quote, delimiter=ord(options.delimiter))
        if "\\" not in (options.delimiter, options.quote, options.escape):
            classes[ord("\\")] = ORDINARY
        settings = (True, quote, escape, classes)
        force = [
            (FORCE_NULL if column.name in options.force_null else 0)
            | (FORCE_NOT_NULL if column.name in options.force_not_null else 0)
            for column in layout
        ]
        super().__init__(layout, settings, options.null, options.header, fallback, time_zone, force)


@dataclass(frozen=True)
class TextFormat:
    """The options of COPY ... (FORMAT text).

    Attributes:
        delimiter: one byte.
        header: true if the first line is skipped.
    """

    delimiter: str = "\t"
    null: str = "\\N"
    header: bool = False


class TextDecoder(CopyDecoder):
    """A decoder of COPY text for one statement."""

    def __init__(
        self,
        layout: Layout,
        options: TextFormat = TextFormat(),
        fallback: Fallback | None = None,
        time_zone: str = "UTC",
    ) -> None:
        classes = byte_classes(delimiter=ord(options.delimiter))
        super().__init__(layout, (False, 0, 0, classes), options.null, options.header, fallback, time_zone)
