"""COPY's text format: its options and its decoder.

The work is in copy_decoder, copy_rows and copy_text_line.
"""

from __future__ import annotations

from dataclasses import dataclass

from ringbuffer.decode.copy_decoder import CopyDecoder
from ringbuffer.decode.copy_lines import byte_classes
from ringbuffer.decode.slow_fields import Fallback
from ringbuffer.memory.columns import Layout


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
