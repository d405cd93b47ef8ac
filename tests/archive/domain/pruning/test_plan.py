"""Keep, condense, remove: document 1's rules over made threads."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive.domain.pruning.classes import Protected, Prunable
from archive.domain.pruning.harm import NamesLeft
from archive.domain.pruning.reading import ThreadReading
from archive.domain.pruning.trigger import trigger
from operations.domain.context.policy import Pruning
from operations.domain.log.operation import Condense, Snip
from tests.archive.domain.pruning.work import (
    LONG,
    call,
    classes,
    fit,
    lines,
    message,
    planned,
    result,
    said,
    thread,
    user,
)
from threads.domain.message import Role
from threads.domain.part import Text, ToolCall, ToolResult

VIEWED = (call("1", "Read", file_path="a.py"), result("1", LONG))
EDITED = (call("2", "Edit", file_path="a.py", old="x"), result("2", LONG))


def test_document_1_old_errors_are_removed_with_their_calls() -> None:
    found = planned(
        call("1", "Bash", command="x"),
        result("1", LONG, failed=True),
        *map(said, "abcdef"),
    )
    assert classes(found) == ["remove", "remove", *["keep"] * 6]
    (edit,) = found.edits
    assert edit == Snip(targets=("m0", "m1"))
    assert [item.reason for item in found.items[:2]] == [
        "Its results are removed",
        "An old error",
    ]


def test_document_1_young_errors_are_condensed_like_results() -> None:
    found = planned(
        call("1", "Bash", command="x"), result("1", LONG, failed=True), said("a")
    )
    assert classes(found) == ["keep", "condense", "keep"]


def test_document_1_superseded_views_are_removed() -> None:
    found = planned(user("Mend a.py"), *VIEWED, *EDITED)
    assert classes(found) == ["keep", "remove", "remove", "keep", "condense"]
    assert (found.items[2].reason, found.items[2].by) == ("a.py was edited", "m4")
    again = (call("3", "Read", file_path="a.py"), result("3", LONG))
    found = planned(user("Mend a.py"), *VIEWED, *again)
    assert classes(found) == ["keep", "remove", "remove", "keep", "condense"]
    assert (found.items[2].reason, found.items[2].by) == ("a.py was viewed again", "m4")


def test_a_failed_edit_supersedes_nothing() -> None:
    failed = (EDITED[0], result("2", LONG, failed=True))
    assert classes(planned(*VIEWED, *failed)) == ["keep", "condense"] * 2


def test_document_1_tool_results_and_long_answers_are_condensed() -> None:
    found = planned(*VIEWED, said("word " * 501), said("word " * 500))
    assert classes(found) == ["keep", "condense", "condense", "keep"]
    view, words = lines(found)
    assert view == "📎 Viewed a.py - 1 line [recall:msg-00000001]"
    assert words.endswith("… [recall:msg-00000002]")
    assert [type(edit) for edit in found.edits] == [Condense, Condense]


def test_document_1_exactly_the_last_messages_are_kept() -> None:
    found = planned(
        *(one for n in range(4) for one in (call(f"{n}", "x"), result(f"{n}", LONG))),
        keep_last_n=4,
    )
    assert classes(found) == ["keep", "condense", "keep", "condense", *["keep"] * 4]
    assert found.items[-1].reason == "One of the last 4"


def test_the_two_fives_change_something_only_from_keep_last_n_on() -> None:
    work = (*VIEWED[:1], result("1", LONG, failed=True), *map(said, "abcdefgh"))
    for after in range(8):
        assert classes(planned(*work, keep_last_n=8, remove_errors_after=after))[1] == (
            "remove" if after < 8 else "condense"
        )
    assert classes(planned(*work, keep_last_n=8, remove_errors_after=8))[1] == (
        "condense"
    )


def test_user_messages_are_always_kept() -> None:
    both = message(
        Role.USER, ToolResult("1", (Text(LONG),)), Text("And look at this: " + LONG)
    )
    found = planned(user("word " * 900), call("1", "x"), both)
    assert classes(found) == ["keep", "keep", "condense"]
    (new,) = found.edits[0].messages  # type: ignore[union-attr]
    assert new.parts[1] == both.parts[1]


def test_a_removed_result_leaves_a_stub_where_its_call_must_stay() -> None:
    words = call("1", "Read", "I look at the file", file_path="a.py")
    found = planned(words, VIEWED[1], *EDITED)
    assert classes(found) == ["keep", "remove", "keep", "condense"]
    assert lines(found)[0] == ("📝 Removed: a.py was edited [recall:msg-00000001]")
    pinned = VIEWED[0]._replace(tags=("pinned",))
    assert classes(planned(pinned, VIEWED[1], *EDITED))[:2] == ["keep", "remove"]


def test_of_several_results_each_has_a_line_of_its_own() -> None:
    calls = message(
        Role.ASSISTANT,
        ToolCall("1", "Read", {"file_path": "a.py"}),
        ToolCall("2", "Read", {"file_path": "b.py"}),
    )
    results = message(
        Role.USER, ToolResult("1", (Text(LONG),)), ToolResult("2", (Text(LONG),))
    )
    found = planned(calls, results, *(one for one in EDITED))
    assert classes(found)[:2] == ["keep", "condense"]
    assert lines(found)[:2] == [
        "📝 Removed: a.py was edited [recall:msg-00000001:tool-1]",
        "📎 Viewed b.py - 1 line [recall:msg-00000001:tool-2]",
    ]
    assert [str(one.location) for one in found.items[1].stashed] == ["tool-1", "tool-2"]


def test_what_is_protected_stays() -> None:
    def kept(**fields: Any) -> bool:
        return classes(planned(*VIEWED, protected=Protected(**fields)))[1] == "keep"

    assert kept(tools=("Re*",)) and not kept(tools=("Write",))
    assert kept(paths=("*.py",)) and kept(paths=("a.py",))
    assert not kept(paths=("b.py",))
    assert kept(keys=frozenset({"m1"})) and not kept(keys=frozenset({"m0"}))
    tagged = (VIEWED[0], VIEWED[1]._replace(tags=("pinned",)))
    assert classes(planned(*tagged)) == ["keep", "keep"]
    assert classes(planned(*tagged, protect_tags=())) == ["keep", "condense"]
    long = call("1", "Write", file_path="a.py", content="word " * 600)
    own = planned(long, result("1", LONG), protect_paths=("a.py",))
    assert classes(own) == ["keep", "keep"]


def test_nothing_but_a_star_stands_for_anything_else_in_what_is_protected() -> None:
    def kept(path: str, pattern: str) -> bool:
        work = (call("1", "Read", file_path=path), result("1", LONG))
        protected = Protected(paths=(pattern,))
        return classes(planned(*work, protected=protected))[1] == "keep"

    assert kept("pages/[slug].tsx", "pages/[slug].tsx")
    assert kept("app/pages/[slug].tsx", "pages/[*].tsx")
    assert not kept("pages/s.tsx", "pages/[slug].tsx")
    assert kept("what?.md", "what?.md") and not kept("whats.md", "what?.md")


def test_what_an_operation_shows_is_left_alone() -> None:
    shown = result("1", LONG)._replace(is_fixed=True)
    found = planned(VIEWED[0], shown)
    assert (classes(found), found.items[1].reason) == (
        ["keep", "keep"],
        "An operation shows it",
    )


def test_what_is_shorter_than_its_reference_stays() -> None:
    found = planned(VIEWED[0], result("1", "ok"))
    assert found.items[1].reason == "Its reference is hardly shorter"


def test_what_gets_shorter_by_less_than_a_fifth_stays() -> None:
    def becomes(tokens: int) -> str:
        return classes(planned(VIEWED[0], result("1", "word " * tokens)))[1]

    reference = planned(VIEWED[0], result("1", "word " * 100)).items[1].tokens_after
    least = -(-reference * 5 // 4)
    assert (becomes(least), becomes(least - 1)) == ("condense", "keep")


def test_long_texts_of_calls_go_with_their_results() -> None:
    written = call("1", "Write", file_path="a.py", content="word " * 300)
    found = planned(written, result("1", LONG))
    assert classes(found) == ["condense", "condense"]
    assert "✏️ Edited a.py [recall:msg-00000000:tool-1]" in lines(found)[0]
    assert classes(planned(written)) == ["keep"]


def test_a_line_says_what_of_the_text_is_used_later() -> None:
    text = LONG + "path/to/module.py retryBackoffLimit"
    found = planned(
        call("1", "Agent"), result("1", text), said("So retryBackoffLimit is it")
    )
    assert lines(found) == [
        f"📝 {LONG[:79]}… [recall:msg-00000001]\nUsed later: retryBackoffLimit"
    ]
    plain = planned(
        call("1", "Agent"),
        result("1", text),
        said("So retryBackoffLimit is it"),
        name_used_later=False,
    )
    assert "Used later" not in lines(plain)[0]
    words = planned(
        said("word " * 501 + "retryBackoffLimit"), said("retryBackoffLimit")
    )
    assert lines(words)[0] == "Used later: retryBackoffLimit"


def test_what_is_used_later_keeps_a_stub_of_what_would_go() -> None:
    viewed = result("1", LONG + "retryBackoffLimit")
    found = planned(VIEWED[0], viewed, *EDITED, said("retryBackoffLimit"))
    assert classes(found)[:2] == ["keep", "remove"]
    assert lines(found)[0].endswith("\nUsed later: retryBackoffLimit")


KINDS = st.sampled_from(
    ["user", "said", "long", "read", "fail", "edit", "loose", "two"]
)


@st.composite
def threads(draw: st.DrawFn) -> list[Prunable]:
    found: list[Prunable] = []
    for number, kind in enumerate(draw(st.lists(KINDS, max_size=14))):
        id_, path = f"c{number}", draw(st.sampled_from(["a.py", "b.py"]))
        match kind:
            case "user":
                found.append(user(LONG))
            case "said":
                found.append(said("short"))
            case "long":
                found.append(said("word " * 600))
            case "loose":
                found.append(result(id_, LONG))
            case "two":
                calls = [ToolCall(f"{id_}{n}", "Read", {"path": path}) for n in "ab"]
                found.append(message(Role.ASSISTANT, *calls))
                found += [result(f"{id_}{n}", LONG) for n in "ab"]
            case _:
                name = "Edit" if kind == "edit" else "Read"
                words = draw(st.sampled_from(["", "Words"]))
                found.append(call(id_, name, words, file_path=path))
                found.append(result(id_, LONG, failed=kind == "fail"))
    return found


@given(threads(), st.integers(0, 6), st.integers(0, 2000))
def test_no_plan_parts_a_pair_or_drops_what_people_said(
    messages: list[Prunable], last: int, target: int
) -> None:
    whole = planned(*messages, keep_last_n=last)
    for found in (whole, fit(whole, messages, target)):
        gone = {
            key
            for edit in found.edits
            if isinstance(edit, Snip)
            for key in edit.targets
        }
        for id_ in {
            part.id
            for one in messages
            for part in one.parts
            if isinstance(part, ToolCall)
        }:
            halves = {
                f"m{place}" in gone
                for place, one in enumerate(messages)
                for part in one.parts
                if id_ in (getattr(part, "id", ""), getattr(part, "call_id", ""))
            }
            assert len(halves) == 1
        for place, one in enumerate(messages):
            item = found.items[place]
            if one.role is Role.USER or place >= len(messages) - last:
                assert item.prune_class == "keep"
            assert item.tokens_after <= item.tokens
            changed = item.prune_class != "keep"
            assert bool(item.stashed) == changed
        before = sum(one.tokens for one in messages)
        assert found.tokens_after == before - found.tokens_saved
        names = [key for edit in found.edits for key in edit.targets]  # type: ignore[union-attr]
        assert len(names) == len(set(names))


@given(threads(), st.integers(0, 2000))
def test_fitting_takes_no_step_that_could_be_spared(
    messages: list[Prunable], target: int
) -> None:
    whole = planned(*messages)
    found = fit(whole, messages, target)
    if found.tokens_after > target:
        assert found.steps == whole.steps
    for step in found.steps if found.tokens_after <= target else ():
        assert found.tokens_after + found.saving(step) > target


def test_of_what_loses_no_name_outdated_views_go_first_and_words_last() -> None:
    messages = [
        said("a.py " * 600),
        *VIEWED,
        *EDITED,
        call("3", "Agent"),
        result("3", LONG * 9),
    ]
    whole = planned(*messages)
    before = whole.tokens_after + whole.tokens_saved
    first = fit(whole, messages, before - 10)
    assert classes(first) == ["keep", "remove", "remove", *["keep"] * 4]
    assert first.items[6].reason == "Not needed to fit"
    both = classes(fit(whole, messages, before - 600))
    assert (both[1], both[6]) == ("remove", "condense")
    # With the large result out the view that was taken before it could be spared.
    assert classes(fit(whole, messages, before - 100))[1:3] == ["keep", "keep"]
    assert {item.key for item in whole.items if item.stashed} == {
        stashed.key for stashed in whole.stashed
    }
    assert fit(whole, messages, before).steps == ()
    assert whole.first_changed == "m0"
    assert fit(whole, messages, before).first_changed is None


def ran(number: int, *names: str) -> list[Prunable]:
    """A command, and a long result with these names in it."""
    text = f"{LONG * 2}{' '.join(names)}"
    return [call(str(number), "Agent"), result(str(number), text)]


def test_fitting_takes_what_loses_the_fewest_names_first() -> None:
    messages = [
        *ran(1, "retryBackoffLimit", "connectionPoolSize"),
        *ran(2),
        *ran(3, "sharedNamesOnly"),
        user("sharedNamesOnly"),
    ]
    whole = planned(*messages, name_used_later=False, likely_names=0)
    before = whole.tokens_after + whole.tokens_saved
    order = [
        classes(fit(whole, messages, before - saved)).count("condense")
        for saved in (10, whole.tokens_saved)
    ]
    assert order == [1, 3]
    two = classes(fit(whole, messages, before - whole.tokens_saved // 2))
    assert (two[1], two[3], two[5]) == ("keep", "condense", "condense")


def test_what_stands_in_one_message_yet_is_a_loss() -> None:
    """Of two messages that alone hold a name, the first to go takes nothing away."""
    both = "retryBackoffLimit"
    messages = [*ran(1, both), *ran(2, both), *ran(3, "nobodyElseSaysThis")]
    whole = planned(*messages, name_used_later=False, likely_names=0)
    names = NamesLeft(ThreadReading(thread(*messages)), whole)
    first, second, third = whole.steps
    assert [names.lost_by(step) for step in whole.steps] == [0, 0, 1]
    apart = names.copy()
    apart.take(first)
    assert [apart.lost_by(second), apart.lost_by(third)] == [1, 1]
    assert names.lost_by(second) == 0


def test_fitting_looks_again_at_what_does_more_harm_after_another_step() -> None:
    """Two hold the same name: with the larger gone, the other one is the last to say it."""
    both = "retryBackoffLimit"
    messages = [
        call("1", "Agent"),
        result("1", f"{LONG * 4}{both}"),
        *ran(2, both),
        *ran(3),
    ]
    whole = planned(*messages, name_used_later=False, likely_names=0)
    before = whole.tokens_after + whole.tokens_saved
    larger, other, without = (whole.saving(step) for step in whole.steps)
    assert larger > other > without
    two = classes(fit(whole, messages, before - larger - without))
    assert (two[1], two[3], two[5]) == ("condense", "keep", "condense")


def near(*shares: float | None) -> list[Prunable]:
    """Long answers, each with its relevance, and one more to be the last."""
    answers = [said(f"{'word ' * 600}{number}") for number, _ in enumerate(shares)]
    pairs = zip(answers, shares, strict=True)
    return [one._replace(relevance=share) for one, share in pairs] + [said("End")]


def test_what_is_relevant_to_the_objective_stays() -> None:
    messages = near(0.3, 0.31, None)
    found = planned(*messages, keep_relevant_above=0.3)
    assert classes(found) == ["condense", "keep", "condense", "keep"]
    assert found.items[1].reason == "Relevant to the objective (0.31)"
    assert classes(planned(*messages))[1] == "condense"


def test_fitting_leaves_out_the_least_relevant_first() -> None:
    messages = near(0.25, 0.05, 0.15)
    whole = planned(*messages)
    least = whole.tokens_after + whole.tokens_saved - 10
    relevance = {"m0": 0.25, "m1": 0.05, "m2": 0.15}
    assert classes(fit(whole, messages, least, relevance)).index("condense") == 1
    both = classes(fit(whole, messages, least - 600, relevance))
    assert both == ["keep", "condense", "condense", "keep"]
    # A tenth is no difference: what is lost decides then, and the size.
    alike = {"m0": 0.19, "m1": 0.11}
    assert classes(fit(whole, messages, least, alike)).count("condense") == 1


@pytest.mark.parametrize(
    ("projected", "window", "due"),
    [
        (979_999, 1_000_000, False),
        (980_000, 1_000_000, True),
        (160_000, 200_000, True),
        (159_999, 200_000, False),
        (180_001, 200_001, True),
        (180_000, 200_001, False),
        (10**9, None, False),
    ],
)
def test_document_1_trigger(projected: int, window: int | None, due: bool) -> None:
    found = trigger(projected, window, Pruning())
    assert found.is_due is due


def test_the_trigger_says_how_things_stand() -> None:
    assert trigger(5, None, Pruning()).sentence("") == (
        "Automatic pruning is off: the session's model is not known."
    )
    assert trigger(5, 100, Pruning()).sentence("x").startswith("Not due: 95 of 100")
    assert trigger(95, 100, Pruning()).sentence("x").startswith("Due: 5 of 100")
