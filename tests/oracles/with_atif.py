"""Counts trajectories with the package atif.

Run with the oracles' own Python: `with_atif.py FILE…` prints counts as JSON, by file.
"""

import json
import sys
from collections import Counter
from importlib.metadata import version
from pathlib import Path

from atif import Trajectory


def counts(path: Path) -> dict[str, int]:
    steps = Trajectory.model_validate_json(path.read_bytes()).steps
    sources = Counter(step.source for step in steps)
    calls = {call.tool_call_id for step in steps for call in step.tool_calls or ()}
    came_back = [
        (step.source, result.source_call_id, len(result.content or ""))
        for step in steps
        if step.observation
        for result in step.observation.results
    ]
    answers = sum(call in calls for _, call, _ in came_back)
    others = Counter(source for source, call, _ in came_back if call not in calls)
    return {
        "sessions": 1,
        # A system step may have no message: then its results are what was said.
        "system": sum(step.source == "system" and bool(step.message) for step in steps)
        + others["system"],
        "user": sources["user"] + others["agent"] + others["user"],
        "assistant": sources["agent"],
        "calls": len(calls),
        "results": answers,
        "thinking": sum(bool(step.reasoning_content) for step in steps),
        "characters": sum(len(step.message) for step in steps)
        + sum(length for _, call, length in came_back if call not in calls),
        "result_characters": sum(
            length for _, call, length in came_back if call in calls
        ),
        "output_tokens": sum(
            step.metrics.completion_tokens or 0 for step in steps if step.metrics
        ),
    }


if __name__ == "__main__":
    sys.stdout.write(
        json.dumps(
            {
                "library": f"atif {version('atif')}",
                "counts": {name: counts(Path(name)) for name in sys.argv[1:]},
            }
        )
    )
