"""Patterns: what they match, and everything that can be wrong with a batch of them."""

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contextstudio.accounts.domain.errors import Conflict, Invalid
from operations.domain.log.operation import Redact
from operations.domain.text.pattern import (
    MAX_MATCHES,
    Pattern,
    TextEditRequest,
    find_matches,
)
from operations.domain.text.reading import HeldText, PartReading
from operations.domain.text.resolution import (
    MAX_NAMED,
    MAX_REPEATED,
    patterns_refusal,
    resolve_patterns,
)
from operations.domain.tree.span import fingerprint
from tests.operations.support.builders import span
from threads.domain.part import Text

BLOCK = "START_VERBOSE_OUTPUT one two three END_VERBOSE_OUTPUT"
MARKED = Pattern(start="START_VERBOSE_OUTPUT", end="END_VERBOSE_OUTPUT")
LONG = 10_000_000


def reading(text, key="m0", part=0, **more):
    return PartReading(key, part, Text(text), **more)


def resolved(*texts, patterns, **more):
    readings = [reading(text, f"m{place}") for place, text in enumerate(texts)]
    return resolve_patterns(lambda: readings, patterns, **more)


def fault(*texts, patterns, **more):
    (found,) = resolved(*texts, patterns=patterns, **more).faults
    return found


def test_both_markers_are_in_the_match():
    found = resolved(f"before {BLOCK} behind", patterns=[MARKED])
    assert found.faults == ()
    (match,) = found.matches
    assert match.text == BLOCK
    span = match.span()
    assert (span.key, span.part, span.start, span.end) == ("m0", 0, 7, 7 + len(BLOCK))
    assert (span.sha256, span.text) == (fingerprint(BLOCK), "")


def test_a_match_runs_to_the_nearest_end_behind_its_start():
    text = "END_LOG START_LOG aaaaaaaaaaaaaaaaaaaa END_LOG bbb END_LOG"
    (match,) = resolved(text, patterns=[Pattern(start="START", end="END_LOG")]).matches
    assert match.text == "START_LOG aaaaaaaaaaaaaaaaaaaa END_LOG"


def test_the_markers_do_not_share_text():
    text = "abababababababababababababababababab ba"
    (match,) = resolved(
        text, patterns=[Pattern(start="ab", end="ba", every=True)][:1], floor=1
    ).matches[:1]
    assert match.text == "ababa"[:2] + "aba"


def test_a_replacement_is_put_in_often_or_is_long():
    words = "one two three four five six seven"
    pattern = Pattern(start=words, replacement="x" * 10_000, every=True)
    assert resolved(words * 400, patterns=[pattern]).faults == ()
    found = fault(words * 402, patterns=[pattern])
    assert found.code == "too_long"
    assert (
        "has 402 matches and would insert 10,000 characters for each" in found.message
    )
    assert "at most 4,000,000 characters" in found.message

    once = Pattern(start=words, replacement="x" * (MAX_REPEATED + 1))
    assert resolved(words, patterns=[once]).faults == ()


def test_what_several_patterns_put_in_counts_together():
    words = ["one two three four five six seven", "eight nine ten eleven twelve 13 14"]
    patterns = [
        Pattern(start=one, replacement="x" * 10_000, every=True) for one in words
    ]
    found = fault("".join(words) * 300, patterns=patterns)
    assert (found.code, found.pattern) == ("too_long", 1)


def test_a_match_ends_in_the_part_in_which_it_starts():
    found = fault(BLOCK[:30], BLOCK[30:], patterns=[MARKED])
    assert found.code == "not_found"
    assert "after its start in the same part" in found.message


def test_without_an_end_the_start_is_all():
    words = "these very words are forty characters ok"
    (match,) = resolved(f"x {words} y", patterns=[Pattern(start=words)]).matches
    assert match.text == words


def test_what_is_not_found_is_told_with_what_is_like_it():
    found = fault(
        "other words", BLOCK, patterns=[Pattern(start="STRAT_VERBOSE_OUTPUT", end="x")]
    )
    assert found.code == "not_found"
    assert "START_VERBOSE_OUTPUT" in found.similar
    assert '"START_VERBOSE_OUTPUT"' in found.message
    none = fault("other words", patterns=[Pattern(start="zzzzzz", end="qqqqq")])
    assert (none.similar, "Similar" in none.message) == ((), False)
    short = fault("other words", patterns=[Pattern(start="zz")])
    assert short.similar == ()


def test_an_end_that_is_mistyped_is_told_apart_from_a_start():
    found = fault(
        BLOCK,
        patterns=[Pattern(start="START_VERBOSE_OUTPUT", end="END_VERBOSE_OUTPTU")],
    )
    assert found.similar[0] == "END_VERBOSE_OUTPUT"


def test_a_letter_whose_small_form_is_longer_moves_nothing():
    found = fault(
        "İİİ START_VERBOSE_OUTPUT", patterns=[Pattern(start="START_VERBOSE_OUTPUTS")]
    )
    assert "START_VERBOSE_OUTPUT" in found.similar


def test_less_than_thirty_characters_is_too_short():
    for text, length in (("ab 45678901234567890123456 cd", 29), ("ab cd", 5)):
        found = fault(text, patterns=[Pattern(start="ab", end="cd")])
        assert found.code == "too_short"
        assert f"{length} characters: minimum 30 characters" in found.message
    text = "ab 456789012345678901234567 cd"
    assert resolved(text, patterns=[Pattern(start="ab", end="cd")]).faults == ()


def test_a_redaction_has_no_floor():
    found = resolved(
        "API_KEY=1\n", patterns=[Pattern(start="API_KEY=", end="\n")], floor=1
    )
    assert (found.faults, len(found.matches)) == ((), 1)


def test_several_matches_are_refused_and_listed():
    found = fault(f"first {BLOCK}", f"second {BLOCK} {BLOCK}", patterns=[MARKED])
    assert found.code == "ambiguous"
    assert "several matches, 3 in all" in found.message
    assert [match.key for match in found.matches] == ["m0", "m1", "m1"]
    assert found.matches[0].excerpt == ("first ", BLOCK, "")
    facts = found.matches[0].facts
    assert (facts["key"], facts["length"], facts["pattern"]) == ("m0", len(BLOCK), 0)


def test_an_occurrence_takes_one_and_all_takes_all():
    texts = BLOCK, f"{BLOCK} {BLOCK}"
    second = Pattern(start="START_V", end="END_VERBOSE_OUTPUT", occurrence=2)
    (match,) = resolved(*texts, patterns=[second]).matches
    assert (match.key, match.start) == ("m1", 0)
    every = Pattern(start="START_V", end="END_VERBOSE_OUTPUT", every=True)
    assert len(resolved(*texts, patterns=[every]).matches) == 3
    fourth = Pattern(start="START_V", end="END_VERBOSE_OUTPUT", occurrence=4)
    assert "there is no occurrence 4" in fault(*texts, patterns=[fourth]).message
    assert "1 match;" in fault(BLOCK, patterns=[fourth]).message


def test_all_is_refused_where_one_of_them_is_too_short():
    every = Pattern(start="ab", end="cd", every=True)
    texts = "ab 456789012345678901234567 cd", "ab cd", "ab  cd"
    found = fault(*texts, patterns=[every])
    assert found.code == "too_short"
    assert "2 matches of 5 to 6 characters" in found.message


def test_more_matches_than_anybody_looks_at_are_too_many():
    text = BLOCK * (MAX_MATCHES + 5)
    found = fault(
        text,
        BLOCK,
        patterns=[Pattern(start="START_V", end="END_VERBOSE_OUTPUT", every=True)],
    )
    assert (found.code, found.matches) == ("ambiguous", ())
    assert "more than 1,000 matches" in found.message


def test_the_first_of_too_many_matches_are_taken_where_some_are_at_a_time():
    word = Pattern(start="word", replacement="word", every=True)
    held = [HeldText(0, 10, 1)]
    some = [reading("word " * 3, held=held), reading("word " * (MAX_MATCHES + 5), "m1")]
    found = resolve_patterns(lambda: some, [word], floor=1, partly=True)
    assert found.cut
    assert len(found.matches) == MAX_MATCHES + 2, "of which two can't be changed"
    assert [one.holders for one in found.matches[:3]] == [(1,), (1,), ()]
    assert not resolve_patterns(lambda: some[:1], [word], floor=1, partly=True).cut


def test_patterns_that_share_text_overlap():
    text = "A 4567890123456789012345678901 B 12 C 4567890123456789012345678901 D"
    patterns = [Pattern(start="A", end="C"), Pattern(start="B", end="D")]
    found = fault(text, patterns=patterns)
    assert (found.code, found.pattern) == ("overlap", 1)
    assert (
        'is overlapping with pattern 1 ("A" to "C"): 6 characters of m0'
        in found.message
    )
    twice = fault(BLOCK, patterns=[MARKED, MARKED])
    assert twice.code == "overlap"


def test_a_match_inside_another_does_not_hide_the_next_overlap():
    inner = "inner text of more than thirty characters"
    text = f"BEGIN {inner} and {inner.upper()} FINISH"
    patterns = [
        Pattern(start="BEGIN", end="FINISH"),
        Pattern(start=inner),
        Pattern(start=inner.upper()),
    ]
    assert [one.pattern for one in resolved(text, patterns=patterns).faults] == [1, 2]


def test_only_so_many_overlaps_are_told():
    every = Pattern(start="START_V", end="END_VERBOSE_OUTPUT", every=True)
    faults = resolved(BLOCK * (MAX_NAMED + 9), patterns=[every, every]).faults
    assert len(faults) == MAX_NAMED


def test_all_that_is_wrong_with_a_batch_is_told_at_once():
    text = f"{BLOCK} {BLOCK} ab cd"
    patterns = [
        Pattern(start="nowhere at all"),
        MARKED,
        Pattern(start="ab", end="cd"),
    ]
    found = resolved(text, patterns=patterns)
    assert [one.code for one in found.faults] == ["not_found", "ambiguous", "too_short"]
    error = patterns_refusal(found.faults)
    assert isinstance(error, Invalid)
    assert [one.at for one in error.errors] == [("patterns", n) for n in range(3)]
    assert len(error.errors[1].facts["matches"]) == 2
    assert (error.code, error.facts) == ("not_found", {})


def test_what_is_missing_is_told_with_facts():
    found = resolved(BLOCK, patterns=[Pattern(start="STRAT_VERBOSE_OUTPUT")])
    (error,) = patterns_refusal(found.faults).errors
    assert "START_VERBOSE_OUTPUT" in error.facts["similar"]


def test_text_that_an_operation_holds_is_a_conflict():
    held = reading(BLOCK, held=[HeldText(3, 5, 7)])
    found = resolve_patterns(lambda: [held], [MARKED])
    error = patterns_refusal(found.faults)
    assert isinstance(error, Conflict)
    assert (error.code, error.facts) == ("overlap", {"operations": ["o7"]})
    assert error.errors[0].facts["operations"] == ["o7"]
    both = resolve_patterns(lambda: [held], [MARKED, Pattern(start="nowhere")])
    assert isinstance(patterns_refusal(both.faults), Invalid)


def test_an_excerpt_is_cut_to_be_printed():
    text = "b" * 50 + "START" + "x" * 500 + "END" + "a" * 50
    (match,) = resolved(text, patterns=[Pattern(start="START", end="END")]).matches
    before, inside, behind = match.excerpt
    assert before == "…" + "b" * 24
    assert behind == "a" * 24 + "…"
    assert (inside[:5], inside[-3:], len(inside)) == ("START", "END", 103)


def test_a_pattern_in_a_sentence_is_one_line_of_bounded_length():
    assert Pattern(start="a\nb").words == '"a⏎b"'
    assert len(Pattern(start="a" * 500).words) == 62


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("a" * LONG, Pattern(start="a", end="a", every=True)),
        ("a" * LONG, Pattern(start="a" * 60 + "b", end="a")),
        ("ab" * (LONG // 2), Pattern(start="ab", end="X")),
        ("ab" * (LONG // 2), Pattern(start="ab" * 3000 + "c", end="X")),
        ("one two three " * (LONG // 14), Pattern(start="one tow three")),
    ],
)
def test_hostile_patterns_and_long_texts_stay_fast(text, pattern):
    made = reading(text)
    began = time.thread_time()
    resolve_patterns(lambda: [made], [pattern])
    assert time.thread_time() - began < 10


def naive(text, start, end):
    """What a pattern matches, character by character."""
    found, place = [], 0
    while place < len(text):
        if text[place : place + len(start)] == start:
            for stop in range(place + len(start), len(text) - len(end) + 1):
                if text[stop : stop + len(end)] == end:
                    found.append((place, stop + len(end)))
                    place = stop + len(end) - 1
                    break
        place += 1
    return found


markers = st.text("ab", min_size=1, max_size=3)


@settings(max_examples=200)
@given(st.lists(st.text("abc", max_size=12), max_size=3), markers, markers)
def test_what_is_found_is_what_a_naive_search_finds(texts, start, end):
    readings = [reading(text, f"m{place}") for place, text in enumerate(texts)]
    (hits,) = find_matches(readings, [Pattern(start=start, end=end)])
    assert [(match.key, match.start, match.end) for match in hits.matches] == [
        (f"m{place}", *stretch)
        for place, text in enumerate(texts)
        for stretch in naive(text, start, end)
    ]


@settings(max_examples=200)
@given(
    st.lists(st.text("abc", max_size=12), max_size=3),
    st.lists(
        st.builds(Pattern, start=markers, end=st.none() | markers, every=st.booleans()),
        max_size=3,
    ),
)
def test_what_is_settled_without_fault_may_be_applied(texts, patterns):
    """Long enough, apart from one another, and one match of each pattern unless all are asked."""
    found = resolved(*texts, patterns=patterns, floor=3)
    if found.faults:
        assert {one.pattern for one in found.faults} <= set(range(len(patterns)))
        return
    for place, pattern in enumerate(patterns):
        count = sum(match.pattern == place for match in found.matches)
        assert count >= 1 if pattern.every else count == 1
    assert all(match.length >= 3 for match in found.matches)
    ordered = sorted(found.matches, key=lambda one: (one.place, one.start))
    for one, other in pairwise(ordered):
        assert one.place != other.place or one.end <= other.start


class Vowels:
    """An expression, as doors make them of what people write."""

    def find(self, text):
        return ((place, place + 1) for place, one in enumerate(text) if one in "aeiou")


def test_an_expression_finds_what_it_finds_and_is_named_as_it_is_written():
    vowels = Pattern(start="[aeiou]", expression=Vowels(), every=True)
    found = resolved("one two", patterns=[vowels])
    assert [match.text for match in found.matches] == ["o", "e", "o"]
    said = fault("why", patterns=[vowels])
    assert said.code == "not_found"
    assert said.message == (
        'Pattern 1 (expression "[aeiou]") matches nothing that is shown.'
    )


def test_what_is_asked_for_becomes_an_edit_of_its_kind():
    spans = (span("m0", 0, 3), span("m1", 4, 7))
    assert TextEditRequest(kind=Redact).edit(iter(spans)) == Redact(spans=spans)
