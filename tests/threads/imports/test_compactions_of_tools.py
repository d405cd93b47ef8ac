"""What the model reads of an imported compaction is what the tool's own client gave it."""

from typing import Any

import pytest

from operations.context.services import ContextQuery, assemble_session
from tests.threads.domain.formats.opencode.sessions import export, info
from tests.threads.domain.formats.opencode.sessions import text as opencode_text
from tests.threads.support import rollouts
from tests.threads.support.agent_specimens import document, lines
from tests.threads.support.importing import Take
from tests.threads.support.transcripts import answer, record, text, user

CLAUDE = lines(
    [
        user("u1", None, "One."),
        answer("a1", "u1", text("Two.")),
        record("system", "b1", "a1", subtype="compact_boundary"),
        user(
            "s1",
            "b1",
            "This session is being continued: Counted.",
            isCompactSummary=True,
        ),
        user("u2", "s1", "Three."),
    ]
)
CLAUDE_SNIPPED = lines(
    [
        user("u1", None, "One."),
        answer("a1", "u1", text("Taken.")),
        user("u2", "a1", "Two."),
        answer("a2", "u2", text("Taken, too.")),
        record("system", "s1", "a2", snipMetadata={"removedUuids": ["a1", "a2"]}),
        user("u3", "s1", "Three."),
    ]
)
CODEX_SUMMARY = "Another language model started to solve this problem: Counted."
CODEX = lines(
    [
        rollouts.meta(),
        rollouts.said("user", "One."),
        rollouts.said("assistant", "Two."),
        rollouts.record(
            "compacted",
            {
                "message": "",
                "replacement_history": [
                    {
                        "type": "message",
                        "role": "user",
                        "content": [{"type": "input_text", "text": words}],
                    }
                    for words in ("One.", CODEX_SUMMARY)
                ],
            },
        ),
        rollouts.said("user", "Three."),
    ]
)


def _gemini(id_: str, type_: str, words: str) -> dict[str, Any]:
    return {
        "id": id_,
        "type": type_,
        "timestamp": rollouts.AT,
        "content": [{"text": words}],
    }


GEMINI = lines(
    [
        {"sessionId": "g-1", "projectHash": "h", "startTime": rollouts.AT},
        _gemini("1", "user", "One."),
        _gemini("2", "gemini", "Two."),
        {
            "$set": {
                "messages": [
                    _gemini("3", "user", "<state_snapshot>Counted.</state_snapshot>"),
                    _gemini(
                        "4", "gemini", "Got it. Thanks for the additional context!"
                    ),
                ]
            }
        },
        _gemini("5", "user", "Three."),
    ]
)


def _copilot(type_: str, **data: Any) -> dict[str, Any]:
    return {"type": type_, "data": data, "timestamp": rollouts.AT}


COPILOT = lines(
    [
        _copilot("session.start", sessionId="c-1", producer="copilot-agent"),
        _copilot("user.message", content="One."),
        _copilot("assistant.message", content="Two."),
        _copilot("session.compaction_start"),
        _copilot(
            "session.compaction_complete", success=True, summaryContent="Counted."
        ),
        _copilot("user.message", content="Three."),
    ]
)
COPILOT_SUMMARY = (
    "Some of the conversation history has been summarized to free up context.\n\n"
    "You were originally given instructions from a user over one or more turns."
    " Here were the user messages:\n<user_message>\nOne.\n</user_message>\n\n"
    "Here is a summary of the prior context:\n<summary>\nCounted.\n</summary>\n"
)


def _roo(role: str, words: str, **members: Any) -> dict[str, Any]:
    return {
        "role": role,
        "content": [{"type": "text", "text": words}],
        "ts": 1,
        **members,
    }


ROO = document(
    [
        _roo("user", "One.", condenseParent="a"),
        _roo("assistant", "Two.", condenseParent="a"),
        _roo(
            "user", "## Conversation Summary\nCounted.", isSummary=True, condenseId="a"
        ),
        _roo("user", "Three."),
    ]
)


def _pi(id_: str, parent: str | None, **members: Any) -> dict[str, Any]:
    return {
        "id": id_,
        "parentId": parent,
        "timestamp": rollouts.AT,
        "type": "message",
        **members,
    }


PI = lines(
    [
        {"type": "session", "version": 3, "id": "p-1", "cwd": "/"},
        _pi("1", None, message={"role": "user", "content": "One."}),
        _pi("2", "1", message={"role": "user", "content": "Two."}),
        _pi("3", "2", type="compaction", summary="Counted."),
        _pi("4", "3", message={"role": "user", "content": "Three."}),
    ]
)
PI_SUMMARY = (
    "The conversation history before this point was compacted into the following summary:"
    "\n\n<summary>\nCounted.\n</summary>"
)
OPENCODE = document(
    export(
        [
            (info("user", "1", 1), [opencode_text("One.")]),
            (info("user", "2", 2), [{"type": "compaction", "auto": True}]),
            (
                info(
                    "assistant", "3", 3, summary=True, finish="stop", parentID="msg_2"
                ),
                [opencode_text("Counted.")],
            ),
            (info("user", "4", 4), [opencode_text("Three.")]),
        ]
    )
)
THREE = ("user", "Three.")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(
            CLAUDE,
            [("user", "This session is being continued: Counted."), THREE],
            id="claude_code",
        ),
        pytest.param(
            CLAUDE_SNIPPED,
            [("user", "One."), ("user", "Two."), THREE],
            id="claude_code, snipped",
        ),
        pytest.param(
            CODEX, [("user", "One."), ("user", CODEX_SUMMARY), THREE], id="codex"
        ),
        pytest.param(
            GEMINI,
            [
                ("user", "<state_snapshot>Counted.</state_snapshot>"),
                ("assistant", "Got it. Thanks for the additional context!"),
                THREE,
            ],
            id="gemini_cli",
        ),
        pytest.param(COPILOT, [("user", COPILOT_SUMMARY), THREE], id="copilot_cli"),
        pytest.param(
            ROO, [("user", "## Conversation Summary\nCounted."), THREE], id="cline"
        ),
        pytest.param(PI, [("user", PI_SUMMARY), THREE], id="pi"),
        pytest.param(
            OPENCODE,
            [("user", "What did we do so far?"), ("assistant", "Counted."), THREE],
            id="opencode",
        ),
    ],
)
def test_the_model_reads_what_the_tools_own_client_gave_it(
    take: Take, data: bytes, expected: list[tuple[str, str]]
) -> None:
    session = take(data).sessions[0]

    sent = assemble_session(session, ContextQuery(provider="openai")).compiled.messages

    assert [(one["role"], one["content"]) for one in sent] == expected
