"""`python -m tests.stress.unchecked_server serve ...`: a server whose scans don't look whether
writers have come round to them.
"""

from __future__ import annotations

import sys
from unittest.mock import patch

from engine.__main__ import main
from ringbuffer.ring.ring import Ring


def never_overwritten(ring: Ring, first_tid: int) -> None:
    """Stand in the place of Ring._check_kept."""


if __name__ == "__main__":
    with patch.object(Ring, "_check_kept", never_overwritten):
        sys.exit(main())
