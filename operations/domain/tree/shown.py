"""Counts what the model sees of a thread while operations act on it."""


class ShownDelta:
    """How operations change the number and tokens of messages at the top of a thread.

    `roles` maps roles to numbers of messages and tokens: minus the originals that folds hold,
    plus what was inserted. `folds` counts the tokens of what folds show.
    """

    __slots__ = ("folds", "roles")

    def __init__(self) -> None:
        """Start with no difference."""
        self.folds = 0
        self.roles: dict[str, tuple[int, int]] = {}

    def copy(self) -> "ShownDelta":
        """An independent copy."""
        shown = ShownDelta()
        shown.folds, shown.roles = self.folds, self.roles.copy()
        return shown
