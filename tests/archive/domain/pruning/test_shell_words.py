"""Words of command lines, held to the standard library's reader."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive.domain.pruning.shell_words import shell_words

PIECES = ["ls", "-n", " ", "\t", "\r", "'", '"', "\\", "|", "&&", ";", ">", "2>&1", "é"]


def read_by_shlex(command: str) -> list[str] | None:
    lexer = shlex.shlex(command, posix=True, punctuation_chars=";&|<>")
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return list(lexer)
    except ValueError:
        return None


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | st.text())
def test_words_are_those_of_shlex(command: str) -> None:
    assert shell_words(command) == read_by_shlex(command)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("sed -n 1,5p a.py|head", ["sed", "-n", "1,5p", "a.py", "|", "head"]),
        (r"""echo 'a b'"c\"d\e" f\ g ''""", ["echo", r'a bc"d\e', "f g", ""]),
        ("x 2>&1>>out", ["x", "2", ">&", "1", ">>", "out"]),
        ("echo 'open", None),
        ("echo \\", None),
    ],
)
def test_words_by_example(command: str, words: list[str] | None) -> None:
    assert shell_words(command) == words == read_by_shlex(command)
