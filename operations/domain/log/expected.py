"""The head that a caller of the API expects a log to have."""


class HeaderHead(int):
    """One that came as a header: a refusal names that, and no field of the body."""

    HEADER = "If-Match"
