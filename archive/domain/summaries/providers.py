"""Which models may summarise: a table of providers, and the choice among those that are set up.

An explicit choice always wins. Otherwise it is the fastest model whose provider is set up, then
the small model of the session's own provider, then that of any other. Each choice says why.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from contextstudio.accounts.domain.errors import Invalid, unknown_name


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelProvider:
    """A provider of models: its address, and what sets it up."""

    name: str
    label: str
    base_url: str = ""
    """As the provider's own SDK takes it; if empty, it has to be configured."""
    key_variable: str = ""
    """The server's environment variable that may hold its key."""
    base_variable: str = ""
    """The environment variable that may hold its base URL."""
    form: str = "hosted_vllm"
    """litellm's name for it; the default fits every provider with OpenAI's chat completions."""
    small: str = ""
    """Its small model."""
    is_free: bool = False
    """Whether it is self-hosted: it needs no key, and calls cost nothing."""


OLLAMA = "ollama"
COMPATIBLE = "compatible"
PROVIDERS: Mapping[str, ModelProvider] = {
    one.name: one
    for one in (
        ModelProvider(
            name="cerebras",
            label="Cerebras",
            base_url="https://api.cerebras.ai/v1",
            key_variable="CEREBRAS_API_KEY",
            small="llama3.1-8b",
        ),
        ModelProvider(
            name="xai",
            label="xAI",
            base_url="https://api.x.ai/v1",
            key_variable="XAI_API_KEY",
            small="grok-3-mini",
        ),
        ModelProvider(
            name="groq",
            label="Groq",
            base_url="https://api.groq.com/openai/v1",
            key_variable="GROQ_API_KEY",
            small="llama-3.1-8b-instant",
        ),
        ModelProvider(
            name="openai",
            label="OpenAI",
            base_url="https://api.openai.com/v1",
            key_variable="OPENAI_API_KEY",
            base_variable="OPENAI_API_BASE",
            small="gpt-4.1-mini",
        ),
        ModelProvider(
            name="anthropic",
            label="Anthropic",
            base_url="https://api.anthropic.com",
            key_variable="ANTHROPIC_API_KEY",
            form="anthropic",
            small="claude-haiku-4-5",
        ),
        ModelProvider(
            name="gemini",
            label="Gemini",
            base_url="https://generativelanguage.googleapis.com/v1beta",
            key_variable="GEMINI_API_KEY",
            form="gemini",
            small="gemini-2.5-flash-lite",
        ),
        ModelProvider(
            name="mistral",
            label="Mistral",
            base_url="https://api.mistral.ai/v1",
            key_variable="MISTRAL_API_KEY",
            small="mistral-small-latest",
        ),
        ModelProvider(
            name="deepseek",
            label="DeepSeek",
            base_url="https://api.deepseek.com/v1",
            key_variable="DEEPSEEK_API_KEY",
            small="deepseek-chat",
        ),
        ModelProvider(
            name=OLLAMA,
            label="Ollama",
            base_variable="OLLAMA_API_BASE",
            small="llama3.2",
            is_free=True,
        ),
        ModelProvider(name=COMPATIBLE, label="OpenAI-compatible", is_free=True),
    )
}


class FastModel(NamedTuple):
    """A model that answers fast."""

    provider: str
    model: str
    speed: int
    """Approximate tokens per second."""


FASTEST = (
    FastModel("cerebras", "llama3.1-8b", 2000),
    FastModel("cerebras", "llama-3.3-70b", 1500),
    FastModel("xai", "grok-3-mini", 1200),
    FastModel("xai", "grok-4-1-fast", 1000),
    FastModel("groq", "llama-3.1-8b-instant", 800),
)


class Choice(NamedTuple):
    """The model chosen to summarise; an empty provider means the rules do it."""

    provider: str
    model: str
    why: str

    @property
    def name(self) -> str:
        """`cerebras/llama3.1-8b`, or `rules`."""
        return f"{self.provider}/{self.model}" if self.provider else RULES


RULES = "rules"
"""The digest that needs no model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """An explicit choice, and who made it: `the request`, `this session`, `the project`."""

    provider: str
    model: str
    by: str


def explicit(wanted: Wanted, usable: Mapping[str, str]) -> Choice:
    """The explicit choice. Raises Invalid if that provider or model can't be called.

    `usable` maps each provider that is set up to the model configured for it, if any.
    """
    provider, model = wanted.provider, wanted.model
    if not provider and "/" in model and model.split("/", 1)[0] in PROVIDERS:
        provider, model = model.split("/", 1)
    if provider == RULES:
        return Choice("", "", f"Chosen by {wanted.by}.")
    if provider not in PROVIDERS:
        known = [*PROVIDERS, RULES]
        given = unknown_name("provider", provider, known) if provider else ""
        raise Invalid(
            given or f"Name a provider: one of {', '.join(known)}.", at=["provider"]
        )
    if provider not in usable:
        raise Invalid(
            f"{PROVIDERS[provider].label} is not set up: "
            f"{_missing(PROVIDERS[provider])} is missing.",
            at=["provider"],
            code="provider_not_set",
        )
    model = model or _usual_model(provider, usable)
    if not model:
        raise Invalid(f"Name a model of {PROVIDERS[provider].label}.", at=["model"])
    return Choice(provider, model, f"Chosen by {wanted.by}.")


def _missing(provider: ModelProvider) -> str:
    return "its key" if provider.key_variable else "its base URL"


def _usual_model(provider: str, usable: Mapping[str, str]) -> str:
    fast = next((one.model for one in FASTEST if one.provider == provider), "")
    return usable[provider] or fast or PROVIDERS[provider].small


def candidates(usable: Mapping[str, str], current: str = "") -> list[Choice]:
    """The models that may be called, best choice first, with the rules as the last resort.

    `current` is the provider that the session's own requests last went to.
    """
    found = [
        Choice(
            one.provider,
            one.model,
            f"The fastest model whose provider is set up: about {one.speed:,} tokens/s.",
        )
        for one in FASTEST
        if one.provider in usable
    ]
    named = {one.provider for one in found}
    if current in usable and current not in named:
        why = "The small model of the provider that this session's requests go to."
        found += _small(current, usable, why)
    others: Collection[str] = [one for one in usable if one not in named | {current}]
    for provider in others:
        why = "The only provider that is set up." if len(usable) == 1 else ""
        why = (
            why or f"{PROVIDERS[provider].label} is set up, and no faster provider is."
        )
        found += _small(provider, usable, why)
    return [*found, Choice("", "", "" if found else "No provider is set up.")]


def _small(provider: str, usable: Mapping[str, str], why: str) -> list[Choice]:
    model = usable[provider] or PROVIDERS[provider].small
    return [Choice(provider, model, why)] if model else []
