"""What a caller of the API expects: the head that they know of, the tags that are active."""

from django.http import HttpRequest

from contextstudio.accounts.domain.errors import Invalid


def expected_head(request: HttpRequest, given: int | None) -> int | None:
    """The head that the caller knows of: a member of the body, or `If-Match`."""
    header = request.headers.get("If-Match")
    if given is not None or header is None:
        return given
    text = header.strip().removeprefix("W/").strip('"')
    if not (text.isdecimal() and text.isascii()):
        raise Invalid('If-Match is the head, as in "7".', at=["If-Match"])
    return int(text)


def tags_of(active_tags: str | None) -> frozenset[str] | None:
    """A request's own active tags, parted by commas; None where it leaves them to the session."""
    if active_tags is None:
        return None
    return frozenset(filter(None, active_tags.split(",")))
