"""The tool that prunes messages: discard, distill, and replace by patterns."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from contextstudio.accounts.domain.caller import Caller
from contextstudio.accounts.domain.errors import DomainError, Invalid
from operations.domain.ledger.saving import spared
from operations.domain.log.operation import Digest, Edit, Snip, messages_of
from operations.domain.thread.node import FoldNode
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import Key
from operations.domain.tree.leaf import MadeMessage
from operations.edits import services
from operations.edits.arguments import ReplaceArguments
from operations.edits.arguments.text import MAX_PATTERNS, PatternArguments
from operations.edits.schemas import present_bundle
from operations.find_replace.services import SpanMatch, change_by_pattern
from operations.log.selectors import load_thread
from operations.log.transaction import LogTransaction
from operations.messages.names import keys_of_hashes, message_ids
from operations.messages.reader import MessageReader
from operations.tools.tool import SessionTool
from threads.domain.message import Role
from threads.domain.part import Part, Text
from threads.domain.text import text_of
from threads.models import Session
from threads.store.selectors import get_session

Hashes = Annotated[list[str], Field(min_length=1, max_length=2)]


_FORMS: dict[str, tuple[int | None, str]] = {
    "discard": (1, '["m12"]'),
    "distill": (2, '["m12", "What it came to"]'),
    "replace": (None, '{"start": "…", "end": "…", "replacement": "…"}'),
}
"""The targets of each action: how many texts they have (None: an object), and an example."""


class PruneContext(SessionTool):
    """Prune what the model sees: discard messages, distill them, or replace text in them.

    All targets of one call are one bundle: recorded together or not at all, switched and
    taken back together. Nothing is destroyed; the originals stay and every operation is
    reversible (toggle_operation, revert_operation, undo_operation).

    ## Actions

    - `discard`: leave whole messages out. Target: ["hash"].
    - `distill`: fold a message into the summary that you write. Target: ["hash", "summary"].
    - `replace`: put a short text in place of a long stretch inside a message. Target:
      {"start": "…", "end": "…", "replacement": "…"}, or ["start", "end", "replacement"].

    A hash is a message's key (`m12`, or `o7` for a fold), its id (`msg-1a2b3c4d`), or 8 or
    more of the first hex digits of its digest, if only one message of the thread has them.

    ## Pattern-Based Replacement

    Replace content between start/end patterns with concise alternatives.

    ### When to Use

    - Large repetitive outputs (logs, traces, verbose configs)
    - Intermediate analysis that's no longer needed
    - Verbose code blocks that have been processed

    ### Format

    ```
    {
      "start": "pattern_start",   // exact text marking the beginning
      "end": "pattern_end",       // exact text marking the end
      "replacement": "…"          // text to read in its place (can be short, or empty)
    }
    ```

    The match runs from a start to the nearest end after it in the same part of one message.
    It includes both markers, so they are replaced too. Without `end`, the match is `start`
    alone. Only what the thread shows now is searched; `include_folded: true` also searches
    messages inside folds.

    ### Constraints

    | Constraint | Value | Purpose |
    |------------|-------|---------|
    | Min match length | 30 characters, both markers counted | Prevents over-pruning |
    | Pattern matching | Literal (no regex), case counts | Predictable behavior |
    | Several matches | Refused and listed; add "occurrence" (from 1) or "all": true | No guessing |
    | Overlapping | Not allowed, nor with text that another operation changes | Prevents conflicts |
    | Batch | Up to 100 patterns, all or nothing | No half-done work |

    ### Examples

    Prune debug logs:
    {"start": "DEBUG: Starting request handler", "end": "DEBUG: Request handler completed",
     "replacement": "[request handled]"}

    Collapse verbose output:
    {"start": "npm install output:", "end": "added 847 packages", "replacement": "…"}

    Every copy of a stack trace:
    {"start": "Traceback (most recent call last):", "end": "ValueError: bad port",
     "replacement": "[ValueError: bad port]", "all": true}

    Don't use this tool for secrets: they are masked by a `redact` operation, which has no
    minimum length and masks everywhere.

    ### Best Practices

    1. **Choose unique patterns** - avoid common words as start or end
    2. **Verify length** - a match below 30 characters is refused
    3. **Use semantic replacements** - "[47 files analyzed]" says more than "…"
    4. **Batch related replacements** - one call with several targets

    ## Answer

    {"success": true, "replacements": [{"operation": …, "message_id": "msg-1a2b3c4d",
    "original_length": 5120, "new_length": 33, "tokens_saved": 1204}], "errors": []}

    Lengths are in characters; `tokens_saved` is what the model reads less, so inside a fold it
    is 0. If patterns are refused, success is false, nothing was
    changed, and `errors` says for every pattern what to fix: not found (with similar text
    that is there), too short, several matches (each with its message and an excerpt), or
    overlapping. Fix them and call again.

    Example: {"session_id": "…", "action": "replace", "targets": [{"start": "Detailed
    analysis of all 47 files", "end": "End of file analysis report", "replacement":
    "[file analysis: 47 files reviewed]"}]}
    """

    name = "context"
    group = "prune"
    brief = """
    Prune what the model sees: discard messages, distill them, or replace text in them.

    All targets of one call are recorded together or not at all; undo_operation takes them back.

    - `discard`: leave whole messages out. Target: ["hash"].
    - `distill`: fold a message into your summary. Target: ["hash", "summary"].
    - `replace`: put a short text in place of a long stretch inside a message. Target:
      {"start": "…", "end": "…", "replacement": "…"}.

    A hash is a message's key (`m12`, or `o7` for a fold) or its id (`msg-1a2b3c4d`).

    Patterns are literal, and case counts. A match runs from a start to the nearest end after it
    in one message, both included, and has at least 30 characters. Several matches are refused
    unless you add "occurrence" (from 1) or "all": true. If patterns are refused, success is
    false, nothing was changed, and `errors` says what to fix.

    Example: {"session_id": "…", "action": "replace", "targets": [{"start": "npm install",
    "end": "added 847 packages", "replacement": "[847 packages]"}]}
    """

    action: Literal["discard", "distill", "replace"]
    targets: list[Hashes | PatternArguments] = Field(
        min_length=1,
        max_length=MAX_PATTERNS,
        description='discard: ["hash"]; distill: ["hash", "summary"]; replace: an object.',
    )
    include_folded: bool = Field(
        False, description="For replace: also search messages inside folds."
    )
    propose: bool = Field(False, description="Record it as a proposal, to be reviewed.")
    title: str = Field(
        "", max_length=300, description="What it is for, in a few words."
    )

    @field_validator("targets", mode="before")
    @classmethod
    def _lists_hashes(cls, targets: Any) -> Any:
        """A hash by itself is a target of `discard`, whether or not it is in its own list."""
        if not isinstance(targets, list):
            return targets
        return [[one] if isinstance(one, str) else one for one in targets]

    @model_validator(mode="after")
    def _has_targets_of_its_action(self) -> "PruneContext":
        size, form = _FORMS[self.action]
        for place, target in enumerate(self.targets):
            words = target if isinstance(target, list) else None
            if size != (None if words is None else len(words)):
                sentence = f"The action {self.action} takes targets such as {form}."
                raise Invalid(sentence, at=["targets", place])
            if words is not None and not all(word.strip() for word in words):
                raise Invalid(
                    "A hash or summary must not be empty.", at=["targets", place]
                )
        return self

    def call(self, caller: Caller) -> dict[str, Any]:
        """Do it and answer. Raises DomainError, except for what the pattern rules refuse."""
        if self.action == "replace":
            return self._replace(caller)
        return self._fold(caller)

    def _replace(self, caller: Caller) -> dict[str, Any]:
        asked = [one for one in self.targets if isinstance(one, PatternArguments)]
        session = get_session(caller, self.session_id)
        shared = {"include_folded", "propose", "title"}
        arguments = ReplaceArguments.model_validate(
            {"patterns": asked, **self.model_dump(include=shared)}
        )
        try:
            transaction, changes = change_by_pattern(
                caller, self.session_id, arguments, expected_head=self.expected_head
            )
        except DomainError as error:
            if error.at[:1] != ("patterns",):
                raise
            errors = [_told(session, fault) for fault in error.errors]
            return {"success": False, "replacements": [], "errors": errors}
        ids = message_ids(session, (one.match.key for each in changes for one in each))
        replacements = [
            {
                "operation": pattern.model_dump(by_alias=True, exclude_unset=True),
                "message_id": ids[found.match.key],
                "original_length": found.match.length,
                "new_length": len(pattern.replacement),
                "tokens_saved": _spared_by(transaction.before, found),
            }
            for pattern, each in zip(asked, changes, strict=True)
            for found in each
        ]
        return {
            **present_bundle(transaction),
            "replacements": replacements,
            "errors": [],
        }

    def _fold(self, caller: Caller) -> dict[str, Any]:
        session = self.open_session(caller)
        thread = load_thread(session)
        targets = [one for one in self.targets if isinstance(one, list)]
        keys = keys_of_hashes(session, thread, [target[0] for target in targets])
        edits = [_edit(key, target) for key, target in zip(keys, targets, strict=True)]
        transaction = services.record_bundle(
            caller,
            self.session_id,
            edits,
            propose=self.propose,
            title=self.title,
            expected_head=session.head,
        )
        ids = message_ids(session, keys)
        replacements = [
            {
                "operation": target,
                "message_id": ids[key],
                **_sizes(session, thread, transaction, key, number),
            }
            for key, target, number in zip(
                keys, targets, transaction.numbers, strict=True
            )
        ]
        return {
            **present_bundle(transaction),
            "replacements": replacements,
            "errors": [],
        }


def _edit(key: Key, target: Sequence[str]) -> Edit:
    if len(target) == 1:
        return Snip(targets=(key,))
    return Digest(
        targets=(key,), messages=(MadeMessage(Role.SYSTEM, (Text(target[1]),)),)
    )


def _spared_by(thread: Thread, found: SpanMatch) -> int:
    """The tokens that a text change saves the model; 0 inside a fold."""
    is_hidden = bool(thread.path(found.match.key))
    return 0 if is_hidden or found.span is None else found.span.saved


def _sizes(
    session: Session, thread: Thread, transaction: LogTransaction, key: Key, number: int
) -> dict[str, int]:
    """The length of what a target named, and of what replaces it."""
    node = thread.node(key)
    if isinstance(node, FoldNode):
        keys = [f"{node.key}.{place}" for place in range(len(node.messages))]
    else:
        keys = [node.key]
    words = MessageReader(session, thread).effective(keys)
    edit = transaction.history.log.edits[number].edit
    made = messages_of(edit)
    return {
        "original_length": sum(_length(one.parts) for one in words.values()),
        "new_length": sum(_length(message.parts) for message in made),
        "tokens_saved": spared(thread, edit),
    }


def _length(parts: Sequence[Part]) -> int:
    return sum(len(text_of(part)) for part in parts)


def _told(session: Session, fault: DomainError) -> str:
    """A fault, followed by its matches, each with its message and an excerpt."""
    matches: Any = fault.facts.get("matches", ())
    ids = message_ids(session, (match["key"] for match in matches))
    lines = [fault.message]
    for place, match in enumerate(matches, start=1):
        cut = match["excerpt"]
        words = f"{cut['before']}[{cut['text']}]{cut['behind']}"
        lines.append(
            f"{place}. {match['key']} ({ids[match['key']]}): {' '.join(words.split())}"
        )
    return "\n".join(lines)
