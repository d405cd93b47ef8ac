"""The address of a data folder's server, kept for commands whose own PORT may differ."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

_FILE = "server.address"
_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  # as this machine reaches it


def address_of(host: str, port: int) -> str:
    """`http://127.0.0.1:8000`: the address at which this machine reaches the server."""
    host = _ANY.get(host, host)
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


@contextlib.contextmanager
def stored_address(folder: Path, address: str) -> Iterator[None]:
    """Store the server's address in the data folder until the context ends.

    On a full disk it isn't stored: the server can still be read.
    """
    file = folder / _FILE
    with contextlib.suppress(OSError):
        file.write_text(address)
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


def load_address(folder: Path) -> str | None:
    """The address of the server, which may have been killed since; None if none runs."""
    try:
        return (folder / _FILE).read_text().strip() or None
    except OSError:
        return None
