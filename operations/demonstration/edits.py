"""What the owner, an editor and an agent do to the thread of the demonstration.

Each edit is what a client would post to `/api/sessions/{id}/operations`. Indexes are those of
the messages of `night-sailings.json`.
"""

from typing import Any

Edit = dict[str, Any]

LENS, LENS_TAGS = "Handover", ["handover"]
"""The named set of tags under which the briefing at the top is shown."""

TAGS: list[Edit] = [
    {"type": "tag", "range": [1, 1], "tags": ["objective"]},
    {"type": "tag", "range": [30, 30], "tags": ["evidence"]},
    {"type": "tag", "range": [37, 38], "tags": ["cause"]},
    {"type": "tag", "range": [68, 68], "tags": ["decision"]},
]
"""Recorded as one bundle."""

LONG_LOG: Edit = {
    "type": "condense",
    "target": "m23",
    "text": (
        "148 lines of `logs/2025-10-03.log`, 22:03 to 01:39. Until 23:38 every swept hold "
        "lasted 20 minutes or more. From H8285 (taken 23:40:29, swept 23:45:03) on, holds "
        "go at the next sweep, at :00, :05, :10 and three seconds, all with "
        "`reason=swept`; 19 payments then meet no hold. H8293 was for a day sailing."
    ),
}

SEARCH = (
    "Listed what can end a hold: `harbour/holds/sweeper.py` when its 20 minutes are over, "
    "`harbour/payments/callback.py` when a card is declined or cancelled. In Friday's log "
    "the early ones all end by `reason=swept`; the first is H8285, taken 23:40:29 and "
    "swept 23:45:03. `tools/hold_times.py` prints how long swept holds lasted, by the hour."
)
SEARCH_IN_FULL = SEARCH + (
    "\n\nRuled out: the cache of seat maps (it decides nothing), the payment callback, and "
    "a clock that is off (sweeps come on the minute). The 14 tests pass; all of them live "
    "at noon."
)
"""The words that the owner gives the digest after reading it again."""
SEARCH_DIGEST: Edit = {"type": "digest", "range": [2, 29], "summary": SEARCH}

ATTEMPTS: Edit = {
    "type": "digest",
    "range": [53, 66],
    "summary": (
        "Two attempts in `harbour/holds/model.py`, both dropped.\n\n"
        "1. Add a day where the clock is before 04:00. All 15 tests pass, but 60 minutes of "
        "the coming year come back wrong: the second 02 h of 26 October.\n"
        "2. Mark that hour with a letter behind the stamp. Two of four new tests fail: a "
        "time in a repeated hour never equals one in another zone (PEP 495).\n\n"
        "The tests of that night in `tests/holds/test_model.py` stay."
    ),
}

MISTYPED_EDIT: Edit = {"type": "snip", "range": [42, 45]}
"""The owner wants to see it and switches this snip off."""

MISSING_LINTER: Edit = {"type": "snip", "range": [77, 82]}

CLEAR_WORDS: Edit = {
    "type": "revise",
    "range": [41, 41],
    "replacements": [
        {
            "role": "user",
            "content": (
                "Before you touch it, write a test that fails because of this and of "
                "nothing else. I want to see it red."
            ),
        }
    ],
}

WINTER_TIME: Edit = {
    "type": "insert",
    "after_idx": 52,
    "messages": [
        {
            "role": "user",
            "content": (
                "One hour of the night of 26 October happens twice. Whatever you choose "
                "must hold across it."
            ),
        }
    ],
}

COUNTER_BEFORE_NOTE: Edit = {
    "type": "resequence",
    "new_order": [*range(112, 120), *range(108, 112)],
}
"""The counter belongs to the fix, so it moves up before the release note."""

BRIEFING: Edit = {
    "type": "insert",
    "after_idx": 0,
    "messages": [
        {
            "role": "user",
            "content": (
                "You take over from another agent. The cause is known and the fix is "
                "merged as 4.3; what is left is to count the complaints, one journal a "
                "night since 29 September, with `tools/early_ends.py`."
            ),
        }
    ],
    "tags": LENS_TAGS,
}

SECOND_LOOK: Edit = {
    "type": "snip",
    "range": [92, 95],
    "propose": True,
    "title": "Two looks at files that have not changed since.",
}
"""Two looks at files that have not changed: the agent proposes to leave them out."""
