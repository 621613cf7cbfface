"""The work of the JVM's optimising compiler, C2: the code that runs for each row, and late.

C2 would take half of the processor while Spark starts and plans for the first time, and would do it
for code that soon nobody runs again. All other code is left to the JVM's quick compiler, C1
(docs/decisions/0150).
"""

from __future__ import annotations

import json

DIRECTIVES_NAME = "compiler.json"
# Packages and classes of code that Spark runs for each row.
OF_ROWS = (
    *("antumbra/*", "org/apache/spark/sql/catalyst/expressions/*", "org/apache/spark/sql/execution/*"),
    *("org/apache/spark/sql/types/*", "org/apache/spark/sql/vectorized/*", "org/apache/spark/unsafe/*"),
    *("org/apache/spark/util/collection/*", "org/apache/arrow/*", "io/netty/*", "scala/collection/*", "scala/math/*"),
    *("scala/runtime/*", "java/lang/Math", "java/math/*", "java/nio/*", "java/util/Arrays", "java/util/HashMap*"),
    *("java/util/TimSort", "java/util/regex/*"),
)
# A block without a word is not read.
DIRECTIVES = json.dumps(
    [
        {"match": [f"{name}.*" for name in OF_ROWS], "c2": {"Exclude": False}},
        {"match": "*.*", "c2": {"Exclude": True}},
    ]
)
# C2 begins where code has run five times as often as the JVM's own bounds say
# (docs/decisions/0130).
LATE_C2 = (
    "-XX:Tier4InvocationThreshold=25000",
    "-XX:Tier4MinInvocationThreshold=3000",
    "-XX:Tier4CompileThreshold=75000",
    "-XX:Tier4BackEdgeThreshold=100000",
)
