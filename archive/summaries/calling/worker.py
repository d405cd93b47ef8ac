"""The process that calls models: `python -m archive.summaries.calling.worker <its caller's id>`.

A line of JSON is a request, with its key; lines of JSON are the answer: pieces of text, then how
it ended. It waits a minute for the next request.
"""

import json
import os
import select
import sys
import time
from typing import Any

_PATIENCE = 60.0
_BETWEEN_SIGNS = 1.0
"""Seconds between pieces without text that are told of."""
_CUT = ("length", "content_filter")
"""How an answer ends that would have gone on, in litellm's words for all providers."""


def main() -> None:
    """Answer requests until there are no more."""
    caller = int(sys.argv[1])
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what litellm prints is no part of an answer
    line = sys.stdin.buffer.readline()
    while line:
        for told in _answered(json.loads(line), caller):
            answers.write(json.dumps(told) + "\n")
            answers.flush()
        if not select.select([sys.stdin], [], [], _PATIENCE)[0]:
            return
        line = sys.stdin.buffer.readline()


def _answered(asked: dict[str, Any], caller: int) -> Any:
    import httpx  # noqa: PLC0415  # only where there is something to call
    import litellm  # noqa: PLC0415
    from litellm.llms.custom_httpx.http_handler import HTTPHandler  # noqa: PLC0415

    from .outcome import Failure  # noqa: PLC0415
    from .transport import Transport  # noqa: PLC0415

    if os.getppid() != caller:  # it was killed: the call may be made by another by now
        return
    transport = Transport(private=asked["private"])
    client = httpx.Client(transport=transport, follow_redirects=False, trust_env=False)
    used: dict[str, int | None] = {}
    is_cut, has_said, told = False, False, float("-inf")
    try:
        pieces = litellm.completion(
            model=f"{asked['form']}/{asked['model']}",
            api_base=asked["base_url"],
            api_key=asked["api_key"] or "none",
            messages=asked["messages"],
            max_tokens=asked["max_tokens"],
            timeout=asked["timeout"],
            stream=True,
            stream_options={"include_usage": True},
            client=HTTPHandler(client=client),
            num_retries=0,
            max_retries=0,
        )
        for piece in pieces:
            text = piece.choices[0].delta.content if piece.choices else ""
            has_said = has_said or bool(text)
            # One that thinks for long says nothing, and is not silent all the same.
            if text or time.monotonic() - told >= _BETWEEN_SIGNS:
                told = time.monotonic()
                yield {"text": text or ""}
            if piece.choices and piece.choices[0].finish_reason in _CUT:
                is_cut = True
            if usage := getattr(piece, "usage", None):
                counted = (usage.prompt_tokens, usage.completion_tokens)
                used = dict(zip(("input", "output"), counted, strict=True))
        failure = transport.failure
    except Exception:  # noqa: BLE001  # litellm's own errors say less than the transport knows
        failure = transport.failure or Failure.BROKEN
    finally:
        client.close()
    # Of what came at once litellm makes nothing, or a fault.
    if not has_said and (plain := transport.plain()) is not None:
        failure, used, is_cut = None, dict(plain.used), plain.ended in _CUT
        yield {"text": plain.text}
    if failure is None:
        yield {"done": {**used, "is_cut": is_cut}}
        return
    yield {
        "failed": {
            "failure": failure,
            "status": transport.status,
            "retry_after": transport.retry_after,
            "detail": transport.detail(asked["api_key"]),
        }
    }


if __name__ == "__main__":
    main()
