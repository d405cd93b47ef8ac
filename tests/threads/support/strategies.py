"""Hypothesis strategies: messages as in transcripts, including hostile characters."""

from datetime import UTC, datetime

from hypothesis import strategies as st

from threads.domain.message import Message, Role, Usage
from threads.domain.part import (
    File,
    Image,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)


def _joined(text: str) -> str:
    """Combine surrogates that form a pair, as every JSON reader does."""
    return text.encode("utf-16-le", "surrogatepass").decode(
        "utf-16-le", "surrogatepass"
    )


def _is_pairless(text: str) -> bool:
    try:
        return _joined(text) == text
    except UnicodeDecodeError:
        return True


STRANGE = (
    "\0",
    "\ud800",
    "\udfff",
    "\u2028",
    "\x1b",
    "`",
    "```",
    '"',
    "\\",
    "\r",
    "\n",
)
texts = (
    st.lists(
        st.text(st.characters(codec="utf-8"), max_size=9) | st.sampled_from(STRANGE)
    )
    .map("".join)
    .filter(_is_pairless)
)
"""Any text, including what breaks readers: NUL, lone surrogates, escapes, backticks."""
words = st.text(
    st.characters(categories=["L", "N"], codec="utf-8"), min_size=1, max_size=12
)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 80), 1 << 80)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3)
    ),
    max_leaves=6,
)
media_types = st.sampled_from(
    ["image/png", "image/jpeg", "application/pdf", "text/plain"]
)
images = st.builds(Image, media_types, data=st.binary(max_size=20)) | st.builds(
    Image, media_types, url=words.map("https://example.org/{}".format)
)
files = st.builds(File, media_types, st.none() | words, data=st.binary(max_size=20))
opaques = st.builds(Opaque, words, json_values)
results = st.builds(
    ToolResult,
    words,
    st.lists(st.builds(Text, texts) | images | files | opaques, max_size=3).map(tuple),
    st.none() | words,
    st.booleans(),
)
thoughts = st.builds(Thinking, texts, st.none() | words) | st.builds(
    Thinking, st.just(""), data=words
)
calls = st.builds(ToolCall, words, words, json_values)
parts = st.one_of(
    st.builds(Text, texts), thoughts, calls, results, images, files, opaques
)
counts = st.integers(0, 1 << 40)
usages = st.builds(
    Usage, input_tokens=counts, output_tokens=counts, cached_tokens=counts
)
moments = st.integers(1, 1 << 32).map(
    lambda seconds: datetime.fromtimestamp(seconds, UTC)
)
messages = st.builds(
    Message,
    role=st.sampled_from(Role),
    parts=st.lists(parts, max_size=4).map(tuple),
    name=st.none() | words,
    model=st.none() | words,
    source_id=st.none() | words,
    created_at=st.none() | moments,
    usage=st.none() | usages,
    partial=st.booleans(),
)
"""Any message that a transcript can contain."""
