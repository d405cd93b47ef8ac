"""How much each model takes: from the price map that litellm packages, read as data.

The module litellm itself is never imported here (DESIGN 8).
"""

import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path

_FILE = "model_prices_and_context_window_backup.json"


def context_window(model: str) -> int | None:
    """The most tokens that a model reads, or None for one that the map doesn't know."""
    windows = _windows()
    for name in (model, model.lower(), model.rsplit("/", 1)[-1].lower()):
        if name in windows:
            return windows[name]
    return None


@cache
def _windows() -> dict[str, int]:
    spec = find_spec("litellm")
    file = Path(spec.origin).parent / _FILE if spec and spec.origin else None
    if file is None or not file.is_file():
        return {}
    known = json.loads(file.read_bytes())
    return {
        name: facts["max_input_tokens"]
        for name, facts in known.items()
        if isinstance(facts.get("max_input_tokens"), int)
        and facts["max_input_tokens"] > 0
    }
