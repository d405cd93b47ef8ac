"""Regular expressions that a person gives: what they match, within a bounded time.

An expression can be written so that matching it takes for ever. The time of one search is
bounded, over all texts that it looks into, and while it runs other threads run too.
"""

from collections.abc import Iterator
from time import monotonic

import regex

from contextstudio.accounts.domain.errors import Invalid
from operations.domain.text.pattern import Stretch

LONGEST = 1000
"""Characters of an expression."""
SECONDS = 2.0
"""What one search may take."""
_CALLS = regex.compile(r"(?<!\\)(?:\\\\)*\(\?(?:R|&|P>|[+-]?[0-9])")
"""A piece of an expression that matches another piece, or all of it, once more."""


class SearchExpression:
    """One search for an expression; the replacement may name its groups (`\\1`, `\\g<name>`)."""

    def __init__(
        self, text: str, replacement: str, *, seconds: float = SECONDS
    ) -> None:
        """Raises Invalid for what is no expression, and for a group that it hasn't."""
        if len(text) > LONGEST:
            raise Invalid(f"An expression has at most {LONGEST:,} characters.")
        if _CALLS.search(text):
            # On a text of any length it may take a gigabyte, and is not stopped in time.
            raise Invalid("An expression can’t call itself or one of its groups.")
        try:
            self._expression = regex.compile(text, regex.MULTILINE)
            # It matches nothing at once, so that only the replacement is looked at.
            regex.compile(f"(?:)|{text}", regex.MULTILINE).sub(replacement, "", count=1)
        except (
            regex.error,
            RecursionError,
            OverflowError,
            IndexError,
            ValueError,
        ) as error:
            raise Invalid(f"This is no regular expression: {error}.") from error
        self._replacement = replacement
        self._left = seconds

    def find(self, text: str) -> Iterator[Stretch]:
        """What it matches of a text, from the first on; nothing that is empty.

        Raises Invalid once the search has taken too long, or too much memory.
        """
        while_it_lasts = max(self._left, 0.001)
        begun = monotonic()
        try:
            for match in self._expression.finditer(
                text, timeout=while_it_lasts, concurrent=True
            ):
                if match.end() > match.start():
                    words = match.expand(self._replacement)
                    yield Stretch(match.start(), match.end(), words)
        except TimeoutError as error:
            raise Invalid(
                f"This expression takes longer than {SECONDS:.0f} seconds; make it simpler.",
                code="too_slow",
            ) from error
        except MemoryError as error:
            raise Invalid(
                "This expression takes too much memory; make it simpler.",
                code="too_large",
            ) from error
        finally:
            self._left -= monotonic() - begun
