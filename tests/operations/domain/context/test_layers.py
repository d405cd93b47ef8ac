"""Layers in their order."""

from operations.domain.context.layers import (
    GUIDELINES_TEXT,
    ORDER,
    guidelines_text,
    in_order,
    layer,
    scratchpad_text,
    system_layer,
)
from tests.operations.domain.providers.outgoings import count, out
from threads.domain.part import Text


def test_layers_stand_in_the_order_of_document_2() -> None:
    made = [layer(name, name, count) for name in reversed(ORDER)]
    assert [one.name for one in in_order(made)] == [
        *("system", "guidelines", "state", "scratchpad", "memos"),
    ]


def test_layers_without_words_are_none() -> None:
    assert in_order([layer("state", "", count)]) == []


def test_the_system_prompt_is_its_messages_together() -> None:
    found = system_layer([out(0, 0, "Be brief.", Text("Be kind.")), out(1, 0, "Go.")])
    assert found is not None
    assert found.text == "Be brief.\n\nBe kind.\n\nGo."
    assert (found.keys, found.tokens) == (("m0", "m1"), 20)
    assert system_layer([]) is None


def test_guidelines_ask_for_state_in_its_format() -> None:
    for words in ("### STATE", "Goal:", "Context:", "Resolved:", "Technical Anchors:"):
        assert words in GUIDELINES_TEXT


def test_guidelines_name_tools_to_who_has_them() -> None:
    assert guidelines_text(can_recall=True) == GUIDELINES_TEXT
    assert "read whole with `recall`." in GUIDELINES_TEXT
    bare = guidelines_text(can_recall=False)
    assert "`" not in bare
    assert "cut short, or left out.\n- End each response" in bare
    assert bare.endswith("Check memos before you assume how something is built.")


def test_the_scratchpad_has_a_heading() -> None:
    assert scratchpad_text("- [ ] ship") == "## Scratchpad\n\n- [ ] ship"
