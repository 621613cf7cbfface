"""Settings: defaults, the file, the command line over the file, and one line for each thing that
can't be.
"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from engine.settings.config import CONFIG_FILE_NAME, MIB, ConfigError, ServerConfig, is_loopback, load_config
from engine.settings.shown import server_settings
from sql.settings.settings import Settings

README = Path(__file__).parents[3] / "engine" / "README.md"


def test_defaults_are_valid_and_the_data_folder_is_absolute(tmp_path: Path) -> None:
    config = load_config({"data_dir": str(tmp_path)}, None)
    assert (config.host, config.port) == ("127.0.0.1", 5433)
    assert load_config({"data_dir": "some/folder"}, None).data_dir == Path.cwd() / "some/folder"


def test_the_file_in_the_data_folder_counts_and_the_command_line_wins(tmp_path: Path) -> None:
    text = "# limits\n\nport = 6000  # of my own\nstage_memory_bytes_max 32MB\nhost = '::1'\n"
    (tmp_path / CONFIG_FILE_NAME).write_text(text)
    config = load_config({"data_dir": str(tmp_path), "port": "7000"}, None)
    assert (config.host, config.port, config.stage_memory_bytes_max) == ("::1", 7000, 32 * MIB)


def test_a_given_file_takes_the_place_of_the_default_one(tmp_path: Path) -> None:
    (tmp_path / CONFIG_FILE_NAME).write_text("port = 6000\n")
    other = tmp_path / "other.conf"
    other.write_text("spark_threads=3\n")
    config = load_config({"data_dir": str(tmp_path)}, other)
    assert (config.port, config.spark_threads) == (5433, 3)


def test_the_log_has_sizes_and_times(tmp_path: Path) -> None:
    file = tmp_path / "log.conf"
    file.write_text(
        "log_segment_bytes = 1MB\ncheckpoint_log_bytes = 16MB\ncheckpoint_interval_s = 0\nlog_flush_interval_ms = 50\n"
    )
    config = load_config({"data_dir": str(tmp_path)}, file)
    assert (config.log_segment_bytes, config.checkpoint_log_bytes) == (MIB, 16 * MIB)
    assert (config.checkpoint_interval_s, config.log_flush_interval_ms) == (0, 50)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("porrt = 1", "line 1: there is no setting porrt; did you mean port?"),
        ("port = many", "port must be a whole number"),
        ("port = 10MB", "not a size in bytes"),
        ("port = 70000", "between 0 and 65535"),
        ("= 3", "expected name = value"),
        ("host = 'open", "expected name = value"),
        ("insecure_trust = perhaps", "must be on or off"),
        ("startup_wait_s_max = soon", "must be a number"),
        ("stream_capacity_default = 1000", "power of two"),
        ("log_segment_bytes = 512kB", "between 1 MB and 1 GB"),
        ("log_segment_bytes = 2GB", "between 1 MB and 1 GB"),
        ("log_segment_bytes = 1048577", "multiple of 4096"),
        ("log_flush_interval_ms = 0", "between 1 and 10000"),
        ("log_flush_interval_ms = 200MB", "not a size in bytes"),
        ("checkpoint_log_bytes = 1MB", "log_segment_bytes can't be more than checkpoint_log_bytes"),
        ("checkpoint_interval_s = -1", "can't be negative"),
        ("copy_block_bytes = 1GB", "can't be more than read_high_water_bytes"),
        ("hba = 'host all all all trust'", "--insecure-trust"),
        ("hba = 'host all all 10.0.0.0/8 trust'", "--insecure-trust"),
        ("hba = 'host all all 10.0.0.1/8 reject'", "host bits set"),
        ("hba = 'host all all all md5'", "the method must be one of trust, scram-sha-256, reject"),
        ("hba = 'host all all trust'", "a rule is TYPE DATABASE USER ADDRESS METHOD"),
        ("hba = 'local all all all trust'", "no Unix-domain sockets"),
        ("ssl_cert_file = a.pem", "go together"),
        ("strangers_max = 0", "must be at least 1"),
        ("strangers_per_address_max = 0", "must be at least 1"),
        ("superuser_reserved_connections = 100", "must be less than connections_max"),
        ("connections_max = 3", "must be less than connections_max"),
    ],
)
def test_one_line_says_what_is_wrong(tmp_path: Path, line: str, complaint: str) -> None:
    file = tmp_path / "bad.conf"
    file.write_text(line + "\n")
    with pytest.raises(ConfigError) as caught:
        load_config({"data_dir": str(tmp_path)}, file)
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_can_not_be_read_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        load_config({}, tmp_path / "absent.conf")
    binary = tmp_path / "binary.conf"
    binary.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="not UTF-8"):
        load_config({}, binary)


@pytest.mark.parametrize("name", ["data_dir", "host"])
def test_an_empty_text_is_no_setting(name: str) -> None:
    with pytest.raises(ConfigError, match=f"the command line: {name} is empty"):
        load_config({name: ""}, None)


def test_other_machines_are_let_in_only_on_demand() -> None:
    assert load_config({"host": "0.0.0.0", "insecure_trust": "on"}, None).host == "0.0.0.0"
    assert [is_loopback(host) for host in ("localhost", "127.0.0.2", "::1", "0.0.0.0", "10.0.0.1", "::", "nas")] == [
        True,
        True,
        True,
        False,
        False,
        False,
        False,
    ]


def test_the_readme_lists_every_setting() -> None:
    text = README.read_text()
    missing = [field.name for field in fields(ServerConfig) if f"`{field.name}`" not in text]
    assert missing == []


def test_sessions_see_every_setting(tmp_path: Path) -> None:
    config = ServerConfig(
        data_dir=tmp_path, port=7, connections_max=4, log_segment_bytes=2 * MIB, checkpoint_interval_s=1.5
    )
    settings = Settings(server=server_settings(config))
    assert {field.name for field in fields(ServerConfig)} <= {name for name, _, _ in settings.show_all()}
    names = (
        "data_directory",
        "port",
        "max_connections",
        "log_segment_bytes",
        "log_flush_interval_ms",
        "checkpoint_interval_s",
    )
    assert [settings.show(name) for name in names] == [str(tmp_path), "7", "4", "2MB", "200ms", "1.5"]
    assert [settings.show(name) for name in ("insecure_trust", "copy_directory")] == ["off", ""]
