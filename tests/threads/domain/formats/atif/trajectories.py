"""Trajectories in ATIF, built and read by tests."""

from collections.abc import Mapping
from typing import Any

from tests.threads.support.folders import folder
from tests.threads.support.readings import read
from threads.domain.formats import atif
from threads.domain.formats.io.folder import Gathered
from threads.domain.transcript import Transcript

PICTURE = {
    "type": "image",
    "source": {"media_type": "image/png", "path": "images/a.png"},
}
SOUND = {"type": "audio", "source": {"media_type": "audio/wav", "path": "a.wav"}}


def trajectory(*steps: Any, **members: Any) -> dict[str, Any]:
    """A document with numbered steps."""
    numbered = [
        {"step_id": number, **step} if isinstance(step, dict) else step
        for number, step in enumerate(steps, 1)
    ]
    agent = {"name": "robot", "version": "1", "model_name": "m"}
    return {"schema_version": "ATIF-v1.8", "agent": agent, "steps": numbered} | members


def user(words: Any, **members: Any) -> dict[str, Any]:
    return {"source": "user", "message": words, **members}


def agent(words: Any, **members: Any) -> dict[str, Any]:
    return {"source": "agent", "message": words, **members}


def call(id_: str, **members: Any) -> dict[str, Any]:
    return {
        "tool_call_id": id_,
        "function_name": "look",
        "arguments": {"at": id_},
        **members,
    }


def seen(*results: Any) -> dict[str, Any]:
    return {"results": list(results)}


ASKED = user("Look.")
LOOKED = agent(
    "Looking.",
    reasoning_content="Hm.",
    tool_calls=[call("1"), call("2")],
    observation=seen(
        {"source_call_id": "2", "content": "Two."},
        {"source_call_id": "1", "content": [{"type": "text", "text": "One."}, PICTURE]},
    ),
    metrics={"prompt_tokens": 9, "completion_tokens": 4, "cached_tokens": 3},
    timestamp="2026-03-01T10:00:00Z",
    model_name="m-2",
)


def read_one(data: Any) -> tuple[Transcript, list[Any]]:
    [found] = read(data)
    assert found.format == "atif"
    return found, list(found.items)


def gather(files: Mapping[str, Any]) -> list[Gathered]:
    assert atif.FORMAT.gather is not None
    return atif.FORMAT.gather(folder(files))
