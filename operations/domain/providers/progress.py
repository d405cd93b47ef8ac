"""Whether the response in progress still begins with thinking.

With Anthropic's `thinking: {"type": "enabled"}`, a response that is continued with results of tools
must begin with thinking, or the request is refused. An operation on an earlier message makes its
thinking invalid, so it is left out (R7).

A response's later steps may have none: the model doesn't think after all results. Nor may thinking
be turned off while the response has some (https://github.com/BerriAI/litellm/issues/18926).
"""

from collections.abc import Iterable, Iterator, Sequence

from threads.domain.formats.requests import Form

_BLOCKS = ("thinking", "redacted_thinking")


def lacks_thinking(sent: Iterable[Form]) -> bool:
    """Whether a response in progress begins without thinking in the messages that go out.

    They are given the latest first; only those of the response, which begins after the last
    question, are read.
    """
    steps = list(_steps(sent))
    return bool(steps) and not _begins(steps[-1])


def _steps(latest_first: Iterable[Form]) -> Iterator[list[Form]]:
    """The steps of the response in progress, the latest first; none if none is in progress.

    Each is its messages in order, because several in a row are read as one; so are the messages
    that a step answers, among which there must be a result.
    """
    step: list[Form] = []
    has_result = False
    for message in latest_first:
        if message.get("role") != "assistant":
            if step:
                yield step
                step, has_result = [], False
            has_result = has_result or _has_result(message)
        elif has_result:
            step.insert(0, message)
        else:
            return
    if step:
        yield step


def _has_result(message: Form) -> bool:
    return any(block.get("type") == "tool_result" for block in _blocks(message))


def _begins(step: Sequence[Form]) -> bool:
    """Whether a step begins with thinking."""
    first = next((block for message in step for block in _blocks(message)), {})
    return first.get("type") in _BLOCKS


def _blocks(message: Form) -> list[Form]:
    content = message.get("content")
    if not isinstance(content, list):
        return [{"type": "text", "text": content}] if content else []
    return [block for block in content if isinstance(block, dict)]
