"""replace and redact: changes of text inside messages, and how parts read under them."""

from hypothesis import given
from hypothesis import strategies as st

from operations.domain.log.operation import (
    Amend,
    Insert,
    Purge,
    Redact,
    Replace,
    Toggle,
)
from operations.domain.tree.span import (
    MASK,
    SpanChange,
    apply_span_changes,
    covered_text,
    find_text_spans,
    fingerprint,
    span_matches,
)
from tests.operations.support.builders import (
    digest,
    insert,
    new,
    span,
    statuses,
    thread,
)
from threads.domain.part import (
    File,
    Image,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from threads.domain.text import text_of


def change(start, end, text="", part=0):
    return SpanChange(part, start, end, text, 1, False, 0)


def test_a_replacement_changes_what_a_message_reads():
    spans = (span("m1", 4, 6, text="b"), span("m1", 0, 2, text="a"))
    made = thread(3, Replace(spans=spans))
    assert [(c.start, c.end, c.text) for c in made.spans("m1")] == [
        (0, 2, "a"),
        (4, 6, "b"),
    ]
    assert [node.changed for node in made.window()] == [False, True, False]


def test_a_redaction_masks():
    made = thread(2, Redact(spans=(span("m0", 0, 3),)))
    assert [(c.text, c.redacted) for c in made.spans("m0")] == [(MASK, True)]


def test_what_a_change_saves_is_taken_from_the_tokens():
    made = thread(2, Replace(spans=(span("m1", 0, 2, saved=4),)))
    assert (made.tokens.original, made.tokens.effective) == (20, 16)
    assert [message.tokens for message in made.effective()] == [10, 6]


def test_what_a_change_in_a_fold_saves_is_taken_from_what_it_shows():
    made = thread(4, digest(1, 2), Replace(spans=(span("o1.0", 0, 3, "sum", saved=2),)))
    assert (made.tokens.folds, made.node("o1").tokens_after) == (1, 1)
    inner = thread(4, Replace(spans=(span("m1", 0, 3, saved=2),)), digest(1, 2))
    assert inner.tokens.effective == 23


def test_a_change_of_what_a_fold_shows_lies_on_the_fold():
    made = thread(4, digest(1, 2), Replace(spans=(span("o1.0", 0, 3, "sum", "SUM"),)))
    assert statuses(made) == ["applied", "applied"]
    assert made.node("o1").changed
    assert made.report(2).hidden_by is None


def test_a_change_in_a_folded_message_is_hidden_by_the_fold():
    made = thread(4, Replace(spans=(span("m1", 0, 1),)), digest(1, 2))
    assert made.report(1).hidden_by == "o2"


def test_a_change_is_void_without_its_text():
    on_insert = Replace(spans=(span("o1.0", 0, 3, "ins"),))
    off = Toggle(operations=("o1",), active=False)
    words = Amend(operation="o1", edit=Insert(after="m0", messages=(new("other"),)))
    assert statuses(thread(2, insert("m0"), on_insert)) == ["applied", "applied"]
    assert statuses(thread(2, insert("m0"), on_insert, off)) == ["off", "void"]
    assert statuses(thread(2, insert("m0"), on_insert, words)) == ["applied", "void"]


def test_a_change_of_a_purged_message_is_void():
    made = thread(2, Replace(spans=(span("m0", 0, 1),)), Purge(targets=("m0",)))
    assert statuses(made) == ["void"]


def test_text_that_is_changed_already_is_not_changed_twice():
    first = Replace(spans=(span("m0", 2, 5), span("m0", 8, 9)))
    second = Replace(spans=(span("m0", 4, 6), span("m0", 7, 9)))
    third = Replace(spans=(span("m0", 0, 3), span("m0", 5, 8)))
    made = thread(1, first, second, third)
    assert statuses(made) == ["applied", "conflict", "applied"]
    assert made.report(2).operations == ("o1",)
    assert [(c.start, c.end) for c in made.spans("m0")] == [(2, 5), (5, 8), (8, 9)]


def test_the_text_of_each_kind_of_part():
    parts = {
        Text("words"): "words",
        Thinking("thought", "seal"): "thought",
        ToolResult("c", (Text("one"), Image("image/png"), Text("two"))): "one\ntwo",
        Image("image/png"): "",
        File("text/plain"): "",
    }
    assert {part: text_of(part) for part in parts} == parts
    assert text_of(ToolCall("c", "run", {"b": ["x", 1], "a": "y"})) == "y\nx"
    assert text_of(ToolCall("c", "run", "not json")) == "not json"
    assert text_of(Opaque("kind", {"n": None, "t": "z"})) == "z"


def test_parts_read_as_they_are_changed():
    parts = (
        Text("one two three"),
        ToolCall("c", "run", {"b": ["key=1", 2], "a": "x"}),
        Opaque("kind", {"t": "secret", "n": 1}),
    )
    changes = [
        change(0, 3, "1"),
        change(8, 13, "3"),
        change(6, 7, "?", part=1),
        change(0, 6, "-", part=2),
    ]
    assert apply_span_changes(parts, changes) == (
        Text("1 two 3"),
        ToolCall("c", "run", {"a": "x", "b": ["key=?", 2]}),
        Opaque("kind", {"n": 1, "t": "-"}),
    )


def test_a_change_over_several_pieces_stands_in_the_first():
    result = ToolResult(
        "c", (Text("abc"), Image("image/png"), Text("def"), Text("ghi"))
    )
    assert apply_span_changes([result], [change(1, 9, "-")]) == (
        ToolResult("c", (Text("a-"), Image("image/png"), Text(""), Text("hi"))),
    )


def test_changed_reasoning_loses_its_signature():
    assert apply_span_changes([Thinking("think", "seal")], [change(0, 2)]) == (
        Thinking("ink"),
    )


def test_parts_without_text_stay():
    assert apply_span_changes([Image("image/png")], [change(0, 1)]) == (
        Image("image/png"),
    )


def test_a_span_matches_only_the_text_it_was_made_for():
    parts = [Text("one two")]
    assert span_matches(parts, span("m0", 4, 7, "two"))
    assert not span_matches(parts, span("m0", 4, 7, "2wo"))
    assert covered_text(parts, span("m0", 4, 8)) is None
    assert covered_text(parts, span("m0", 4, 5, part=1)) is None
    assert covered_text(parts, span("m0", 4, 4)) is None


def test_texts_are_found_in_a_message_the_longest_first():
    parts = (Text("abcab"), Text("nothing"), Text("cab, abc"))
    found = list(find_text_spans("o1.0", parts, {"ab": "[redacted]", "abc": "***"}))
    assert [(one.part, one.start, one.end, one.text) for one in found] == [
        (0, 0, 3, "***"),
        (0, 3, 5, ""),
        (2, 5, 8, "***"),
        (2, 1, 3, ""),
    ]
    assert all(span_matches(parts, one) and one.key == "o1.0" for one in found)


def test_lone_surrogates_have_a_fingerprint():
    assert fingerprint("\ud800") != fingerprint("?")


@given(st.text(max_size=30), st.data())
def test_text_reads_as_its_pieces_with_the_changes_between(text, data):
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=6)))
    stretches = list(zip(cuts[::2], cuts[1::2], strict=False))
    changes = [change(start, end, f"<{start}>") for start, end in stretches]
    expected, behind = "", 0
    for start, end in stretches:
        expected += text[behind:start] + f"<{start}>"
        behind = end
    (part,) = apply_span_changes([Text(text)], data.draw(st.permutations(changes)))
    assert part == Text(expected + text[behind:])
