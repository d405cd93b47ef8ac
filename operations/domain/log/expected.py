"""The head that a caller of the API expects a log to have."""


class HeaderHead(int):
    """A head given in a header: errors name the header instead of a field of the body."""

    HEADER = "If-Match"
