"""STATE at the end of a response."""

import pytest

from operations.domain.context.state import extract, read_state

BLOCK = """### STATE
Goal: Ship the harbour page
Context: harbour/page.py
Resolved: - the query
- the index
Technical Anchors: port 8000"""


def test_the_block_at_the_end_is_read_with_its_fields() -> None:
    found = extract(f"Done.\n\n{BLOCK}\n")
    assert found is not None
    assert found.text == BLOCK
    assert found.goal == "Ship the harbour page"
    assert found.context == "harbour/page.py"
    assert found.resolved == "- the query\n- the index"
    assert found.technical_anchors == "port 8000"


def test_the_last_block_counts() -> None:
    found = extract(f"{BLOCK}\n\nMore.\n\n### STATE\nGoal: Another")
    assert found is not None
    assert (found.goal, found.context) == ("Another", "")


@pytest.mark.parametrize("fence", ["```", "~~~~", "```markdown"])
def test_fenced_code_is_no_state(fence: str) -> None:
    closing = fence.replace("markdown", "")
    quoted = f"As in:\n{fence}\n{BLOCK}\n{closing}\nDone."
    assert extract(quoted) is None
    found = extract(f"{BLOCK}\n\n{quoted}")
    assert found is not None
    assert found.goal == "Ship the harbour page"


def test_a_fence_that_is_never_closed_reaches_to_the_end() -> None:
    assert extract(f"```\n{BLOCK}") is None
    assert extract(f"```\n```x\n{BLOCK}") is None


def test_code_in_a_line_opens_no_fence() -> None:
    assert extract(f"```not a fence```\n{BLOCK}") is not None


def test_a_block_ends_with_the_next_heading() -> None:
    found = extract("### STATE\nGoal: One\n#### Detail\nmore\n## Next\nGoal: Two")
    assert found is not None
    assert found.text == "### STATE\nGoal: One\n#### Detail\nmore"


@pytest.mark.parametrize(
    "line", ["Goal: One", "**Goal:** One", "- **Goal**: One", "* goal : One"]
)
def test_fields_may_be_written_as_people_write_them(line: str) -> None:
    assert read_state(line).goal == "One"


@pytest.mark.parametrize(
    "text", ["", "No state.", "The STATE of things", "## STATE\nGoal: x", "x ### STATE"]
)
def test_what_is_no_block_is_none(text: str) -> None:
    assert extract(text) is None


def test_a_block_without_words_is_a_heading_alone() -> None:
    assert extract("### STATE") == read_state("### STATE") == read_state("")
    assert read_state("").text == "### STATE"


def test_lines_may_end_as_on_windows() -> None:
    found = extract(BLOCK.replace("\n", "\r\n"))
    assert found is not None
    assert found.text == BLOCK
