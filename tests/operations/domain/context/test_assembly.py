"""From the thread to what is sent: every step says what it left out, and the figures add up."""

from collections.abc import Mapping, Sequence
from itertools import pairwise, permutations
from types import MappingProxyType

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from operations.domain.context.assembly import (
    Assembly,
    outgoing_messages,
    unchanged_made_messages,
    unchanged_originals,
)
from operations.domain.context.layers import layer
from operations.domain.context.policy import Policy
from operations.domain.context.selection import Preference
from operations.domain.context.step import Step
from operations.domain.context.truncation import Tiers
from operations.domain.log.log import fold
from operations.domain.log.operation import Digest, Redact, Resequence
from operations.domain.providers.request import Outgoing
from operations.domain.thread.replay import replay
from operations.domain.tree.key import Key
from operations.domain.tree.leaf import Leaf, MadeMessage
from tests.operations.domain.forwarding.sending import Conversation
from tests.operations.domain.providers.outgoings import count
from tests.operations.domain.thread.talks import conversations
from tests.operations.support.builders import digest, insert, keys, log, snip, span
from tests.operations.support.reading import Read
from tests.operations.support.strategies import active_tags, logs, sessions
from threads.domain.part import Text

from .assembled import assembled, spoken, thread_of


def sent_keys(assembly: Assembly) -> list[str]:
    return [message.key for message in assembly.messages]


def adds_up(steps: Sequence[Step]) -> bool:
    return all(
        step.before + step.added - sum(one.tokens for one in step.left_out)
        == step.after
        for step in steps
    ) and all(one.after == other.before for one, other in pairwise(steps))


def test_a_new_session_is_sent_as_it_is() -> None:
    found = assembled(thread_of(2))
    assert (found.total, found.shown, found.sent) == (44, 44, 44)
    assert sent_keys(found) == list(keys(1, 4))
    assert [(one.name, one.text, one.keys) for one in found.layers] == [
        ("system", "xxxx", ("m0",))
    ]
    assert found.intact == 4


def test_an_empty_session_has_an_empty_context() -> None:
    found = assembled(replay([], log()))
    assert (found.layers, found.messages, found.sent) == ([], [], 0)


def test_what_a_fold_hides_is_left_out_by_the_first_step() -> None:
    found = assembled(thread_of(3, digest(1, 4)))
    (replayed, *_) = found.steps
    assert [(one.key, one.tokens, one.why) for one in replayed.left_out] == [
        ("o1", 40, "Folded by a digest.")
    ]
    assert (replayed.added, found.shown) == (3, 27)
    assert found.messages[0].kind == "digest"
    assert found.messages[0].groups == {1, 2}
    assert (found.messages[0].group, found.messages[0].node) == (1, "o1")


def test_text_that_got_shorter_is_told_from_what_was_added() -> None:
    thread = thread_of(2, Redact(spans=(span("m3", 0, 2, "xx", saved=1),)))
    (step, *_) = assembled(thread).steps
    assert (step.added, step.shortened) == (-1, 1)
    assert Step(name="replayed", before=1, after=3, added=2).shortened == 0


def test_an_insert_goes_with_the_node_before_it() -> None:
    thread = thread_of(2, insert("m2", "between"), insert("m4", "last"))
    found = assembled(thread, Policy(window=1))
    assert sent_keys(found) == ["m3", "m4", "o2.0"]
    behind_a_snip = thread_of(2, insert("m1", "kept"), snip(1, 1))
    assert assembled(behind_a_snip).messages[0].group == 1


def test_a_fold_of_inserts_alone_is_of_the_group_before_it() -> None:
    thread = thread_of(2, insert("m2", "one"), snip(3, 3))
    folded = thread_of(
        2,
        insert("m2", "one", "two"),
        Digest(targets=("o1.0", "o1.1"), messages=(MadeMessage("system", ()),)),
    )
    assert assembled(thread).messages[2].group == 1
    (summary,) = [one for one in assembled(folded).messages if one.node == "o2"]
    assert (summary.group, summary.groups) == (1, {1})


def test_an_insert_at_the_top_is_of_the_first_group() -> None:
    thread = replay([Leaf("user", 5, 1)], log(insert(None, "first")))
    assert [one.group for one in assembled(thread).messages] == [1]


def test_steps_follow_one_another_in_their_order() -> None:
    policy = Policy(window=2, isolation=True, truncation=Tiers(), markers=True)
    found = assembled(thread_of(4), policy, preference=Preference(start=1, end=9))
    assert [one.name for one in found.steps] == [
        *("replay", "slice", "window", "isolation", "truncation", "markers", "layers"),
    ]
    assert sent_keys(found) == list(keys(1, 8))  # a slice that names them keeps them
    newest = assembled(
        thread_of(4), policy, preference=Preference(max_context_messages=6)
    )
    assert sent_keys(newest) == list(keys(5, 8))


def test_layers_are_added_last_and_break_the_signatures() -> None:
    state = layer("state", "### STATE", count)
    found = assembled(thread_of(1), layers=[layer("scratchpad", "pad", count), state])
    assert [one.name for one in found.layers] == ["system", "state", "scratchpad"]
    assert (found.steps[-1].added, found.sent, found.intact) == (12, 36, 0)


def test_signatures_hold_up_to_the_first_change() -> None:
    assert assembled(thread_of(2, digest(2, 2))).intact == 1
    changed = Redact(spans=(span("m3", 0, 2, "xx"),))
    assert assembled(thread_of(2, changed)).intact == 2
    system = Redact(spans=(span("m0", 0, 2, "xx"),))
    assert assembled(thread_of(2, system)).intact == 0


def test_what_is_changed_is_counted_again() -> None:
    thread = thread_of(2, Redact(spans=(span("m3", 0, 2, "xx", saved=1),)))
    words = spoken(thread) | {"m3": Read((Text("x" * 12),), "openai")}
    (message,) = [
        one for one in outgoing_messages(thread, words, count) if one.key == "m3"
    ]
    assert (message.changed, message.tokens) == (True, 12)


@settings(max_examples=200)
@given(conversations(), st.data())
def test_originals_that_nothing_touches_go_out_under_every_log_alike(
    conversation: Conversation, data: st.DataObject
) -> None:
    log = data.draw(logs(len(conversation.given)))
    before = Conversation(conversation.given, log, conversation.tags)
    assume(before.log.purged == conversation.log.purged)
    known = unchanged_originals(conversation.thread(), outgoing(before, {}))
    assert outgoing(conversation, known) == outgoing(conversation, {})


def test_what_nothing_touches_need_not_be_read_again() -> None:
    before, after = thread_of(2, snip(1, 1)), thread_of(2, snip(1, 1), snip(3, 3))
    known = unchanged_originals(after, outgoing_messages(before, spoken(before), count))
    found = outgoing_messages(after, {}, count, known=known)
    assert [one.key for one in found] == ["m0", "m2", "m4"]
    assert all(one is known[one.key] for one in found)


@settings(max_examples=200)
@given(conversations(), st.data())
def test_what_operations_made_goes_out_under_every_log_as_if_it_were_read_again(
    conversation: Conversation, data: st.DataObject
) -> None:
    entries = conversation.entries
    first = entries[: data.draw(st.integers(0, len(entries)))]
    early = Conversation(conversation.given, first, conversation.tags)
    assume(early.log.purged == conversation.log.purged)
    for one, other in permutations((early, conversation)):
        thread = one.thread()
        again = unchanged_made_messages(thread, thread.effective(), outgoing(other, {}))
        assert outgoing(one, {}, again) == outgoing(one, {})


def test_what_an_operation_made_need_not_be_read_again_wherever_it_stands() -> None:
    kept = insert("m4", "kept")
    before, after = thread_of(2, kept), thread_of(2, kept, snip(3, 4))
    sent = outgoing_messages(before, spoken(before), count)
    again = unchanged_made_messages(after, after.effective(), sent)
    assert again == {"o1.0": sent[-1]}
    words = {key: said for key, said in spoken(after).items() if key != "o1.0"}
    (*_, found) = outgoing_messages(after, words, count, again=again)
    assert found == sent[-1]
    moved = thread_of(2, kept, Resequence(order=("m4", "m3", "m2", "m1")))
    (*_, found) = outgoing_messages(moved, spoken(moved), count, again=again)
    assert (found.key, found.group, sent[-1].group) == ("o1.0", 1, 2)


def outgoing(
    conversation: Conversation,
    known: Mapping[Key, Outgoing],
    again: Mapping[Key, Outgoing] = MappingProxyType({}),
) -> list[Outgoing]:
    """What goes out of a conversation, reading only what isn't known."""
    thread = conversation.thread()
    keys = [one.key for one in thread.effective()]
    unread = [key for key in keys if key not in known and key not in again]
    said = {
        key: Read(message.parts, "openai", message.name)
        for key, message in conversation.words(thread, unread).items()
    }
    return outgoing_messages(thread, said, count, known=known, again=again)


@settings(max_examples=30)
@given(
    session=sessions(),
    tags=active_tags,
    window=st.integers(0, 3),
    isolation=st.booleans(),
    strategy=st.sampled_from(("openai", "gemini")),
    truncation=st.none() | st.builds(Tiers, inactive=st.integers(0, 20)),
    markers=st.booleans(),
    preference=st.none()
    | st.builds(
        Preference,
        start=st.integers(0, 5),
        end=st.integers(6, 12),
        include_search_results=st.booleans(),
        max_context_messages=st.none() | st.integers(1, 4),
        matches=st.lists(st.integers(0, 12)).map(tuple),
    ),
)
def test_the_figures_of_every_step_add_up(
    session, tags, window, isolation, strategy, truncation, markers, preference
) -> None:
    originals, entries = session
    thread = replay(originals, fold(entries), tags)
    policy = Policy(
        window=window, isolation=isolation, truncation=truncation, markers=markers
    )
    found = assembled(
        thread,
        policy,
        strategy=strategy,
        preference=preference,
        layers=[layer("state", "### STATE", count)],
    )
    assert adds_up(found.steps)
    assert (found.steps[0].before, found.steps[0].after) == (found.total, found.shown)
    assert found.steps[-1].after == found.sent
    layers = sum(one.tokens for one in found.layers)
    assert found.sent == layers + sum(one.tokens for one in found.messages)


def test_a_moved_message_counts_where_it_stands() -> None:
    thread = thread_of(3, Resequence(order=("m5", "m1")))
    assert sent_keys(assembled(thread, Policy(window=1))) == ["m5", "m6"]
