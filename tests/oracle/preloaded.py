"""Contents of a server's memory before it opens its folder: modules, and the code of kernels.

The process from which servers under test are forked imports this once. It starts no thread.
"""

from __future__ import annotations

import engine.commands
import engine.database
import engine.server.server
import engine.sessions.session  # noqa: F401
from engine.embedded.warm_up import warm_up_functions
from engine.server.signal_watch import warm_up_watch
from engine.streams.warm_up import STEPS

for step in (*STEPS, warm_up_functions, warm_up_watch):
    step()
