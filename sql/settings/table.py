"""The table of settings of a session: name, default, kind, limits, whether changes are reported to
the client.

Names, defaults and limits are PostgreSQL's, so that drivers find what they ask for; `stream_*` are
ours. Must not hold values.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sql.errors import SqlError
from sql.names.dialects import DIALECTS, POSTGRES
from sql.settings.version import POSTGRES_VERSION, POSTGRES_VERSION_NUMBER

INT_MAX = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting.

    Attributes:
        kind: 'bool', 'integer', 'real', 'enum', 'string', 'timezone', 'datestyle', 'encoding',
            'isolation', 'batch' or 'label' (a string of at most 63 bytes in ASCII).
        unit: of a number, 'B', 'kB', '8kB', 'MB', 'ms', 's' or 'min'.
        context: who may set the setting: 'user' any session, 'superuser' superusers, 'internal'
            nobody, 'postmaster' only the configuration of the server.
        reported: changes are sent to the client as ParameterStatus.
    """

    name: str
    default: str
    kind: str
    description: str
    unit: str = ""
    minimum: float = 0
    maximum: float = INT_MAX
    choices: tuple[str, ...] = ()
    context: str = "user"
    reported: bool = False


# Settings that only superusers may see: places of the server's files, and rules of who may connect.
PRIVATE = frozenset({"data_dir", "data_directory", "copy_directory", "hba", "ssl_cert_file", "ssl_key_file"})
# The lowest isolation of a transaction: one snapshot.
SNAPSHOT = "repeatable read"
SERIALIZABLE = "serializable"
LEVELS = (SERIALIZABLE, "repeatable read", "read committed", "read uncommitted")
# The name of what a transaction writes: "producer:number".
BATCH = "antumbra.batch"
MESSAGE_LEVELS = ("debug5", "debug4", "debug3", "debug2", "debug1", "log", "notice", "warning", "error")


def boolean(name: str, default: str, description: str, context: str = "user", reported: bool = False) -> Setting:
    return Setting(name, default, "bool", description, context=context, reported=reported)


def internal(name: str, value: str, description: str, reported: bool = False) -> Setting:
    return Setting(name, value, "string", description, context="internal", reported=reported)


def duration(name: str, description: str) -> Setting:
    return Setting(name, "0", "integer", description, unit="ms")


def enumeration(name: str, default: str, choices: tuple[str, ...], description: str, reported: bool = False) -> Setting:
    return Setting(name, default, "enum", description, choices=choices, reported=reported)


def string(name: str, default: str, description: str, reported: bool = False, kind: str = "string") -> Setting:
    return Setting(name, default, kind, description, reported=reported)


# PostgreSQL's settings of its planner, its memory and the like, which a session can set.
KEPT_FILE = Path(__file__).parent / "kept_settings.json"
NO_EFFECT = "It is kept and shown, without effect."


def kept_settings() -> Iterator[Setting]:
    """Yield the settings that change nothing here."""
    for name, default, kind, description, unit, low, high, choices, context in json.loads(KEPT_FILE.read_text()):
        text = f"{description} {NO_EFFECT}"
        yield Setting(name, default or "", kind, text, unit, low, high, tuple(choices), context)


OWN_SETTINGS: tuple[Setting, ...] = (
    string(BATCH, "", "Names a transaction that writes to streams, as producer:number: a retry of it is not applied again.", kind="batch"),
    enumeration(
        "antumbra.sql_dialect", POSTGRES, (POSTGRES, *DIALECTS),
        "Sets the dialect of SQL in which SELECT and CREATE VIEW are written; other statements are PostgreSQL's.",
    ),
    string("application_name", "", "Sets the application name to be reported in statistics and logs.", reported=True, kind="label"),
    enumeration("backslash_quote", "safe_encoding", ("safe_encoding", "on", "off"), 'Sets whether "\\\'" is allowed in string literals.'),
    internal("block_size", "8192", "Shows the size of a disk block."),
    enumeration("bytea_output", "hex", ("escape", "hex"), "Sets the output format for bytea."),
    boolean("check_function_bodies", "on", "Check routine bodies during CREATE FUNCTION and CREATE PROCEDURE."),
    string("client_encoding", "UTF8", "Sets the client's character set encoding.", reported=True, kind="encoding"),
    enumeration("client_min_messages", "notice", MESSAGE_LEVELS, "Sets the message levels that are sent to the client."),
    string("DateStyle", "ISO, MDY", "Sets the display format for date and time values.", reported=True, kind="datestyle"),
    enumeration(
        "default_stream_join", "frozen", ("frozen", "arrival", "retroactive"),
        "Sets which state of a table the rows of a stream meet in continuous views whose options do not say it.",
    ),
    string("default_table_access_method", "heap", "Sets the default table access method for new tables."),
    string("default_tablespace", "", "Sets the default tablespace to create tables and indexes in."),
    boolean("default_transaction_deferrable", "off", "Sets the default deferrable status of new transactions."),
    string(
        "default_transaction_isolation", SNAPSHOT, "Sets the transaction isolation level of each new transaction.",
        kind="isolation",
    ),
    boolean("default_transaction_read_only", "off", "Sets the default read-only status of new transactions.", reported=True),
    boolean("escape_string_warning", "on", "Warn about backslash escapes in ordinary string literals."),
    Setting(
        "extra_float_digits", "1", "integer", "Sets the number of digits displayed for floating-point values.", minimum=-15, maximum=3
    ),
    duration("idle_in_transaction_session_timeout", "Sets the maximum allowed idle time between queries, when in a transaction."),
    duration("idle_session_timeout", "Sets the maximum allowed idle time between queries, when not in a transaction."),
    Setting("in_hot_standby", "off", "bool", "Shows whether hot standby is currently active.", context="internal", reported=True),
    Setting("integer_datetimes", "on", "bool", "Shows whether datetimes are integer based.", context="internal", reported=True),
    enumeration(
        "IntervalStyle", "postgres", ("postgres", "postgres_verbose", "sql_standard", "iso_8601"),
        "Sets the display format for interval values.", reported=True,
    ),
    Setting("is_superuser", "on", "bool", "Shows whether the current user is a superuser.", context="internal", reported=True),
    internal("lc_collate", "C", "Shows the collation order locale."),
    internal("lc_ctype", "C", "Shows the character classification and case conversion locale."),
    Setting("lc_messages", "C", "string", "Sets the language in which messages are displayed.", context="superuser"),
    string("lc_monetary", "C", "Sets the locale for formatting monetary amounts."),
    string("lc_numeric", "C", "Sets the locale for formatting numbers."),
    string("lc_time", "C", "Sets the locale for formatting date and time values."),
    duration("lock_timeout", "Sets the maximum allowed duration of any wait for a lock."),
    internal("max_identifier_length", "63", "Shows the maximum identifier length."),
    internal("max_index_keys", "32", "Shows the maximum number of index keys."),
    Setting(
        "max_prepared_transactions", "0", "integer", "Sets the maximum number of simultaneously prepared transactions.",
        maximum=262143, context="postmaster",
    ),
    Setting(
        "min_spark_groups", "1", "integer",
        "Sets how many groups of streams a query must have for Spark to run what lies above them; -1: the embedded engine always does.",
        minimum=-1,
    ),
    Setting(
        "min_stream_kernel_size", "65536", "integer",
        "Sets how many bytes of rows a stream must hold for groupings over it to run in kernels, and not over a copy of them.",
        unit="kB",
    ),
    Setting(
        "query_memory_max", "1048576", "integer", "Sets how much memory the rows of streams may take that one query collects.", unit="kB",
        minimum=64,
    ),
    enumeration("password_encryption", "scram-sha-256", ("md5", "scram-sha-256"), "Chooses the algorithm for encrypting passwords."),
    boolean("quote_all_identifiers", "off", "When generating SQL fragments, quote all identifiers."),
    string("role", "none", "Sets the current role."),
    boolean("row_security", "on", "Enable row security."),
    string("search_path", '"$user", public', "Sets the schema search order for names that are not schema-qualified."),
    internal("server_encoding", "UTF8", "Shows the server (database) character set encoding.", reported=True),
    internal("server_version", POSTGRES_VERSION, "Shows the server version.", reported=True),
    internal("server_version_num", str(POSTGRES_VERSION_NUMBER), "Shows the server version as an integer."),
    string("session_authorization", "", "Sets the session user name.", reported=True),
    Setting(
        "session_replication_role", "origin", "enum", "Sets the session's behavior for triggers and rewrite rules.",
        choices=("origin", "replica", "local"), context="superuser",
    ),
    boolean("standard_conforming_strings", "on", "Causes '...' strings to treat backslashes literally.", reported=True),
    duration("statement_timeout", "Sets the maximum allowed duration of any statement."),
    duration("stream_publish_interval", "Makes an autocommit COPY into a stream commit after each such interval; 0: at its end."),
    enumeration("stream_scan_start", "oldest", ("oldest", "latest"), "Sets where the scan of a stream begins."),
    enumeration(
        "stream_string_overflow", "error", ("error", "wait"),
        "Sets what a commit does when a string buffer of a stream has no room for its texts.",
    ),
    duration("stream_timeout", "Ends the scan of a stream when no row has come for so long; 0: at what is there."),
    enumeration(
        "synchronous_commit", "on", ("local", "remote_write", "remote_apply", "on", "off"),
        "Sets the current transaction's synchronization level.",
    ),
    string("TimeZone", "UTC", "Sets the time zone for displaying and interpreting time stamps.", reported=True, kind="timezone"),
    string("timezone_abbreviations", "Default", "Selects a file of time zone abbreviations."),
    boolean("transaction_deferrable", "off", "Whether to defer a read-only serializable transaction until it can be executed."),
    string("transaction_isolation", SNAPSHOT, "Sets the current transaction's isolation level.", kind="isolation"),
    boolean("transaction_read_only", "off", "Sets the current transaction's read-only status."),
    duration("view_staleness", "Lets a SELECT return what views answered no longer ago; 0: they are brought up to date."),
    enumeration("xmloption", "content", ("content", "document"), "Sets whether XML data is a document or a content fragment."),
)  # fmt: skip

TABLE = tuple(sorted((*OWN_SETTINGS, *kept_settings()), key=lambda setting: setting.name.lower()))
BY_NAME: dict[str, Setting] = {setting.name.lower(): setting for setting in TABLE}

# Settings that only superusers may set, with their defaults.
FOR_SUPERUSERS = {name: setting.default for name, setting in BY_NAME.items() if setting.context == "superuser"}

# The settings of a transaction, and the session's defaults for them.
TRANSACTION_DEFAULTS = {
    "transaction_isolation": "default_transaction_isolation",
    "transaction_read_only": "default_transaction_read_only",
    "transaction_deferrable": "default_transaction_deferrable",
}


def private(name: str) -> SqlError:
    """Return the error for a session that may not see a setting."""
    whose = "must be superuser or have privileges of pg_read_all_settings"
    return SqlError("42501", f'{whose} to examine "{name}"')


def canonical_name(name: str) -> str:
    """Return the name of a setting as SHOW writes it above its column."""
    setting = BY_NAME.get(name.lower())
    return name if setting is None else setting.name


def require_settable(setting: Setting, is_superuser: bool) -> None:
    """Raise 55P02 for a setting that no session sets, and 42501 for a setting that this session may
    not set.
    """
    if setting.context == "internal":
        raise SqlError("55P02", f'parameter "{setting.name}" cannot be changed')
    if setting.context == "postmaster":
        raise SqlError("55P02", f'parameter "{setting.name}" cannot be changed without restarting the server')
    if setting.context == "superuser" and not is_superuser:
        raise SqlError("42501", f'permission denied to set parameter "{setting.name}"')
