"""Makes a summary by calling a model: part by part, joined, then verified.

No transaction is open meanwhile. Each answer is kept in the job's notes, so that a run that
resumes after a pause or a crash repeats no completed call.
"""

import time
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import NamedTuple

from archive.domain.summaries import prompts
from archive.domain.summaries.answers import answer_in
from archive.domain.summaries.checks import why_refused, why_useless
from archive.domain.summaries.prompts import Request
from archive.domain.summaries.providers import Choice
from archive.domain.summaries.retention import Mention, ReferenceKind, check_retention
from archive.domain.summaries.said import (
    Count,
    Utterance,
    message_as_text,
    split_into_parts,
)
from contextstudio.accounts.domain.errors import Conflict
from contextstudio.accounts.jobs import JobContext, RetryLater
from operations.context.model_catalog import context_window, cost_of

from .calling import CallFailed, Failure, ModelCall, call_model
from .providers import ModelTarget

UNKNOWN_WINDOW = 8_192
"""The window, in tokens, assumed for a model that the price map doesn't know."""
MAX_PART_TOKENS = 48_000
MIN_PART_TOKENS = 1_000
MAX_ANSWER_TOKENS, MIN_ANSWER_TOKENS = 2_000, 400
"""Bounds of the tokens that a model may answer."""
_OVERHEAD = 1_200
"""Tokens reserved for the instructions."""
MAX_VERIFIED = 60
"""Most mentions that a model is asked to work in."""
CUT = "[The model's answer was cut off here.]"
"""Appended to an answer that was cut off by the token limit or a provider's filter."""
_BETWEEN_PREVIEWS = 0.5
SECONDS_OF_SILENCE = 120
_LEAST_TELLING = (ReferenceKind.NUMBER,)


class Spent(NamedTuple):
    """The total usage of all calls, in tokens."""

    input: int
    output: int
    cost: Decimal | None
    """In dollars, by the price map; None without a price or for a provider without a key."""


class Summariser:
    """Calls one model for one job."""

    def __init__(
        self,
        context: JobContext,
        choice: Choice,
        target: ModelTarget,
        *,
        gate: Callable[[], object],
        announce: Callable[[], object] = lambda: None,
    ) -> None:
        """`gate` is called before each model call; it raises if the work is no longer wanted."""
        self.choice, self._gate = choice, gate
        self._context, self._target, self._announce = context, target, announce
        self._done, self._total = 0, 1
        self._step = ""

    def summary_of(
        self,
        messages: Sequence[Utterance],
        *,
        count: Count,
        replaced: int,
        wish: str = "",
    ) -> str:
        """Summarise messages. Raises Later, Conflict and what ends a job."""
        answer = min(max(MIN_ANSWER_TOKENS, replaced // 4), MAX_ANSWER_TOKENS)
        most = self._in_a_part(answer)
        parts = split_into_parts(
            [message_as_text(message) for message in messages], most, count
        )
        self._total = len(parts) + (len(parts) > 1) + 1
        texts = [
            self._ask_for_summary(
                f"part {number}", prompts.summarise(part, wish), answer
            )
            for number, part in enumerate(parts, start=1)
        ]
        summary = self._joined(texts, answer, most, count, wish)
        if why := why_refused(summary, tokens=count(summary), replaced=replaced):
            raise self.refused(why, summary)
        again = self._verified(summary, messages, answer, count)
        is_refused = why_refused(again, tokens=count(again), replaced=replaced)
        return summary if is_refused else again

    def ask(self, step: str, messages: Request, most: int) -> str:
        """The answer to one request, from the job's notes if kept. Raises as `summary_of`."""
        self._step = step
        kept = dict(self._context.job.notes.get("answers", {}))
        name = f"{self.choice.name} {step}"
        if name not in kept:
            kept[name] = self._call(step, messages, most, kept)
        self._done += 1
        self._total = max(self._total, self._done)
        self._context.progress(self._done, total=self._total, unit="calls")
        text: str = kept[name]["text"]
        return text

    def _ask_for_summary(self, step: str, messages: Request, most: int) -> str:
        """`ask`, but raises Conflict if the answer isn't a summary.

        Once it is joined with other parts, nobody would notice.
        """
        text = self.ask(step, messages, most)
        if why := why_useless(text):
            raise self.refused(why, text)
        return text

    def refused(self, why: str, answer: str) -> Conflict:
        """The error that refuses the last answer, which is set aside so that a retry asks again."""
        kept = dict(self._context.job.notes.get("answers", {}))
        name = f"{self.choice.name} {self._step}"
        kept[f"{name} refused {len(kept)}"] = {**kept.pop(name), "text": ""}
        self._context.note(answers=kept)
        sentence = f"{why} Nothing was changed."
        return Conflict(sentence, code="summary_refused", facts={"summary": answer})

    @property
    def spent(self) -> Spent:
        """The usage of all kept calls, including those of earlier runs."""
        calls = [
            call
            for name, call in self._context.job.notes.get("answers", {}).items()
            if name.startswith(f"{self.choice.name} ")
        ]
        used = [sum(call[side] or 0 for call in calls) for side in ("input", "output")]
        cost = None
        if self._target.api_key:
            cost = cost_of(
                self.choice.provider,
                self.choice.name,
                input=used[0],
                cached=0,
                written=0,
                output=used[1],
            )
        return Spent(used[0], used[1], cost)

    def part_size(self) -> int:
        """How many tokens of messages the model gets in one call."""
        return self._in_a_part(MAX_ANSWER_TOKENS)

    def _in_a_part(self, answer: int) -> int:
        window = context_window(self.choice.name) or UNKNOWN_WINDOW
        # The model's tokenizer may differ from the session's, so a fifth is left free.
        room = int((window - answer - _OVERHEAD) * 0.8)
        return max(MIN_PART_TOKENS, min(room, MAX_PART_TOKENS))

    def _joined(
        self, texts: list[str], answer: int, most: int, count: Count, wish: str
    ) -> str:
        round_ = 0
        while len(texts) > 1:
            round_ += 1
            groups = _grouped(texts, most, count)
            texts = [
                self._ask_for_summary(
                    f"join {round_}.{number}", prompts.join(group, wish), answer
                )
                for number, group in enumerate(groups, start=1)
            ]
        return texts[0]

    def _verified(
        self, summary: str, messages: Sequence[Utterance], answer: int, count: Count
    ) -> str:
        """The summary with what it dropped worked in, or unchanged if that did not help."""
        before = check_retention(messages, summary)
        asked = sorted(before.dropped, key=lambda one: one.kind in _LEAST_TELLING)
        if not asked:
            return summary
        wanted: list[Mention] = asked[:MAX_VERIFIED]
        again = self.ask("verify", prompts.verify(summary, wanted), answer * 2)
        after = check_retention(messages, again)
        kept_more = len(after.dropped) < len(before.dropped)
        is_short = count(again) <= 2 * count(summary) + MIN_ANSWER_TOKENS
        return again if again.strip() and kept_more and is_short else summary

    def _call(
        self, step: str, messages: Request, most: int, kept: dict[str, object]
    ) -> dict[str, object]:
        label = self._target.provider.label
        self._gate()
        if self._target.api_key:
            self._context.pay(f"a call to {label}")
        preview = _Preview(self._context, self._announce)
        try:
            usage = call_model(
                ModelCall(
                    form=self._target.provider.form,
                    model=self.choice.model,
                    base_url=self._target.base_url,
                    api_key=self._target.api_key,
                    messages=messages,
                    max_tokens=most,
                    timeout=SECONDS_OF_SILENCE,
                    private=self._target.private,
                ),
                on_text=preview.add,
                tick=self._tick,
            )
        except CallFailed as failed:
            self._context.paid(preview=None)
            raise self._job_error(failed) from failed
        text = answer_in(preview.text)
        call: dict[str, object] = {
            "text": f"{text}\n\n{CUT}" if text and usage.is_cut else text,
            "input": usage.input,
            "output": usage.output,
        }
        name = f"{self.choice.name} {step}"
        self._context.paid(answers={**kept, name: call}, preview=preview.text)
        return call

    def _tick(self) -> None:
        total = max(self._total, self._done + 1)
        self._context.progress(self._done, total=total, unit="calls")

    def _job_error(self, failed: CallFailed) -> Exception:
        if failed.failure in (Failure.KEY, Failure.MODEL):
            return failed  # another model may work, unless this one was chosen
        sentence = f"{self._target.provider.label}: {failed.sentence}"
        if failed.is_passing:
            return RetryLater(sentence, failed.retry_after)
        return refusal(self._target, failed)


def refusal(target: ModelTarget, failed: CallFailed) -> Conflict:
    """The error with which a job reports a failed call."""
    sentence = f"{target.provider.label}: {failed.sentence}"
    return Conflict(sentence, at=["provider"], code=f"provider_{failed.failure.value}")


def _grouped(texts: list[str], most: int, count: Count) -> list[list[str]]:
    """Texts in groups that fit into a part, but with at least two per group."""
    groups: list[list[str]] = [[]]
    size = 0
    for text in texts:
        tokens = count(text)
        if len(groups[-1]) >= 2 and size + tokens > most:
            groups.append([])
            size = 0
        groups[-1].append(text)
        size += tokens
    return groups


class _Preview:
    """The answer so far, written to the job's notes from time to time for anyone watching."""

    def __init__(self, context: JobContext, announce: Callable[[], object]) -> None:
        self._context, self._announce = context, announce
        self._pieces: list[str] = []
        self._written = float("-inf")

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def add(self, piece: str) -> None:
        """Append a piece; writes the preview at most twice a second."""
        self._pieces.append(piece)
        now = time.monotonic()
        if now - self._written >= _BETWEEN_PREVIEWS:
            self._written = now
            self._context.note(preview=self.text)
            self._announce()
