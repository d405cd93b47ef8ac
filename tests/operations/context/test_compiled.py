"""Whatever is done to whichever thread: its request is one that the provider accepts."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.operations.support.compiled import MAX_REFUSED, Tally
from tests.operations.support.conversations import excerpts, recorded
from tests.operations.support.prepared import Context, contexts

COUNT = 200
"""Contexts, each compiled for every provider; `make soak` has 20,000."""
OF_REAL_THREADS = 40

pytestmark = pytest.mark.sqlite
"""No database is asked, so that once is enough."""

Record = Callable[[str, object], None]


def compile_all(source: st.SearchStrategy[Context], count: int, record: Record) -> None:
    """Compile contexts for every provider; what came of it is said at the end of the run."""
    tally = Tally()

    @settings(max_examples=count, suppress_health_check=list(HealthCheck))
    @given(source)
    def each(context: Context) -> None:
        tally.add(context)

    each()
    record("summary", tally.sentence)
    assert tally.rate <= MAX_REFUSED


def test_any_log_over_any_thread_compiles_to_what_every_provider_accepts(
    record_property: Record,
) -> None:
    compile_all(contexts(), COUNT, record_property)


def test_any_log_over_imported_threads_compiles_to_what_every_provider_accepts(
    samples: Path, record_property: Record
) -> None:
    whole = recorded(samples)
    assert whole
    compile_all(contexts(excerpts(whole)), OF_REAL_THREADS, record_property)
