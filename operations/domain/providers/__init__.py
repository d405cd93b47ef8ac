"""Compiles a draft to a request of any provider.

The same passes run over the same turns (`passes`) under the provider's rules; then its writer
puts them in its form. `docs/providers.md` has the rules.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from threads.domain.formats.requests import SYSTEM_GAP

from . import anthropic, bedrock, chat, gemini, openai_responses
from .passes.cleaning import clean
from .passes.media import with_whole_blocks, without_media
from .passes.pairing import pair_results
from .passes.reading import read_turns
from .passes.signatures import without_invalid_reasoning
from .passes.turn_order import alternate_speakers, join_results
from .passes.work import Findings, Work, findings_to_issues
from .request import Compiled, Draft, Written
from .rules import Rules
from .signed_places import Break
from .turns import Turn, keys_of


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider: its name for programs, its label for people, its rules and its writer."""

    name: str
    label: str
    rules: Rules
    write: Callable[[list[Turn], Work, str], Written]
    """Writes prepared turns and the system prompt."""


_ALL = (
    Provider("openai", "OpenAI Chat", chat.OPENAI, chat.write_chat),
    Provider(
        "openai-responses",
        "OpenAI Responses",
        openai_responses.RULES,
        openai_responses.write_responses,
    ),
    Provider("anthropic", "Anthropic", anthropic.RULES, anthropic.write_anthropic),
    Provider("gemini", "Gemini", gemini.RULES, gemini.write_gemini),
    Provider("mistral", "Mistral", chat.MISTRAL, chat.write_chat),
    Provider("deepseek", "DeepSeek", chat.DEEPSEEK, chat.write_chat),
    Provider("bedrock", "Bedrock Converse", bedrock.RULES, bedrock.write_bedrock),
    Provider(
        "generic-strict",
        "Strict OpenAI-compatible",
        chat.GENERIC_STRICT,
        chat.write_chat,
    ),
)
PROVIDERS: Mapping[str, Provider] = MappingProxyType({one.name: one for one in _ALL})


def compile_request(provider: str, draft: Draft) -> Compiled:
    """Compile a draft for a provider. Raises KeyError if there is no provider of that name."""
    return compile_portion(provider, draft).compiled


class CompiledPortion(NamedTuple):
    """A compiled request, or part of one, with what is needed to join it to others."""

    compiled: Compiled
    findings: Findings
    breaks: tuple[Break, ...]
    """See `Work.breaks`; ascending."""


def compile_portion(provider: str, draft: Draft) -> CompiledPortion:
    """Compile messages that may be only part of a request: see `Draft.is_followed`."""
    found = PROVIDERS[provider]
    work = Work(draft, found.rules)
    turns, prompt = _prepare(work), _system_of(work)
    request, messages, system, sources = found.write(turns, work, prompt)
    issues = findings_to_issues(work.findings)
    origins = tuple(map(keys_of, sources))
    compiled = Compiled(
        request, messages, system, origins, sources, issues, tuple(turns), prompt
    )
    return CompiledPortion(compiled, work.findings, tuple(sorted(work.breaks)))


def _prepare(work: Work) -> list[Turn]:
    """The turns to write, satisfying all of the provider's rules."""
    turns = without_media(pair_results(read_turns(work), work), work)
    turns = without_invalid_reasoning(turns, work, _arrange)
    return join_results(turns) if work.rules.results_by_user else turns


def _arrange(turns: list[Turn], work: Work) -> list[Turn]:
    """Make speakers alternate, then describe halves of tool runs that the provider ran itself."""
    return with_whole_blocks(alternate_speakers(turns, work), work)


def _system_of(work: Work) -> str:
    """The text of all layers as one system prompt; empty if there is none."""
    words = (layer.text for layer in work.draft.layers if layer.text.strip())
    return str(clean(SYSTEM_GAP.join(words)))
