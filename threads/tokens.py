"""Token counts: tiktoken is the reference, fastokens the accelerator where it proves equal.

The encodings come from the files that litellm packages, found without importing litellm, so that
nothing is ever downloaded.
"""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from threading import Lock, Thread, current_thread, local, main_thread
from typing import Any

from cachetools import LRUCache
from fastokens import Tokenizer
from tiktoken import Encoding
from tiktoken_ext.openai_public import ENCODING_CONSTRUCTORS

from .domain import tokens
from .domain.part import Part

DEFAULT = "o200k_base"
FILES = {
    "cl100k_base": "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
    "o200k_base": "fb374d419588a4632f3f557e76b4b70aebbca790",
}
"""The available encodings, and tiktoken's cache name of their files: the SHA-1 of their URL."""
O200K = re.compile(r"gpt-(4o|4\.1|4\.5|5|oss)|chatgpt-4o|o[134](-|$)|codex-mini")
CL100K = re.compile(r"gpt-(4(-|$)|3\.5|35)")
"""The OpenAI models of each encoding (from tiktoken's `model.py`, and later ones)."""
SPECIMENS = (
    "",
    " ",
    "\n\n\n  \t",
    "   " * 90,
    "a" * 700,
    "0123456789" * 40,
    "don't I'LL we'Ve 'S x'd",
    "<|endoftext|><|im_start|>",
    "\u00a0\u2003x\u200b",
    "\r\n\r\n  x\r",
    "naïve e\u0301 ＦＵＬＬ ßİıſK",
    "日本語の文章、한국어 문장, русский текст, عربي עברית ไทย हिन्दी",
    "👩\u200d👩\u200d👧 😀🏳️\u200d🌈",
    "\x00\x01\x7f\ufffd",
    'def f(x: int = 1_000) -> dict[str, "X"]:\n\treturn {"a": [x, None]}  # why\n',
    '{"path": "/srv/app/1.txt", "lines": [1, 2.5e-3], "ok": true}\n',
    "$ git diff -U0 HEAD~1 | less -R\n",
)
"""The accelerator must encode these to the same ids as tiktoken before it is trusted."""
PIECE = 10_000
"""The length of the pieces of a text that tiktoken can't count at once, in characters."""
BEFORE_ACCELERATING = 10_000_000
"""Characters that a process counts with tiktoken first: this takes less time than the accelerator
takes to load."""

Count = Callable[[str], int]
Encode = Callable[[str], Any]
"""Returns something with a length: tiktoken a list of ids, fastokens an object with `ids`."""


def encoding_for(model: str) -> str:
    """The encoding in which a model's tokens are counted; an estimate for foreign models."""
    return "cl100k_base" if CL100K.match(_bare(model)) else DEFAULT


def is_exact(model: str) -> bool:
    """Whether the encoding is the model's own: true only of OpenAI's models."""
    return bool(O200K.match(_bare(model)) or CL100K.match(_bare(model)))


def count_parts(parts: Sequence[Part], encoding: str = DEFAULT) -> list[int]:
    """The tokens of each part; their sum is the count of the message."""
    return count_words([tokens.words(parts)], encoding)[0]


def count_messages(
    messages: Iterable[Sequence[Part]], encoding: str = DEFAULT
) -> list[list[int]]:
    """The tokens of each part of each message, for many messages at once."""
    return count_words(map(tokens.words, messages), encoding)


def count_words(
    messages: Iterable[tokens.Words], encoding: str = DEFAULT
) -> list[list[int]]:
    """Like `count_messages`, for the texts of messages that are to be counted.

    Each request is served by its own thread, and the first text that a thread counts takes the
    accelerator 8 ms. So threads that count little delegate to long-lived ones.
    """
    count, asked = counter(encoding), getattr(_this_thread, "asked", 0)
    if asked == MAX_ASKED or current_thread() is main_thread():
        return _counted(messages, count)
    _this_thread.asked = asked + 1
    return _thread_pool().submit(_counted, list(messages), count).result()


def _counted(messages: Iterable[tokens.Words], count: Count) -> list[list[int]]:
    return [[tokens.total(part, count) for part in parts] for parts in messages]


MAX_ASKED = 32
"""How often a thread delegates counting before it counts itself."""
_this_thread = local()


@cache
def _thread_pool() -> ThreadPoolExecutor:
    """The long-lived threads; a forked process starts its own."""
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="counting")


os.register_at_fork(after_in_child=_thread_pool.cache_clear)


def count_again(parts: Sequence[Part], encoding: str = DEFAULT) -> int:
    """The tokens of a message that is rebuilt for each request, usually with the same text.

    Counts are cached by the digests of texts; the texts themselves are not kept.
    """

    def count(text: str) -> int:
        known_by = encoding, blake2b(text.encode("utf-8", "surrogatepass")).digest()
        with _lock:
            known = _known.get(known_by)
        if known is None:
            ((known,),) = count_words([[text]], encoding)
            with _lock:
                _known[known_by] = known
        return known

    return sum(tokens.total(part, count) for part in tokens.words(parts))


_known: LRUCache[tuple[str, bytes], int] = LRUCache(20_000)
_lock = Lock()


def count_many(texts: Iterable[str], encoding: str = DEFAULT) -> list[int]:
    """The tokens of each text. Special tokens count as ordinary text."""
    return list(map(counter(encoding), texts))


class TokenCounter:
    """Counts exactly: with tiktoken or, in a process that counts much, with its equal.

    tiktoken loads in 0.3 s of processor time, fastokens in 1.9 s and another 100 MB. A million
    characters take tiktoken 70 ms, fastokens 35 ms or less.
    """

    def __init__(
        self,
        encode: Encode,
        load_accelerator: Callable[[Encode], Encode | None] = lambda encode: None,
    ) -> None:
        self._encode = encode
        self._load_accelerator = load_accelerator
        self._left = BEFORE_ACCELERATING
        self._accelerated: bool | None = None
        self._loading = Lock()

    def __call__(self, text: str) -> int:
        if self._left > 0:
            self._left -= len(text)
            if self._left <= 0:
                Thread(target=self.accelerate, name="accelerating").start()
        try:
            return len(self._encode(text))
        except UnicodeEncodeError:
            # As tiktoken reads it: surrogate pairs become characters, lone ones U+FFFD.
            whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            return len(self._encode(whole))
        except BaseException as error:
            # tiktoken's regular expressions overflow on a million blanks: pyo3 raises that as a
            # PanicException, which is no Exception and would end the process.
            if type(error).__name__ != "PanicException":
                raise
            if not self._accelerated and self.accelerate():
                return self(text)
            pieces = (text[i : i + PIECE] for i in range(0, len(text), PIECE))
            return sum(len(self._encode(piece)) for piece in pieces)

    def accelerate(self) -> bool:
        """Count with the accelerator from now on; returns False if there is none to be trusted."""
        with self._loading:
            if self._accelerated is None:
                fast = self._load_accelerator(self._encode)
                self._encode = fast or self._encode
                self._accelerated = fast is not None
            return self._accelerated


@cache
def counter(encoding: str) -> TokenCounter:
    """The counter of an encoding. Raises LookupError if the encoding is not available."""
    return TokenCounter(_load_tiktoken(encoding), partial(_accelerator, encoding))


def is_accelerated(encoding: str = DEFAULT) -> bool:
    """Whether fastokens counts this encoding; it does from now on if it equals tiktoken."""
    return counter(encoding).accelerate()


def _accelerator(encoding: str, encode: Encode) -> Encode | None:
    try:
        fast = _load_fastokens(encoding)
        is_equal = all(list(fast(text).ids) == encode(text) for text in SPECIMENS)
    except Exception:  # noqa: BLE001  # an accelerator that fails in any way is done without
        return None
    return fast if is_equal else None


def _load_tiktoken(encoding: str) -> Encode:
    """An instance of our own, not tiktoken's shared one: its 75 MB are freed when unused."""
    os.environ["TIKTOKEN_CACHE_DIR"] = str(_file(encoding).parent)
    return Encoding(**ENCODING_CONSTRUCTORS[encoding]()).encode_ordinary


def _load_fastokens(encoding: str) -> Encode:
    tokenizer = Tokenizer.from_tiktoken(str(_file(encoding)), encoding=encoding)
    encode: Encode = tokenizer.encode_ordinary
    return encode


def _file(encoding: str) -> Path:
    """The file of an encoding in litellm's package. Raises LookupError if there is none."""
    spec = find_spec("litellm")
    if encoding not in FILES or spec is None or spec.origin is None:
        raise LookupError(f"The encoding {encoding} is not available.")
    folder = Path(spec.origin).parent / "litellm_core_utils" / "tokenizers"
    if not (folder / FILES[encoding]).is_file():
        raise LookupError(f"litellm holds no file of the encoding {encoding}.")
    return folder / FILES[encoding]


def _bare(model: str) -> str:
    """A model's name without its provider (`azure/…`) and the prefix of fine-tuned models."""
    return model.rsplit("/", 1)[-1].removeprefix("ft:").lower()
