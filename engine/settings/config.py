"""Every limit and setting of a server, in one frozen value: units in the names, relations between
them checked at start.

Enters: the defaults below, then `antumbra.conf` in the data folder (or the file of --config), then
the command line. Leaves: one ServerConfig. Raises ConfigError with one line for a person. Must not
touch the folders that it names; knows no engine.
"""

from __future__ import annotations

import difflib
import ipaddress
import re
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any, get_type_hints

from engine.settings.hba import Rule, default_rules, read_rules

CONFIG_FILE_NAME = "antumbra.conf"
DATA_DIR_DEFAULT = Path("antumbra-data")
KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB
# A segment's header takes one page, so that records begin at a page.
LOG_PAGE_BYTES = 4 * KIB


class ConfigError(Exception):
    """A setting with a value that can't be.

    The text is one line that names the setting and the place where it was given.
    """


def setting(
    default: Any, description: str, least: float | None = None, most: float | None = None, above: float | None = None
) -> Any:
    """Return the field of one setting.

    description: the text of SHOW about the setting. least, most: the limits of a number, both
    allowed; above: the number must be more than this.
    """
    return field(default=default, metadata={"description": description, "limits": (least, most, above)})


def limit_problem(option: Field[Any], value: Any) -> str | None:
    """Return the error of the value of a setting that passes a limit of its field.

    None where the value keeps to the limits.
    """
    least, most, above = option.metadata["limits"]
    if above is not None and not value > above:
        return f"{option.name} must be more than {above}"
    if (least is None or least <= value) and (most is None or value <= most):
        return None
    low, high = (amount(option.name, limit) for limit in (least, most))
    if least is not None and most is not None:
        return f"{option.name} must be between {low} and {high}"
    if most is not None:
        return f"{option.name} can't be more than {high}"
    return f"{option.name} must be at least {low}" if least else f"{option.name} can't be negative"


def amount(name: str, value: float | None) -> str:
    """Return a limit as a person writes it: a size in bytes in the largest unit in which it is a
    whole number.
    """
    if value is not None and "_bytes" in name:
        for unit, size in (("GB", GIB), ("MB", MIB), ("kB", KIB)):
            if value >= size and value % size == 0:
                return f"{value // size} {unit}"
    return str(value)


# Pairs of settings; the first can't be more than the second.
NOT_MORE_THAN = (
    ("copy_block_bytes", "read_high_water_bytes"),
    ("read_high_water_bytes", "message_bytes_max"),
    ("copy_block_bytes", "stage_memory_bytes_max"),
    ("log_segment_bytes", "checkpoint_log_bytes"),
    ("result_memory_bytes", "result_bytes_max"),
)


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """The settings of one server. The table in engine/README.md says when to change which."""

    # The address, and who may connect from where: rules as in pg_hba.conf, see engine.settings.hba.
    # Without rules, passwords are asked for when other machines can connect.
    host: str = setting("127.0.0.1", "Sets the address to listen on.")
    port: int = setting(5433, "Sets the TCP port the server listens on.", least=0, most=65_535)
    insecure_trust: bool = setting(False, "Lets other machines connect although nobody is asked for a password.")
    hba: str = setting("", "Sets who may connect from where, and by which method.")
    ssl_cert_file: Path | None = setting(None, "Location of the SSL server certificate file.")
    ssl_key_file: Path | None = setting(None, "Location of the SSL server private key file.")

    data_dir: Path = setting(DATA_DIR_DEFAULT, "Sets the server's data directory.")
    copy_directory: Path | None = setting(None, "Sets the folder whose files COPY may read and write.")

    # Clients.
    connections_max: int = setting(100, "Sets the maximum number of concurrent connections.", least=1)
    superuser_reserved_connections: int = setting(3, "Sets the number of connection slots reserved for superusers.")
    strangers_max: int = setting(400, "Sets how many clients may be connected that are not let in yet.", least=1)
    strangers_per_address_max: int = setting(100, "Sets how many of those may come from one address.", least=1)
    startup_wait_s_max: float = setting(
        60.0, "Sets how many seconds a new connection may take to say who it is.", above=0
    )
    shutdown_wait_s_max: float = setting(
        10.0, "Sets how many seconds running statements are waited for at shutdown.", least=0
    )

    # Bytes on their way in and out, per connection, and the bytes of its prepared statements and
    # portals.
    message_bytes_max: int = setting(
        256 * MIB, "Sets the size of the largest message that a client may send.", most=GIB
    )
    read_high_water_bytes: int = setting(
        4 * MIB, "Sets how much of what a client has sent may wait before its socket is not read."
    )
    write_high_water_bytes: int = setting(
        1 * MIB, "Sets how much of its replies a client may leave before its statements wait.", least=64 * KIB
    )
    session_memory_bytes: int = setting(
        256 * MIB, "Sets how much memory the prepared statements and portals of one session may take.", least=MIB
    )
    copy_block_bytes: int = setting(1 * MIB, "Sets how much of a COPY is decoded at once.", least=4 * KIB)

    # Streams without OPTIONS; stream_string_bytes_default is the size of each of a stream's two
    # string buffers. A statement's rows wait in memory up to stage_memory_bytes_max, then in a
    # file, until COMMIT. Memory of rows that have gone waits for new rows; the system may take it
    # back.
    stream_capacity_default: int = setting(
        65_536, "Sets how many rows the ring of a stream keeps without OPTIONS (capacity ...)."
    )
    stream_string_bytes_default: int = setting(
        256 * MIB, "Sets the size of each string buffer of a stream without OPTIONS (string_capacity ...).", least=KIB
    )
    stage_memory_bytes_max: int = setting(
        64 * MIB, "Sets the memory for the rows of one uncommitted statement; beyond it they wait in a file."
    )
    kept_memory_bytes_max: int = setting(
        2 * GIB, "Sets how much memory of dropped streams and of past rows may wait for new ones."
    )

    # The log of rows that streams have accepted. log_flush_interval_ms: how long synchronous_commit
    # = off may leave commits in memory. A checkpoint is made after so many bytes of log, and after
    # so much time; 0: never by time.
    log_segment_bytes: int = setting(64 * MIB, "Sets the size of one file of the log.", least=MIB, most=GIB)
    log_flush_interval_ms: int = setting(
        200, "Sets how often the log is written and synced for synchronous_commit = off.", least=1, most=10_000
    )
    checkpoint_log_bytes: int = setting(1 * GIB, "Sets after how much log a checkpoint is written.")
    checkpoint_interval_s: float = setting(
        300.0, "Sets after how many seconds a checkpoint is written; 0: never by time.", least=0
    )

    batch_producer_ttl: float = setting(
        604_800.0, "Sets after how many seconds without a batch a producer of batches is forgotten; 0: never.", least=0
    )

    # Views. At most so many statements with many groups wait for the next refresh of a view. What
    # would pass view_bytes_max is refused with 53200, as what would pass max_bytes of one view.
    # Merged groups of a view beyond view_memory_bytes are in files without names.
    view_queue_max: int = setting(
        16, "Sets how many large statements may wait for a view's next refresh.", least=1, most=10_000
    )

    view_bytes_max: int = setting(
        0, "Sets how many bytes the groups and join tables of all continuous views may take; 0: no limit.", least=0
    )

    view_memory_bytes: int = setting(
        0, "Sets how many bytes of the groups of one view are kept in memory, the others in files; 0: all.", least=0
    )

    # Versions of views whose numbers were asked for, for changes_of: so many of one view, and so
    # many bytes of all together.
    kept_versions_max: int = setting(64, "Sets how many versions of one view are kept for changes_of.", least=0)
    kept_versions_bytes: int = setting(
        256 * MIB, "Sets how much memory the versions of all views may take that are kept for changes_of.", least=0
    )

    # Kernels are compiled in processes of their own; each may take so much memory, and so much
    # processor time for a kernel.
    compile_memory_bytes: int = setting(
        2 * GIB, "Sets how much memory a process that compiles queries may take.", least=512 * MIB
    )
    compile_s_max: float = setting(120.0, "Sets how much processor time compiling one query may take.", above=0)

    # Reads and tables. query_memory_bytes: the memory that the embedded engine may use for all
    # statements together; query_disk_bytes: the temporary files beyond that. An answer's rows wait
    # for the client in memory up to result_memory_bytes, in a file up to result_bytes_max.
    # worker_threads: statements that compute at once while their turns last; a statement that is
    # not done after worker_turn_ms goes on, but keeps no other from beginning.
    worker_threads: int = setting(
        8, "Sets how many statements compute at once while their turns last.", least=1, most=256
    )
    worker_turn_ms: int = setting(
        50, "Sets how long a statement that computes keeps others from beginning.", least=1, most=60_000
    )
    query_memory_bytes: int = setting(
        1 * GIB, "Sets the memory of the embedded engine for all statements together.", least=64 * MIB
    )
    table_rows_bytes: int = setting(
        256 * MIB, "Sets how much memory rows of tables may take that are often read by key.", least=0
    )
    query_disk_bytes: int = setting(16 * GIB, "Sets the size of the embedded engine's temporary files.", least=0)
    result_memory_bytes: int = setting(
        64 * MIB, "Sets how much of an answer waits for its client in memory.", least=MIB
    )
    result_bytes_max: int = setting(2 * GIB, "Sets how much memory the rows of one answer may take.")

    # Spark, which runs the upper pipelines of views. spark_preload: Spark is started with the
    # server, not by the first statement that needs it. spark_idle_priority: Spark has only time of
    # so many processors that nothing else wants. spark_wait_s_max: how long a statement waits for a
    # JVM, the first or the next one; the pipelines of fewer groups than cold_upper_groups do not.
    spark_preload: bool = setting(True, "Starts Spark with the server, not with the first statement that needs it.")
    spark_memory_mb: int = setting(1024, "Sets the heap of Spark, in megabytes.", least=512)
    spark_threads: int = setting(
        2, "Sets how many pipelines begin in Spark at once, beside those that take long.", least=1, most=256
    )
    spark_idle_priority: bool = setting(
        False, "Gives Spark only the time of spark_threads processors that nothing else on the machine wants."
    )
    spark_wait_s_max: float = setting(120.0, "Sets how long a statement waits for a JVM of Spark.", above=0)
    cold_upper_groups: int = setting(
        10_000, "Sets below how many groups the embedded engine answers while Spark is not there; 0: never.", least=0
    )

    def __post_init__(self) -> None:
        for problem in self._problems():
            raise ConfigError(problem)

    def _problems(self) -> list[str]:
        """Return the errors of these values, in the order of the fields."""
        rules = (
            (
                self.copy_directory is None or apart(self.copy_directory, self.data_dir),
                "copy_directory and data_dir must lie apart, since clients may write what is below copy_directory",
            ),
            (
                self.superuser_reserved_connections < self.connections_max,
                "superuser_reserved_connections must be less than connections_max",
            ),
            ((self.ssl_cert_file is None) == (self.ssl_key_file is None), "ssl_cert_file and ssl_key_file go together"),
            (is_power_of_two(self.stream_capacity_default), "stream_capacity_default must be a power of two"),
            (self.log_segment_bytes % LOG_PAGE_BYTES == 0, f"log_segment_bytes must be a multiple of {LOG_PAGE_BYTES}"),
            *(
                (getattr(self, less) <= getattr(self, more), f"{less} can't be more than {more}")
                for less, more in NOT_MORE_THAN
            ),
        )
        limits = [limit_problem(option, getattr(self, option.name)) for option in fields(self)]
        unmet = [text for holds, text in rules if not holds]
        return [problem for problem in limits if problem] + unmet + self._rule_problems()

    def _rule_problems(self) -> list[str]:
        try:
            rules = read_rules(self.hba)
        except ValueError as error:
            return [f"hba: {error}"]
        if not self.insecure_trust and any(rule.trusts_others for rule in rules):
            return ["hba trusts other machines without a password; allow it with --insecure-trust"]
        return []

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules of who may connect from where."""
        return read_rules(self.hba) or default_rules(not is_loopback(self.host), self.insecure_trust)


def load_config(given: Mapping[str, str], file: Path | None) -> ServerConfig:
    """Return the settings of `file`, overridden by those `given`.

    Without `file`, the file in the data folder counts if it exists.
    """
    if file is None:
        default = Path(given.get("data_dir", str(DATA_DIR_DEFAULT))) / CONFIG_FILE_NAME
        from_file = read_file(default) if default.is_file() else {}
    else:
        from_file = read_file(file)
    values = {name: parse_value(name, text, "the command line") for name, text in given.items()}
    merged = {**from_file, **values}
    data_dir = merged.get("data_dir", DATA_DIR_DEFAULT)
    assert isinstance(data_dir, Path)
    merged["data_dir"] = data_dir.expanduser().absolute()
    return ServerConfig(**merged)  # type: ignore[arg-type]  # parse_value returns each field's own type


def read_file(path: Path) -> dict[str, object]:
    """Return the settings in a file of `name = value` lines, as in postgresql.conf: # starts a
    comment, quotes are optional.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"can't read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text") from error
    values: dict[str, object] = {}
    for number, line in enumerate(text.splitlines(), 1):
        where = f"{path} line {number}"
        match = LINE.fullmatch(line)
        if match is None:
            raise ConfigError(f"{where}: expected name = value")
        name, quoted, plain = match.groups()
        if name is None:
            continue
        value = parse_value(name, quoted.replace("''", "'") if quoted is not None else plain, where)
        # Rules may have a line each; of all other settings the last line counts.
        values[name] = f"{values[name]}; {value}" if name == "hba" and name in values else value
    return values


LINE = re.compile(r"\s*(?:([A-Za-z_]\w*)\s*=?\s*(?:'((?:[^']|'')*)'|([^\s'#]+))\s*)?(?:#.*)?")
SIZE = re.compile(r"(\d+)\s*(B|kB|MB|GB)?")
UNIT_BYTES = {None: 1, "B": 1, "kB": KIB, "MB": MIB, "GB": GIB}
BOOLEANS = {"on": True, "true": True, "yes": True, "1": True, "off": False, "false": False, "no": False, "0": False}


def parse_value(name: str, text: str, where: str) -> object:
    """Return the value of the setting `name`, in its field's type.

    Raises ConfigError that names `where`.
    """
    kinds = get_type_hints(ServerConfig)
    if name not in kinds or name not in {option.name for option in fields(ServerConfig)}:
        near = difflib.get_close_matches(name, kinds, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise ConfigError(f"{where}: there is no setting {name}{hint}")
    kind = kinds[name]
    if kind in (Path, str) and not text:
        # An empty path would be the folder that the command was called in.
        raise ConfigError(f"{where}: {name} is empty")
    if kind is Path:
        return Path(text)
    if kind == Path | None:
        return Path(text).expanduser().absolute() if text else None
    if kind is bool:
        if text.lower() not in BOOLEANS:
            raise ConfigError(f"{where}: {name} must be on or off, not {text!r}")
        return BOOLEANS[text.lower()]
    if kind is int:
        return parse_count(name, text, where)
    if kind is float:
        try:
            return float(text)
        except ValueError:
            raise ConfigError(f"{where}: {name} must be a number, not {text!r}") from None
    return text


def parse_count(name: str, text: str, where: str) -> int:
    """Return a whole number; a size in bytes may carry kB, MB or GB."""
    match = SIZE.fullmatch(text.strip())
    if match is None:
        raise ConfigError(f"{where}: {name} must be a whole number that is not negative, not {text!r}")
    count, unit = match.groups()
    if unit is not None and "_bytes" not in name:
        raise ConfigError(f"{where}: {name} is not a size in bytes, so it takes no {unit}")
    return int(count) * UNIT_BYTES[unit]


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can connect to `host`."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def apart(one: Path, other: Path) -> bool:
    """Tell whether neither of two folders is the other, or lies in it."""
    first, second = one.resolve(), other.resolve()
    return not first.is_relative_to(second) and not second.is_relative_to(first)


def is_power_of_two(number: int) -> bool:
    """Tell whether `number` is 1, 2, 4, 8, ..."""
    return number > 0 and number & (number - 1) == 0
