"""What a log has once written is read for ever."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operations.domain.log.operation import (
    CONTROLS,
    EDITS,
    Accept,
    ActivateTags,
    Amend,
    Condense,
    Condition,
    Digest,
    Insert,
    Operation,
    Purge,
    Redact,
    Redo,
    Reject,
    Replace,
    Resequence,
    Revert,
    Revise,
    Snip,
    Tag,
    Toggle,
    Undo,
)
from operations.domain.tree.leaf import MadeMessage
from operations.domain.tree.span import Span
from operations.log.codec import decode, encode
from tests.operations.support.strategies import controls, edits, logs
from threads.domain.part import (
    File,
    Image,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

PAYLOADS = Path(__file__).parents[1] / "support" / "payloads"
KINDS = [*EDITS, *CONTROLS]
SHA256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
RECORDED: dict[str, Operation] = {
    "tag": Tag(targets=("m5", "m6", "o3.0"), tags=("design", "auth")),
    "digest": Digest(
        targets=("m3", "m4"),
        messages=(MadeMessage("system", (Text("Chose JWT"),), 3),),
        condition=Condition(tags=("lean",), objectives=("ship",), match="any"),
    ),
    "revise": Revise(
        targets=("m5", "m6"),
        messages=(
            MadeMessage("user", (Text("Half a pair \ud83d, NUL \x00, whole 😀"),), 9),
            MadeMessage(
                "assistant",
                (
                    Thinking("Look", signature="seal"),
                    Thinking("", data="sealed"),
                    ToolCall("call_1", "read", {"path": "a.py", "lines": [1, 2.5]}),
                ),
                12,
            ),
            MadeMessage(
                "tool",
                (
                    ToolResult(
                        "call_1",
                        (Text("none"), Image("image/png", sha256=SHA256)),
                        name="read",
                        is_error=True,
                    ),
                    File("text/plain", name="a.txt", url="https://example.org/a.txt"),
                    Opaque("citation", {"type": "citation", "at": None}),
                ),
                7,
            ),
        ),
    ),
    "snip": Snip(targets=("m7",)),
    "condense": Condense(
        targets=("m9",), messages=(MadeMessage("tool", (Text("148 lines"),), 2),)
    ),
    "insert": Insert(after=None, messages=(MadeMessage("user", (Text("First"),), 1),)),
    "resequence": Resequence(order=("m9", "m4", "o3.0")),
    "replace": Replace(
        spans=(
            Span(key="m2", part=0, start=4, end=9, sha256=SHA256, text="b", saved=-1),
        )
    ),
    "redact": Redact(spans=(Span(key="o3.0", part=1, start=0, end=9, sha256=SHA256),)),
    "toggle": Toggle(operations=("o2", "o3"), active=False),
    "revert": Revert(operations=("o2",)),
    "accept": Accept(operations=("o4",)),
    "reject": Reject(operations=("o4",)),
    "amend": Amend(
        operation="o2",
        edit=Digest(
            targets=("m3",), messages=(MadeMessage("system", (Text("Sum"),), 1),)
        ),
    ),
    "activate_tags": ActivateTags(tags=("lean", "final")),
    "purge": Purge(targets=("m5", "m6")),
    "undo": Undo(entries=(7, 8)),
    "redo": Redo(entries=(7, 8)),
}
"""What stands in `payloads/<kind>.json`. Neither is ever changed: a new meaning is a new kind."""


@pytest.mark.parametrize("kind", KINDS)
def test_a_payload_that_was_once_recorded_is_read_as_it_was_meant(kind: str) -> None:
    payload = PAYLOADS.joinpath(f"{kind}.json").read_bytes()
    assert decode(kind, payload) == RECORDED[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_an_operation_is_still_written_as_it_once_was(kind: str) -> None:
    written_kind, written = encode(RECORDED[kind])
    recorded = PAYLOADS.joinpath(f"{kind}.json").read_bytes()
    assert written_kind == kind
    assert json.loads(written.decode("utf-8", "surrogatepass")) == json.loads(recorded)


def test_an_unknown_kind_is_a_fault() -> None:
    with pytest.raises(KeyError):
        decode("forget", b"{}")


@given(edits(8, malformed=True) | logs(8).flatmap(lambda log: _any_control(log)))
def test_decoding_gives_back_what_was_encoded(operation: Operation) -> None:
    assert decode(*encode(operation)) == operation


def _any_control(log: list) -> st.SearchStrategy[Operation]:
    return controls(8, log, "user:1") if log else edits(8)
