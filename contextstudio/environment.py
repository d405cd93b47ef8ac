"""Reads settings from environment variables, and the secret key from its file."""

import os
import secrets
import tempfile
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

PREFIX = "CONTEXTSTUDIO_"
KNOWN = frozenset(
    {
        "CONTEXTSTUDIO_ALLOW_PRIVATE_UPSTREAMS",
        "CONTEXTSTUDIO_DATA_DIR",
        "CONTEXTSTUDIO_DEBUG",
        "CONTEXTSTUDIO_EXECUTOR",
        "CONTEXTSTUDIO_FAILING",  # with …_KEY and …_URL the client's, from the same shell
        "CONTEXTSTUDIO_CACHE_MB",
        "CONTEXTSTUDIO_JOBS_KEPT_DAYS",
        "CONTEXTSTUDIO_KEY",
        "CONTEXTSTUDIO_MEANING_SEARCH",
        "CONTEXTSTUDIO_PRODUCTION",
        "CONTEXTSTUDIO_REQUESTS_PER_MINUTE",
        "CONTEXTSTUDIO_SKIP_SECRETS",
        "CONTEXTSTUDIO_UPSTREAM_TIMEOUT",
        "CONTEXTSTUDIO_URL",
    }
)

SQLITE = "contextstudio.database"
"""The backend for SQLite: Django's own, with a queue of writers."""
LOCK_TIMEOUT, STATEMENT_TIMEOUT = 5_000, 30_000
"""PostgreSQL's limits on waiting for a lock and running a statement, in milliseconds."""
_POOL_TIMEOUT = 5
"""Seconds that a request waits for a connection of the pool, and that the pool tries to connect. By
default the pool tries for five minutes, with pauses that double: after a long outage the database
would be tried again only after as long. Once it has given up, the next request makes it try again.
"""

SILENCE = {
    "connect_timeout": _POOL_TIMEOUT,
    # For a machine that vanished: by default systems probe after two hours, and resend what isn't
    # acknowledged for a quarter of an hour.
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,  # milliseconds
}
"""Options of the driver: after how many seconds it gives up on a silent server."""

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"", "0", "false", "no", "off"})


def refuse_unknown(environment: Mapping[str, str] = os.environ) -> None:
    """Refuse unknown `CONTEXTSTUDIO_*` names: most are misspelled."""
    ours = {name for name in environment if name.startswith(PREFIX)}
    if unknown := sorted(ours - KNOWN):
        raise ImproperlyConfigured(
            f"{unknown[0]} is not a setting of ContextStudio; it knows {', '.join(sorted(KNOWN))}."
        )


def text(name: str, default: str = "") -> str:
    """The value of a variable; an empty one counts as not set."""
    return os.environ.get(name, "").strip() or default


def flag(name: str) -> bool:
    """Whether a variable is true; false if it is not set."""
    value = text(name).lower()
    if value not in _TRUE | _FALSE:
        raise ImproperlyConfigured(f"{name} is {value!r}; it takes 1 or 0.")
    return value in _TRUE


def number(name: str, default: int, *, least: int = 0, most: int = 10**9) -> int:
    """An integer within these bounds."""
    value = text(name, str(default))
    if not (value.isdecimal() and len(value) < 20 and least <= int(value) <= most):
        raise ImproperlyConfigured(
            f"{name} is {value!r}; it takes a whole number from {least} to {most}."
        )
    return int(value)


def words(name: str) -> list[str]:
    return [word.strip() for word in text(name).split(",") if word.strip()]


def host_names(name: str) -> list[str]:
    """Host names as browsers send them, but without a port."""
    hosts = words(name)
    for host in hosts:
        if "/" in host or (":" in host and not host.endswith("]")):
            raise ImproperlyConfigured(
                f"{name} names {host!r}; it takes host names without https:// and port, such as "
                "studio.example, and IPv6 addresses in brackets."
            )
    return hosts


def own_names(host: str) -> list[str]:
    """The names of this machine, and of the address that it listens on."""
    return ["localhost", "127.0.0.1", "[::1]", f"[{host}]" if ":" in host else host]


def redis(name: str) -> str:
    """The URL of a Redis server; empty if it is not set."""
    url = text(name)
    if url and not url.startswith(("redis://", "rediss://")):
        raise ImproperlyConfigured(
            f"{name} must start with redis:// or rediss://, as in redis://127.0.0.1:6379/0."
        )
    return url


def ending_in(*endings: str) -> dict[str, str]:
    """The variables with these suffixes that are not empty."""
    found = {name: text(name) for name in os.environ if name.endswith(endings)}
    return {name: value for name, value in found.items() if value}


def choice(name: str, options: tuple[str, ...]) -> str:
    """One of a few words; the first if it is not set."""
    value = text(name, options[0])
    if value not in options:
        known = " or ".join(options)
        raise ImproperlyConfigured(f"{name} is {value!r}; it takes {known}.")
    return value


def database(url: str, data_dir: Path) -> dict[str, object]:
    """Django's settings for the database of a URL, or for SQLite in the data folder if it is empty.

    Supports `postgresql://user:password@host:port/name?sslmode=require` and `sqlite:///path`. Under
    ASGI `CONN_MAX_AGE` leaks connections, so psycopg's pool keeps them instead.
    """
    try:
        parts = urlsplit(url)
        port = str(parts.port or "")
    except ValueError:
        raise ImproperlyConfigured(
            "DATABASE_URL can't be read. In its password, write /, ? and # as %2F, %3F and %23."
        ) from None
    if not url or parts.scheme == "sqlite":
        own = str(data_dir / "contextstudio.sqlite3")
        name = unquote(parts.path)[1:] if url else own
        return {"ENGINE": SQLITE, "NAME": name}
    if parts.scheme not in ("postgres", "postgresql"):
        raise ImproperlyConfigured(
            "DATABASE_URL must start with postgresql:// (or sqlite:///); "
            f"it starts with {parts.scheme}://."
        )
    # psycopg is loaded only where PostgreSQL is used.
    from .database.bounded_connection import BoundedConnection  # noqa: PLC0415

    query = dict(parse_qsl(parts.query))
    limits = f"-c lock_timeout={LOCK_TIMEOUT} -c statement_timeout={STATEMENT_TIMEOUT}"
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": unquote(parts.hostname or ""),
        "PORT": port,
        "OPTIONS": {
            **SILENCE,
            **query,
            # The URL's own options come last, so they take precedence.
            "options": f"{limits} {query.get('options', '')}".strip(),
            "pool": {
                "connection_class": BoundedConnection,
                "min_size": 2,
                "max_size": 16,
                "timeout": _POOL_TIMEOUT,
                "reconnect_timeout": _POOL_TIMEOUT,
            },
        },
    }


def is_weak(key: str) -> bool:
    """Whether a secret key is guessable: too short, of few distinct characters, or a template's."""
    return len(key) < 50 or len(set(key)) < 10 or key.startswith("django-insecure-")


def secret_key(data_dir: Path) -> str:
    """The key in `<data_dir>/secret_key`, generated and written with mode 0600 if missing."""
    path = data_dir / "secret_key"
    try:
        return path.read_text()
    except FileNotFoundError:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # A temporary file is readable only by its owner from the first moment. It is linked under its
    # final name once it is complete: of many that start at once, one wins.
    with tempfile.NamedTemporaryFile("w", dir=data_dir, prefix=".secret_key.") as draft:
        draft.write(secrets.token_urlsafe(64))
        draft.flush()
        os.fsync(draft.fileno())
        try:
            os.link(draft.name, path)
        except FileExistsError:
            pass
    return path.read_text()
