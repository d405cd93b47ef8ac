"""The passes that every compiler runs, one after the other."""

from operations.domain.providers.turns import Turn
from threads.domain.formats.requests import SYSTEM_GAP

from .cleaning import clean
from .media import without_media
from .pairing import paired
from .reading import turns_of
from .signatures import settled
from .turn_order import alternated, joined_results
from .unsupported import with_whole_blocks
from .work import Work


def prepared(work: Work) -> list[Turn]:
    """The turns to write, in which all of the provider's rules hold."""
    turns = without_media(paired(turns_of(work), work), work)
    turns = settled(turns, work, _arranged)
    return joined_results(turns) if work.rules.results_by_user else turns


def _arranged(turns: list[Turn], work: Work) -> list[Turn]:
    """Speakers in turn, then nothing halved of what a provider ran itself in one of them."""
    return with_whole_blocks(alternated(turns, work), work)


def system_of(work: Work) -> str:
    """The words of all layers as one system prompt; empty where there are none."""
    words = (layer.text for layer in work.draft.layers if layer.text.strip())
    return str(clean(SYSTEM_GAP.join(words)))
