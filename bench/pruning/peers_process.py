"""The process of `bench.pruning.peers`, in an environment with the peers but without the product.

Each line names a method and gives messages in the chat API's form. The answer has the content of
each message after a run, null if removed, with the CPU seconds and the version that ran. Or the
line names a file for lcc to measure, and the answer is lcc's result.
"""

import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

JSON = Any
Run = Callable[[], list[str | None]]


def lcc(chat: JSON) -> Run:
    """lcc in its mode `rules:stashed`, called as `lcc measure-session` calls it."""
    transcript = import_module("lcc.relevance.transcript")
    request = transcript.TranscriptCompactionRequest(
        payload={"messages": [_as_lcc_has_it(message) for message in chat]},
        question="finish the task in this session",
        provider="rules",
        rules_mode="stashed",
    )

    def run() -> list[str | None]:
        done = transcript.compact_transcript(request).messages
        left = iter([result.text for one in done for result in one.tool_results])
        return [
            next(left) if message["role"] == "tool" else message["content"]
            for message in chat
        ]

    return run


def _as_lcc_has_it(message: JSON) -> JSON:
    if message["role"] == "tool":
        result = {"tool_use_id": message["tool_call_id"], "text": message["content"]}
        return {"role": "user", "text": "", "toolResults": [result]}
    role = "assistant" if message["role"] == "assistant" else "user"
    calls = [
        {
            "tool_use_id": call["id"],
            "tool": call["function"]["name"],
            "input": json.loads(call["function"]["arguments"]),
        }
        for call in message.get("tool_calls", ())
    ]
    return {"role": role, "text": message["content"], "toolUses": calls}


def measured_by_lcc(file: Path) -> JSON:
    """The row of `lcc measure-session` for that mode, for a Claude Code session.

    `cpu` is what it times: compacting the session, counting what is left and looking for its texts
    there. lcc reports whole milliseconds of wall-clock time, so it is given a finer clock.
    """
    report: Any = import_module("lcc.session_report")
    report.MODES = [mode for mode in report.MODES if mode[0] == "rules:stashed"]
    report.time = SimpleNamespace(perf_counter=lambda: time.process_time() * 1e6)
    (row,) = report.measure_session(file)["modes"]
    return row | {"cpu": row["ms"] / 1e9}


def langchain(chat: JSON) -> Run:
    """LangChain's `ClearToolUsesEdit` with its defaults, as if its trigger had been reached."""
    core = import_module("langchain_core.messages")
    editing = import_module("langchain.agents.middleware.context_editing")
    messages = core.convert_to_messages(chat)
    edit = editing.ClearToolUsesEdit(trigger=0)

    def run() -> list[str | None]:
        edit.apply(messages, count_tokens=core.utils.count_tokens_approximately)
        return [message.content for message in messages]

    return run


def headroom(chat: JSON) -> Run:
    """Headroom's `compress` with its defaults, but without its text model, a download."""
    compress = import_module("headroom").compress

    def run() -> list[str | None]:
        done = compress(chat, model="gpt-4o", kompress_model="disabled").messages
        if len(done) == len(chat):
            return [message["content"] for message in done]
        raise RuntimeError("headroom gave another number of messages")

    return run


METHODS: dict[str, tuple[Callable[[JSON], Run], str]] = {
    "lcc": (lcc, "local-context-compiler"),
    "langchain": (langchain, "langchain"),
    "headroom": (headroom, "headroom-ai"),
}


def main() -> None:
    """Answer each line with a line."""
    for line in sys.stdin:
        asked = json.loads(line)
        if "session" in asked:
            print(json.dumps(measured_by_lcc(Path(asked["session"]))), flush=True)
            continue
        method, package = METHODS[asked["method"]]
        run = method(asked["chat"])
        begun = time.process_time()
        contents = run()
        seconds = time.process_time() - begun
        answer = {"contents": contents, "seconds": seconds, "version": version(package)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
