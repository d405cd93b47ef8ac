"""Requests of every provider, compiled from one draft.

A compiler runs the same passes over the same turns (`passes`) under its provider's rules,
then writes them in its provider's form. `docs/providers.md` has the rules.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from .anthropic import RULES as ANTHROPIC
from .anthropic import compile_anthropic
from .bedrock import RULES as BEDROCK
from .bedrock import compile_bedrock
from .deepseek import RULES as DEEPSEEK
from .deepseek import compile_deepseek
from .gemini import RULES as GEMINI
from .gemini import compile_gemini
from .generic_strict import RULES as GENERIC_STRICT
from .generic_strict import compile_generic_strict
from .mistral import RULES as MISTRAL
from .mistral import compile_mistral
from .openai import RULES as OPENAI
from .openai import compile_openai
from .openai_responses import RULES as OPENAI_RESPONSES
from .openai_responses import compile_openai_responses
from .request import Compiled, Compiler, Draft
from .rules import Rules


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider: its name for programs, its label for people, its compiler, its rules."""

    name: str
    label: str
    compile: Compiler
    rules: Rules


_ALL = (
    Provider("openai", "OpenAI Chat", compile_openai, OPENAI),
    Provider(
        "openai-responses",
        "OpenAI Responses",
        compile_openai_responses,
        OPENAI_RESPONSES,
    ),
    Provider("anthropic", "Anthropic", compile_anthropic, ANTHROPIC),
    Provider("gemini", "Gemini", compile_gemini, GEMINI),
    Provider("mistral", "Mistral", compile_mistral, MISTRAL),
    Provider("deepseek", "DeepSeek", compile_deepseek, DEEPSEEK),
    Provider("bedrock", "Bedrock Converse", compile_bedrock, BEDROCK),
    Provider(
        "generic-strict",
        "Strict OpenAI-compatible",
        compile_generic_strict,
        GENERIC_STRICT,
    ),
)
PROVIDERS: Mapping[str, Provider] = MappingProxyType({one.name: one for one in _ALL})


def compile_request(provider: str, draft: Draft) -> Compiled:
    """The request of a draft for a provider. Raises KeyError for a name that none has."""
    return PROVIDERS[provider].compile(draft)
