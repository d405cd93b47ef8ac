"""Suggested patterns: what is told as a block, and that each leads back to its block."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from operations.domain.text.reading import HeldText, PartReading
from operations.domain.text.resolution import resolve_patterns
from operations.domain.text.suggestions import suggest
from threads.domain.part import Text

FRAMES = "".join(
    f'  File "/srv/app/module_{n}.py", line {n}, in run_{n}\n    step_{n}()\n    ~~~~^^\n'
    for n in range(1, 6)
)
PYTHON = f"Traceback (most recent call last):\n{FRAMES}ValueError: it went wrong"
NODE = "TypeError: x is not a function\n" + "\n".join(
    f"    at run{n} (/srv/app/lib/module{n}.js:{n}:7)" for n in range(8)
)
JAVA = "java.lang.IllegalStateException: no\n" + "\n".join(
    f"\tat com.example.Thing{n}.run(Thing{n}.java:{n})" for n in range(8)
)
GO = "panic: no such thing\n\ngoroutine 1 [running]:\n" + "\n".join(
    f"main.step{n}(0xc000012{n})\n\t/srv/app/main_{n}.go:{n} +0x1d" for n in range(8)
)
PIP = "\n".join(
    [
        f"Collecting package-{n}\n  Downloading package_{n}-1.0.whl (12 kB)"
        for n in range(5)
    ]
    + ["Installing collected packages: a, b", "Successfully installed a-1 b-2"]
)
NPM = "\n".join(
    [f"npm warn deprecated module-{n}@1.0.{n}: no longer supported" for n in range(6)]
    + [
        "",
        "added 847 packages, and audited 848 packages in 9s",
        "found 0 vulnerabilities",
    ]
)
APT = "\n".join(
    ["Reading package lists... Done", "Building dependency tree... Done"]
    + [
        f"Get:{n} http://example.org/debian stable/main tool-{n} amd64"
        for n in range(5)
    ]
    + ["Unpacking tool-1 (1.0) ...", "Setting up tool-1 (1.0) ..."]
)
CARGO = "\n".join(
    [f"   Compiling crate-number-{n} v1.0.{n} (/srv/app)" for n in range(6)]
    + ["    Finished `dev` profile [unoptimized] target(s) in 9.1s"]
)
MODULES = "\n".join(
    f"go: downloading example.org/module/{n} v1.{n}.0" for n in range(8)
)
BLOCKS = {
    "python": PYTHON,
    "frames": NODE,
    "go": GO,
    "pip": PIP,
    "npm": NPM,
    "apt": APT,
    "cargo": CARGO,
    "go modules": MODULES,
}


def readings(*texts):
    made = [PartReading(f"m{place}", 0, Text(text)) for place, text in enumerate(texts)]
    return lambda: made


@pytest.mark.parametrize("kind", BLOCKS)
def test_a_block_is_suggested_whole(kind):
    block = BLOCKS[kind]
    texts = readings("Hello", f"It printed:\n{block}\nThat was it.\n")
    (found,) = suggest(texts)
    assert (found.kind, found.key, found.count) == (kind, "m1", 1)
    settled = resolve_patterns(texts, [found.pattern])
    assert settled.faults == ()
    (match,) = settled.matches
    assert match.text == block
    assert len(found.pattern.replacement) < match.length
    assert found.pattern.replacement.startswith(f"[{found.title}, ")


def test_java_is_a_stack_trace_too_and_a_block_may_end_the_text():
    (found,) = suggest(readings(JAVA))
    assert found.kind == "frames"
    assert "IllegalStateException: no" in found.pattern.replacement
    assert suggest(readings(PYTHON))[0].length == len(PYTHON)
    assert suggest(readings(FRAMES))[0].length == len(FRAMES)


def test_a_block_that_is_printed_twice_is_one_suggestion():
    texts = readings(PIP, f"Again:\n{PIP}")
    (found,) = suggest(texts)
    assert (found.count, found.pattern.every, found.length) == (2, True, 2 * len(PIP))
    assert len(resolve_patterns(texts, [found.pattern]).matches) == 2


def test_the_largest_comes_first():
    long = PYTHON.replace("it went wrong", "it went " + "very " * 99 + "wrong")
    kinds = [found.kind for found in suggest(readings(NPM, long, CARGO))]
    assert kinds[0] == "python"
    assert sorted(kinds) == ["cargo", "npm", "python"]
    assert len(suggest(readings(long))[0].pattern.replacement) < 150


def test_short_runs_and_plain_words_are_no_blocks():
    few = "Collecting a\nCollecting b"
    assert suggest(readings("Collecting stamps is fun.", few, "")) == []
    assert suggest(readings("Collecting a\n" * 4)) == []
    apart = "\n".join(f"Collecting package-{n}\nwords\nwords\nwords" for n in range(40))
    assert suggest(readings(apart)) == []


def test_a_pattern_that_would_match_more_than_its_block_is_not_offered():
    start = "\n".join(PIP.split("\n")[:2])
    assert suggest(readings(f"{start}\nwords of a person\n\n\n{PIP}")) == []


def test_a_block_whose_end_is_in_it_before_is_told_by_more_lines():
    block = "\n".join(["Collecting one", *["Downloading the-same-name.whl (1 kB)"] * 8])
    (found,) = suggest(readings(f"{block}\nSuccessfully installed one-1\n"))
    assert found.pattern.end == "Successfully installed one-1"
    assert suggest(readings(block)) == []


def test_what_an_operation_holds_is_not_suggested():
    held = PartReading("m0", 0, Text(PIP), held=[HeldText(3, 9, 1)])
    assert suggest(lambda: [held]) == []


@pytest.mark.parametrize(
    "text",
    [
        "    at x\n" * 100_000,
        "\n" * 10_000_000,
        " " * 10_000_000,
        'File "' * 1_600_000,
    ],
    ids=["frames", "line ends", "blanks", "quotes"],
)
def test_long_texts_stay_fast(text):
    texts = readings(text)
    began = time.thread_time()
    suggest(texts)
    assert time.thread_time() - began < 30


@settings(max_examples=50)
@given(st.lists(st.sampled_from([*BLOCKS.values(), JAVA, "Words.", ""]), max_size=5))
def test_every_suggestion_can_be_applied(texts):
    made = readings("\n\n".join(texts), *texts)
    for found in suggest(made):
        assert resolve_patterns(made, [found.pattern]).faults == ()
