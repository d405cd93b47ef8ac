"""The environment is read strictly: what is misspelled is refused, not passed over."""

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.http.request import split_domain_port, validate_host

from contextstudio import environment


def test_an_unknown_name_of_ours_is_refused_and_the_known_ones_are_listed() -> None:
    with pytest.raises(
        ImproperlyConfigured, match=r"CONTEXTSTUDIO_DATADIR.*CONTEXTSTUDIO_DATA_DIR"
    ):
        environment.refuse_unknown({"CONTEXTSTUDIO_DATADIR": "x", "HOME": "y"})


def test_known_names_and_those_of_others_pass() -> None:
    environment.refuse_unknown({"CONTEXTSTUDIO_DATA_DIR": "x", "CONTEXT": "y"})


@pytest.mark.parametrize(
    ("value", "meant"), [("1", True), ("Yes", True), ("0", False), ("", False)]
)
def test_a_flag_says_yes_or_no(
    monkeypatch: pytest.MonkeyPatch, value: str, meant: bool
) -> None:
    monkeypatch.setenv("FLAG", value)
    assert environment.flag("FLAG") is meant


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (lambda: environment.flag("NAME"), "perhaps"),
        (lambda: environment.number("NAME", 1), "many"),
        (lambda: environment.number("NAME", 1), "-1"),
        (lambda: environment.number("NAME", 1, least=1), "0"),
        (lambda: environment.number("NAME", 1, most=9), "10"),
        (lambda: environment.choice("NAME", ("embedded", "celery")), "cron"),
    ],
)
def test_a_value_of_the_wrong_kind_is_named(
    monkeypatch: pytest.MonkeyPatch, read: object, value: str
) -> None:
    monkeypatch.setenv("NAME", value)
    with pytest.raises(ImproperlyConfigured, match=f"NAME is '{value}'"):
        read()  # type: ignore[operator]


def test_a_variable_set_to_nothing_counts_as_not_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NAME", " ")
    assert environment.text("NAME", "default") == "default"
    assert environment.number("NAME", 8000) == 8000
    assert environment.words("NAME") == []
    assert environment.choice("NAME", ("first", "second")) == "first"


@pytest.mark.parametrize(
    "value", ["studio.example, *.example", ".example", "[fd00::1]", "*", ""]
)
def test_names_of_hosts_are_taken_as_they_are(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("NAME", value)
    assert ", ".join(environment.host_names("NAME")) == value


@pytest.mark.parametrize(
    "host", ["https://studio.example", "studio.example:8443", "fd00::1"]
)
def test_what_is_no_name_of_a_host_is_named(
    monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setenv("NAME", f"localhost,{host}")
    with pytest.raises(ImproperlyConfigured, match=f"NAME names '{host}'"):
        environment.host_names("NAME")


@pytest.mark.parametrize(
    ("host", "asked"),
    [("studio", "studio:8000"), ("fd00::1", "[fd00::1]:8000"), ("", "[::1]:8000")],
)
def test_the_address_it_listens_on_is_a_name_of_its_own(host: str, asked: str) -> None:
    domain, _ = split_domain_port(asked)
    assert validate_host(domain, environment.own_names(host))


def test_a_url_that_is_not_redis_is_refused_without_repeating_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for url in ("", "redis://:secret@host/0", "rediss://host:6380"):
        monkeypatch.setenv("NAME", url)
        assert environment.redis("NAME") == url
    monkeypatch.setenv("NAME", "http://:secret@host")
    with pytest.raises(ImproperlyConfigured, match="NAME must start with") as refusal:
        environment.redis("NAME")
    assert "secret" not in str(refusal.value)


def test_without_a_url_the_database_is_a_file_in_the_data_folder() -> None:
    described = environment.database("", Path("/data"))
    assert described["ENGINE"] == "contextstudio.database"
    assert described["NAME"] == "/data/contextstudio.sqlite3"


def test_a_sqlite_url_names_an_absolute_path() -> None:
    assert environment.database("sqlite:////a/b%20c.db", Path())["NAME"] == "/a/b c.db"


def test_a_postgresql_url_is_read_in_full_and_pooled() -> None:
    described = environment.database(
        "postgresql://us%40er:p%3Aw@db.example:5433/name?sslmode=require", Path()
    )
    options = described.pop("OPTIONS")
    assert described == {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "name",
        "USER": "us@er",
        "PASSWORD": "p:w",
        "HOST": "db.example",
        "PORT": "5433",
    }
    assert isinstance(options, dict)
    assert options["sslmode"] == "require"
    # A pool that tries for longer pauses for longer, and knows late that the database is back.
    assert options["pool"]["reconnect_timeout"] <= options["pool"]["timeout"]
    assert options["options"] == "-c lock_timeout=5000 -c statement_timeout=30000"


def test_a_machine_that_is_gone_without_a_word_is_given_up_within_half_a_minute() -> (
    None
):
    options = environment.database("postgresql://h/name", Path())["OPTIONS"]
    assert isinstance(options, dict)
    probes = options["keepalives_interval"] * options["keepalives_count"]
    assert options["keepalives_idle"] + probes <= 30
    assert options["tcp_user_timeout"] <= 30_000
    assert options["connect_timeout"] <= options["pool"]["timeout"]


def test_what_the_url_says_of_silence_counts() -> None:
    described = environment.database(
        "postgresql://h/name?keepalives_idle=60&connect_timeout=2", Path()
    )
    options = described["OPTIONS"]
    assert isinstance(options, dict)
    assert options["keepalives_idle"] == "60"
    assert options["connect_timeout"] == "2"


def test_the_limits_of_statements_can_be_others() -> None:
    described = environment.database(
        "postgresql://h/name?options=-c%20statement_timeout%3D60000", Path()
    )
    options = described["OPTIONS"]
    assert isinstance(options, dict)
    assert options["options"] == (
        "-c lock_timeout=5000 -c statement_timeout=30000 -c statement_timeout=60000"
    )


@pytest.mark.parametrize("host", ["u:pass/word@h", "h:port", "[::1"])
def test_a_url_that_can_not_be_read_is_refused_without_repeating_it(host: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="can't be read") as refused:
        environment.database(f"postgresql://{host}/name", Path())
    assert host not in str(refused.value)


def test_another_database_is_refused() -> None:
    with pytest.raises(ImproperlyConfigured, match="it starts with mysql://"):
        environment.database("mysql://host/name", Path())
