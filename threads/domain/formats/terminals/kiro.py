"""A chat of Kiro's command line (formerly Amazon Q Developer), as written by `/chat save`.

Each entry of `history` is the user's message, which may contain results, and the model's answer:
two members or, in older versions, a list of the two. Text added by hooks is sent before the user's
text. A summary (`latest_summary`) replaces compacted messages, which are not in the file.

Source: crates/chat-cli/src/cli/chat (message.rs, conversation.rs) of aws/amazon-q-developer-cli.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from threads.domain.formats.arguments import read_call
from threads.domain.formats.io import fields, json_text
from threads.domain.formats.io.json_file import Element
from threads.domain.formats.kit.items import Item
from threads.domain.formats.kit.list_format import ListFormat, Values, per_element
from threads.domain.formats.sample import Sample
from threads.domain.message import Message, Role
from threads.domain.part import JSON, Opaque, Part, Text, ToolResult
from threads.domain.transcript import Event

_SPOKEN = frozenset({"Prompt", "ToolUseResults", "CancelledToolUses"})
_ANSWERS = frozenset({"Response", "ToolUse"})


def _entry(row: Element) -> Iterator[Item]:
    """The messages of an entry; an event if it says nothing. Raises Invalid if it isn't one."""
    asked, answer, about = _halves(row.value)
    said = [*_asked(asked, row.record), *_answered(answer, about, row.record)]
    yield from said
    if not said:
        yield Event("entry", row.record)


def _halves(entry: JSON) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The user's message of an entry, the model's, and the request's metadata."""
    names = ("user", "assistant", "request_metadata")
    if isinstance(entry, list):
        entry = dict(zip(names, entry, strict=False))
    held = fields.require(entry, dict, "an entry", ())
    asked, answer, about = (fields.mapping(held, name) for name in names)
    return asked, answer, about


def _asked(message: dict[str, Any], record: str) -> Iterator[Message]:
    """Results, then the user's message: text added by hooks, the prompt, images."""
    stamp = fields.moment(message.get("timestamp"))
    content = fields.mapping(message, "content")
    kind = next(iter(content), "")
    held = fields.mapping(content, kind)
    if results := [_result(one) for one in fields.items(held, "tool_use_results")]:
        parts: tuple[Part, ...] = tuple(results)
        yield Message(role=Role.TOOL, parts=parts, created_at=stamp, records=(record,))
    texts = fields.text(message, "additional_context"), fields.text(held, "prompt")
    said: list[Part] = [Text(text) for text in texts if text.strip()]
    if kind and kind not in _SPOKEN:
        said.append(Opaque(kind, {"type": kind, kind: content[kind]}))
    images = fields.items(message, "images")
    said += [Opaque("image", {"type": "image", "image": one}) for one in images]
    if said:
        parts = tuple(said)
        yield Message(role=Role.USER, parts=parts, created_at=stamp, records=(record,))


def _result(given: JSON) -> ToolResult:
    held = fields.mapping(given)
    content = tuple(
        Text(words)
        for one in fields.items(held, "content")
        if (words := _words(fields.mapping(one)))
    )
    is_error = fields.text(held, "status").lower() not in ("", "success")
    return ToolResult(fields.text(held, "tool_use_id"), content, None, is_error)


def _words(block: dict[str, Any]) -> str:
    if "Json" in block:
        return json_text.decode(json_text.dump(block["Json"]))
    return fields.text(block, "Text")


def _answered(
    answer: dict[str, Any], about: dict[str, Any], record: str
) -> Iterator[Message]:
    kind = next(iter(answer), "")
    held = fields.mapping(answer, kind)
    words = fields.text(held, "content")
    calls = [fields.mapping(one) for one in fields.items(held, "tool_uses")]
    said: list[Part] = [*([Text(words)] if words else []), *map(_call, calls)]
    if kind and kind not in _ANSWERS:
        said.append(Opaque(kind, {"type": kind, kind: answer[kind]}))
    if said:
        yield Message(
            role=Role.ASSISTANT,
            parts=tuple(said),
            model=fields.word(about, "model_id") or None,
            source_id=fields.word(held, "message_id") or None,
            created_at=fields.moment(about.get("request_start_timestamp_ms")),
            records=(record,),
        )


def _call(given: dict[str, Any]) -> Part:
    """A call as the model made it; for an unknown tool, the file also has the name `dummy`."""
    name = fields.text(given, "orig_name", "name")
    arguments = given.get("orig_args") or given.get("args") or {}
    return read_call(fields.text(given, "id"), name, arguments)


def _summary(row: Element) -> Iterator[Item]:
    """The message of a summary, whose list also holds its request's metadata."""
    if isinstance(row.value, str) and row.value:
        parts = (Text(row.value),)
        yield Message(role=Role.USER, parts=parts, records=(row.record,))
    else:
        yield Event("latest_summary", row.record)


def _alone(name: str, row: Element) -> Iterable[Item]:
    """A summary without its request, or a message without an answer."""
    if name == "latest_summary" and row.value is not None:
        return _summary(row)
    return list(_asked(fields.mapping(row.value), row.record))


def _known(values: Values, _name: str) -> dict[str, Any]:
    return {
        "external_id": fields.as_word(values["conversation_id"], limit=255) or None,
        "strategy": "anthropic",
    }


def _score(sample: Sample) -> float:
    """By an entry whose message and answer have names that only this program uses."""
    found = (
        _halves(entry)
        for row in sample.rows
        for entry in fields.items(row, "history")[:1]
        if isinstance(entry, dict | list)
    )
    is_own = (
        not _SPOKEN.isdisjoint(fields.mapping(asked, "content"))
        and not _ANSWERS.isdisjoint(answer)
        for asked, answer, _ in found
    )
    return 0.95 if any(is_own) else 0


LIST_FORMAT = ListFormat(
    name="kiro",
    label="a Kiro or Amazon Q chat",
    score=_score,
    lists={
        "latest_summary": per_element(_summary),
        "history": per_element(_entry),
        "next_message": per_element(_entry),
    },
    text=_alone,
    known=_known,
)
FORMAT = LIST_FORMAT.format
