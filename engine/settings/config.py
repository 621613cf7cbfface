"""Every limit and setting of a server, in one frozen value: units in the names, relations between them checked at start.

Enters: the defaults below, then `antumbra.conf` in the data folder (or the file of --config), then the command line. Leaves: one
ServerConfig. Raises ConfigError with one line for a person. Must not touch the folders it names; knows no engine.
"""

from __future__ import annotations

import difflib
import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import get_type_hints

from engine.settings.hba import Rule, default_rules, read_rules

CONFIG_FILE_NAME = "antumbra.conf"
DATA_DIR_DEFAULT = Path("antumbra-data")
KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB
# A segment's header takes one, so that records begin at a page.
LOG_PAGE_BYTES = 4 * KIB


class ConfigError(Exception):
    """A setting that can't be; the text is one line that names it and where it was given."""


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """The settings of one server. The table in engine/README.md says when to change which."""

    # The address, and who may connect from where: rules as in pg_hba.conf, see engine.settings.hba. Without rules, passwords are asked
    # for when other machines can connect.
    host: str = "127.0.0.1"
    port: int = 5433
    insecure_trust: bool = False
    hba: str = ""
    ssl_cert_file: Path | None = None
    ssl_key_file: Path | None = None

    data_dir: Path = DATA_DIR_DEFAULT
    copy_directory: Path | None = None

    # Clients.
    connections_max: int = 100
    superuser_reserved_connections: int = 3
    strangers_max: int = 400
    strangers_per_address_max: int = 100
    startup_wait_s_max: float = 60.0
    shutdown_wait_s_max: float = 10.0

    # Bytes on their way in and out, per connection, and what its prepared statements and portals may take.
    message_bytes_max: int = 256 * MIB
    read_high_water_bytes: int = 4 * MIB
    write_high_water_bytes: int = 1 * MIB
    session_memory_bytes: int = 256 * MIB
    copy_block_bytes: int = 1 * MIB

    # How long the next statement of a client that waits for its COMMITs is looked for before the server sleeps; 0: not at all.

    # Streams: what one has without OPTIONS; stream_string_bytes_default is of each of its two string buffers. A statement's rows wait in
    # memory up to stage_memory_bytes_max, then in a file, until COMMIT. Memory of rows that have gone waits for new ones, which the system
    # may take back.
    stream_capacity_default: int = 65_536
    stream_string_bytes_default: int = 256 * MIB
    stage_memory_bytes_max: int = 64 * MIB
    kept_memory_bytes_max: int = 2 * GIB

    # The log of what streams have accepted. log_flush_interval_ms: how long synchronous_commit = off may leave commits in memory. A
    # checkpoint is made after so many bytes of log, and after so much time; 0: never by time.
    log_segment_bytes: int = 64 * MIB
    log_flush_interval_ms: int = 200
    checkpoint_log_bytes: int = 1 * GIB
    checkpoint_interval_s: float = 300.0

    # Views. Statements of many groups wait for the next refresh of a view, so many of them at most.
    view_queue_max: int = 16

    # Kernels are compiled in processes of their own, which may take so much memory each, and so much processor time for a kernel.
    compile_memory_bytes: int = 2 * GIB
    compile_s_max: float = 120.0

    # Reads and tables. query_memory_bytes is what the embedded engine may use for all statements together, and query_disk_bytes what it
    # may put into temporary files beyond that. An answer's rows wait for the client in memory up to result_memory_bytes, in a file up to
    # result_bytes_max.
    # worker_threads: statements that compute at once while their turns last; who is not done after worker_turn_ms goes on, but keeps
    # nobody else from beginning.
    worker_threads: int = 8
    worker_turn_ms: int = 50
    query_memory_bytes: int = 1 * GIB
    query_disk_bytes: int = 16 * GIB
    result_memory_bytes: int = 64 * MIB
    result_bytes_max: int = 2 * GIB

    # Spark, which runs the upper pipelines of views. spark_preload: it is started with the server, not by the first statement that needs
    # it. spark_idle_priority: it has only the time of so many processors that nothing else wants.
    # spark_wait_s_max: how long a statement waits for a JVM, the first or the next one.
    spark_preload: bool = True
    spark_memory_mb: int = 1024
    spark_threads: int = 2
    spark_idle_priority: bool = False
    spark_wait_s_max: float = 120.0

    def __post_init__(self) -> None:
        for problem in self._problems():
            raise ConfigError(problem)

    def _problems(self) -> list[str]:
        """Return what is wrong with these values, in the order of the fields."""
        rules = (
            (0 <= self.port <= 65_535, "port must be between 0 and 65535"),
            (
                self.copy_directory is None or apart(self.copy_directory, self.data_dir),
                "copy_directory and data_dir must lie apart, since clients may write what is below copy_directory",
            ),
            (self.connections_max >= 1, "connections_max must be at least 1"),
            (
                self.superuser_reserved_connections < self.connections_max,
                "superuser_reserved_connections must be less than connections_max",
            ),
            (self.strangers_max >= 1, "strangers_max must be at least 1"),
            (self.strangers_per_address_max >= 1, "strangers_per_address_max must be at least 1"),
            (
                (self.ssl_cert_file is None) == (self.ssl_key_file is None),
                "ssl_cert_file and ssl_key_file go together",
            ),
            (self.startup_wait_s_max > 0, "startup_wait_s_max must be more than 0"),
            (self.shutdown_wait_s_max >= 0, "shutdown_wait_s_max can't be negative"),
            (self.copy_block_bytes >= 4 * KIB, "copy_block_bytes must be at least 4096"),
            (self.write_high_water_bytes >= 64 * KIB, "write_high_water_bytes must be at least 65536"),
            (self.session_memory_bytes >= MIB, "session_memory_bytes must be at least 1 MB"),
            (
                self.copy_block_bytes <= self.read_high_water_bytes,
                "copy_block_bytes can't be more than read_high_water_bytes",
            ),
            (
                self.read_high_water_bytes <= self.message_bytes_max,
                "read_high_water_bytes can't be more than message_bytes_max",
            ),
            (self.message_bytes_max <= 1 * GIB, "message_bytes_max can't be more than 1 GB"),
            (is_power_of_two(self.stream_capacity_default), "stream_capacity_default must be a power of two"),
            (self.stream_string_bytes_default >= KIB, "stream_string_bytes_default must be at least 1024"),
            (
                self.stage_memory_bytes_max >= self.copy_block_bytes,
                "stage_memory_bytes_max can't be less than copy_block_bytes",
            ),
            (MIB <= self.log_segment_bytes <= GIB, "log_segment_bytes must be between 1 MB and 1 GB"),
            (self.log_segment_bytes % LOG_PAGE_BYTES == 0, f"log_segment_bytes must be a multiple of {LOG_PAGE_BYTES}"),
            (1 <= self.log_flush_interval_ms <= 10_000, "log_flush_interval_ms must be between 1 and 10000"),
            (
                self.checkpoint_log_bytes >= self.log_segment_bytes,
                "checkpoint_log_bytes can't be less than log_segment_bytes",
            ),
            (self.checkpoint_interval_s >= 0, "checkpoint_interval_s can't be negative"),
            (1 <= self.view_queue_max <= 10_000, "view_queue_max must be between 1 and 10000"),
            (self.compile_memory_bytes >= 512 * MIB, "compile_memory_bytes must be at least 512 MB"),
            (self.compile_s_max > 0, "compile_s_max must be more than 0"),
            (1 <= self.worker_threads <= 256, "worker_threads must be between 1 and 256"),
            (1 <= self.worker_turn_ms <= 60_000, "worker_turn_ms must be between 1 and 60000"),
            (self.query_memory_bytes >= 64 * MIB, "query_memory_bytes must be at least 64 MB"),
            (self.query_disk_bytes >= 0, "query_disk_bytes can't be negative"),
            (self.result_memory_bytes >= MIB, "result_memory_bytes must be at least 1 MB"),
            (
                self.result_bytes_max >= self.result_memory_bytes,
                "result_bytes_max can't be less than result_memory_bytes",
            ),
            (self.spark_memory_mb >= 512, "spark_memory_mb must be at least 512"),
            (self.spark_wait_s_max > 0, "spark_wait_s_max must be more than 0"),
            (1 <= self.spark_threads <= 256, "spark_threads must be between 1 and 256"),
        )
        return [text for holds, text in rules if not holds] + self._rule_problems()

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
        """Who may connect from where."""
        return read_rules(self.hba) or default_rules(not is_loopback(self.host), self.insecure_trust)


def load_config(given: Mapping[str, str], file: Path | None) -> ServerConfig:
    """Return the settings of `file`, overridden by those `given`. Without `file`, the one in the data folder counts if it exists."""
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
    """Return the settings in a file of `name = value` lines, as in postgresql.conf: # starts a comment, quotes are optional."""
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
    """Return the value of the setting `name`, in its field's type. Raises ConfigError that names `where`."""
    kinds = get_type_hints(ServerConfig)
    if name not in kinds or name not in {field.name for field in fields(ServerConfig)}:
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
