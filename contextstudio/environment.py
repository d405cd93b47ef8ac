"""What settings are read from: the environment's variables, and the secret key's file."""

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
"""The backend for SQLite: Django's own, behind a line of writers."""
LOCK_TIMEOUT, STATEMENT_TIMEOUT = 5_000, 30_000
"""Milliseconds that PostgreSQL waits for a lock, and lets a statement run."""
_POOL_TIMEOUT = 5
"""Seconds that a request waits for a connection of the pool, and that the pool tries to connect.
By itself it tries for five minutes, after pauses that double: a database that was away for long
would be asked again only after as long. Once it has given up, the next request has it try anew."""

SILENCE = {
    "connect_timeout": _POOL_TIMEOUT,
    # Of a machine that is gone without a word: by themselves systems ask after two hours, and
    # send again what isn't taken for a quarter of one.
    "keepalives": 1,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,  # milliseconds
}
"""Of the driver: after how many seconds a silent server is given up."""

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"", "0", "false", "no", "off"})


def refuse_unknown(environment: Mapping[str, str] = os.environ) -> None:
    """Refuse `CONTEXTSTUDIO_*` names that nothing reads: most are misspelled."""
    ours = {name for name in environment if name.startswith(PREFIX)}
    if unknown := sorted(ours - KNOWN):
        raise ImproperlyConfigured(
            f"{unknown[0]} is not a setting of ContextStudio; it knows {', '.join(sorted(KNOWN))}."
        )


def text(name: str, default: str = "") -> str:
    """The value of a variable; one that is set to nothing counts as not set."""
    return os.environ.get(name, "").strip() or default


def flag(name: str) -> bool:
    """Whether a variable says yes; off where it is not set."""
    value = text(name).lower()
    if value not in _TRUE | _FALSE:
        raise ImproperlyConfigured(f"{name} is {value!r}; it takes 1 or 0.")
    return value in _TRUE


def number(name: str, default: int, *, least: int = 0, most: int = 10**9) -> int:
    """A whole number in these bounds."""
    value = text(name, str(default))
    if not (value.isdecimal() and len(value) < 20 and least <= int(value) <= most):
        raise ImproperlyConfigured(
            f"{name} is {value!r}; it takes a whole number from {least} to {most}."
        )
    return int(value)


def words(name: str) -> list[str]:
    return [word.strip() for word in text(name).split(",") if word.strip()]


def ending_in(*endings: str) -> dict[str, str]:
    """The variables that are called so and set to something."""
    found = {name: text(name) for name in os.environ if name.endswith(endings)}
    return {name: value for name, value in found.items() if value}


def choice(name: str, options: tuple[str, ...]) -> str:
    """One of a few words; the first where it is not set."""
    value = text(name, options[0])
    if value not in options:
        known = " or ".join(options)
        raise ImproperlyConfigured(f"{name} is {value!r}; it takes {known}.")
    return value


def database(url: str, data_dir: Path) -> dict[str, object]:
    """Django's description of the database that a URL names; SQLite in the data folder if none.

    `postgresql://user:password@host:port/name?sslmode=require` and `sqlite:///path` are read.
    Under ASGI `CONN_MAX_AGE` leaks connections, so that psycopg's pool keeps them instead.
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
    # psycopg is loaded where PostgreSQL is used, and nowhere else.
    from .database.silence import BoundedConnection  # noqa: PLC0415

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
            # What a URL says is said last, and counts.
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
    """Whether a secret key can be guessed: too short, of few characters, or a template's."""
    return len(key) < 50 or len(set(key)) < 10 or key.startswith("django-insecure-")


def secret_key(data_dir: Path) -> str:
    """The key in `<data_dir>/secret_key`, drawn and written with mode 0600 if it is not there."""
    path = data_dir / "secret_key"
    try:
        return path.read_text()
    except FileNotFoundError:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # A temporary file is readable by its owner alone from the first moment. It is linked under
    # its name once it is whole: of many that start at once, one wins.
    with tempfile.NamedTemporaryFile("w", dir=data_dir, prefix=".secret_key.") as draft:
        draft.write(secrets.token_urlsafe(64))
        draft.flush()
        os.fsync(draft.fileno())
        try:
            os.link(draft.name, path)
        except FileExistsError:
            pass
    return path.read_text()
