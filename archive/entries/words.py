"""The word index of archive entries: written with an entry, destroyed when it is purged."""

from collections.abc import Iterator, Mapping, Sequence

from django.db.models import QuerySet

from archive.models import ArchiveEntry, EntryMark, EntryWords
from contextstudio.database.steps import chunks
from threads.domain.text import fold
from threads.search.word_index import WordIndex
from threads.search.word_index.reading import Tables

_AT_ONCE = 500
TABLES = Tables(
    source="archive_entrywords",
    texts="archive_entrytext",
    runs="archive_entryrun",
    mark="archive_entrymark",
    key="words_id",
)


def _read(keys: Sequence[int]) -> Iterator[tuple[int, str]]:
    rows = EntryWords.objects.filter(pk__in=keys).order_by("pk")
    yield from rows.values_list("pk", "words")


ENTRIES = WordIndex(TABLES, EntryMark, _read)


def searched(text: str) -> str:
    """A text normalized for search; a text column takes neither NUL nor lone surrogates."""
    return fold(text).replace("\0", "").encode("utf-8", "replace").decode()


def keep_words(words: Mapping[str, str]) -> None:
    """Write the words of the entries with these references, in the caller's transaction."""
    entries = ArchiveEntry.objects.filter(ref_id__in=list(words))
    keys = dict(entries.values_list("ref_id", "pk"))
    forget_words(entries)
    EntryWords.objects.bulk_create(
        EntryWords(entry_id=keys[ref], words=told) for ref, told in words.items()
    )


def forget_words(entries: QuerySet[ArchiveEntry]) -> None:
    """Destroy the words of these entries, in the caller's transaction."""
    rows = EntryWords.objects.filter(entry__in=entries)
    for some in chunks(list(rows.values_list("pk", flat=True)), _AT_ONCE):
        ENTRIES.forget(some)
        EntryWords.objects.filter(pk__in=some).delete()
