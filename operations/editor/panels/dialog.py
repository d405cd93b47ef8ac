"""What a dialog says above its fields: see `templates/operations/editor/dialogs/form.html`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from contextstudio.templatetags.look import messages
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key
from operations.editor.rows.operation import tokens_of
from operations.messages.names import name_of, ranges_of

_MAIN = {
    "digest": "Digest",
    "snip": "Snip",
    "tag": "Tag",
    "revise": "Revise",
    "insert": "Insert",
    "resequence": "Move",
    "amend": "Save",
    "activate": "Set",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialog:
    """The head of a dialog, where it posts, and a range that would work."""

    word: str
    title: str
    main: str
    action: str
    lead: str = ""
    needs: str = ""

    @property
    def may_wait(self) -> bool:
        """Whether it records an edit, which can be staged."""
        return self.main not in (_MAIN["amend"], _MAIN["activate"])


def dialog_of(
    kind: str, *, action: str, lead: str = "", word: str = "", needs: str = ""
) -> Dialog:
    """The dialog of a kind of edit; `word` is the operation's where it is amended."""
    title = {
        "resequence": "Move",
        "amend": f"Edit {word}",
        "activate": "Active tags",
    }.get(kind, kind.capitalize())
    return Dialog(
        word=word or kind,
        title=title,
        main=_MAIN[kind],
        action=action,
        lead=lead,
        needs=needs,
    )


def leaves_of(thread: Thread, keys: Iterable[Key]) -> list[Key]:
    """The leaves that keys of messages and folds mean; what is not there is left out."""
    present = (key for key in keys if thread.holds(key))
    return list(
        dict.fromkeys(leaf for key in present for leaf in thread.leaf_keys(key))
    )


def lead_of(thread: Thread, leaves: Sequence[Key]) -> str:
    """`36 messages, #61–#96, 31,902 tokens`."""
    if not leaves:
        return ""
    named = ranges_of(thread, leaves)
    tokens = f"{tokens_of(thread, leaves):,} tokens"
    return ", ".join(filter(None, (messages(len(leaves)), named, tokens)))


def anchor_lead(thread: Thread, after: Key) -> str:
    """`After #110` or `At the top`."""
    return f"After {name_of(thread, after)}" if after else "At the top"
