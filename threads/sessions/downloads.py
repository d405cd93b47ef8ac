"""The names of downloads."""

from threads.domain.file_name import file_stem
from threads.models import Session


def download_name(session: Session, ending: str) -> str:
    """The name of a file about a session: the words of its title, then `ending`."""
    return file_stem(session.title, f"session-{str(session.pk)[:8]}") + ending
