"""The tray: collected from the archive and from references, inserted as one bundle."""

import re
from uuid import UUID

import pytest
from django.test import Client

from archive.models import TrayItem
from archive.tray.services import MAX_ENTRIES, collect, insert_tray, tray_of
from contextstudio.accounts.domain.errors import Conflict
from contextstudio.accounts.models import User
from tests.archive.pruning.conftest import WORK
from tests.operations.support.rest import (
    Tools,
    effective,
    get,
    make_session,
    operate,
    post,
    said,
)
from tests.people import caller

FRAGMENT = {"HX-Request": "true"}


@pytest.fixture
def tools(agent: Client) -> Tools:
    made = Tools(agent, make_session(agent, WORK))
    post(agent, f"/api/sessions/{made.session_id}/prune")
    return made


@pytest.fixture
def browser(editor: User) -> Client:
    made = Client()
    made.force_login(editor)
    return made


def tray_on(browser: Client, session_id: str) -> str:
    page = browser.get(f"/sessions/{session_id}/archive").content.decode()
    found = re.search(r'<section class="tray".*?</section>', page, re.DOTALL)
    assert found is not None
    return found[0]


def test_entries_of_several_sessions_are_inserted_as_one_bundle_that_undo_takes_back(
    tools: Tools, agent: Client, browser: Client
) -> None:
    here = make_session(agent, said(3))
    for place, (session, name) in enumerate(
        ((tools.session_id, "m2"), (tools.session_id, "m8"), (here, "m0"))
    ):
        answer = browser.post(
            f"/sessions/{session}/tray", {"ref": name}, headers=FRAGMENT
        )
        shown = answer.content.decode()
        assert f"{place + 1} entr" in shown
        assert "autofocus" in shown
    again = f"/sessions/{tools.session_id}/tray"
    assert browser.post(again, {"ref": "m2"}).status_code == 302
    tray = tray_on(browser, here)
    assert "3 entries" in tray
    before = effective(agent, here)
    counted = int(re.findall(r"3 entries, ([\d,]+) tokens", tray)[0].replace(",", ""))
    tokens = get(agent, f"/api/sessions/{here}/context")["tokens"]["shown"]
    inserted = browser.post(f"/sessions/{here}/tray/insert")
    assert inserted["Location"] == f"/sessions/{here}/?at=o1#n-o1"
    added = effective(agent, here)[len(before) :]
    names = [one["content"].splitlines()[0] for one in added]
    source = tools.session_id[:8]
    for name, session in zip(names, (source, source, here[:8]), strict=True):
        assert name.startswith(f"From the archive, [recall:nexora://demo/{session}/")
    after = get(agent, f"/api/sessions/{here}/context")["tokens"]["shown"]
    assert after - tokens == counted
    log = get(agent, f"/api/sessions/{here}/operations")["operations"]
    assert len({one["bundle_id"] for one in log}) == 1
    assert "Empty." in tray_on(browser, here)
    taken = browser.post(f"/sessions/{here}/undo", {"head": 3, "messages": 3})
    assert taken.status_code == 200, taken.content
    assert effective(agent, here) == before


def test_who_may_only_propose_is_not_told_that_anything_was_inserted(
    tools: Tools, reviewer: User
) -> None:
    proposer = Client()
    proposer.force_login(reviewer)
    path = f"/sessions/{tools.session_id}"
    proposer.post(f"{path}/tray", {"ref": "m2"}, headers=FRAGMENT)
    shown = proposer.post(f"{path}/tray/insert", follow=True).content.decode()
    words = "at the end of the thread"
    assert f"Proposed an insert of 1 entry {words}." in shown
    whole = {"ref": "m2"}
    shown = proposer.post(f"{path}/archive/insert", whole, follow=True).content.decode()
    assert f"Proposed an insert {words}." in shown


def test_what_is_too_long_is_inserted_as_far_as_it_goes_and_says_so(
    tools: Tools, browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("archive.inserting.MAX_TOKENS", 20)
    path = f"/sessions/{tools.session_id}"
    browser.post(f"{path}/archive/insert", {"ref": "m2"})
    browser.post(f"{path}/tray", {"ref": "m2"})
    browser.post(f"{path}/tray/insert")
    for inserted in effective(tools.client, tools.session_id)[-2:]:
        assert inserted["content"].endswith("\n\n[Cut off after 20 tokens.]")


def test_what_is_in_the_tray_says_so_and_is_taken_out_again(
    tools: Tools, browser: Client
) -> None:
    path = f"/sessions/{tools.session_id}"
    (view,) = get(tools.client, "/api/archive", type="file_view")["items"]
    shown = browser.post(
        f"{path}/tray?type=file_view",
        {"ref": view["ref_id"], "shows_tray": "1"},
        headers=FRAGMENT,
    ).content.decode()
    assert 'hx-swap-oob="true"' in shown
    assert "?type=file_view" in shown
    for page in ("archive?type=file_view", f"recall?ref={view['ref_id']}"):
        found = browser.get(f"{path}/{page}", headers=FRAGMENT).content.decode()
        assert "In the tray" in found
    unfolded = browser.get(f"{path}/recall?ref=m4", headers=FRAGMENT).content.decode()
    assert "Add to tray" in unfolded
    item = TrayItem.objects.get()
    back = browser.post(f"{path}/tray/{item.pk}/remove?type=file_view")
    assert back["Location"] == f"{path}/archive?type=file_view#tray"
    assert not TrayItem.objects.exists()
    for name in ("m2", "m4"):
        browser.post(f"{path}/tray", {"ref": name})
    browser.post(f"{path}/tray/empty")
    assert not TrayItem.objects.exists()


def test_who_may_only_read_a_session_is_told_that_they_insert_elsewhere(
    tools: Tools, viewer: User, browser: Client
) -> None:
    reading = Client()
    reading.force_login(viewer)
    path = f"/sessions/{tools.session_id}"
    elsewhere = "into a session that you may edit"
    assert elsewhere in tray_on(reading, tools.session_id)
    assert elsewhere not in tray_on(browser, tools.session_id)
    reading.post(f"{path}/tray", {"ref": "m2"})
    shown = tray_on(reading, tools.session_id)
    assert "Insert into the thread" not in shown
    assert "insert from the tray into a session that you may edit" in shown


def test_a_tray_is_its_persons_own(
    tools: Tools, browser: Client, editor: User, owner: User
) -> None:
    path = f"/sessions/{tools.session_id}"
    browser.post(f"{path}/tray", {"ref": "m2"})
    item = TrayItem.objects.get()
    other = Client()
    other.force_login(owner)
    assert "Empty." in tray_on(other, tools.session_id)
    other.post(f"{path}/tray/{item.pk}/remove")
    other.post(f"{path}/tray/empty")
    assert TrayItem.objects.count() == 1


def test_what_can_no_longer_be_read_stays_in_the_tray_and_is_not_inserted(
    tools: Tools, agent: Client, browser: Client, editor: User
) -> None:
    here = make_session(agent, said(1))
    browser.post(f"/sessions/{tools.session_id}/tray", {"ref": "m2"})
    browser.post(f"/sessions/{here}/tray", {"ref": "m0"})
    agent.delete(f"/api/sessions/{tools.session_id}")
    assert "can no longer be read" in tray_on(browser, here)
    found = browser.post(f"/sessions/{here}/tray/insert", follow=True)
    assert "stayed in the tray" in found.content.decode()
    assert len(effective(agent, here)) == 2
    assert TrayItem.objects.count() == 1
    with pytest.raises(Conflict, match="nothing in the tray"):
        insert_tray(caller(editor), UUID(here))


def test_what_was_purged_is_neither_offered_nor_inserted(
    tools: Tools, agent: Client, browser: Client
) -> None:
    path, ref = f"/sessions/{tools.session_id}", {"ref": "m2"}
    browser.post(f"{path}/tray", ref)
    tools("remove_group", group_id=1)
    before = effective(agent, tools.session_id)
    shown = browser.get(f"{path}/archive", ref).content.decode()
    assert "nothing of it is left" in shown
    assert "Add to tray" not in shown
    assert "Insert into the thread" not in shown
    assert "can no longer be read" in tray_on(browser, tools.session_id)
    for door in ("archive/insert", "tray"):
        answer = browser.post(f"{path}/{door}", ref)
        assert answer.status_code == 409
        assert "nothing of it is left" in answer.content.decode()
    tray = f"/api{path}/tray"
    assert post(agent, tray, {"ref_id": "m2"}, expect=409)["code"] == "purged"
    assert effective(agent, tools.session_id) == before


def test_a_masked_text_is_masked_in_the_tray(agent: Client, browser: Client) -> None:
    here = make_session(
        agent, [{"role": "user", "content": "the key is sk-4711"}], title="Keys"
    )
    browser.post(f"/sessions/{here}/tray", {"ref": "m0"})
    operate(agent, here, "redact", patterns=[{"start": "sk-4711"}])
    assert "sk-4711" not in tray_on(browser, here)
    browser.post(f"/sessions/{here}/tray/insert")
    assert "sk-4711" not in str(effective(agent, here))


def test_a_full_tray_takes_no_more(agent: Client, editor: User) -> None:
    here = make_session(agent, said(MAX_ENTRIES + 1))
    who = caller(editor)
    for number in range(MAX_ENTRIES):
        collect(who, here, f"m{number}")
    collect(who, here, "m0")
    with pytest.raises(Conflict, match="at most 20"):
        collect(who, here, f"m{MAX_ENTRIES}")
    assert len(tray_of(who, here).items) == MAX_ENTRIES


def test_two_inserts_of_one_tray_insert_it_once(
    agent: Client, editor: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = make_session(agent, said(1))
    who = caller(editor)
    collect(who, here, "m0")
    seen = tray_of(who, here)
    insert_tray(who, here)
    monkeypatch.setattr("archive.tray.services.tray_of", lambda *_: seen)
    with pytest.raises(Conflict, match="changed meanwhile"):
        insert_tray(who, here)
    assert len(effective(agent, here)) == 2


def test_a_tray_that_was_inserted_in_another_window_is_shown_with_why_nothing_happened(
    agent: Client, browser: Client, editor: User
) -> None:
    here = make_session(agent, said(1))
    collect(caller(editor), UUID(here), "m0")
    for _ in range(2):  # the second window still shows the tray
        answer = browser.post(f"/sessions/{here}/tray/insert", follow=True)
    assert answer.status_code == 200
    assert answer.redirect_chain == [(f"/sessions/{here}/archive?#tray", 302)]
    assert "It may have been inserted elsewhere." in answer.content.decode()
    assert len(effective(agent, here)) == 2


def test_a_program_fills_its_tray_and_inserts_it_as_one_bundle(
    tools: Tools, agent: Client, browser: Client
) -> None:
    path = f"/api/sessions/{tools.session_id}/tray"
    assert get(agent, path) == {"items": [], "tokens": 0}
    for name in ("m2", "m8", "m2"):
        filled = post(agent, path, {"ref_id": name}, expect=201)
    first, second = filled["items"]
    assert filled["tokens"] == first["tokens"] + second["tokens"] > 0
    assert first["readable"] and first["summary"]
    assert get(agent, f"/api/archive/{first['ref_id']}")["content"]
    assert tray_of(caller(User.objects.first()), UUID(tools.session_id)).items == []
    assert agent.delete(f"{path}/{first['id']}").status_code == 204
    here = make_session(agent, said(3))
    elsewhere = f"/api/sessions/{here}/tray"
    assert [one["id"] for one in get(agent, elsewhere)["items"]] == [second["id"]]
    made = post(agent, f"{elsewhere}/insert", expect=201)
    assert (made["entries"], made["left"], len(made["operations"])) == (1, 0, 1)
    assert effective(agent, here)[-1]["content"].startswith("From the archive")
    refused = post(agent, f"{elsewhere}/insert", expect=409)
    assert refused["code"] == "tray_empty"
    post(agent, path, {"ref_id": "m2"}, expect=201)
    assert agent.delete(path).status_code == 204
    assert get(agent, path)["items"] == []


def test_a_program_is_told_what_can_not_be_set_aside(
    tools: Tools, agent: Client
) -> None:
    path = f"/api/sessions/{tools.session_id}/tray"
    post(agent, path, {"ref_id": "m999"}, expect=404)
    post(agent, path, {"ref_id": ""}, expect=422)
