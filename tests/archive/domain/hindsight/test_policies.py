"""A policy as a thread goes on: at every message what the request held that it answered."""

from hypothesis import given
from hypothesis import strategies as st

from archive.domain.hindsight.losses import Passage, hindsight
from archive.domain.hindsight.policies import passages_under_policy
from archive.domain.hindsight.texts import texts_of
from operations.domain.context.policy import Policy
from operations.domain.context.truncation import Tiers, hint, truncate
from operations.domain.context.window import keep_window
from operations.domain.providers.request import Outgoing
from threads.domain.message import Role
from threads.domain.part import Image, Part, Text, Thinking, ToolCall, ToolResult

TIERS = Tiers(recent_results=2, recent=12, older=8, inactive=3)


def message(place: int, group: int, *parts: Part, role: Role = Role.TOOL) -> Outgoing:
    return Outgoing(
        key=f"m{place}",
        node=f"m{place}",
        role=role,
        parts=parts,
        tokens=0,
        group=group,
        groups=frozenset((group,)),
        strategy="openai",
        index=place,
    )


@st.composite
def threads(draw: st.DrawFn) -> list[Outgoing]:
    """Groups in their order, each of results, one or two a message, of different lengths."""
    lengths = st.lists(st.integers(1, 20), min_size=1, max_size=2)
    groups = draw(st.lists(st.lists(lengths, min_size=1, max_size=5), max_size=4))
    found: list[Outgoing] = []
    for group, messages in enumerate(groups):
        for results in messages:
            place = len(found)
            texts = (f"{place}{chr(97 + n)}" * 20 for n in range(len(results)))
            parts = [
                ToolResult("c", (Text(text[:length]),))
                for text, length in zip(texts, results, strict=True)
            ]
            found.append(message(place, group, *parts))
    return found


def shown_at(said: list[Passage], place: int) -> list[tuple[str, str]]:
    """What is read of each piece that stands before a place."""
    found = []
    for one in said:
        if one.place < place:
            texts = list(one.texts)
            for left_out in one.left_out:
                if left_out.since <= place:
                    texts = list(left_out.shows)
            found += [(one.key, text) for text in texts]
    return found


@given(threads(), st.integers(0, 3))
def test_at_every_place_it_is_what_the_request_held(
    thread: list[Outgoing], window: int
) -> None:
    said = passages_under_policy(
        thread, Policy(window=window, truncation=TIERS), "openai"
    )
    for place in range(1, len(thread) + 1):
        sent, *_ = keep_window(thread[:place], window)
        sent, *_ = truncate(sent, TIERS, sent[-1].group, lambda parts: 0)
        assert shown_at(said, place) == [
            (one.key, text.removesuffix(hint(one.key)))
            for one in sent
            for part in one.parts
            for text in texts_of([part])
        ]


def test_the_prompt_stays_and_calls_of_others_are_isolated() -> None:
    call = ToolCall("c", "read", {"path": "a/b", "at": [48213, True, None, 1.5]})
    thread = [
        message(0, 0, Text("Rules"), role=Role.SYSTEM),
        message(1, 1, Text("Go"), role=Role.USER),
        message(2, 1, Text("I look"), call, Thinking("hm"), role=Role.ASSISTANT),
        message(3, 1, ToolResult("c", (Text("found"), Image("image/png")))),
        message(4, 2, Text("And?"), role=Role.USER),
        message(5, 2, Text("It is a/b, 48213"), role=Role.ASSISTANT),
    ]
    said = passages_under_policy(thread, Policy(window=1, isolation=True), "anthropic")
    assert shown_at(said, 5) == [("m0", "Rules"), ("m4", "And?")]
    assert shown_at(said, 4)[:3] == [("m0", "Rules"), ("m1", "Go"), ("m2", "I look")]
    assert [one.uses for one in said if one.key == "m2"] == [
        ["I look"],
        ["a/b", "48213", "1.5"],
        [],
    ]
    losses = hindsight(said).losses
    assert {loss.text for loss in losses["isolation"]} == {"a/b", "48213"}
