"""SET, RESET, SHOW, LOCAL, startup parameters, and what a rollback undoes."""

from __future__ import annotations

import pytest

import engine.dialect.client_encodings  # noqa: F401  # which registers encodings
from sql.errors import SqlError
from sql.settings.settings import Settings
from sql.settings.table import Setting, canonical_name
from sql.times.input_styles import USUAL, InputStyles


def test_defaults_and_startup_parameters() -> None:
    settings = Settings.for_startup(
        {
            "user": "ann",
            "database": "antumbra",
            "client_encoding": "'utf-8'",
            "DateStyle": "ISO",
            "application_name": "psql",
            "options": r"-c statement_timeout=5min --TimeZone=europe/berlin -cmy.note=a\ b",
        }
    )
    assert settings.show("statement_timeout") == "5min"
    assert settings.statement_timeout_ms == 300_000
    assert settings.time_zone == "Europe/Berlin"
    assert settings.show("MY.note") == "a b"
    reports = dict(settings.reports())
    assert reports["client_encoding"] == "UTF8"
    assert reports["session_authorization"] == "ann"
    assert reports["TimeZone"] == "Europe/Berlin"
    settings.set("timezone", "UTC")
    settings.set("timezone", None)
    assert settings.time_zone == "Europe/Berlin"


@pytest.mark.parametrize(
    ("parameters", "sqlstate"),
    [
        ({"nope": "1"}, "42704"),
        ({"server_version": "9"}, "55P02"),
        ({"options": "nonsense"}, "42601"),
        ({"TimeZone": "Mars"}, "22023"),
    ],
)
def test_bad_startup_parameters_are_fatal(parameters: dict[str, str], sqlstate: str) -> None:
    with pytest.raises(SqlError) as raised:
        Settings.for_startup({"user": "ann", **parameters})
    assert (raised.value.sqlstate, raised.value.severity) == (sqlstate, "FATAL")


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("statement_timeout", "90000", "90s"),
        ("statement_timeout", "1.5s", "1500ms"),
        ("statement_timeout", "0", "0"),
        ("stream_publish_interval", "100ms", "100ms"),
        ("work_mem", "64MB", "64MB"),
        ("work_mem", "1000", "1000kB"),
        ("jit", "FALSE", "off"),
        ("jit", "y", "on"),
        ("client_min_messages", "WARNING", "warning"),
        ("synchronous_commit", "no", "off"),
        ("synchronous_commit", "TRUE", "on"),
        ("synchronous_commit", "Remote_Apply", "remote_apply"),
        ("DateStyle", "iso, mdy", "ISO, MDY"),
        ("TimeZone", "america/new_york", "America/New_York"),
        ("extra_float_digits", "-3", "-3"),
        ("client_encoding", "sql-ascii", "SQL_ASCII"),
        ("client_encoding", "Utf-8", "UTF8"),
        ("client_encoding", "iso_8859-15", "LATIN9"),
        ("standard_conforming_strings", "of", "off"),
        ("timezone", "utf8", "UTF8"),
        ("timezone", "<a>-05:30", "<A>-05:30"),
        ("timezone", "-3.5", "<-03:30>+03:30"),
        ("timezone", " 1e1", "<+10>-10"),
        ("timezone", "0", "<+00>-00"),
        ("client_encoding", "windows1252", "WIN1252"),
        ("default_transaction_isolation", "Repeatable Read", "repeatable read"),
    ],
)
def test_values_are_shown_in_postgres_form(name: str, value: str, shown: str) -> None:
    settings = Settings()
    settings.set(name, value)
    assert settings.show(name) == shown


@pytest.mark.parametrize(
    ("name", "value", "sqlstate", "message"),
    [
        ("nope", "1", "42704", 'unrecognized configuration parameter "nope"'),
        ("timezone", "168", "22023", 'invalid value for parameter "TimeZone": "168"'),
        ("timezone", "-2:60", "22023", 'invalid value for parameter "TimeZone": "-2:60"'),
        ("timezone", "-02:00:01", "22023", 'time zone "-02:00:01" appears to use leap seconds'),
        ("timezone", "EST5EDT4", "0A000", "the time zone EST5EDT4 is not supported yet"),
        ("timezone", "Mars", "22023", 'invalid value for parameter "TimeZone": "Mars"'),
        ("statement_timeout", "5x", "22023", 'invalid value for parameter "statement_timeout": "5x"'),
        ("statement_timeout", "-1", "22023",
         '-1 ms is outside the valid range for parameter "statement_timeout" (0 .. 2147483647)'),
        ("jit", "maybe", "22023", 'parameter "jit" requires a Boolean value'),
        ("synchronous_commit", "t", "22023", 'invalid value for parameter "synchronous_commit": "t"'),
        ("client_min_messages", "loud", "22023", 'invalid value for parameter "client_min_messages": "loud"'),
        ("server_version", "1", "55P02", 'parameter "server_version" cannot be changed'),
        ("client_encoding", "SJIS", "0A000", 'client_encoding "SJIS" is not supported yet'),
        ("backslash_quote", "off", "0A000", "backslash_quote = off is not supported yet"),
        ("backslash_quote", "0", "0A000", "backslash_quote = off is not supported yet"),
        ("backslash_quote", "none", "22023", 'invalid value for parameter "backslash_quote": "none"'),
        ("client_encoding", "LATIN99", "22023", 'invalid value for parameter "client_encoding": "LATIN99"'),
    ],
)  # fmt: skip
def test_bad_values(name: str, value: str, sqlstate: str, message: str) -> None:
    settings = Settings()
    with pytest.raises(SqlError) as raised:
        settings.set(name, value)
    assert (raised.value.sqlstate, raised.value.message) == (sqlstate, message)


def test_settings_of_the_server_are_only_shown() -> None:
    size = Setting("log_segment_bytes", "67108864", "integer", "Sets the size.", unit="B", context="postmaster")
    settings = Settings(server={size.name: size})
    assert settings.show("LOG_SEGMENT_BYTES") == "64MB"
    assert ["log_segment_bytes", "64MB", "Sets the size."] in settings.show_all()
    assert ("log_segment_bytes", "64MB") in settings.captured().variables
    with pytest.raises(SqlError) as raised:
        settings.set("log_segment_bytes", "1")
    assert raised.value.message == 'parameter "log_segment_bytes" cannot be changed without restarting the server'
    settings.reset_all()
    assert settings.show("log_segment_bytes") == "64MB"


@pytest.mark.parametrize("value", ["1" * 400, "0x" + "f" * 400, "1e999", "9" * 100_000, "1e308d"])
@pytest.mark.parametrize("name", ["statement_timeout", "TimeZone", "extra_float_digits", "work_mem"])
def test_numbers_that_no_float_holds(name: str, value: str) -> None:
    with pytest.raises(SqlError) as raised:
        Settings().set(name, value)
    # Rules of POSIX are not supported.
    assert raised.value.sqlstate == ("0A000" if name == "TimeZone" and not value.isdigit() else "22023")


def test_the_name_of_an_application_is_cut_as_postgres_does() -> None:
    settings = Settings()
    settings.set("application_name", "x" * 100)
    assert settings.show("application_name") == "x" * 63
    settings.set("application_name", "é\n" + "y" * 62)
    assert settings.show("application_name") == "???" + "y" * 60


def test_close_names_are_hinted() -> None:
    with pytest.raises(SqlError) as raised:
        Settings().show("timezon")
    assert raised.value.hint == 'Perhaps you meant the parameter "timezone".'


def test_rollback_undoes_and_commit_keeps() -> None:
    settings = Settings()
    settings.begin()
    settings.set("timezone", "Asia/Tokyo")
    settings.rollback()
    assert settings.time_zone == "UTC"
    settings.set("timezone", "Asia/Tokyo")
    settings.commit()
    settings.rollback()
    assert settings.time_zone == "Asia/Tokyo"


def test_local_ends_with_the_transaction() -> None:
    settings = Settings()
    settings.begin()
    settings.set("timezone", "Asia/Tokyo", local=True)
    assert settings.time_zone == "Asia/Tokyo"
    settings.set("timezone", "Europe/Paris")
    assert settings.time_zone == "Europe/Paris"
    settings.set("timezone", "Asia/Tokyo", local=True)
    settings.commit()
    assert settings.time_zone == "Europe/Paris"


def test_output_forms() -> None:
    settings = Settings()
    assert settings.shown == ("UTC", "postgres", "hex", 1, "ISO, MDY")
    for name, value in (
        ("IntervalStyle", "ISO_8601"),
        ("bytea_output", "escape"),
        ("extra_float_digits", "0"),
        ("DateStyle", "german"),
    ):
        settings.set(name, value)
        with pytest.raises(SqlError, match="22023"):
            settings.set(name, "nonsense")
    assert settings.shown == ("UTC", "iso_8601", "escape", 0, "German, DMY")


def test_input_styles() -> None:
    settings = Settings()
    assert settings.input_styles == USUAL
    settings.set("DateStyle", "ymd")
    settings.set("IntervalStyle", "sql_standard")
    assert settings.input_styles == InputStyles("YMD", "sql_standard")
    assert settings.captured().input_styles == settings.input_styles
    assert [family for family in ("date", "timetz", "interval", "text", "int4") if settings.input_styles.reads_otherwise(family)] == [
        "date", "timetz", "interval"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "shown"),
    [("German", "German, DMY"), ("german, mdy", "German, MDY"), ("sql", "SQL, YMD"), ("European", "ISO, DMY"), ("NonEuro", "ISO, MDY"),
     ("default", "ISO, MDY"), ("default, german", "German, DMY"), ("german, default", "German, MDY"), ("postgresql", "Postgres, YMD"),
     ("", "ISO, YMD"), ('"SQL", "us"', "SQL, MDY")],
)  # fmt: skip
def test_date_styles(value: str, shown: str) -> None:
    settings = Settings()
    settings.set("DateStyle", "iso, ymd")
    settings.set("DateStyle", value)
    assert settings.show("datestyle") == shown


@pytest.mark.parametrize(
    ("value", "detail"),
    [("a b", "List syntax is invalid."), ("iso,", "List syntax is invalid."), ("iso, x", 'Unrecognized key word: "x".'),
     ("iso, sql", 'Conflicting "datestyle" specifications.'), ("us, euro", 'Conflicting "datestyle" specifications.')],
)  # fmt: skip
def test_bad_date_styles(value: str, detail: str) -> None:
    with pytest.raises(SqlError, match="22023") as error:
        Settings().set("DateStyle", value)
    assert error.value.detail == detail


@pytest.mark.parametrize(
    ("value", "waits"),
    [("on", True), ("local", True), ("remote_write", True), ("remote_apply", True), ("yes", True), ("1", True),
     ("off", False), ("0", False), ("false", False)],
)  # fmt: skip
def test_all_values_of_synchronous_commit_but_off_wait_for_the_log(value: str, waits: bool) -> None:
    settings = Settings.for_startup({"user": "ann", "options": f"-c synchronous_commit={value}"})
    other = "off" if waits else "local"
    seen = [settings.waits_for_log]
    settings.begin()
    settings.set("synchronous_commit", other, local=True)
    seen.append(settings.waits_for_log)
    settings.commit()
    seen.append(settings.waits_for_log)
    settings.set("synchronous_commit", other)
    seen.append(settings.waits_for_log)
    settings.set("synchronous_commit", None)
    seen.append(settings.waits_for_log)
    assert seen == [waits, not waits, waits, not waits, waits]
    assert Settings().waits_for_log


def test_transaction_modes() -> None:
    settings = Settings()
    assert settings.show("transaction_isolation") == "repeatable read"
    settings.begin(["isolation level read committed", "read only"])
    assert settings.show("transaction_isolation") == "read committed"
    assert settings.show("transaction_read_only") == "on" and settings.read_only
    settings.commit()
    assert settings.show("transaction_read_only") == "off"
    settings.set("session characteristics", "isolation level serializable")
    seen = [settings.is_serializable]
    settings.begin(["isolation level repeatable read"])
    seen.append(settings.is_serializable)
    settings.commit()
    assert [*seen, settings.is_serializable] == [True, False, True]


def test_only_changes_are_reported() -> None:
    settings = Settings()
    settings.reports()
    assert settings.changed_reports() == []
    settings.set("application_name", "x")
    settings.set("timezone", "Asia/Tokyo", local=True)
    assert settings.changed_reports() == [("application_name", "x"), ("TimeZone", "Asia/Tokyo")]
    assert settings.changed_reports() == []
    settings.rollback()
    assert settings.changed_reports() == [("application_name", ""), ("TimeZone", "UTC")]


def test_captured_is_the_same_object_until_a_setting_changes() -> None:
    settings = Settings("ann", "antumbra", 7)
    first = settings.captured()
    assert settings.captured() is first
    settings.set("jit", "off")
    assert settings.captured() is not first
    assert (first.user, first.process_id, dict(settings.captured().variables)["jit"]) == ("ann", 7, "off")


def test_reset_all_show_all_and_messages() -> None:
    settings = Settings()
    settings.set("client_min_messages", "error")
    assert not settings.lets_through("NOTICE")
    assert not settings.lets_through("WARNING")
    assert settings.lets_through("INFO")
    settings.set("all", None)
    assert settings.lets_through("NOTICE")
    names = [name for name, _, _ in settings.show_all()]
    assert names == sorted(names, key=str.lower)
    assert canonical_name("TIMEZONE") == "TimeZone"
