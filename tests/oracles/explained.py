"""Why an independent reader's counts differ from ours, and by how much: theirs minus ours."""

from typing import NamedTuple


class Difference(NamedTuple):
    """An intended difference."""

    theirs_less_ours: int
    reason: str


_SUMMARY = "the summary of the compaction is a user's message there, a replacement here"
_QUEUED = "it leaves out what the user said while the model was working"
_SEARCHES = (
    "it leaves out the three searches for tools, which have calls and outputs too"
)
_MEMBERS = (
    "members of a sample beside its messages and events (input, scores, store …) and the head"
    " of the log are events here"
)
_RESULTS = (
    "results that are the tool's own JSON are text here, and blocks without text there"
)
_PROMPT = "the agent's prompt stands in its requests alone, not in the graph's state"

EXPLAINED: dict[tuple[str, str], dict[str, Difference]] = {
    ("claude_code/entire-image-compact-progress.jsonl", "claude-code-log"): {
        "user": Difference(1, _SUMMARY),
        "characters": Difference(13_571, _SUMMARY),
    },
    ("claude_code/omp-long-2.1.2xx.jsonl", "claude-code-log"): {
        "user": Difference(-7, _QUEUED),
        "characters": Difference(-1_375, _QUEUED),
    },
    ("cline/cline-sdk-session.messages.json", "langchain-core"): {
        "result_characters": Difference(-10_193, _RESULTS)
    },
    ("codex/agentv-long-0.14x.jsonl", "claude-code-log"): {
        "calls": Difference(-3, _SEARCHES),
        "results": Difference(-3, _SEARCHES),
    },
    ("inspect/browser-2025-05.json", "inspect_ai"): {
        "events": Difference(-6, _MEMBERS)
    },
    ("inspect/log_message_deduplication.eval", "inspect_ai"): {
        "events": Difference(-6, _MEMBERS)
    },
    ("inspect/security-guide-2025-09.eval", "inspect_ai"): {
        "events": Difference(-6 * 16, _MEMBERS)
    },
    ("langfuse/langgraph-python-2025-08-22.trace.json", "langchain-core"): {
        "user": Difference(-1, _PROMPT),
        "characters": Difference(-11, _PROMPT),
    },
}
"""By sample and reader, then by count."""
