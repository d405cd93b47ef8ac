"""`manage.py serve`: it starts by itself, says where it is, and stops when asked."""

import re
import secrets
import signal
import socket
import sqlite3
import string
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
import yaml
from django.conf import settings
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from archive.domain.summaries.providers import PROVIDERS
from contextstudio import environment as product_environment
from contextstudio.accounts.server_address import load_address, stored_address
from tests.servers import (
    PATIENCE_SECONDS,
    ROOT,
    Server,
    StartServer,
    environment,
    push,
    started_copy,
    stopped_copy,
)


def refused(*command: str, is_full: bool = False, **changes: str) -> str:
    """What a command (a start) that is refused says: one line, no traceback, exit code 1.

    With `is_full` no file can grow, as on a full disk.
    """
    limit = ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh"] if is_full else []
    done = subprocess.run(
        [*limit, sys.executable, "manage.py", *(command or ("serve",))],
        cwd=ROOT,
        env=environment(**changes),
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_SECONDS,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    sentence = done.stderr.strip()
    assert sentence.endswith(".")
    assert "\n" not in sentence
    return sentence


@pytest.fixture(scope="module")
def server(start_server: StartServer) -> Server:
    return start_server(fresh=True)


def status_of(address: str) -> int:
    """What somebody without a cookie is answered."""
    return httpx.get(address, timeout=PATIENCE_SECONDS).status_code


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=PATIENCE_SECONDS) as asking:
        yield asking


def test_the_link_it_prints_signs_the_owner_in_once(
    server: Server, client: httpx.Client
) -> None:
    assert server.link.startswith(f"{server.url}/sign-in/")
    link = server.link
    assert client.get(link).status_code == status_of(link) == 200
    answer = push(client, link)
    assert (answer.status_code, answer.headers["location"]) == (302, "/")
    assert client.get("/settings/keys/").status_code == 200
    assert status_of(server.link) == 410


def test_a_key_from_the_command_line_comes_in(
    server: Server, client: httpx.Client
) -> None:
    key = server.key("read")
    assert key.startswith("cs_")
    assert len(key.split()) == 1
    headers = {"Authorization": f"Bearer {key}"}
    assert client.get("/api/sessions", headers=headers).status_code == 200
    body = {"project": "demo"}
    made = client.post("/api/sessions", json=body, headers=headers)
    assert made.status_code == 403


def test_connect_names_the_port_that_the_server_has(server: Server) -> None:
    """Whoever starts it by `PORT=8010 make run` asks for the settings in another shell."""
    told = server.environment() | {"PORT": "8000"}
    done = subprocess.run(
        [sys.executable, "manage.py", "connect", "--client", "openai"],
        cwd=ROOT,
        env=told,
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE_SECONDS,
    )
    assert f"{server.url}/v1" in done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the limit")
def test_it_asks_for_as_many_connections_as_it_may_have(server: Server) -> None:
    assert server.process is not None
    limits = Path(f"/proc/{server.process.pid}/limits").read_text()
    (line,) = [one for one in limits.splitlines() if one.startswith("Max open files")]
    soft, hard = line.split()[3:5]
    assert hard == "unlimited" or int(soft) == min(int(hard), 65_536)


def test_static_files_come_from_where_they_lie(
    client: httpx.Client,
) -> None:
    answer = client.get("/static/css/base/tokens.css")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/css")
    assert answer.headers["cache-control"] == "max-age=0, public"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.text == (ROOT / "static/css/base/tokens.css").read_text()
    again = client.get(
        "/static/css/base/tokens.css",
        headers={"If-Modified-Since": answer.headers["last-modified"]},
    )
    assert again.status_code == 304
    picture = client.get("/static/pictures/sessions.png")
    assert picture.content == (ROOT / "docs/pictures/sessions.png").read_bytes()
    assert client.get("/static/../manage.py").status_code == 404
    assert client.get("/static/%2e%2e/manage.py").status_code == 404


def test_the_jobs_beside_it_are_done(client: httpx.Client) -> None:
    statuses = [client.get("/readyz").status_code]
    while statuses[-1] != 200 and len(statuses) < 2000:
        statuses.append(client.get("/readyz").status_code)
    assert statuses[-1] == 200


def test_another_host_or_origin_reaches_nothing(
    server: Server, client: httpx.Client
) -> None:
    assert client.get("/healthz", headers={"Host": "evil.example"}).status_code == 400
    static = client.get("/static/css/base/tokens.css", headers={"Host": "evil.example"})
    assert static.status_code == 400
    foreign = {"Origin": "https://evil.example"}
    assert client.post("/api/sessions", headers=foreign).status_code == 403
    for origin in (None, "https://evil.example"):
        with pytest.raises(InvalidStatus) as refusal:
            connect(server.url.replace("http", "ws"), origin=origin)  # type: ignore[arg-type]
        assert refusal.value.response.status_code == 403


def test_a_key_is_not_its_own_servers_secret(server: Server) -> None:
    secret = server.folder / "secret_key"
    assert secret.stat().st_mode & 0o777 == 0o600
    assert secret.read_text() not in server.log


@pytest.mark.sqlite
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_stops_cleanly_and_starts_again_with_a_new_link(
    start_server: StartServer, number: int
) -> None:
    server = start_server()
    first = server.link
    assert server.stop(number) == 0
    assert "Traceback" not in server.log
    server.start()
    assert server.link != first
    assert status_of(first) == 410
    assert status_of(server.link) == 200


WARMING_UP = """
import django, fastokens
django.setup()
from django.core.management import call_command
from contextstudio.management.commands import serve
def load(encoding):
    for _ in range(100):
        fastokens.Tokenizer.from_tiktoken("bytes.tiktoken", encoding=encoding)
serve.WARMING = ((0, load),)
call_command("serve")
"""
"""A server that warms up for some seconds, and comes back from Rust every few milliseconds."""


@pytest.mark.sqlite
def test_it_stops_cleanly_while_it_warms_up(
    first_start: Server, tmp_path: Path
) -> None:
    vocabulary = tmp_path / "bytes.tiktoken"
    lines = (f"{b64encode(bytes([rank])).decode()} {rank}" for rank in range(256))
    vocabulary.write_text("\n".join(lines))
    for server in stopped_copy(first_start, tmp_path / "warming"):
        server.program = "-c", WARMING_UP.replace("bytes.tiktoken", str(vocabulary))
        server.variables["DJANGO_SETTINGS_MODULE"] = "contextstudio.settings"
        server.start()
        assert server.stop(signal.SIGTERM) == 0, server.log


@pytest.mark.sqlite
@pytest.mark.parametrize(("named", "status"), [("127.0.0.1", 302), ("10.0.0.1", 403)])
def test_it_is_used_over_https_behind_the_proxy_that_is_named(
    first_start: Server, tmp_path: Path, named: str, status: int
) -> None:
    folder = tmp_path / "behind"
    for server in started_copy(first_start, folder, FORWARDED_ALLOW_IPS=named):
        headers = {
            "Origin": server.url.replace("http:", "https:"),
            "X-Forwarded-Proto": "https",
        }
        with httpx.Client(headers=headers, timeout=PATIENCE_SECONDS) as browser:
            answer = server.sign_in(browser)
        assert answer.status_code == status
        assert ("FORWARDED_ALLOW_IPS" in answer.text) == (status == 403)


@pytest.mark.sqlite
def test_a_killed_server_starts_again(start_server: StartServer) -> None:
    server = start_server()
    server.kill()
    assert status_of(server.start().link) == 200


@pytest.mark.sqlite
def test_a_second_server_on_the_same_data_is_kept_out(server: Server) -> None:
    changes = {"CONTEXTSTUDIO_DATA_DIR": str(server.folder), "PORT": "0"}
    sentence = refused(**changes)
    assert server.process is not None
    number = server.process.pid  # not that of an earlier start
    assert sentence.startswith(f"Another ContextStudio server (process {number}) ")
    assert str(server.folder) in sentence


@pytest.mark.sqlite
def test_a_taken_port_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        sentence = refused(CONTEXTSTUDIO_DATA_DIR=str(tmp_path), PORT=str(port))
    assert sentence.startswith(f"Port {port} of 127.0.0.1 can't be used: ")


@pytest.mark.sqlite
def test_an_address_of_another_machine_is_named_and_not_its_port(
    tmp_path: Path,
) -> None:
    folder = str(tmp_path)
    sentence = refused(CONTEXTSTUDIO_DATA_DIR=folder, HOST="192.0.2.1", PORT="0")
    assert sentence.startswith("Port 0 of 192.0.2.1 can't be used: ")
    assert sentence.endswith("Set HOST to an address of this machine.")


@pytest.mark.sqlite
def test_a_port_that_is_none_is_named(tmp_path: Path) -> None:
    sentence = refused(CONTEXTSTUDIO_DATA_DIR=str(tmp_path), PORT="70000")
    assert "70000" in sentence


def test_a_database_that_can_not_be_opened_is_named(tmp_path: Path) -> None:
    (tmp_path / "contextstudio.sqlite3").write_text("This is no database. " * 100)
    sentence = refused(CONTEXTSTUDIO_DATA_DIR=str(tmp_path), PORT="0")
    assert str(tmp_path / "contextstudio.sqlite3") in sentence
    assert "file is not a database" in sentence


@pytest.mark.sqlite
@pytest.mark.parametrize("command", [("serve",), ("create_project", "boats")])
def test_a_database_server_that_does_not_answer_is_named(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    """In one line, which says why."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    sentence = refused(
        *command,
        CONTEXTSTUDIO_DATA_DIR=str(tmp_path),
        DATABASE_URL=f"postgresql://127.0.0.1:{port}/nothing",
        PORT="0",
    )
    assert re.fullmatch(
        "The database nothing can't be used: connection .*: Connection refused.",
        sentence,
    )


@pytest.mark.sqlite
@pytest.mark.parametrize("command", ["serve", "sign_in_link"])
def test_a_database_on_a_full_disk_is_named(tmp_path: Path, command: str) -> None:
    folder = {"CONTEXTSTUDIO_DATA_DIR": str(tmp_path), "PORT": "0"}
    sentence = refused(command, **folder, SECRET_KEY="k" * 60, is_full=True)
    assert sentence.startswith(f"The database {tmp_path / 'contextstudio.sqlite3'} ")


@pytest.mark.sqlite
def test_a_server_runs_without_a_place_for_its_address(tmp_path: Path) -> None:
    with stored_address(tmp_path / "full", "http://127.0.0.1:8000"):
        assert load_address(tmp_path / "full") is None


@pytest.mark.sqlite
def test_a_database_of_a_newer_version_is_refused(
    first_start: Server, tmp_path: Path
) -> None:
    for server in stopped_copy(first_start, tmp_path / "newer"):
        name = server.folder / "contextstudio.sqlite3"
        with closing(sqlite3.connect(name, isolation_level=None)) as database:
            database.execute(
                "INSERT INTO django_migrations (app, name, applied)"
                " VALUES ('operations', '9999_later', '2030-01-01')"
            )
        folder = {"CONTEXTSTUDIO_DATA_DIR": str(server.folder)}
        started = refused(PORT="0", **folder)
        assert started.startswith(f"The database {name} was made by a newer version")
        assert "another version" in refused("verify", **folder)


@pytest.mark.sqlite
def test_a_data_folder_that_can_not_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for secret in ({}, {"SECRET_KEY": "given"}):
        sentence = refused(
            CONTEXTSTUDIO_DATA_DIR=str(tmp_path / "file" / "data"), PORT="0", **secret
        )
        assert sentence.startswith("The data folder ")


@pytest.mark.sqlite
def test_a_misspelled_setting_is_named(tmp_path: Path) -> None:
    assert "CONTEXTSTUDIO_DATADIR" in refused(CONTEXTSTUDIO_DATADIR=str(tmp_path))


@pytest.mark.sqlite
def test_production_needs_its_own_key_and_names() -> None:
    sentence = refused(CONTEXTSTUDIO_PRODUCTION="1")
    assert sentence == "In production SECRET_KEY and ALLOWED_HOSTS must be set."


@pytest.mark.sqlite
@pytest.mark.parametrize(
    "key", ["short", "a" * 80, "django-insecure-" + string.ascii_letters]
)
def test_in_production_a_weak_secret_key_is_refused(key: str) -> None:
    sentence = refused(
        CONTEXTSTUDIO_PRODUCTION="1", SECRET_KEY=key, ALLOWED_HOSTS="studio.example"
    )
    assert sentence.startswith("SECRET_KEY is too weak")


@pytest.mark.sqlite
def test_djangos_check_of_a_deployment_finds_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=ROOT,
        env=environment(
            CONTEXTSTUDIO_PRODUCTION="1",
            CONTEXTSTUDIO_DATA_DIR=str(tmp_path),
            SECRET_KEY=secrets.token_urlsafe(64),
            ALLOWED_HOSTS="studio.example",
        ),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_word_of_one_named_proxy_is_taken() -> None:
    compose = (ROOT / "compose.yaml").read_text()
    (named,) = re.findall(r"--forwarded-allow-ips (\S+)", compose)
    assert named != "*"
    assert f"ipv4_address: {named} " in compose
    assert not hasattr(settings, "SECURE_PROXY_SSL_HEADER") or (
        settings.SECURE_PROXY_SSL_HEADER is None
    )


def test_the_keys_of_every_provider_reach_the_processes_that_call_them_or_show_them() -> (
    None
):
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    for name in ("web", "provider-worker"):
        given = services[name]["environment"]
        assert given["CONTEXTSTUDIO_PRODUCTION"] == "1"
        # One that is null is taken from the shell that calls docker compose.
        passed_on = {variable for variable, value in given.items() if value is None}
        keys = {provider.key_variable for provider in PROVIDERS.values()}
        assert passed_on >= keys - {""}
    assert None not in services["worker"]["environment"].values()


def test_the_database_takes_the_connections_of_every_process() -> None:
    compose = (ROOT / "compose.yaml").read_text()
    (web,) = re.findall(r"--workers (\d+)", compose)
    # A worker of Celery's is one process more than it has jobs at once.
    workers = [
        int(number) + 1 for number in re.findall(r"--concurrency (\d+)", compose)
    ]
    described = product_environment.database("postgresql://h/name", Path())["OPTIONS"]
    assert isinstance(described, dict)
    (most,) = re.findall(r"max_connections=(\d+)", compose)
    needed = described["pool"]["max_size"] * (int(web) + sum(workers))
    assert int(most) > needed


@pytest.mark.sqlite
def test_celery_needs_a_broker(tmp_path: Path) -> None:
    changes = {"CONTEXTSTUDIO_DATA_DIR": str(tmp_path), "REDIS_URL": ""}
    assert "REDIS_URL" in refused(CONTEXTSTUDIO_EXECUTOR="celery", **changes)


@pytest.mark.sqlite
def test_a_command_says_that_the_database_is_empty(tmp_path: Path) -> None:
    folder = {"CONTEXTSTUDIO_DATA_DIR": str(tmp_path)}
    sentence = refused("create_user", "ada", **folder)
    assert sentence.startswith("The database is empty. Run `manage.py migrate` first")


def test_a_command_says_where_its_arguments_are_wrong(server: Server) -> None:
    with pytest.raises(subprocess.CalledProcessError) as failed:
        server.command("tool", "digest_messages", '{"session_id": "x"}')
    faults = dict(line.split(": ", 1) for line in failed.value.stderr.splitlines())
    assert faults["summary"] == "Field required."
    assert "valid UUID" in faults["session_id"]
