"""Why strings of real files are no part of a conversation, by format and member."""

from fnmatch import fnmatchcase

_PAGE = "texts of the page"
_ADDRESS = "addresses of files"
_ID = "ids and hashes"
_JUDGED = "what a test said of an answer"
_STATE = "sealed states and ids of reasoning"

REASONS: dict[str, dict[str, str]] = {
    "copilot_chat": {
        "requests[[]].modelId": _ID,
        "*.suggestionId": _ID,
        "*.terminalCommandId": _ID,
        "*.terminalCommandUri.query": _ID,
        "requests[[]].variableData.variables[[]].id": _ID,
        "requests[[]].response[[]].id": _STATE,
        "*.thinking.id": _STATE,
        "*.statefulMarker": _STATE,
        "*.external": _ADDRESS,
        "*.path": _ADDRESS,
        "*.fsPath": _ADDRESS,
        "requests[[]].agent.*": "descriptions of the participant",
        "*.agent.description": "descriptions of the participant",
        "*.invocationMessage.value": _PAGE,
        "*.pastTenseMessage.value": _PAGE,
        "*.generatedTitle": _PAGE,
        "requests[[]].response[[]].message.*": _PAGE,
        # The result that was sent stands in a message.
        "*.terminalCommandOutput.text": "what a terminal showed",
        # The answer again, without its references.
        "*.codeBlocks[[]].markdownBeforeBlock": "repeats of the answer",
    },
    "codex": {"payload.git.commit_hash": _ID},
    "gemini_cli": {"projectHash": _ID},
    "kimi": {
        "event.description": "what was displayed of a call",
        "event.display.detail": "what was displayed of a call",
        # The model gets `contextSummary`, which holds it; a fixture cuts both.
        "summary": "a summary whose frame the fixture cut",
    },
    "letta": {"agents[[]].messages[[]].group_id": _ID},
    "openai": {
        "*.functions[[]].*": "definitions of tools",
        "assessments[[]].feedback": _JUDGED,
        "[[]].evaluation.feedback": _JUDGED,
        "evaluation.explanation": _JUDGED,
        "[[]].model": "names of models",
    },
    "specstory": {
        "line: _*[*][*]_": "headings of who speaks",
        "line: <tool-use *": "tags of calls and thoughts",
        "line: <think>*": "tags of calls and thoughts",
        "line: <summary>Tool use: *": "tags of calls and thoughts",
        "line: <details><summary>Tool use: *": "tags of calls and thoughts",
    },
    "swe_agent": {"history[[]].action": "repeats of a call"},
}
"""By format the members, as patterns of `fnmatch`; a line is `line: <what it says>`."""


def reason_of(format_: str, member: str) -> str:
    """Why the strings of a member (or a line) need not be read; empty if they must be."""
    for pattern, reason in REASONS.get(format_, {}).items():
        if fnmatchcase(member, pattern):
            return reason
    return ""
