"""The comparison of methods in docs/pruning.md: the methods that are measured, by one score."""

import re

from bench.pruning.comparing import BEGIN, END, METHODS, PAGE
from bench.pruning.methods import clear_tool_uses, compacted, tiers
from bench.pruning.scoring import in_flight
from bench.pruning.sessions import ClientCompaction
from threads.domain.message import Message, Role
from threads.domain.part import Part, Text, ToolCall, ToolResult


def said(role: Role, *parts: Part) -> Message:
    return Message(role=role, parts=parts)


def work(number: int, text: str) -> list[Message]:
    return [
        said(Role.ASSISTANT, ToolCall(f"c{number}", "Grep", {"pattern": "x"})),
        said(Role.TOOL, ToolResult(f"c{number}", (Text(text),))),
    ]


BEGUN = [
    said(Role.USER, Text("Find the limit")),
    *work(1, "retryBackoffLimit " + "word " * 400),
    *work(2, "two"),
    *work(3, "three"),
    *work(4, "four"),
]
LATER = [*BEGUN, said(Role.ASSISTANT, Text("It is retryBackoffLimit"))]


def test_the_tables_name_the_methods_that_are_measured() -> None:
    tables = PAGE.read_text("utf-8").partition(BEGIN)[2].partition(END)[0]
    named = re.findall(r"^\| ([^|]+) \|", tables, re.MULTILINE)
    assert len(named) > len(METHODS)
    assert set(METHODS) <= set(named)
    others = set(named) - set(METHODS) - {"---", ""}
    assert others == {
        "the client's own compaction",
        "the pruner, at the same places",
    }


def test_all_results_but_the_last_three_are_cleared_and_what_is_used_later_is_lost() -> (
    None
):
    shown = clear_tool_uses(BEGUN)
    changed = [one.parts != new for one, new in zip(BEGUN, shown, strict=True)]
    assert changed == [False, False, True, *[False] * 6]
    score = in_flight(LATER, shown)
    assert (score.references, score.lost) == (1, 1)
    assert score.saved_share > 0.5


def test_what_a_summary_says_is_not_lost() -> None:
    told = ((Text("The limit is retryBackoffLimit"),),)
    shown = compacted(LATER, ClientCompaction(5, frozenset(range(5)), told))
    assert shown == [told[0], (), (), (), ()]
    assert in_flight(LATER, shown).lost == 0


def test_tiers_cut_the_results_of_the_group_that_goes_on_less() -> None:
    shown = tiers([*BEGUN, said(Role.USER, Text("Go on"))])
    assert shown[2] != BEGUN[2].parts
    assert shown[4] == BEGUN[4].parts
