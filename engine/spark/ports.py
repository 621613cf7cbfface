"""The ports of a local Spark, which needs none: those that it opens are closed.

Until they are closed, Spark answers no connection without its secret. Spark listens for executors
on other machines, who send it Java objects. A local Spark has none: its parts talk within the
process, and results come back whole (`spark.task.maxDirectResultSize`), since larger ones would be
fetched from its own port. PySpark listens for the accumulators of Python functions, of which there
are none. py4j's own port stays, and does nothing without its token.
"""

from __future__ import annotations

import threading
from typing import Any

from pyspark import SparkContext

# A secret of this start, which Spark makes for itself in local mode and shows nobody; the kilobytes
# and megabytes are its maxima.
SETTINGS = {
    "spark.authenticate": "true",
    "spark.network.crypto.enabled": "true",
    "spark.network.crypto.saslFallback": "false",
    "spark.network.crypto.cipher": "AES/GCM/NoPadding",
    "spark.task.maxDirectResultSize": "2047m",
    "spark.rpc.message.maxSize": "2047",
}
# Where Spark's two servers are kept, from its environment on: classes and their private fields,
# which nobody else is meant to reach. By name, since py4j can't look at the methods of all of these
# classes.
SERVERS = (
    (
        ("org.apache.spark.SparkEnv", "rpcEnv"),
        ("org.apache.spark.rpc.netty.NettyRpcEnv", "server"),
    ),
    (
        ("org.apache.spark.SparkEnv", "blockManager"),
        ("org.apache.spark.storage.BlockManager", "blockTransferService"),
        (
            "org.apache.spark.network.netty.NettyBlockTransferService",
            "org$apache$spark$network$netty$NettyBlockTransferService$$server",
        ),
    ),
)


def close_ports(context: SparkContext, gateway: Any) -> None:
    """Close all ports of a Spark that has started.

    Raises Py4JError when Spark has them elsewhere.
    """
    for path in SERVERS:
        found = context._jsc.sc().env()
        for owner, name in path:
            field = gateway.jvm.java.lang.Class.forName(owner).getDeclaredField(name)
            field.setAccessible(True)
            found = field.get(found)
        # It stays where it is, since it is asked for its address.
        found.close()
    # In a thread, since it waits for half a second. Spark's end does so once more, which does no
    # harm.
    threading.Thread(target=context._accumulatorServer.shutdown, name="spark-ports", daemon=True).start()
