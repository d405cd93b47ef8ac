"""What of a model's text is its answer."""

import pytest

from archive.domain.summaries.answers import answer_in

CODE = "```\nmake\n```"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("  They chose SQLite.\n", "They chose SQLite."),
        ("\n<think>\nSQLite?\n</think>\n\nThey chose.", "They chose."),
        ("<thinking>a </think> b</thinking>They chose.", "They chose."),
        ("SQLite?\n</think>\n\nThey chose.", "They chose."),
        ("<think>cut off before anything was said", ""),
        ("It strips <think> and </think>.", "It strips <think> and </think>."),
        ("```markdown\nThey chose.\n```", "They chose."),
        ("```\n### STATE\nGoal: choose\n```", "### STATE\nGoal: choose"),
        (f"```md\nRun this:\n{CODE}\n```", f"Run this:\n{CODE}"),
        ("```python\nprint()\n```", "```python\nprint()\n```"),
        (f"{CODE}\nthen\n{CODE}", f"{CODE}\nthen\n{CODE}"),
    ],
)
def test_thoughts_in_front_and_a_block_of_code_around_are_no_part_of_it(
    text: str, answer: str
) -> None:
    assert answer_in(text) == answer
