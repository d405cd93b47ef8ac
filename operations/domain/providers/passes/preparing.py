"""The passes that every compiler runs, one after the other."""

from operations.domain.providers.request import Draft
from operations.domain.providers.rules import Rules
from operations.domain.providers.turns import Turn
from threads.domain.formats.requests import SYSTEM_GAP

from .cleaning import clean
from .halves import with_whole_blocks
from .media import without_media
from .pairing import paired
from .reading import turns_of
from .signatures import settled
from .turn_order import alternated
from .work import Work


def prepared(draft: Draft, rules: Rules) -> tuple[list[Turn], Work]:
    """The turns to write, in which all of the provider's rules hold, and what was found."""
    work = Work(draft, rules)
    turns = without_media(paired(turns_of(work), work), work)
    return settled(turns, work, _arranged), work


def _arranged(turns: list[Turn], work: Work) -> list[Turn]:
    """Speakers in turn, then nothing halved of what a provider ran itself in one of them."""
    return with_whole_blocks(alternated(turns, work), work)


def system_of(draft: Draft) -> str:
    """The words of all layers as one system prompt; empty where there are none."""
    words = (layer.text for layer in draft.layers if layer.text.strip())
    return str(clean(SYSTEM_GAP.join(words)))
