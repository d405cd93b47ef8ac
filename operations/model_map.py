"""What litellm's packaged map knows of models, read as data.

The module litellm itself is never imported here (DESIGN 8). Whoever reads the map keeps of its
three megabytes only what is needed.
"""

import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_FILE = "model_prices_and_context_window_backup.json"


def read_models() -> dict[str, dict[str, Any]]:
    """The facts of every model by its name; none where the package has no map."""
    spec = find_spec("litellm")
    file = Path(spec.origin).parent / _FILE if spec and spec.origin else None
    if file is None or not file.is_file():
        return {}
    models: dict[str, dict[str, Any]] = json.loads(file.read_bytes())
    return models


def names_of(model: str) -> Iterator[str]:
    """The names under which the map may have a model, the likeliest first."""
    yield from (model, model.lower(), model.rsplit("/", 1)[-1].lower())
