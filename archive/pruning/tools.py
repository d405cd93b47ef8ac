"""The pruner as a tool of agents."""

from typing import Any

from pydantic import Field

from contextstudio.accounts.domain.caller import Caller
from operations.tools.tool import SessionTool

from .schemas import Protect, PruneIn, present_pruned
from .services import dry_run, prune


class Prune(SessionTool):
    """Shorten the conversation by rules: condense old tool results, drop what is out of date.

    Old errors, and views of files that were edited or viewed again, are removed; other old tool
    results and long messages of yours become one line, such as
    `📎 Viewed src/app.py`. User messages, the last messages, what is tagged `pinned`
    and what you protect stay. Nothing is destroyed: the archive keeps each whole text, and
    undo_operation undoes the whole run. If you may only propose, nothing changes until it is
    accepted.

    `dry_run` only says what would happen. With `target_tokens`, only as much is pruned as brings
    the conversation down to that, the least harmful first. `rules` changes rules for this call:
    keep_last_n (10), condense_after_n (5), remove_errors_after (5), condense_above (500 tokens),
    protect_tools, protect_paths, protect_tags, keep_relevant_above (0 to 1: relevance to the
    objective, if search by meaning is on).

    Example: {"session_id": "…", "target_tokens": 60000, "protect": {"paths": ["docs/*"]}}
    """

    name = "prune"
    group = "prune"

    dry_run: bool = Field(False, description="Only say what would happen.")
    target_tokens: int | None = Field(
        None, ge=0, description="Prune no more than this needs."
    )
    rules: dict[str, Any] | None = Field(
        None, description="Rules to change for this call."
    )
    protect: Protect = Field(
        None,
        description="Keys, or `{keys, tools, paths, tags}`; tools and paths may have `*`.",
    )

    def call(self, caller: Caller) -> dict[str, Any]:
        asked = PruneIn(
            rules=self.rules,
            target_tokens=self.target_tokens,
            protect=self.protect,
            expected_head=self.expected_head,
        )
        self.open_session(caller)
        if self.dry_run:
            found = dry_run(caller, self.session_id, asked.query)
        else:
            head = self.expected_head
            found = prune(caller, self.session_id, asked.query, expected_head=head)
        told = present_pruned(found, self.target_tokens)
        told["items"] = [one for one in told["items"] if one["class"] != "keep"]
        return told
