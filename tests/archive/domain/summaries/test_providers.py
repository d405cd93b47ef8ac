"""Who summarises: the table, an explicit choice, the fastest, the session's own provider."""

import pytest

from archive.domain.summaries.providers import (
    FASTEST,
    Wanted,
    candidates,
    explicit,
)
from contextstudio.accounts.domain.errors import Invalid


def test_the_fastest_models_stand_in_the_order_of_their_speed() -> None:
    named = [(f"{one.provider}/{one.model}", one.speed) for one in FASTEST]
    assert named == [
        ("cerebras/llama3.1-8b", 2000),
        ("cerebras/llama-3.3-70b", 1500),
        ("xai/grok-3-mini", 1200),
        ("xai/grok-4-1-fast", 1000),
        ("groq/llama-3.1-8b-instant", 800),
    ]


def test_the_fastest_that_is_set_comes_first_and_says_why() -> None:
    found = candidates({"openai": "", "groq": "", "xai": ""})
    assert [one.name for one in found] == [
        *("xai/grok-3-mini", "xai/grok-4-1-fast", "groq/llama-3.1-8b-instant"),
        *("openai/gpt-4.1-mini", "rules"),
    ]
    assert found[0].why == (
        "The fastest model whose provider is set up: about 1,200 tokens/s."
    )


def test_then_comes_the_small_model_of_the_current_provider() -> None:
    found = candidates({"openai": "", "anthropic": ""}, "anthropic")
    assert [one.provider for one in found] == ["anthropic", "openai", ""]
    assert found[0].model == "claude-haiku-4-5"
    assert "requests go to" in found[0].why
    # The current one's fast model stands in its own place.
    assert candidates({"xai": ""}, "xai")[0].model == "grok-3-mini"


def test_a_model_that_is_named_for_a_provider_is_its_small_one() -> None:
    assert candidates({"compatible": "qwen3"})[0].name == "compatible/qwen3"
    only = candidates({"ollama": ""})[0]
    assert (only.model, only.why) == (
        "llama3.2",
        "The only provider that is set up.",
    )


def test_without_any_provider_the_rules_are_left() -> None:
    (only,) = candidates({})
    assert (only.name, only.why) == (
        "rules",
        "No provider is set up.",
    )


def wanted(provider: str = "", model: str = "") -> Wanted:
    return Wanted(provider=provider, model=model, by="the request")


def test_an_explicit_choice_wins_and_says_who_made_it() -> None:
    usable = {"cerebras": "", "openai": "", "xai": "own"}
    chosen = explicit(wanted("openai", "gpt-5"), usable)
    assert (chosen.name, chosen.why) == ("openai/gpt-5", "Chosen by the request.")
    assert explicit(wanted(model="openai/gpt-5"), usable).name == "openai/gpt-5"
    assert explicit(wanted("cerebras"), usable).name == "cerebras/llama3.1-8b"
    assert explicit(wanted("xai"), usable).name == "xai/own"
    assert explicit(wanted("rules"), {}).name == "rules"


@pytest.mark.parametrize(
    ("choice", "place", "words"),
    [
        (wanted("nobody"), "provider", "no provider nobody"),
        (wanted(model="gpt-5"), "provider", "one of cerebras"),
        (wanted("groq"), "provider", "Groq is not set up: its key is missing."),
        (wanted("ollama"), "provider", "its base URL is missing"),
        (wanted("compatible"), "model", "Name a model"),
    ],
)
def test_a_choice_that_cannot_be_asked_is_refused_at_its_place(
    choice: Wanted, place: str, words: str
) -> None:
    with pytest.raises(Invalid, match=words) as refused:
        explicit(choice, {"compatible": ""})
    assert refused.value.at == (place,)
