"""What the model sees of a thread, counted while operations act on it."""


class Shown:
    """The difference that operations make to messages and tokens at the top of a thread.

    `roles` has messages and tokens by role, less the originals that folds hold and with what was
    inserted; `folds` is the tokens of what folds show.
    """

    __slots__ = ("folds", "roles")

    def __init__(self) -> None:
        """No difference."""
        self.folds = 0
        self.roles: dict[str, tuple[int, int]] = {}

    def copy(self) -> "Shown":
        """A difference of its own that is the same."""
        shown = Shown()
        shown.folds, shown.roles = self.folds, self.roles.copy()
        return shown
