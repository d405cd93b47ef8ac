"""The page of a policy: what it would change is seen first, and only saving changes anything."""

from collections.abc import Callable
from typing import Any

import pytest

from contextstudio.accounts.models import User
from operations.context import policies
from operations.context.pages.forms import PolicyForm, fields_of
from operations.context.services import effect_of
from operations.domain.context.policy import PRESETS, REPLAY, SLOP, read_policy
from operations.domain.log.operation import Replace
from operations.domain.tree.span import Span, fingerprint
from operations.edits import services
from tests.operations.conftest import Page
from tests.people import caller


def filled(**changes: Any) -> dict[str, Any]:
    """The fields as a browser sends them: what is off is not there."""
    fields = fields_of(REPLAY) | changes
    return {name: value for name, value in fields.items() if value is not False}


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_goes_through_the_form_unchanged(name: str) -> None:
    form = PolicyForm(filled(**fields_of(PRESETS[name])))
    assert form.is_valid(), form.errors
    assert read_policy(form.settings()) == PRESETS[name]


def test_many_names_and_those_with_commas_go_through_the_form_unchanged() -> None:
    names = [f"src/generated/part_{n},{n}.py" for n in range(100)]
    policy = read_policy({"pruning": {"protect_paths": names}})
    form = PolicyForm(filled(**fields_of(policy)))
    assert form.is_valid(), form.errors
    assert read_policy(form.settings()) == policy


def test_the_effect_has_the_figures_of_the_dry_run_and_saves_nothing(
    page: Page, editor: User
) -> None:
    tried = filled(window=1, truncation="on", inactive=1)
    form = PolicyForm(tried)
    assert form.is_valid()
    effect = effect_of(caller(editor), page.session.pk, form.settings())
    shown = page.get("policy/effect", **tried).content.decode()
    assert effect.after.sent < effect.before.sent
    assert f"{effect.after.sent:,}</dd>" in shown
    assert f"<b>−{effect.before.sent - effect.after.sent:,}</b> tokens" in shown
    for step in effect.after.steps:
        assert f'<td class="t-end">{step.after:,}</td>' in shown
    assert policies.policy_in_force(page.session).of != "session"
    assert (
        "No change in tokens" in page.get("policy/effect", **filled()).content.decode()
    )
    wrong = page.get("policy/effect", **filled(window=-1))
    assert wrong.status_code == 422
    assert "Groups to send: " in wrong.content.decode()


def test_text_that_was_taken_out_is_not_added_with_a_minus(
    page: Page, editor: User
) -> None:
    sha256 = fingerprint("Question ")
    span = Span(key="m0", part=0, start=0, end=9, sha256=sha256, text="", saved=2)
    services.record_edit(caller(editor), page.session.pk, Replace(spans=(span,)))
    shown = page.get("policy/effect", **filled()).content.decode()
    assert "2 less in replaced or masked text" in shown
    assert "-2 added" not in shown


def test_the_page_says_that_the_effect_is_being_worked_out(page: Page) -> None:
    shown = page.client.get(page.url + "policy").content.decode()
    effect = shown.partition('id="effect"')[2].partition("</section>")[0]
    assert "Working out the effect…" in effect


def test_a_policy_is_saved_named_and_taken_back(page: Page) -> None:
    begun = page.get("policy", preset="slop").content.decode()
    assert 'id="id_truncation" checked' in begun
    saved = page.post("policy", **filled(window=3), act="save")
    assert saved.status_code == 302
    assert policies.policy_of(page.session) == read_policy({"window": 3})
    shown = page.get("policy").content.decode()
    assert "set for this session, saved by <bdi>editor</bdi>" in shown
    assert 'name="window" value="3"' in shown
    assert page.post("policy", **filled(window=""), act="save").status_code == 422
    page.post("policy", act="reset")
    assert policies.policy_of(page.session) == REPLAY


def test_the_projects_policy_is_the_owners_to_choose(
    page: Page, open_page: Callable[..., Page], owner: User, viewer: User
) -> None:
    chosen = filled(**fields_of(SLOP))
    assert page.post("policy", **chosen, act="project").status_code == 403
    assert "Save as project default" not in page.get("policy").content.decode()
    assert open_page(owner).post("policy", **chosen, act="project").status_code == 302
    assert policies.policy_of(page.session) == SLOP
    shown = page.get("policy").content.decode()
    assert "<b>Lean</b>, the project default, saved by <bdi>owner</bdi>" in shown
    read = open_page(viewer).get("policy").content.decode()
    assert "Save for this session" not in read
    assert "Only people who can edit this session can save settings." in read
