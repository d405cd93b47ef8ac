"""Counts inspect_ai's own logs with inspect_ai.

Run with the oracles' own Python: `with_inspect_ai.py FILE…` prints counts as JSON, by file.
"""

import json
import sys
from collections import Counter
from importlib.metadata import version

from inspect_ai.log import EvalSample, read_eval_log
from inspect_ai.model import ChatMessageAssistant


def counts(path: str) -> dict[str, int]:
    samples = read_eval_log(path).samples or []
    messages = [message for sample in samples for message in sample.messages]
    roles = Counter(message.role for message in messages)
    said = [one for one in messages if isinstance(one, ChatMessageAssistant)]
    kinds = Counter(
        piece.type
        for message in messages
        if not isinstance(message.content, str)
        for piece in message.content
    )
    return {
        "sessions": len(samples),
        **{role: roles[role] for role in ("system", "user", "assistant", "tool")},
        "calls": sum(len(message.tool_calls or ()) for message in said),
        "results": roles["tool"],
        "thinking": kinds["reasoning"],
        "images": kinds["image"],
        "events": sum(len(sample.events) for sample in samples),
        "characters": sum(len(one.text) for one in messages if one.role != "tool"),
        "result_characters": sum(
            len(one.text) for one in messages if one.role == "tool"
        ),
        "output_tokens": sum(_spent(sample) for sample in samples),
    }


def _spent(sample: EvalSample) -> int:
    """The tokens of the requests that produced the sample's messages, without scorers' requests."""
    ids = {message.id for message in sample.messages}
    return sum(
        event.output.usage.output_tokens
        for event in sample.events
        if event.event == "model"
        and event.output.usage
        and event.output.choices
        and event.output.message.id in ids
    )


if __name__ == "__main__":
    sys.stdout.write(
        json.dumps(
            {
                "library": f"inspect_ai {version('inspect_ai')}",
                "counts": {name: counts(name) for name in sys.argv[1:]},
            }
        )
    )
