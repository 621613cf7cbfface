"""What SHOW tells of the server's own settings: their names, also PostgreSQL's where there is one, their values and what they are.

Enters: the configuration. Leaves: settings that SET refuses with 55P02.
"""

from __future__ import annotations

from dataclasses import fields

from engine.settings.config import ServerConfig
from sql.settings.table import Setting

DESCRIPTIONS = {
    "host": "Sets the address to listen on.",
    "port": "Sets the TCP port the server listens on.",
    "insecure_trust": "Lets other machines connect although nobody is asked for a password.",
    "hba": "Sets who may connect from where, and by which method.",
    "ssl_cert_file": "Location of the SSL server certificate file.",
    "ssl_key_file": "Location of the SSL server private key file.",
    "strangers_max": "Sets how many clients may be connected that are not let in yet.",
    "strangers_per_address_max": "Sets how many of those may come from one address.",
    "superuser_reserved_connections": "Sets the number of connection slots reserved for superusers.",
    "data_dir": "Sets the server's data directory.",
    "copy_directory": "Sets the folder whose files COPY may read and write.",
    "connections_max": "Sets the maximum number of concurrent connections.",
    "startup_wait_s_max": "Sets how many seconds a new connection may take to say who it is.",
    "shutdown_wait_s_max": "Sets how many seconds running statements are waited for at shutdown.",
    "message_bytes_max": "Sets the size of the largest message that a client may send.",
    "read_high_water_bytes": "Sets how much of what a client has sent may wait before its socket is not read.",
    "write_high_water_bytes": "Sets how much of its replies a client may leave before its statements wait.",
    "session_memory_bytes": "Sets how much memory the prepared statements and portals of one session may take.",
    "copy_block_bytes": "Sets how much of a COPY is decoded at once.",
    "stream_capacity_default": "Sets how many rows the ring of a stream keeps without OPTIONS (capacity ...).",
    "stream_string_bytes_default": "Sets the size of each string buffer of a stream without OPTIONS (string_capacity ...).",
    "stage_memory_bytes_max": "Sets the memory for the rows of one uncommitted statement; beyond it they wait in a file.",
    "kept_memory_bytes_max": "Sets how much memory of dropped streams and of past rows may wait for new ones.",
    "log_segment_bytes": "Sets the size of one file of the log.",
    "log_flush_interval_ms": "Sets how often the log is written and synced for synchronous_commit = off.",
    "checkpoint_log_bytes": "Sets after how much log a checkpoint is written.",
    "checkpoint_interval_s": "Sets after how many seconds a checkpoint is written; 0: never by time.",
    "compile_memory_bytes": "Sets how much memory a process that compiles queries may take.",
    "compile_s_max": "Sets how much processor time compiling one query may take.",
    "view_queue_max": "Sets how many large statements may wait for a view's next refresh.",
    "worker_threads": "Sets how many statements compute at once while their turns last.",
    "worker_turn_ms": "Sets how long a statement that computes keeps others from beginning.",
    "query_memory_bytes": "Sets the memory of the embedded engine for all statements together.",
    "query_disk_bytes": "Sets the size of the embedded engine's temporary files.",
    "result_memory_bytes": "Sets how much of an answer waits for its client in memory.",
    "result_bytes_max": "Sets how much memory the rows of one answer may take.",
    "spark_preload": "Starts Spark with the server, not with the first statement that needs it.",
    "spark_memory_mb": "Sets the heap of Spark, in megabytes.",
    "spark_threads": "Sets the number of cores that Spark uses.",
    "spark_idle_priority": "Gives Spark only the time of spark_threads processors that nothing else on the machine wants.",
    "spark_wait_s_max": "Sets how long a statement waits for a JVM of Spark.",
}
POSTGRES_NAMES = {"host": "listen_addresses", "connections_max": "max_connections", "data_dir": "data_directory"}


def server_settings(config: ServerConfig) -> dict[str, Setting]:
    """Return the settings by name; the address is where the server really listens if config says so."""
    shown = {}
    for field in fields(ServerConfig):
        value = getattr(config, field.name)
        if isinstance(value, bool):
            text, kind = "on" if value else "off", "bool"
        elif isinstance(value, int):
            text, kind = str(value), "integer"
        else:
            text, kind = "" if value is None else f"{value:g}" if isinstance(value, float) else str(value), "string"
        unit = "B" if "_bytes" in field.name else "ms" if field.name.endswith("_ms") else ""
        for name in (field.name, POSTGRES_NAMES.get(field.name)):
            if name is not None:
                shown[name] = Setting(name, text, kind, DESCRIPTIONS[field.name], unit=unit, context="postmaster")
    return shown
