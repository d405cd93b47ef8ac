"""What counting tokens costs: `python -m bench.tokens.counting`.

One transcript of 10,000 messages (`bench.transcript`), counted in o200k_base. T1: the total after
one message was revised, from the stored counts of the others, against litellm's count of the list,
and equal to a full recount by tiktoken. T2: the first count in a process of its own, one thread,
against tiktoken's in another; equal on every text of the transcript and on 60,000 texts chosen to
be difficult. T3: the count of an unchanged thread, whose bodies' counts are stored under their
digests, against tiktoken. Each figure is the ratio of the least CPU times of interleaved rounds
(T2: of processes): on a shared machine these tell most.
"""

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

from tiktoken import get_encoding

from bench.context.replay import Row
from bench.transcript import messages
from threads import tokens
from threads.domain.body import digest
from threads.domain.formats.openai import messages as openai
from threads.domain.message import Message, Role
from threads.domain.part import Part, Text
from threads.domain.tokens import total, words

COUNT = 10_000
FUZZ = 60_000
ROUNDS = 5
ENCODING = "o200k_base"


def rows() -> Iterator[Row]:
    """The rows of the table: T1, T2, T3 of the performance plan."""
    given = list(messages(COUNT))
    found = openai.read_messages(given)
    tokens.is_accelerated(ENCODING)
    yield from _recount_after_an_edit(given, found)
    yield from _cold(found)
    yield from _warm(found)


def _reference(found: list[Message]) -> list[int]:
    """The count of each message by tiktoken alone."""
    encode = get_encoding(ENCODING).encode_ordinary
    return [
        sum(len(encode(text)) for part in message.parts for text in _texts_of(part))
        for message in found
    ]


def _recount_after_an_edit(
    given: list[dict[str, Any]], found: list[Message]
) -> Iterator[Row]:
    counts = [sum(parts) for parts in tokens.count_messages(m.parts for m in found)]
    place = len(found) // 2
    revised = Text("The worker was restarted; every queue is empty. " * 12)

    def ours() -> int:
        counts[place] = sum(tokens.count_parts([revised]))
        return sum(counts)

    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm  # noqa: PLC0415  # two seconds, and only for comparison

    edited = [*given]
    edited[place] = {"role": "user", "content": revised.text}
    ratio = _ratio(
        lambda: litellm.token_counter(model="gpt-4o", messages=edited), ours, fast=200
    )
    after = [*found]
    after[place] = Message(role=Role.USER, parts=(revised,))
    is_equal = ours() == sum(_reference(after))
    yield Row(
        "T1 recount after an edit, x litellm",
        f"{ratio:,.0f}",
        ">= 1,000",
        ratio >= 1_000,
    )
    yield Row("T1 equal to a full recount by tiktoken", str(is_equal), "True", is_equal)


def _cold(found: list[Message]) -> Iterator[Row]:
    reference, ours, slow = _in_processes(["tiktoken", "ours", "fallback"])
    ratio, fallback = reference / ours, reference / slow
    yield Row("T2 first count, x tiktoken", f"{ratio:.1f}", ">= 6", ratio >= 6)
    yield Row(
        "T2 without the accelerator", f"{fallback:.2f}", ">= 0.95", fallback >= 0.95
    )
    encode = get_encoding(ENCODING).encode_ordinary
    checked = [*_texts(found), *_fuzz()]
    counted = tokens.count_many(checked, ENCODING)
    wrong = sum(
        len(encode(text)) != count for text, count in zip(checked, counted, strict=True)
    )
    yield Row(f"T2 differences in {len(checked):,} texts", str(wrong), "0", wrong == 0)


def _warm(found: list[Message]) -> Iterator[Row]:
    digests = [digest(message.role, message.parts) for message in found]
    counted = tokens.count_messages(message.parts for message in found)
    stored = dict(zip(digests, map(sum, counted), strict=True))
    ratio = _ratio(
        lambda: sum(_reference(found)),
        lambda: sum(map(stored.__getitem__, digests)),
        fast=20,
    )
    yield Row("T3 unchanged thread, x tiktoken", f"{ratio:,.0f}", ">= 20", ratio >= 20)
    again = _ratio(
        lambda: sum(_reference(found)),
        lambda: sum(map(sum, tokens.count_messages(m.parts for m in found))),
    )
    yield Row("T3 counted again without what is stored", f"{again:.1f}", "", None)


def _ratio(
    slow: Callable[[], object], quick: Callable[[], object], *, fast: int = 1
) -> float:
    """How many times as long the slow one takes; the quick one runs `fast` times per round."""
    rounds = [
        (_timed(slow), _timed(lambda: [quick() for _ in range(fast)]) / fast)
        for _ in range(ROUNDS)
    ]
    return min(time for time, _ in rounds) / min(time for _, time in rounds)


def _timed(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _in_processes(ways: Sequence[str]) -> list[float]:
    """Seconds of the first count of the transcript in each way, in separate processes."""
    rounds = [[_in_process(way) for way in ways] for _ in range(3)]
    return [min(times) for times in zip(*rounds, strict=True)]


def _in_process(way: str) -> float:
    command = [sys.executable, "-m", "bench.tokens.counting", way]
    run = subprocess.run(command, capture_output=True, check=True)
    return float(run.stdout)


def _first_count(way: str) -> float:
    found = list(_texts(openai.read_messages(list(messages(COUNT)))))
    if way == "ours":
        tokens.is_accelerated(ENCODING)
        count: Callable[[str], int] = tokens.counter(ENCODING)
    else:
        encode = tokens._load_tiktoken(ENCODING)
        count = (
            tokens.TokenCounter(encode)
            if way == "fallback"
            else lambda t: len(encode(t))
        )
    count("Warm up 1 2 3.")
    return _timed(lambda: [count(text) for text in found])


def _texts_of(part: Part) -> list[str]:
    """The texts of a part that are counted."""
    found: list[str] = []
    for counted in words([part]):
        total(counted, lambda text: found.append(text) or 0)  # type: ignore[func-returns-value]
    return found


def _texts(found: list[Message]) -> Iterator[str]:
    return chain.from_iterable(
        _texts_of(part) for message in found for part in message.parts
    )


def _fuzz() -> Iterator[str]:
    """Texts on which tokenizers differ: all of Unicode, contractions, blanks, emoji."""
    chance = random.Random(11)
    strange = "aA'sSdDtT1 \n\r\t.,/\\\u00a0\u2028é漢😀ßİıſK"
    words = (
        "don't",
        "I'LL",
        "x=1",
        "<|im_start|>",
        "<|endoftext|>",
        "naïve",
        "ＦＵＬＬ",
    )
    words += ("e\u0301", "123456", "日本語", "한국어", "👩\u200d👧")
    for number in range(FUZZ):
        size = chance.randint(1, 60)
        if number % 4 == 0:
            codes = (chance.randrange(0x110000) for _ in range(size))
            yield "".join(chr(code) for code in codes if not 0xD800 <= code < 0xE000)
        elif number % 4 == 1:
            yield "".join(chance.choices(strange, k=size))
        elif number % 4 == 2:
            yield "".join(chr(chance.randrange(32, 0x1100)) for _ in range(size))
        else:
            blanks = ("  ", "\n\n", "\t", " ")
            yield chance.choice(blanks).join(chance.choices(words, k=size // 4 + 1))


if __name__ == "__main__":
    if len(sys.argv) == 2:
        print(_first_count(sys.argv[1]))
    else:
        for row in rows():
            print(f"{row.name:44} {row.value:>14} {row.bar:>10} {row.ok}")
