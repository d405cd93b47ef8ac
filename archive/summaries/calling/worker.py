"""The process that calls models: `python -m archive.summaries.calling.worker <its caller's id>`.

A request is one line of JSON and includes the key. The answer is several lines of JSON: pieces of
text, then the outcome. The process waits a minute for the next request.
"""

import json
import os
import select
import sys
import time
from typing import Any

_PATIENCE = 60.0
_BETWEEN_SIGNS = 1.0
"""Seconds between reports of pieces without text."""
_CUT = ("length", "content_filter")
"""The `finish_reason` of an answer that was cut off, in litellm's terms for all providers."""


def main() -> None:
    """Answer requests until there are no more."""
    caller = int(sys.argv[1])
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # keep what litellm prints out of the answer
    line = sys.stdin.buffer.readline()
    while line:
        for told in _answer(json.loads(line), caller):
            answers.write(json.dumps(told) + "\n")
            answers.flush()
        if not select.select([sys.stdin], [], [], _PATIENCE)[0]:
            return
        line = sys.stdin.buffer.readline()


def _answer(asked: dict[str, Any], caller: int) -> Any:
    import httpx  # noqa: PLC0415  # imported only when there is a call to make
    import litellm  # noqa: PLC0415
    from litellm.llms.custom_httpx.http_handler import HTTPHandler  # noqa: PLC0415

    from .outcome import Failure  # noqa: PLC0415
    from .transport import Transport  # noqa: PLC0415

    if os.getppid() != caller:  # killed; another may be making the call by now
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
            # A model that thinks for long sends no text, but must not count as silent.
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
    # If the answer came whole, litellm returns nothing, or an error.
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
