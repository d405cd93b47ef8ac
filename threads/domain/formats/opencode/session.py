"""What is known of a session of opencode, however its messages are stored."""

import re
from collections.abc import Callable, Iterable
from typing import Any

from threads.domain.formats.io import fields
from threads.domain.formats.kit.items import Item
from threads.domain.formats.kit.transcripts import first_messages, title_of
from threads.domain.message import Message
from threads.domain.transcript import Parent, Relation, Transcript, Warning

NAME = "opencode"
LABEL = "an opencode session"
_UNNAMED = re.compile(r"(New|Child) session - \d{4}-")
"""How a title begins that nobody gave."""
_PROVIDERS = {"anthropic": "anthropic", "google": "gemini", "google-vertex": "gemini"}


def transcript(
    info: dict[str, Any],
    items: Iterable[Item],
    warnings: list[Warning],
    *,
    call_of: Callable[[str, str], str] = lambda _parent, _child: "",
    member: str = "",
) -> Transcript | None:
    """The conversation of a session; None where it holds no message.

    `call_of` finds the call in the parent's session that began this one.
    """
    opening = first_messages(items)
    if not opening:
        return None
    own = fields.word(info, "id", limit=255)
    title = fields.one_line(fields.text(info, "title"))
    parent = fields.word(info, "parentID", "parent_id", limit=255)
    return Transcript(
        format=NAME,
        title=title
        if title and not _UNNAMED.match(title)
        else title_of(opening) or title,
        items=items,
        external_id=own or None,
        strategy=_strategy(info, opening),
        model=next((message.model for message in opening if message.model), ""),
        member=member,
        parent=Parent(
            external_id=parent,
            relation=Relation.SUBAGENT,
            call_id=call_of(parent, own) or None,
        )
        if parent
        else None,
        warnings=warnings,
    )


def _strategy(info: dict[str, Any], opening: list[Message]) -> str:
    """Whose calls and signatures these are: its provider's, else what the model's name says."""
    provider = fields.text(info.get("model"), "providerID")
    models = " ".join(message.model or "" for message in opening)
    for word, strategy in (("claude", "anthropic"), ("gemini", "gemini")):
        if word in models:
            return _PROVIDERS.get(provider, strategy)
    return _PROVIDERS.get(provider, "openai")
