"""How Copilot CLI gives a summary to its model: in a user message, with the user's requests.

A long history of requests is cut: a fifth of the room is for the first ones, the rest for the last
ones.

Source: the package `@github/copilot` 0.0.400.
"""

from collections.abc import Mapping, Sequence

ROOM = 30_000
"""The most characters of requests that are repeated."""
MAX_LISTED = 20
"""The most requests that are repeated."""
_LATE = 0.8
"""The share of both limits that is for the last requests."""
_CUT = "...<truncated>..."


def summary_message(
    summary: str, asked: Sequence[str], skills: Mapping[str, tuple[str, str]]
) -> str:
    """What the model is given in place of the summarised messages.

    `asked` are the user's messages so far. `skills` maps the name of each used skill to its path
    and its instructions; the last one used comes last.
    """
    words = "Some of the conversation history has been summarized to free up context.\n"
    if asked:
        words += (
            "\nYou were originally given instructions from a user over one or more turns."
            f" Here were the user messages:\n{_requests(asked)}\n"
        )
    words += (
        f"\nHere is a summary of the prior context:\n<summary>\n{summary}\n</summary>\n"
    )
    return words + _skills(skills)


def _requests(asked: Sequence[str]) -> str:
    """The requests; those in the middle are left out if there is no room for them."""
    if len(asked) == 1:
        return _request(_cut(asked[0], ROOM))
    first, last = _chosen(asked)
    omitted = len(asked) - len(first) - len(last)
    said = [f"... {omitted} messages omitted ..."] if omitted else []
    return "\n".join([*map(_request, first), *said, *map(_request, last)])


def _chosen(asked: Sequence[str]) -> tuple[list[str], list[str]]:
    """The first and the last requests that fit."""
    early = int(ROOM * (1 - _LATE))
    late = ROOM - early
    if len(asked) <= MAX_LISTED and sum(map(len, asked)) <= ROOM:
        return [], list(asked)
    last = _fitting(asked[::-1], late, int(MAX_LISTED * _LATE))[::-1]
    last = last or [_cut(asked[-1], late)]
    rest = asked[: len(asked) - len(last)]
    first = _fitting(rest, early, max(1, int(MAX_LISTED * (1 - _LATE))))
    if rest and not first:
        first = [_cut(rest[0], early)]
    return first, last


def _fitting(words: Sequence[str], room: int, most: int) -> list[str]:
    found: list[str] = []
    for one in words[:most]:
        room -= len(one)
        if room < 0:
            break
        found.append(one)
    return found


def _request(words: str) -> str:
    return f"<user_message>\n{words}\n</user_message>"


def _cut(words: str, room: int) -> str:
    return words if len(words) <= room else words[: room - len(_CUT)] + _CUT


def _skills(skills: Mapping[str, tuple[str, str]]) -> str:
    """The last skill in full, and the paths of earlier ones."""
    if not skills:
        return ""
    *before, (name, (path, content)) = skills.items()
    lines = [f"## Most recent skill: {name}", f"Path: {path}", ""]
    lines += ["Continue to follow these instructions:", "", content]
    if before:
        lines += ["", "## Previously used skills"]
        lines.append(
            "These skills were used earlier in the session."
            " Re-read the skill file if you need to reactivate one:"
        )
        lines += [f"- {name}: {path}" for name, (path, _) in before]
    inside = "\n".join(lines)
    return f"\n\n<invoked_skills>\n{inside}\n</invoked_skills>"
