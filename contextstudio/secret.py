"""The secret key: drawn at the first start, kept in the data folder for its owner alone."""

import os
import secrets
import tempfile
from pathlib import Path


def secret_key(data_dir: Path) -> str:
    """The key in `<data_dir>/secret_key`, drawn and written with mode 0600 if it is not there."""
    path = data_dir / "secret_key"
    try:
        return path.read_text()
    except FileNotFoundError:
        return _draw(path)


def _draw(path: Path) -> str:
    """Write a new key under another name and link it: of many that start at once, one wins."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # A temporary file is readable by its owner alone from the first moment.
    with tempfile.NamedTemporaryFile(
        "w", dir=path.parent, prefix=".secret_key."
    ) as draft:
        draft.write(secrets.token_urlsafe(64))
        draft.flush()
        os.fsync(draft.fileno())
        try:
            os.link(draft.name, path)
        except FileExistsError:
            pass
    return path.read_text()
