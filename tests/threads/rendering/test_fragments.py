"""HTML that is made once."""

import pytest
from django.utils.safestring import SafeString

from contextstudio.accounts.models import Project
from threads.domain.body import digest
from threads.domain.message import Role
from threads.domain.part import Part, Text, Thinking
from threads.models import Rendering
from threads.rendering import VERSION, fragments
from threads.rendering.fragments import Fragments, RenderableBody, load_bodies


def body(
    *parts: Part, role: Role = Role.USER, counts: tuple[int, ...] = ()
) -> RenderableBody:
    return RenderableBody(digest(role, parts), role, parts, counts)


def test_what_was_used_longest_ago_makes_room() -> None:
    kept = Fragments[SafeString](4000)
    for name in "abc":
        kept.keep(name, SafeString("x" * 500))
    kept.get("a")
    kept.keep("d", SafeString("y" * 500))
    assert [html is not None for html in kept.get("abcd")] == [True, False, True, True]
    assert kept.size <= 4000


def test_what_is_kept_anew_counts_once() -> None:
    kept = Fragments[str](10_000)
    kept.keep("a", "x" * 100)
    size = kept.size
    kept.keep("a", "y" * 100)
    assert kept.size == size
    assert kept.get(["a"]) == ["y" * 100]
    kept.clear()
    assert kept.size == 0
    assert kept.get(["a"]) == [None]


def test_a_body_is_rendered_once_and_read_from_then_on(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = load_bodies(project.pk, [body(Text("**bold**"))])
    monkeypatch.setattr(
        fragments, "render", lambda *_, **__: pytest.fail("rendered again")
    )
    again = load_bodies(project.pk, [body(Text("**bold**"))])
    assert first == again
    assert "<strong>bold</strong>" in next(iter(first.values()))


def test_equal_bodies_are_one_row(project: Project) -> None:
    load_bodies(project.pk, [body(Text("same")), body(Text("same"))])
    assert Rendering.objects.count() == 1


def test_another_version_of_the_renderer_renders_anew(project: Project) -> None:
    one = body(Text("words"))
    load_bodies(project.pk, [one])
    Rendering.objects.update(version=VERSION + 1, html="of another version")
    assert "of another version" not in load_bodies(project.pk, [one])[one.digest]


def test_thinking_is_kept_by_its_tokens_too(project: Project) -> None:
    seven, nine = (
        body(Thinking("hm"), role=Role.ASSISTANT, counts=(n,)) for n in (7, 9)
    )
    assert "7 tok" in load_bodies(project.pk, [seven])[seven.digest]
    assert "9 tok" in load_bodies(project.pk, [nine])[nine.digest]


def test_two_projects_keep_their_own(project: Project) -> None:
    other = Project.objects.create(slug="second", name="Second")
    for one in (project, other):
        load_bodies(one.pk, [body(Text("words"))])
    assert Rendering.objects.count() == 2
