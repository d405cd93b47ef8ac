"""The names of files to download."""

import pytest

from threads.domain.file_name import MAX_BYTES, file_stem


@pytest.mark.parametrize(
    ("title", "stem"),
    [
        (
            "Night sailings lose their seat holds",
            "Night-sailings-lose-their-seat-holds",
        ),
        (
            "I\N{RIGHT SINGLE QUOTATION MARK}d we're src/app_1.py, please…",
            "Id-were-src-app-1-py-please",
        ),
        ('../..\\etc "x"; rm -rf <b>\r\nX: y', "etc-x-rm-rf-b-X-y"),
        ("Résumé 🚀 \u202eabc \ud800", "Résumé-abc"),
        ("हिन्दी में", "हिन्दी-में"),
        ("🚀 …", "session-1a2b3c4d"),
        ("", "session-1a2b3c4d"),
    ],
)
def test_a_file_is_called_by_the_words_of_a_title(title: str, stem: str) -> None:
    assert file_stem(title, "session-1a2b3c4d") == stem


@pytest.mark.parametrize(
    ("title", "stem"),
    [
        ("a" * MAX_BYTES + " b", "a" * MAX_BYTES),
        ("a" * (MAX_BYTES - 2) + " bc", "a" * (MAX_BYTES - 2)),
        ("a" * (MAX_BYTES + 1), "a" * MAX_BYTES),
        ("äöü" * MAX_BYTES, "äöü" * 13 + "ä"),
        ("会" * MAX_BYTES, "会" * (MAX_BYTES // 3)),
    ],
)
def test_a_long_title_is_cut_between_words_where_possible(
    title: str, stem: str
) -> None:
    assert file_stem(title, "") == stem
