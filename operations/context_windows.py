"""How much each model takes, from the map of models."""

from functools import cache

from .model_map import names_of, read_models


def context_window(model: str) -> int | None:
    """The most tokens that a model reads, or None for one that the map doesn't know."""
    windows = _windows()
    return next((windows[name] for name in names_of(model) if name in windows), None)


@cache
def _windows() -> dict[str, int]:
    return {
        name: facts["max_input_tokens"]
        for name, facts in read_models().items()
        if isinstance(facts.get("max_input_tokens"), int)
        and facts["max_input_tokens"] > 0
    }
