"""Compactions in Codex's rollouts: what they replace and what they keep."""

from tests.threads.support.readings import events
from tests.threads.support.rollouts import meta, record, rollout, said
from threads.domain.part import Image, Opaque, Text
from threads.domain.transcript import Compaction

from .rollouts import read, spoken


def test_a_compaction_replaces_all_but_the_instructions() -> None:
    png = {"type": "input_image", "image_url": "data:image/png;base64,UE5H"}
    history = [
        {"type": "message", "role": "user", "content": [png], "id": "m1"},
        {"type": "compaction", "encrypted_content": "x"},
        {"type": "message", "role": "critic", "content": []},
        {"type": "ghost_snapshot"},
        {"type": "message", "role": "assistant", "content": "Summary."},
    ]
    compacted = record("compacted", {"message": "", "replacement_history": history})
    transcript, items = read(*rollout(), compacted, said("user", "On."))
    [found] = [one for one in items if isinstance(one, Compaction)]

    assert found.replaces == tuple(range(1, 8))
    assert [(str(m.role), m.parts) for m in found.messages] == [
        ("user", (Image("image/png", data=b"PNG"),)),
        ("assistant", (Opaque("compaction", history[1]),)),
        ("assistant", (Text("Summary."),)),
    ]
    assert found.messages[0].source_id == "m1"
    assert all(message.records == (found.record,) for message in found.messages)
    assert [warning.line for warning in transcript.warnings] == [22]
    assert spoken(items)[-1] == ("user", "On.")


def test_an_older_compaction_keeps_what_users_said() -> None:
    compacted = record("compacted", {"message": "They mended it."})
    _, items = read(*rollout(), compacted)
    [found] = [one for one in items if isinstance(one, Compaction)]

    assert [(str(m.role), m.text) for m in found.messages] == [
        ("user", "Why is it dark?"),
        ("user", "They mended it."),
    ]


def test_a_compaction_that_hides_nothing_is_given_as_messages() -> None:
    history = [{"role": "user", "content": "Before."}]
    compacted = record("compacted", {"message": "", "replacement_history": history})
    empty = record("compacted", {"message": "", "replacement_history": []})
    _, items = read(meta(base="Be."), compacted, empty, said("assistant", "Now."))

    assert [text for _, text in spoken(items)] == ["Be.", "Before.", "Now."]
    assert events(items) == ["compacted"]
