"""What a client did to its messages, as operations: the thread is what the client sends."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operations.domain.forwarding.alignment import (
    Given,
    Unit,
    UnitCounts,
    follow,
    placed,
)
from operations.domain.forwarding.client_entries import TITLES, RequestDecision
from operations.domain.forwarding.finding import find
from operations.domain.forwarding.plan import RequestPlan, extension, plan
from operations.domain.log.entry import CLIENT, EditState, Entry
from operations.domain.log.log import Log
from operations.domain.log.operation import (
    Insert,
    Redact,
    Snip,
    Toggle,
    Undo,
    messages_of,
)
from operations.domain.thread.replay import replay, sent_keys
from operations.domain.tree.key import made_place, original_index
from operations.domain.tree.leaf import Leaf, New
from operations.domain.tree.status import Status
from tests.operations.support.builders import AUTHOR, span
from tests.operations.support.builders import digest as digest_of_range
from threads.domain.body import digest, tombstone_of
from threads.domain.formats import REQUESTS
from threads.domain.formats.format import Heading
from threads.domain.formats.requests import system_words
from threads.domain.message import Message, Role
from threads.domain.part import Text

FORM = REQUESTS["openai"]


def says(text: str, role: Role | None = None) -> Message:
    """Who says it follows from its first letter."""
    roles = {"s": Role.SYSTEM, "a": Role.ASSISTANT}
    words = text if " " in text else f"{text} {'and so on ' * 8}"
    return Message(role=role or roles.get(text[0], Role.USER), parts=(Text(words),))


@dataclass
class HeldMessages:
    """Messages that are held, to be aligned with."""

    messages: list[Message]

    @property
    def digests(self) -> list[bytes]:
        return [digest(one.role, one.parts) for one in self.messages]

    @property
    def lead(self) -> int:
        roles = [*(one.role for one in self.messages), Role.USER]
        return next(at for at, role in enumerate(roles) if role is not Role.SYSTEM)

    def readings(self, index: int) -> list[Message]:
        return [self.messages[index]]


@dataclass
class Talk:
    """A session of plain messages that a client sends requests to."""

    originals: list[Message] = field(default_factory=list)
    log: Log = field(default_factory=Log)

    def align(self, messages: list[Message]) -> tuple[Given, list[Unit]]:
        sent = Given(
            messages, lambda place: digest(messages[place].role, messages[place].parts)
        )
        return sent, find(sent, HeldMessages(self.originals), FORM, Heading())

    def send(self, *texts: str, quotes: bool = False) -> RequestPlan:
        messages = [says(text) for text in texts]
        sent, units = self.align(messages)
        held = len(self.originals)
        keys = sent_keys(held, self.log)
        last = HeldMessages([*map(self.message, keys)])
        same, known = follow(sent, last, FORM, Heading())
        gone = {one.text for one in self.originals} - {
            one.text for one in last.messages
        }
        rest = {one.text for one in messages[known:]}
        is_whole = sum(unit.last - unit.first for unit in same) == len(keys)
        if is_whole and rest.isdisjoint(gone):
            same = placed(same, keys)
            made = extension(same, held=held, known=known, count=len(texts))
        else:
            roles = [one.role for one in self.originals]
            made = plan(sent, roles, self.log, units, quotes=quotes)
        self.originals += [messages[place] for place in made.appended]
        self.record(*made.operations, actor=CLIENT)
        return made

    def message(self, key: str) -> Message:
        index = original_index(key)
        if index is not None:
            return self.originals[index]
        number, k = made_place(key)
        new = messages_of(self.log.edits[number].edit)[k]
        return Message(role=Role(new.role), parts=new.parts)

    def record(self, *operations, actor: str = AUTHOR) -> None:
        numbered = enumerate(operations, start=self.log.head + 1)
        self.log = self.log.extended(Entry(n, one, actor) for n, one in numbered)

    @property
    def leaves(self) -> list[Leaf]:
        return [Leaf(one.role, 1, 0) for one in self.originals]

    def words(self, key: str) -> str:
        return self.message(key).text.split(" and so on")[0]

    @property
    def sent(self) -> list[str]:
        """What the log says that the client sent last."""
        return [self.words(key) for key in sent_keys(len(self.originals), self.log)]

    @property
    def shown(self) -> list[str]:
        thread = replay(self.leaves, self.log)
        return [self.words(message.key) for message in thread.effective()]

    @property
    def edits(self) -> list[str]:
        """What of the client's is in force."""
        return [
            one.edit.kind for one in self.log.client_edits if one.state is EditState.ON
        ]


def begun(*texts: str) -> Talk:
    talk = Talk()
    assert talk.send(*texts).decision is RequestDecision.FIRST
    return talk


HISTORY = ("s", "u0", "a1", "u2", "a3", "u4", "a5")


def test_a_talk_that_grows_needs_no_entries():
    talk = begun(*HISTORY[:3])
    for end in range(4, 8):
        made = talk.send(*HISTORY[:end])
        assert (made.decision, made.operations) == (RequestDecision.EXTENDED, [])
        assert (made.known, len(made.appended)) == (end - 1, 1)
    assert talk.send(*HISTORY).decision is RequestDecision.REPEATED
    assert len(talk.originals) == len(HISTORY)


@pytest.mark.parametrize(
    ("request_", "edits", "decision", "appended"),
    [
        pytest.param(
            "s a3 u4 a5", ["snip"], RequestDecision.TRIMMED, 0, id="head cut off"
        ),
        pytest.param(
            "s u0 a1", ["snip"], RequestDecision.REGENERATED, 0, id="gone back"
        ),
        pytest.param(
            "s u0 a1 u2 a3x",
            ["snip"],
            RequestDecision.REGENERATED,
            1,
            id="another tail",
        ),
        pytest.param(
            "s usum u4 a5 u6", ["revise"], RequestDecision.COMPACTED, 1, id="compaction"
        ),
        pytest.param(
            "s u0 a1 u2x a3 u4 a5",
            ["revise"],
            RequestDecision.EDITED,
            0,
            id="edited inside",
        ),
        pytest.param(
            "s2 u0 a1 u2 a3 u4 a5", ["revise"], RequestDecision.PROMPT, 0, id="prompt"
        ),
        pytest.param(
            "u0 a1 u2 a3 u4 a5", ["snip"], RequestDecision.PROMPT, 0, id="no prompt"
        ),
        pytest.param(
            "s u0 a1 ux u2 a3 u4 a5",
            ["insert"],
            RequestDecision.EDITED,
            0,
            id="put between",
        ),
        pytest.param(
            "s2 usum u4 a5",
            ["revise", "revise"],
            RequestDecision.COMPACTED,
            0,
            id="prompt and compaction",
        ),
    ],
)
def test_what_a_client_did_is_said_by_as_few_edits_as_can_be(
    request_, edits, decision, appended
):
    talk = begun(*HISTORY)
    made = talk.send(*request_.split())
    assert (talk.edits, made.decision, len(made.appended)) == (
        edits,
        decision,
        appended,
    )
    assert made.titles == [TITLES[change.cause] for change in made.changes]
    assert talk.sent == request_.split()
    assert talk.send(*request_.split()).operations == []
    back = talk.send(*HISTORY)
    assert talk.sent == [*HISTORY]
    if not appended:
        assert (back.decision, talk.edits) == (RequestDecision.RESUMED, [])
        assert [one.act for one in back.changes] == ["reverted"] * len(edits)


def test_a_prompt_that_a_session_never_had_stands_at_its_top():
    talk = begun("u0", "a1")
    talk.send("s", "u0", "a1", "u2")
    assert talk.sent == ["s", "u0", "a1", "u2"]
    assert len(talk.originals) == 3


@pytest.mark.parametrize(
    "requests",
    [
        pytest.param("u0 | s u1 u0", id="at once"),
        pytest.param("u0 | s | s u0 u0", id="behind a prompt that stood alone"),
        pytest.param("u0 | u1 u0 | s u1 u0", id="before what was put in"),
        pytest.param("u0 | s u1 u0 | s u0 | s2 u2 u0", id="gone and back"),
        pytest.param("u0 a1 | ux a1 | s a1 | s u1 ux a1", id="before an edit"),
        pytest.param("s0 | s s0 | s u0 s0", id="before the old prompt"),
    ],
)
def test_a_new_prompt_and_what_is_put_in_behind_it_are_one_insert(requests):
    talk = Talk()
    for texts in map(str.split, requests.split(" | ")):
        talk.send(*texts)
        assert talk.sent == texts
        assert talk.send(*texts).operations == []
    assert talk.edits.count("insert") == 1


def test_of_two_inserts_in_one_place_one_stays():
    """Logs have them of which the prompt was recorded by itself."""
    talk = begun("u0")
    new = [[New(one.role, one.parts)] for one in (says("s"), says("u1"))]
    talk.record(*(Insert(after=None, messages=tuple(one)) for one in new), actor=CLIENT)
    assert talk.send("s", "u1", "u0").operations == []
    for texts in (["s", "u2", "u0"], ["s2", "u2", "u0"]):
        talk.send(*texts)
        assert (talk.sent, talk.edits) == (texts, ["insert"])


def test_what_changes_again_is_amended_and_what_comes_back_restored():
    talk = begun(*HISTORY)
    talk.send("s2", *HISTORY[1:])
    (change,) = talk.send("s3", *HISTORY[1:]).changes
    assert (change.key, change.act) == ("o1", "amended")
    assert talk.sent[0] == "s3"
    talk.send(*HISTORY)
    (change,) = talk.send("s3", *HISTORY[1:]).changes
    assert (change.key, change.act) == ("o1", "restored")
    talk.send(*HISTORY)
    made = talk.send("s4", *HISTORY[1:])
    assert [type(one).__name__ for one in made.operations] == ["Toggle", "Amend"]
    assert talk.sent[0] == "s4"


@pytest.mark.parametrize(
    ("first", "then", "key"),
    [
        pytest.param("ux", "uy ux", "o1.0", id="put in before it"),
        pytest.param("ux uy", "uy", "o1.1", id="gone before it"),
    ],
)
def test_an_operation_never_acts_on_words_that_moved_under_its_key(first, then, key):
    talk = begun(*HISTORY)
    before, after = (
        [*HISTORY[:3], *put_in.split(), *HISTORY[3:]] for put_in in (first, then)
    )
    talk.send(*before)
    talk.record(Snip(targets=(key,)))
    words = talk.words(key)
    assert words not in talk.shown
    made = talk.send(*after)
    assert [one.act for one in made.changes] == ["reverted", "made"]
    assert (talk.sent, talk.shown) == (after, after)
    assert replay(talk.leaves, talk.log).status(2) is Status.VOID
    assert talk.send(*after).operations == []
    back = talk.send(*before)
    assert [one.act for one in back.changes] == ["restored", "reverted"]
    assert talk.sent == before
    assert words not in talk.shown


def test_nor_on_words_that_moved_in_what_stands_in_place_of_messages():
    talk = begun(*HISTORY)
    talk.send("s", "ux", "uy", "u4", "a5")
    talk.record(Redact(spans=(span("o1.1", 0, 2, "uy"),)))
    made = talk.send("s", "uy", "u4", "a5")
    assert [one.act for one in made.changes] == ["reverted", "made"]
    assert talk.sent == ["s", "uy", "u4", "a5"]


def test_words_that_nobody_works_on_are_amended_wherever_they_move():
    talk = begun(*HISTORY)
    talk.send("s", "ux", *HISTORY[1:])
    talk.record(Snip(targets=("m2",)))
    (change,) = talk.send("s", "uy", "ux", *HISTORY[1:]).changes
    assert (change.key, change.act) == ("o1", "amended")
    assert talk.sent == ["s", "uy", "ux", *HISTORY[1:]]


def test_the_tail_of_before_is_a_branch_to_which_a_client_can_go_back():
    talk = begun(*HISTORY)
    other = (*HISTORY[:5], "u4x")
    talk.send(*other)
    assert talk.send(*other, "a5x").operations == []
    talk.send(*HISTORY, "u6")
    assert talk.sent == [*HISTORY, "u6"]
    assert len(talk.originals) == len(HISTORY) + 3


def test_a_summary_is_known_again_when_all_behind_it_is_gone():
    """An operation on it would be lost if it became an original."""
    talk = begun(*HISTORY)
    talk.send("s", "usum", "u4", "a5")
    talk.record(Redact(spans=(span("o1.0", 0, 4, "usum"),)))
    made = talk.send("s", "usum", "u6")
    assert [change.act for change in made.changes] == ["made"]
    assert talk.sent == ["s", "usum", "u6"]
    assert "o1" in {unit.made[0][:2] for unit in made.units if unit.made}
    talk.send("s", "usum2", "usum", "u6")
    assert talk.sent == ["s", "usum2", "usum", "u6"]


def test_two_compactions_in_a_row():
    talk = begun(*HISTORY)
    talk.send("s", "usum", "u4", "a5", "u6")
    talk.send("s", "usum", "u4", "a5", "u6", "a7", "u8")
    made = talk.send("s", "usum2", "a7", "u8", "a9")
    assert made.decision is RequestDecision.COMPACTED
    assert talk.edits == ["revise"]
    assert talk.sent == ["s", "usum2", "a7", "u8", "a9"]


def test_a_compaction_that_keeps_nothing_goes_on_behind_what_it_sums_up():
    talk = begun(*HISTORY)
    made = talk.send("s", "usum", quotes=True)
    assert (made.decision, talk.edits) == (RequestDecision.COMPACTED, ["snip"])
    assert talk.originals[-1].text.startswith("usum")
    assert talk.send("s", "usum", "a8").operations == []


def test_short_words_that_come_again_elsewhere_are_said_anew():
    """Taken for those of before, they would be folded with these."""
    talk = begun("s", "u0", "a1", "Go on.  ", "a3", "u4", "a5")
    talk.record(digest_of_range(2, 4))
    talk.send("s", "usum", "Go on.  ", quotes=True)
    assert talk.sent == ["s", "usum", "Go on.  "]
    assert talk.shown[-1] == "Go on.  "
    assert len(talk.originals) == 9


def test_operations_of_others_stand_aside_and_come_back():
    talk = begun(*HISTORY)
    talk.record(digest_of_range(1, 3))
    talk.send("s", "usum", "u4", "a5")
    thread = replay(talk.leaves, talk.log)
    assert thread.report(1).status == "suspended"
    talk.send(*HISTORY)
    assert replay(talk.leaves, talk.log).report(1).status == "applied"


def test_what_is_said_again_behind_a_reply_is_new():
    """aider sends its files before each question and its rules behind it, and no longer before."""
    files, rules = ("ufiles", "afiles"), "srules"
    talk = begun("s", *files, "u0", rules)
    talk.send("s", *files, "u0", rules, "a1")
    made = talk.send("s", "u0", "a1", *files, "u2", rules)
    assert list(made.appended) == [3, 4, 5, 6]
    assert [type(one).__name__ for one in made.operations] == ["Snip", "Snip"]
    talk.send("s", "u0", "a1", *files, "u2", rules, "a3")
    made = talk.send("s", "u0", "a1", "u2", "a3", *files, "u4", rules)
    assert list(made.appended) == [5, 6, 7, 8]
    assert talk.sent == ["s", "u0", "a1", "u2", "a3", *files, "u4", rules]


def test_short_words_are_known_by_the_reply_to_them():
    talk = begun("s", "ufiles", "u Go on.", "srules")
    talk.send("s", "ufiles", "u Go on.", "srules", "a1")
    made = talk.send("s", "u Go on.", "a1", "ufiles", "u2", "srules")
    assert [change.kind for change in made.changes] == ["snip", "snip"]
    assert list(made.appended) == [3, 4, 5]


def test_what_says_the_same_under_another_name_is_not_amended():
    """Results are named as their calls are held; the digest is of what the client sent."""
    talk = begun(*HISTORY)
    edited = [HISTORY[0], "uother", *HISTORY[2:]]
    talk.send(*edited)
    sent, units = talk.align([says(text) for text in edited])
    named = sent._replace(
        digest=lambda place: b"its own" if place == 1 else sent.digest(place)
    )
    roles = [one.role for one in talk.originals]
    assert not plan(named, roles, talk.log, units).records


def test_an_extension_has_the_same_plan_as_if_all_were_looked_at():
    talk = begun(*HISTORY)
    messages = [says(text) for text in (*HISTORY, "u6")]
    sent, units = talk.align(messages)
    full = plan(sent, [one.role for one in talk.originals], talk.log, units)
    quick = extension(units, held=len(HISTORY), known=len(HISTORY), count=8)
    assert (quick.units, quick.decision) == (full.units, full.decision)
    assert (quick.appended, quick.known) == (full.appended, full.known)
    counts = UnitCounts().and_(units[:3]).and_(units[3:])
    counted = extension(units, held=7, known=7, count=8, counts=counts)
    assert (counted, quick.counts) == (quick, full.counts)
    assert extension([], held=0, known=0, count=2).decision is RequestDecision.FIRST
    assert (
        extension(units, held=7, known=7, count=7).decision is RequestDecision.REPEATED
    )


def test_a_plan_says_what_its_units_come_to():
    talk = begun(*HISTORY)
    for texts in (("s", "u0"), ("s", "u0", "u7", "u8"), (*HISTORY, "u9")):
        made = talk.send(*texts)
        assert made.counts == UnitCounts().and_(made.units)


def test_what_was_not_compared_is_not_known():
    """Of a long gap both ends are looked at: what joins them says nothing of what lies between."""
    words = [f"u{n} {'and so on ' * 8}" for n in range(100)]
    held = HeldMessages([says(text) for text in words])

    def known(*parts: str) -> list[Unit]:
        message = Message(role=Role.USER, parts=tuple(map(Text, parts)))
        sent = Given([message], lambda _: digest(message.role, message.parts))
        return find(sent, held, FORM, Heading())

    (unit,) = known(words[32], words[33])
    assert (unit.first, unit.last) == (32, 34)
    assert known(words[33], words[66]) == []


def test_another_prompt_beside_the_messages_is_none_of_those_that_are_held():
    """It stands for all that the system says, so it is not looked for among them."""
    held = HeldMessages([says("s"), says("s2"), says("u0")])
    prompt = Message(role=Role.SYSTEM, parts=(Text(f"{says('s2').text}\n"),))
    messages = [prompt, says("u0")]
    sent = Given(
        messages,
        lambda place: digest(messages[place].role, messages[place].parts),
        system=True,
    )
    (unit,) = find(sent, held, REQUESTS["anthropic"], Heading())
    assert (unit.start, unit.first, unit.last) == (1, 2, 3)


TEXTS = st.sampled_from(["s", "s2", *(f"{who}{n}" for n in range(6) for who in "ua")])
REQUESTS_OF_A_CLIENT = st.lists(
    st.lists(TEXTS, min_size=1, max_size=9), min_size=1, max_size=6
)


@given(REQUESTS_OF_A_CLIENT)
def test_the_log_says_what_the_client_sends_whatever_it_sends(requests):
    talk = Talk()
    for texts in requests:
        made = talk.send(*texts)
        assert talk.sent == texts
        assert [key for unit in made.units for key in unit.keys] == sent_keys(
            len(talk.originals), talk.log
        )
        assert made.known + made.unknown + len(made.appended) == len(texts)
        again = talk.send(*texts)
        assert (again.operations, len(again.appended)) == ([], 0)


@given(REQUESTS_OF_A_CLIENT)
def test_of_what_acts_in_one_place_there_is_one_edit(requests):
    talk = Talk()
    for texts in requests:
        talk.send(*texts)
    places = [
        (one.edit.kind, getattr(one.edit, "targets", getattr(one.edit, "after", None)))
        for one in talk.log.client_edits
    ]
    assert len(places) == len(set(places))


def test_the_tokens_that_a_client_sends_are_those_of_its_own_edits() -> None:
    talk = Talk()
    talk.send("s1", "u1", "a1", "u2", "a2", "u3")
    assert replay(talk.leaves, talk.log).tokens_sent == 6
    talk.send("s1", "u2", "a2", "u3")
    assert replay(talk.leaves, talk.log).tokens_sent == 4
    for left in (["a2", "u3"], ["u3"]):  # a snip beside the first, then one around both
        talk.send("s1", *left)
        assert replay(talk.leaves, talk.log).tokens_sent == 1 + len(left)
    assert talk.log.head == 3


def test_an_edit_was_last_changed_by_its_newest_control() -> None:
    log = Log().extended(
        [
            Entry(1, digest_of_range(0, 1), AUTHOR),
            Entry(2, digest_of_range(2, 3), AUTHOR),
            Entry(3, Toggle(operations=("o1",), active=False), AUTHOR),
            Entry(4, Undo(entries=(2,)), AUTHOR),
        ]
    )
    assert (log.last_change(1), log.last_change(2)) == (3, 4)


def test_the_first_request_of_a_session_is_its_beginning() -> None:
    talk = Talk()
    messages = [says("u1")]
    sent, units = talk.align(messages)
    made = plan(sent, [], talk.log, units, quotes=False)
    assert made.decision is RequestDecision.FIRST and made.records
    talk.send("u1")
    sent, units = talk.align(messages)
    again = plan(sent, [Role.USER], talk.log, units, quotes=False)
    assert again.decision is RequestDecision.REPEATED and not again.records


def test_a_purged_message_is_known_by_its_tombstone() -> None:
    @dataclass
    class Purged(HeldMessages):
        @property
        def digests(self) -> list[bytes]:
            found = super().digests
            return [*found[:2], tombstone_of(found[2])]

    held = [says("u1"), says("a1"), says("u2")]
    messages = [held[0], says("a7"), held[2]]
    sent = Given(
        messages, lambda place: digest(messages[place].role, messages[place].parts)
    )
    found = find(sent, Purged(held), FORM, Heading())
    assert [(unit.first, unit.start) for unit in found] == [(0, 0), (2, 2)]


def test_a_prompt_that_stands_beside_the_messages_is_found_again() -> None:
    held = [says("s1"), says("s2"), says("u1"), says("a1")]
    prompt = Message(role=Role.SYSTEM, parts=(Text(system_words(held[:2])),))
    messages = [prompt, held[3]]
    sent = Given(
        messages,
        lambda place: digest(messages[place].role, messages[place].parts),
        system=True,
    )
    form = REQUESTS["anthropic"]
    found = find(sent, HeldMessages(held), form, Heading())
    assert [(unit.first, unit.last, unit.start) for unit in found] == [
        (0, 2, 0),
        (3, 4, 1),
    ]


@pytest.mark.parametrize("first", ["a1x u2 a2", "a1 u2 a2x"])
def test_edits_are_met_again_beside_one_another_where_all_between_them_changes(
    first: str,
) -> None:
    talk = begun("u1", "a1", "u2", "a2", "u3")
    talk.send("u1", *first.split(), "u3")
    talk.send("u1", "a1x", "u2", "a2x", "u3")
    made = talk.send("u1", "a1x", "u2x", "a2x", "u3")
    assert talk.sent == ["u1", "a1x", "u2x", "a2x", "u3"]
    assert [one.kind for one in made.operations] == ["revise"]
    assert talk.edits == ["revise"] * 3
