"""A conversation as one self-contained HTML page: only written, and recognised by its policy.

The page has no script, loads nothing from elsewhere, and has a policy that allows neither. Each
message is an article with a heading. What a fold hides is in `<details>` beside its replacement.
`Heading.render` makes the HTML of a message's body; without it, bodies are plain text.
"""

from collections.abc import Iterable, Iterator
from html import escape
from typing import NamedTuple

from threads.domain.formats.format import Format, Heading, Writer
from threads.domain.formats.io import fields, json_text
from threads.domain.formats.sample import Sample
from threads.domain.message import Message
from threads.domain.part import File, Image, Part, Text, Thinking, ToolCall, ToolResult

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
PLAIN = (
    ":root{color-scheme:light dark}"
    "body{margin:2rem auto;max-width:60rem;padding:0 1rem;font:1rem/1.5 system-ui,sans-serif}"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere}"
)
"""The default style of a page: the browser's own colours, light or dark."""


class Opened(NamedTuple):
    """The beginning of a fold: its replacement. It hides all that follows up to `CLOSED`."""

    kind: str
    """The kind of operation, shown to people and used by the style sheet."""
    title: str
    note: str
    """How much it hides."""
    shown: tuple[Message, ...] = ()


class Closed(NamedTuple):
    """The end of a fold."""


CLOSED = Closed()
Item = Message | Opened | Closed


def write(items: Iterable[Item], heading: Heading) -> Iterator[bytes]:
    """The page, one message at a time; messages that the model sees are numbered from 0."""
    title = escape(_line(heading.title) or "Conversation")
    yield _head(title, heading)
    number = depth = 0
    for item in items:
        if isinstance(item, Closed):
            yield b"</details></section>\n"
            depth -= 1
            continue
        if isinstance(item, Opened):
            yield _opened(item)
            shown, depth = item.shown, depth + 1
            is_outer = depth == 1
        else:
            shown, is_outer = (item,), depth == 0
        for message in shown:
            yield _article(message, number if is_outer else None, heading)
            number += is_outer
        if isinstance(item, Opened):
            note = f"<summary>{escape(item.note)}</summary>"
            yield _encode(f'<details class="hidden-messages">{note}\n')
    yield b"</details></section>\n" * depth + b"</main>\n</body>\n</html>\n"


def _head(title: str, heading: Heading) -> bytes:
    model = f"<p>{escape(_line(heading.model))}</p>" if heading.model else ""
    return _encode(
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{title}</title>\n<style>\n{heading.styles or PLAIN}\n</style>\n</head>\n"
        f'<body class="page">\n<header><h1 dir="auto">{title}</h1>{model}</header>\n'
        "<main>\n<h2>Messages</h2>\n"
    )


def _opened(fold: Opened) -> bytes:
    title = f": {escape(_line(fold.title))}" if fold.title else ""
    kind = escape(fold.kind)
    return _encode(
        f'<section class="fold op-{kind}">\n<h3 class="fold-title">{kind}{title}</h3>\n'
    )


def _article(message: Message, number: int | None, heading: Heading) -> bytes:
    """A message: a heading with speaker and time, then its body."""
    place = f'<span class="number">{number}</span> ' if number is not None else ""
    name = f" ({escape(_line(message.name))})" if message.name else ""
    time = ""
    if moment := message.created_at:
        shown = moment.strftime("%Y-%m-%d %H:%M")
        time = f' <time datetime="{moment.isoformat()}">{shown}</time>'
    if heading.render:
        body = heading.render(message, heading)
    else:
        body = "".join(map(_plain, message.parts))
    return _encode(
        f'<article class="message role-{message.role}">\n'
        f"<h3>{place}{message.role}{name}{time}</h3>\n"
        f'<div class="body">{body}</div>\n</article>\n'
    )


def _plain(part: Part) -> str:
    match part:
        case Text(text):
            return _pre(text)
        case Thinking(text):
            inner = _pre(text or "Only its provider can read this.")
            return f"<details><summary>thinking</summary>{inner}</details>"
        case ToolCall(_, name, arguments):
            words = arguments if isinstance(arguments, str) else _json(arguments)
            return f"<h4>call: {escape(_line(name))}</h4>{_pre(words)}"
        case ToolResult(_, content, _, is_error):
            inner = "".join(map(_plain, content))
            return f"<h4>result{' (error)' if is_error else ''}</h4>{inner}"
        case Image(media_type) | File(media_type):
            return f"<p>{part.kind}: {escape(media_type)}</p>"
    return f"<h4>{escape(_line(part.type))}</h4>{_pre(_json(part.data))}"


def _pre(text: str) -> str:
    return f'<pre dir="auto">{escape(text)}</pre>'


def _json(value: object) -> str:
    return json_text.dump(value, indent=2).decode()


def _line(text: str) -> str:
    return fields.one_line(text, 200)


def _encode(text: str) -> bytes:
    """UTF-8 that HTML allows; NUL becomes a replacement character, a lone surrogate `?`."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace")


WRITER = Writer("HTML page", "html", "text/html; charset=utf-8", write)


def _score(sample: Sample) -> float:
    is_page = sample.text.startswith("<!doctype html>")
    return 1 if is_page and POLICY in sample.text[:500] else 0


FORMAT = Format(
    "html",
    "a page (HTML) that ContextStudio wrote for reading",
    _score,
    hint="Export the session as ContextStudio JSON, or with its operations and archive.",
)
