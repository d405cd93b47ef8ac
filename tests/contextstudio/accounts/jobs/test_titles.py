"""What people call jobs."""

from contextstudio.accounts.jobs import kinds


def test_every_kind_of_job_has_a_title_that_says_what_it_does() -> None:
    own = [
        kind
        for kind in kinds._kinds.values()
        if not kind.handler.__module__.startswith("tests")
    ]
    assert len(own) >= 5
    assert [kind.name for kind in own if not kind.title] == []
