"""Why strings of real files aren't part of a conversation, by format and member."""

from fnmatch import fnmatchcase

_PAGE = "texts of the page"
_ADDRESS = "addresses of files"
_ID = "ids and hashes"
_JUDGED = "what a test said of an answer"
_STATE = "sealed states and ids of reasoning"
_SHOWN = "what was displayed of a call"
_TOOLS = "definitions of tools"
_REPEATED = "repeats of a call"
_MODEL = "names of models"
_KIND = "kinds of events"

REASONS: dict[str, dict[str, str]] = {
    "atif": {
        "agent.tool_definitions*": _TOOLS,
        "*.subagent_trajectory_ref[[]].session_id": _ID,
        "*.subagent_trajectory_ref[[]].trajectory_path": _ADDRESS,
        "*.subagent_trajectory_ref[[]].extra.summary": "names of other trajectories",
        "session_id": _ID,
        "steps[[]].extra.note": "notes on figures",
    },
    "claude_code": {
        "cwd": _ADDRESS,
        "message.model": _MODEL,
        # The result that was sent is in a message.
        "toolUseResult*": _SHOWN,
    },
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
        # The result that was sent is in a message.
        "*.terminalCommandOutput.text": "what a terminal showed",
        # The answer again, without its references.
        "*.codeBlocks[[]].markdownBeforeBlock": "repeats of the answer",
    },
    "claude_managed": {"content": "a program's own words for an event"},
    "codex": {
        "payload.dynamic_tools*": _TOOLS,
        "payload.git.commit_hash": _ID,
        "payload.git.repository_url": _ADDRESS,
        "payload.id": _ID,
    },
    "event_stream": {
        "item_id": _ID,
        "item.id": _ID,
        "response.output[[]].id": _ID,
        "response.tools*": _TOOLS,
        "type": _KIND,
    },
    "gemini_cli": {
        "projectHash": _ID,
        "messages[[]].toolCalls[[]].description": _TOOLS,
        "messages[[]].toolCalls[[]].displayName": _SHOWN,
        "messages[[]].toolCalls[[]].resultDisplay*": _SHOWN,
    },
    "kimi": {
        "event.description": _SHOWN,
        "event.display.detail": _SHOWN,
        # The model gets `contextSummary`, which contains it; a fixture cuts both.
        "summary": "a summary whose frame the fixture cut",
    },
    "letta": {"agents[[]].messages[[]].group_id": _ID},
    "openai": {
        "*.functions[[]].*": _TOOLS,
        "assessments[[]].feedback": _JUDGED,
        "[[]].evaluation.feedback": _JUDGED,
        "evaluation.explanation": _JUDGED,
        "[[]].model": _MODEL,
    },
    "opencode": {
        "info.projectID": _ID,
        "*.metadata.openai.itemId": _ID,
        "*.state.metadata.*": _SHOWN,
        "*.state.title": _SHOWN,
    },
    "openhands": {
        "*.message": _SHOWN,
        "*.suffix": "states of the terminal",
        "*.metadata.prefix": "states of the terminal",
        "*.llm_metrics*.model": _MODEL,
        "*.py_interpreter_path": _ADDRESS,
        "*.working_dir": _ADDRESS,
        "*.hostname": _ADDRESS,
        "*.full_output_save_dir": _ADDRESS,
        "*.args.tools*": _TOOLS,
        "*.translated_ipython_code": _REPEATED,
        "*.formatted_output_and_error": _SHOWN,
        "*.extras.diff": _SHOWN,
        "*.tool_call_metadata*": _REPEATED,
    },
    "pi": {
        "message.content[[]].partialJson": _REPEATED,
        "message.details.diff": _SHOWN,
        "message.fullOutputPath": _ADDRESS,
    },
    "specstory": {
        "line: _*[*][*]_": "headings of who speaks",
        "line: <tool-use *": "tags of calls and thoughts",
        "line: <think>*": "tags of calls and thoughts",
        "line: <summary>Tool use: *": "tags of calls and thoughts",
        "line: <details><summary>Tool use: *": "tags of calls and thoughts",
    },
    "swe_agent": {"history[[]].action": _REPEATED},
}
"""Members by format, as `fnmatch` patterns; a line is `line: <its text>`."""


def reason_of(format_: str, member: str) -> str:
    """Why the strings of a member (or a line) need not be read; empty if they must be."""
    for pattern, reason in REASONS.get(format_, {}).items():
        if fnmatchcase(member, pattern):
            return reason
    return ""
