"""Where the server of a data folder listens: kept for commands, which may be told another PORT."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

_FILE = "server.address"
_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  # as this machine reaches it


def address_of(host: str, port: int) -> str:
    """`http://127.0.0.1:8000`, as this machine reaches what listens there."""
    host = _ANY.get(host, host)
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


@contextlib.contextmanager
def keeping_address(folder: Path, address: str) -> Iterator[None]:
    """Keep in the data folder where its server listens, until it ends."""
    file = folder / _FILE
    file.write_text(address)
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


def kept_address(folder: Path) -> str | None:
    """Where its server listens, or did if it was killed; None where none runs."""
    try:
        return (folder / _FILE).read_text().strip() or None
    except OSError:
        return None
