"""Conversations in ChatGPT's export, built and read by tests."""

from typing import Any

from tests.threads.support import readings
from tests.threads.support.readings import messages
from threads.domain.message import Message
from threads.domain.transcript import Transcript

PNG = b"\x89PNG\r\n\x1a\n"


def say(
    role: str,
    *parts: Any,
    kind: str = "text",
    author: str | None = None,
    **members: Any,
) -> dict[str, Any]:
    """A message of the export; `parts` is its content, unless `content` is given."""
    content = members.pop("content", {"parts": list(parts)})
    return {
        "author": {"role": role, "name": author, "metadata": {}},
        "create_time": 1_700_000_000.5,
        "content": {"content_type": kind, **content},
        "status": "finished_successfully",
        "weight": 1.0,
        "recipient": "all",
        "metadata": {},
        **members,
    }


def tree(*nodes: tuple[str, str | None, dict[str, Any] | None]) -> dict[str, Any]:
    """A mapping of nodes, each given by its id, its parent's id and its message."""
    return {
        id_: {
            "id": id_,
            "parent": parent,
            "children": [],
            "message": message and {"id": id_, **message},
        }
        for id_, parent, message in nodes
    }


def line(*messages: dict[str, Any]) -> dict[str, Any]:
    """A mapping in which each message follows the one before; ids are n0, n1, …"""
    ids = [f"n{number}" for number in range(len(messages))]
    return tree(*zip(ids, [None, *ids], messages, strict=False))


def conversation(mapping: dict[str, Any], **members: Any) -> dict[str, Any]:
    leaf = list(mapping)[-1] if mapping else None
    return {
        "title": "Tea",
        "create_time": 1_700_000_000.0,
        "mapping": mapping,
        "current_node": leaf,
        "conversation_id": "c1",
        **members,
    }


def read(*conversations: Any) -> list[Transcript]:
    return readings.read(list(conversations))


def only(*said: dict[str, Any], **members: Any) -> list[Message]:
    [transcript] = read(conversation(line(*said), **members))
    return messages(transcript)


HI = say("user", "Which tea?")
GREEN = say("assistant", "Green.", metadata={"model_slug": "m-1"})
