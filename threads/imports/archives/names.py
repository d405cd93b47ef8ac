"""Names for uploaded files: labels only, each unique within its upload."""

from collections import Counter


def clean_name(name: str) -> str:
    """A path as a label: with `/`, relative, without `..`, drive letters or unprintable text."""
    shown = "".join(
        char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in name
    )
    steps = shown.replace("\\", "/").split("/")
    kept = [step for step in steps if step.strip() not in ("", ".", "..")]
    if len(kept) > 1 and kept[0].endswith(":"):
        kept = kept[1:]
    return "/".join(kept).encode("utf-8", "replace").decode()[-1000:] or "file"


class FileNames:
    """The names already in use."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._asked: Counter[str] = Counter()
        """How often each name was asked for. Counting from 1 each time took minutes for 50,000
        files of one name."""

    def __len__(self) -> int:
        return len(self._taken)

    def __contains__(self, name: str) -> bool:
        return name in self._taken

    def take(self, name: str) -> str:
        """Reserve a name, with a number appended if another file has it."""
        free = name
        while free in self._taken:
            self._asked[name] += 1
            free = f"{name} ({self._asked[name] + 1})"
        self._taken.add(free)
        return free
