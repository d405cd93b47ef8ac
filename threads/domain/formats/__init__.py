"""Transcripts in and out: a detector by content, and a parser and a writer per format.

`detect` says what a file may be, `read` gives its conversations, `write` makes a file of
messages, `read_messages` takes what a client posts. A new format is one module with a
`Format`, named in `KNOWN`.
"""

import uuid
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from contextstudio.accounts.domain.errors import Invalid
from threads.domain.message import Message
from threads.domain.part import JSON
from threads.domain.transcript import Transcript

from . import atif, claude_code, codex, foreign, opencode
from .agents import aider, cline, copilot_cli, pi, specstory
from .anthropic import messages as anthropic
from .benchmarks import inspect_eval, mini_swe_agent, swe_agent, tau2, tau_bench
from .claude_code import writing as claude_writing
from .codex import exec as codex_exec
from .datasets import sharegpt
from .documents import contextstudio, html, markdown, role_headings
from .exports import chatgpt, claude_ai
from .format import Blob, Candidate, Format, Heading
from .gemini import cli as gemini_cli
from .gemini import cli_stream as gemini_cli_stream
from .gemini import messages as gemini
from .io import json_text
from .openai import completions, finetuning
from .openai import messages as openai
from .openai import responses as openai_responses
from .openhands import events as openhands
from .sample import HEAD, Sample
from .traces import langchain, langfuse, otel

KNOWN: tuple[Format, ...] = (
    contextstudio.FORMAT,
    claude_code.FORMAT,
    claude_code.STREAM_FORMAT,
    codex.FORMAT,
    codex_exec.FORMAT,
    openai_responses.FORMAT,
    gemini.FORMAT,
    opencode.FORMAT,
    gemini_cli.FORMAT,
    gemini_cli_stream.FORMAT,
    atif.FORMAT,
    chatgpt.FORMAT,
    pi.FORMAT,
    copilot_cli.FORMAT,
    cline.FORMAT,
    openhands.FORMAT,
    aider.FORMAT,
    completions.FORMAT,
    specstory.FORMAT,
    swe_agent.FORMAT,
    mini_swe_agent.FORMAT,
    tau_bench.FORMAT,
    tau2.FORMAT,
    claude_ai.FORMAT,
    inspect_eval.FORMAT,
    sharegpt.FORMAT,
    langchain.FORMAT,
    langfuse.FORMAT,
    otel.FORMAT,
    *foreign.FORMATS,
    anthropic.FORMAT,
    openai.FORMAT,
    role_headings.FORMAT,
)

WRITERS = {
    "contextstudio": contextstudio.WRITER,
    "openai": openai.WRITER,
    "anthropic": anthropic.WRITER,
    "gemini": gemini.WRITER,
    "atif": atif.WRITER,
    "atif_zip": atif.ARCHIVE_WRITER,
    "codex": codex.WRITER,
    "openai_responses": openai_responses.WRITER,
    "finetuning": finetuning.WRITER,
    "claude_code": claude_writing.WRITER,
    "markdown": markdown.WRITER,
    "html": html.WRITER,
}

REQUESTS = {"openai": openai.REQUEST, "anthropic": anthropic.REQUEST}
"""The forms of requests that `apply` takes and answers."""

CERTAIN = 0.95
"""A score that none surpasses but our own form's, the first of `KNOWN`: the first to have it is
meant."""
UTF_16 = (b"\xff\xfe", b"\xfe\xff", b"{\0", b"\0{", b"[\0", b"\0[")
"""How UTF-16 begins: with a mark, or JSON without one."""


def detect(head: bytes, name: str | None = None) -> list[Candidate]:
    """What a file may be, by its first bytes (64 KiB are enough), the likeliest first.

    The name only decides between formats that the content leaves open. Never raises.
    """
    sample = Sample(head, name or "")
    scored = ((format_.score(sample), format_) for format_ in KNOWN)
    found = [Candidate(form.name, score, form.label) for score, form in scored if score]
    best: dict[str, Candidate] = {}
    for candidate in sorted(found, key=lambda candidate: -candidate.score):
        best.setdefault(candidate.format, candidate)
    return list(best.values())


def read(
    source: BinaryIO, format: str = "auto", name: str | None = None
) -> list[Transcript]:
    """The conversations of a seekable file, which must stay open while they are read.

    Raises Invalid with a sentence that names what the file is: `format_unknown`,
    `format_unsupported` (known, but not read yet), `no_messages`, or what broke the reading
    (`json_too_deep`, `line_too_long`, `json_truncated`, …).
    """
    source.seek(0)
    head = source.read(HEAD)
    chosen = _likeliest(head, name) if format == "auto" else _by_name(format)
    if chosen.read is None:
        hint = chosen.hint or "ContextStudio can't read it yet."
        raise Invalid(f"This is {chosen.label}. {hint}", code="format_unsupported")
    return chosen.read(source, name or "")


def write(
    format: str,
    messages: Iterable[Message],
    *,
    title: str = "",
    model: str = "",
    external_id: str | None = None,
    strategy: str = "openai",
    blob: Blob | None = None,
    system: int | None = None,
    first_changed: int | None = None,
    export_id: uuid.UUID | None = None,
    tools: JSON = None,
) -> Iterator[bytes]:
    """Messages as a file of one of `WRITERS`, in pieces; `blob` gives the bytes of images.

    Of the system's messages at the top the first `system` are the system prompt: all, unless
    it is given.

    `contextstudio` loses nothing but the places in the source; `openai` and `anthropic` are
    bodies of requests, with what these can't say left out; `markdown` is for people. Raises
    Invalid at once for another format.
    """
    writer = WRITERS.get(format)
    if writer is None:
        known = ", ".join(WRITERS)
        raise Invalid(f"A session is exported as one of {known}.", at=("format",))
    heading = Heading(
        title=title,
        model=model,
        external_id=external_id,
        strategy=strategy,
        blob=blob,
        system=system,
        first_changed=first_changed,
        export_id=export_id or uuid.uuid4(),
        tools=tools,
    )
    return writer.write(messages, heading)


def file_name(format: str, export_id: uuid.UUID) -> str | None:
    """What a file must be called for its tool to find it; None where any name will do."""
    writer = WRITERS.get(format)
    if writer is None or writer.file_name is None:
        return None
    return writer.file_name(Heading(export_id=export_id))


def _likeliest(head: bytes, name: str | None) -> Format:
    """The format that a file is most likely in. Raises Invalid that says what it looks like."""
    sample = Sample(head, name or "")
    best, likeliest = 0.0, None
    for known in KNOWN:
        score = known.score(sample)
        if score > best:
            best, likeliest = score, known
        if best >= CERTAIN:  # and the rest need not be asked
            break
    if likeliest is not None:
        return likeliest
    if json_text.is_deep(head):
        raise json_text.too_deep()
    raise Invalid(f"This is {_looks(head)}.", code="format_unknown")


def _by_name(name: str, label: str = "") -> Format:
    """The format of this name; of several the one with this label, else the first."""
    named = [known for known in KNOWN if known.name == name]
    if not named:
        raise Invalid(
            f"There is no format {name!r}.", at=("format",), code="format_unknown"
        )
    return next((known for known in named if known.label == label), named[0])


def _looks(head: bytes) -> str:
    """What a file that is no known transcript looks like, as the end of a sentence."""
    if not head.strip():
        return "an empty file"
    if head[:2] in UTF_16:
        return "UTF-16 text; save it as UTF-8 and bring it again"
    if b"\0" in head:
        return "a binary file, not a transcript"
    if Sample(head).rows:
        return "JSON, but no transcript that ContextStudio knows"
    return "text, but no transcript that ContextStudio knows"
