"""Counts equal tiktoken's, offline; what speeds them up must prove equal first."""

import random
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from threading import Event, Thread, current_thread
from typing import Any, NoReturn

import pytest
import tiktoken.registry
from hypothesis import given, settings
from hypothesis import strategies as st
from tiktoken import get_encoding

from tests.servers import PATIENCE_SECONDS
from threads import tokens
from threads.domain.message import Message
from threads.domain.part import Image, Text, ToolCall, ToolResult
from threads.domain.tokens import IMAGE

from .support.strategies import messages as any_messages
from .support.strategies import texts

pytestmark = pytest.mark.sqlite  # no database has a part in counting


@pytest.fixture
def fresh() -> Iterator[None]:
    """Encodings loaded anew, and again after the test."""
    tokens.counter.cache_clear()
    yield
    tokens.counter.cache_clear()


def reference(text: str, encoding: str = "o200k_base") -> int:
    assert tokens.is_accelerated(encoding)
    return len(get_encoding(encoding).encode_ordinary(text))


@settings(deadline=None, max_examples=300)
@given(texts, st.sampled_from(sorted(tokens.FILES)))
def test_a_count_is_tiktoken_s(text: str, encoding: str) -> None:
    assert tokens.count_many([text], encoding) == [reference(text, encoding)]


def test_many_counts_are_tiktoken_s() -> None:
    chance = random.Random(11)
    alphabet = "aA'sSdDtT1 \n\r\t.,/\\\u00a0\u2028é漢😀ßİıſK<|>"
    found = [
        "".join(chance.choices(alphabet, k=chance.randint(1, 60))) for _ in range(5_000)
    ]

    assert tokens.count_many(found) == [reference(text) for text in found]


def test_special_tokens_count_as_they_are_spelled() -> None:
    assert tokens.count_many(["<|endoftext|>"]) == [reference("<|endoftext|>")]
    assert tokens.count_many(["<|endoftext|>"])[0] > 1


def test_the_accelerator_is_in_use() -> None:
    assert tokens.is_accelerated("o200k_base")
    assert tokens.is_accelerated("cl100k_base")


@settings(deadline=None)
@given(any_messages)
def test_a_message_counts_the_sum_of_its_parts(message: Message) -> None:
    counts = tokens.count_parts(message.parts)

    assert len(counts) == len(message.parts)
    assert tokens.count_messages([message.parts, ()]) == [counts, []]
    assert sum(counts) == sum(tokens.count_parts([part])[0] for part in message.parts)


def test_a_call_counts_its_name_and_arguments_and_an_image_is_estimated() -> None:
    call = ToolCall("c", "read_file", {"path": "a.py"})
    picture = Image("image/png", data=b"PNG")
    parts = [call, ToolResult("c", (Text("ok"), picture)), picture]

    assert tokens.count_parts(parts) == [
        reference("read_file") + reference('{"path": "a.py"}'),
        reference("ok") + IMAGE,
        IMAGE,
    ]


@pytest.mark.parametrize(
    ("model", "encoding", "is_exact"),
    [
        ("gpt-4o-mini", "o200k_base", True),
        ("gpt-4.1", "o200k_base", True),
        ("gpt-5.2-codex", "o200k_base", True),
        ("openai/o3-mini", "o200k_base", True),
        ("o1", "o200k_base", True),
        ("gpt-4", "cl100k_base", True),
        ("gpt-4-turbo", "cl100k_base", True),
        ("azure/gpt-35-turbo", "cl100k_base", True),
        ("ft:gpt-3.5-turbo:team", "cl100k_base", True),
        ("claude-opus-5", "o200k_base", False),
        ("o11y-model", "o200k_base", False),
        ("", "o200k_base", False),
    ],
)
def test_a_model_has_its_encoding(model: str, encoding: str, is_exact: bool) -> None:
    assert (tokens.encoding_for(model), tokens.is_exact(model)) == (encoding, is_exact)


def test_an_accelerator_that_differs_is_not_used(
    fresh: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "_load_fastokens", lambda _encoding: lambda _text: [1])

    assert not tokens.is_accelerated("o200k_base")
    assert tokens.count_many(["Hello there"]) == [2]


def test_a_process_that_counts_much_loads_the_accelerator_beside_its_work(
    fresh: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaders, loading, may_load = [], Event(), Event()

    def load(encoding: str, load: Callable[[str], Any] = tokens._load_fastokens) -> Any:
        loaders.append(current_thread().name)
        loading.set()
        assert may_load.wait(PATIENCE_SECONDS)
        return load(encoding)

    monkeypatch.setattr(tokens, "_load_fastokens", load)
    monkeypatch.setattr(tokens, "BEFORE_ACCELERATING", 20)
    assert tokens.count_many(["Hello there"]) == [2]
    assert loaders == []
    assert tokens.count_many(["Hello there"] * 5) == [2] * 5
    assert loading.wait(PATIENCE_SECONDS)
    assert tokens.count_many(["Hello there"]) == [2]
    may_load.set()
    assert tokens.is_accelerated()
    assert tokens.count_many(["Hello there"]) == [2]
    assert loaders == ["accelerating"]


def test_what_tiktoken_cannot_count_in_one_is_counted_in_pieces(
    fresh: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    class PanicException(BaseException):
        """As pyo3 raises where tiktoken's regular expressions overflow."""

    def encode(text: str) -> list[int]:
        if len(text) > 100_000:
            raise PanicException
        return [0] * len(text)

    def interrupted(_text: str) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(tokens, "_load_fastokens", _fail)
    monkeypatch.setattr(tokens, "_load_tiktoken", lambda _encoding: encode)
    assert tokens.count_many([" " * 1_000_001]) == [1_000_001]

    tokens.counter.cache_clear()
    monkeypatch.setattr(tokens, "_load_tiktoken", lambda _encoding: interrupted)
    with pytest.raises(KeyboardInterrupt):
        tokens.count_many(["x"])


def test_a_million_blanks_are_counted_by_the_accelerator(fresh: None) -> None:
    assert tokens.count_many(["x", " " * 1_000_000]) == [1, 7_813]
    assert tokens.count_many([" " * 1_000_000]) == [7_813]


def test_an_encoding_that_is_not_at_hand_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(LookupError, match="tape_base"):
        tokens.count_many(["x"], "tape_base")

    monkeypatch.setitem(tokens.FILES, "tape_base", "0" * 40)
    with pytest.raises(LookupError, match="holds no file"):
        tokens.count_many(["x"], "tape_base")


def test_nothing_is_downloaded(fresh: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "socket", _fail)
    monkeypatch.setattr(socket, "create_connection", _fail)
    monkeypatch.setattr(tiktoken.registry, "ENCODINGS", {})

    assert tokens.count_many(["Hello there"]) == [2]


def test_counting_does_not_import_litellm() -> None:
    program = (
        "import sys; from threads import tokens; tokens.count_many(['x']);"
        "sys.exit(any(name.startswith('litellm') for name in sys.modules))"
    )

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def _fail(*_arguments: object, **_options: object) -> NoReturn:
    raise OSError("There is no network here.")


def test_threads_that_come_and_go_have_others_count_until_they_count_much() -> None:
    said = (Text("Look at it."), Text("Twice."))
    expected, counted, threads = tokens.count_messages([said]), [], []

    def words() -> Iterator[tuple[Text, Text]]:
        threads.append(current_thread())
        yield said

    def count() -> None:
        for _ in range(tokens.MAX_ASKED + 2):
            counted.append(tokens.count_messages(words()))
            threads.append(tokens._this_thread.asked)

    thread = Thread(target=count)
    thread.start()
    thread.join()
    assert counted == [expected] * (tokens.MAX_ASKED + 2)
    assert threads[1::2] == [*range(1, tokens.MAX_ASKED + 1)] + [tokens.MAX_ASKED] * 2
    assert set(threads[::2]) == {thread}  # what is lazy is read where it came from


def test_what_is_counted_again_counts_the_same() -> None:
    texts = ["", "Four words, no more.", "\ud83d alone", "x" * 5_000]
    parts = [Text(text) for text in texts]
    call = ToolCall("c", "look", {"at": [1, "two"]})
    for encoding in tokens.FILES:
        for _ in range(2):
            for one in ([*parts, call], parts[:2]):
                expected = sum(tokens.count_parts(one, encoding))
                assert tokens.count_again(one, encoding) == expected
    assert not any("words" in str(key) for key in tokens._known)
