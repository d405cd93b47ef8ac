"""Names of files that came together: labels, and no two of them the same."""

from collections import Counter


def clean_name(name: str) -> str:
    """A path as a label: with `/`, relative, without steps up, drives or what can't be seen."""
    shown = "".join(
        char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in name
    )
    steps = shown.replace("\\", "/").split("/")
    kept = [step for step in steps if step.strip() not in ("", ".", "..")]
    if len(kept) > 1 and kept[0].endswith(":"):
        kept = kept[1:]
    return "/".join(kept).encode("utf-8", "replace").decode()[-1000:] or "file"


class FileNames:
    """The names that are taken."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._asked: Counter[str] = Counter()
        """How often each was asked for: counted from one, 50,000 files of one name took minutes."""

    def __len__(self) -> int:
        return len(self._taken)

    def __contains__(self, name: str) -> bool:
        return name in self._taken

    def take(self, name: str) -> str:
        """The name, or with a number behind it where another file has it; taken from now on."""
        free = name
        while free in self._taken:
            self._asked[name] += 1
            free = f"{name} ({self._asked[name] + 1})"
        self._taken.add(free)
        return free
