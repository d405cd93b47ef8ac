"""What `apply` costs without a database: `python -m bench.context.applying`.

M1: 120 digests over 10,000 messages, from the request's bytes to the response's, against reading
and writing the same bytes with orjson. The messages are aligned already, and the answer is cached
for this log, as for every request that `apply` has answered before. The measured time covers
finding the messages in the bytes, and putting the answer together; the second line adds the SHA-256
of the request, by which `apply` recognises it.

In the other lines the answer is computed. "After a change": the last of the digests was recorded
since, and `apply` rebuilds only the portions that it touches. "The first time": the JSON is read,
the log replayed and every portion built, from messages that are known as they came in. "As one
portion": all messages are compiled and counted, as for requests that can't be divided, and for
contexts requested elsewhere. All lines produce the same bytes.

Each figure is the ratio of the least CPU times of interleaved rounds.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from bench.transcript import messages
from operations.domain.context.assembly import (
    Assembly,
    Plan,
    assemble,
    outgoing_messages,
    unchanged_originals,
    untouched_originals,
)
from operations.domain.context.compiling import (
    compilation_result,
    framing,
    keys_near,
    left_out_results,
    unanswered,
)
from operations.domain.context.portions.portion import Frame, Portion
from operations.domain.context.portions.request import Portions
from operations.domain.context.portions.sums import PortionTotals
from operations.domain.forwarding.alignment import Unit
from operations.domain.forwarding.passthrough import with_client_messages
from operations.domain.forwarding.splice import Splice, joined, splice
from operations.domain.log.entry import Entry
from operations.domain.log.log import Log, fold
from operations.domain.log.operation import Digest
from operations.domain.providers import compile_request
from operations.domain.providers.plain import UnreadMessage, plain_message
from operations.domain.providers.request import Draft, LeftOutResult, Outgoing
from operations.domain.providers.signed_places import SignedPlaces
from operations.domain.thread.replay import replay
from operations.domain.thread.thread import Thread
from operations.domain.tree.key import original_key
from operations.forwarding.raw import Beginning, RawRequest, read_continued, read_raw
from threads.domain.formats.format import Heading
from threads.domain.formats.openai import messages as openai

from .assembling import (
    COUNT,
    ROUNDS,
    SUMMARY,
    ReadOriginal,
    count_of,
    leaves_of,
    said_of,
    targets_at,
)
from .replay import Row, _least

DIGESTS = 120
_PLAN = Plan(count=count_of, strategy="openai")


def rows() -> Iterator[Row]:
    """The rows of the table: M1 of the performance plan."""
    given = list(messages(COUNT))
    body = orjson.dumps({"messages": given})
    hook, log = _Hook(given), fold(_digests())
    before = hook.answer_in_portions(fold(log.entries[:-1]))
    kept = hook.answer_in_portions(log).answer
    answers = {_request(body).digest: kept}
    beginning = _request(body).beginning
    assert beginning is not None

    def spliced() -> bytes:
        return _encode_response(kept, _recognised_request(beginning, body))

    def found() -> bytes:
        raw = _request(body)
        return _encode_response(answers[raw.digest], raw)

    def changed() -> bytes:
        made = hook.answer_in_portions(
            before.thread.log.extended(log.entries[-1:]), before
        )
        return _encode_response(made.answer, _recognised_request(beginning, body))

    def first() -> bytes:
        assert orjson.loads(body)
        return _encode_response(hook.answer_in_portions(log).answer, _request(body))

    def whole() -> bytes:
        made = hook.answer_whole(log, orjson.loads(body)["messages"])
        return _encode_response(made, _request(body))

    def alone() -> bytes:
        return orjson.dumps(orjson.loads(body))

    runs = (spliced, found, changed, first, whole)
    assert len({run() for run in runs}) == 1
    *times, peer = _least(*runs, alone, rounds=ROUNDS)
    ours, known, *anew = (one / peer for one in times)
    name = f"M1 hook, {DIGESTS} operations / orjson"
    yield Row(name, f"{ours:.2f} ×", "≤ 0.5 ×", ours <= 0.5)
    yield Row("… found by the digest of the request", f"{known:.2f} ×", "", None)
    names = ("after a change", "the first time", "as one portion")
    for name, ratio in zip(names, anew, strict=True):
        yield Row(f"… {name}", f"{ratio:.2f} ×", "", None)


def _request(body: bytes) -> RawRequest:
    raw = read_raw(body)
    assert raw is not None
    return raw


def _recognised_request(beginning: Beginning, body: bytes) -> RawRequest:
    """A request that is recognised by its beginning."""
    further = read_continued(beginning, body)
    assert further is not None
    return further.request


def _encode_response(answer: Splice, request: RawRequest) -> bytes:
    return answer.of(request.run, before=b'{"messages":[', after=b'],"issues":[]}')


def _digests() -> list[Entry]:
    apart = COUNT // DIGESTS
    return [
        Entry(
            number,
            Digest(targets=targets_at(number * apart - apart + 1), messages=(SUMMARY,)),
            "bench",
        )
        for number in range(1, DIGESTS + 1)
    ]


class _Answer(NamedTuple):
    """An answer, with what can be reused for the next request."""

    thread: Thread
    messages: Sequence[Outgoing]
    portions: Sequence[Portion]
    answer: Splice


class _Hook:
    """Answers requests whose messages are exactly the originals."""

    def __init__(self, given: list[dict[str, Any]]) -> None:
        found = openai.read_messages(given)
        self._leaves = leaves_of(found)
        self._said = said_of(found)
        self._units = [Unit(at, at + 1, at, at + 1) for at in range(len(given))]
        self._by_key = dict(zip(self._said, self._units, strict=True))
        plain = [plain_message(message, "openai") for message in found]
        self._plain = [
            one and UnreadMessage.of(one, index, self._leaves[index])
            for index, one in enumerate(plain)
        ]
        self._answered = {
            original_key(index): one.results for index, one in enumerate(plain) if one
        }

    def answer_in_portions(self, log: Log, last: _Answer | None = None) -> _Answer:
        """Answer as `apply` does: in portions, reusing unchanged ones of the last request."""
        thread = replay(self._leaves, log, known=last.thread if last else None)
        outgoing = self._outgoings(thread, last.messages if last else ())
        assembly = assemble(thread, outgoing, _PLAN)
        frame = self._frame(thread, assembly)
        portions = Portions(frame, last.portions if last else ()).divide(
            assembly.messages, signed=SignedPlaces.first(assembly.intact)
        )
        framed = framing(assembly.layers, portions[0].prompt, count_of)
        assert assembly.sent + PortionTotals().extended(portions).change + framed
        sent = joined(piece for portion in portions for piece in portion.block.pieces)
        return _Answer(thread, outgoing, portions, Splice(sent))

    def answer_whole(self, log: Log, forms: list[dict[str, Any]]) -> Splice:
        """Answer as one portion, reading all messages."""
        thread = replay(self._leaves, log)
        assembly = assemble(
            thread, outgoing_messages(thread, self._read(thread), count_of), _PLAN
        )
        draft = Draft(
            layers=assembly.layers,
            messages=assembly.messages,
            model="",
            heading=Heading(),
            signed=SignedPlaces.first(assembly.intact),
            left_out=self._left_out(thread, assembly, unanswered(assembly.messages)),
        )
        compiled = compile_request("openai", draft)
        assert compilation_result(assembly, compiled, count_of).step.after
        sent = with_client_messages(
            compiled,
            assembly.layers,
            assembly.messages,
            thread,
            self._units,
            range(len(forms)),
            None,
        )
        return Splice(splice(sent.messages, orjson.dumps))

    def _outgoings(self, thread: Thread, last: Sequence[Outgoing]) -> list[Outgoing]:
        """The outgoing messages; known ones are not read."""
        known = {**untouched_originals(thread, self._plain, thread.keys)}
        known.update(unchanged_originals(thread, last))
        return outgoing_messages(thread, self._read(thread), count_of, known=known)

    def _read(self, thread: Thread) -> Mapping[str, ReadOriginal]:
        made = {
            one.key: ReadOriginal(one.message.parts)
            for key in thread.top_folds
            for one in thread.shown(key)
            if one.message is not None
        }
        return self._said | made

    def _frame(self, thread: Thread, assembly: Assembly) -> Frame:
        prompt = [key for layer in assembly.layers for key in layer.keys]
        draft = Draft(
            layers=assembly.layers,
            messages=(),
            model="",
            heading=Heading(),
            signed=SignedPlaces.first(assembly.intact),
        )
        return Frame(
            provider="openai",
            draft=draft,
            thread=thread,
            given=range(len(self._units)),
            system=None,
            at_top=[self._units[0], *(self._by_key[key] for key in prompt)],
            unit=self._by_key.get,
            left_out=lambda calls: self._left_out(thread, assembly, calls),
            write=orjson.dumps,
            count=count_of,
            recorded=lambda key: self._leaves[self._by_key[key].first].tokens,
            read=self._with_words,
        )

    def _with_words(self, known: Sequence[Outgoing]) -> Sequence[Outgoing]:
        return [
            one.with_contents(*self._said[one.key])
            if isinstance(one, UnreadMessage)
            else one
            for one in known
        ]

    def _left_out(
        self, thread: Thread, assembly: Assembly, calls: Mapping[str, int]
    ) -> Mapping[str, LeftOutResult]:
        near = keys_near(thread, calls)
        answers = {key: self._answered[key] for key in near if key in self._answered}
        return left_out_results(thread, assembly.steps, calls, answers)


def main() -> None:
    """Print the table."""
    for row in rows():
        verdict = {None: "", True: "ok", False: "MISSED"}[row.ok]
        print(f"{row.name:48} {row.value:>10} {row.bar:>8} {verdict}", flush=True)


if __name__ == "__main__":
    main()
