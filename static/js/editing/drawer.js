/** The drawer of operations and log, and the outline: showing, hiding, and their tabs. */
import { currentRow, focusRow } from "../thread/rows.js";
import { keepPlace } from "../thread/scroll_anchor.js";
import { feed, listsOlderOperations, session } from "../thread/session.js";
import { defineActions } from "../base/actions.js";
import { announce } from "../base/announce.js";
import { parseHtml } from "../base/fragment.js";
import { morphChildren } from "../base/morph.js";
import { fetchText } from "../base/requests.js";

const drawer = document.getElementById("drawer");
const outline = document.getElementById("outline");
const editor = document.querySelector(".editor");
const floats = (panel) => getComputedStyle(panel).position === "fixed" || !panel.offsetParent;

/** The open tab is remembered across reloads, per window. */
const kept = `drawer:${session.id}`;

function openTab(tab) {
  for (const one of drawer.querySelectorAll("[role=tab]")) {
    const chosen = one === tab;
    one.setAttribute("aria-selected", String(chosen));
    one.tabIndex = chosen ? 0 : -1;
    document.getElementById(one.getAttribute("aria-controls")).hidden = !chosen;
  }
  sessionStorage.setItem(kept, tab.id);
}

function showTab(tab) {
  openTab(tab);
  tab.focus({ preventScroll: true });
}

/** Reopen the last open tab and fetch its content, without moving the focus. */
function reopenTab() {
  const tab = drawer.querySelector(`[role=tab][id="${sessionStorage.getItem(kept)}"]`);
  if (!tab || tab.getAttribute("aria-selected") === "true") return;
  openTab(tab);
  fill(tab);
}

/** Fetch the content of a tab. */
function fill(tab, query = "") {
  htmx.ajax("GET", tab.getAttribute("hx-get") + query, {
    source: tab,
    target: tab.getAttribute("hx-target"),
    swap: "innerHTML",
  });
}

/** Refresh an open log with what has been recorded, as far down as the user had paged. */
function readLogAgain() {
  const tab = drawer.querySelector("#tab-log[aria-selected=true]");
  if (!tab) return;
  const last = [...drawer.querySelectorAll(".entry-key")].at(-1)?.textContent.slice(1);
  fill(tab, last ? `?down_to=${last}` : "");
}

function onTabKey(event) {
  const tab = event.target.closest("[role=tab]");
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!tab || !step) return;
  const tabs = [...drawer.querySelectorAll("[role=tab]")];
  event.preventDefault();
  tabs.at((tabs.indexOf(tab) + step) % tabs.length).click();
}

/** Focus an open popover. When it is hidden, the browser returns the focus to where it was. */
function enter(panel, first) {
  if (panel.matches(":popover-open")) panel.querySelector(first)?.focus({ preventScroll: true });
}

/** Go to the drawer. On a wide page, where it stands beside the thread, the same key goes back. */
function toDrawer() {
  const tab = "[role=tab][aria-selected=true]";
  if (floats(drawer)) {
    drawer.togglePopover();
    return enter(drawer, tab);
  }
  if (drawer.contains(document.activeElement)) return focusRow(currentRow());
  return drawer.querySelector(tab).focus();
}

function toOutline() {
  if (floats(outline) && !editor.classList.contains("no-outline")) {
    outline.togglePopover();
    return enter(outline, "a[aria-current], a");
  }
  return announce(editor.classList.toggle("no-outline") ? "Outline hidden" : "Outline shown");
}

/** Go to the meter and read it out; the same key goes back to the thread. */
function toMeter() {
  const meter = document.getElementById("meter");
  if (meter.contains(document.activeElement)) return focusRow(currentRow());
  meter.focus();
  return announce([...meter.querySelectorAll(".meter-now, .saved")].map((part) => part.textContent.trim()).join(", "));
}

/** Opened by its button, so that the menu is placed below it. */
function toExports() {
  document.querySelector("[popovertarget=export]")?.click();
  const shown = [...document.querySelectorAll("#export:popover-open .menu-item")].find((item) => item.offsetParent);
  shown?.focus({ preventScroll: true });
}

/** The head of the listed operations, when older ones are listed. */
let listedAt = session.head;

/** A list with older operations may be long, so edits don't wait for it: it follows the rows. */
async function listOlderAgain() {
  if (!listsOlderOperations() || listedAt === session.head) return;
  const head = session.head;
  listedAt = head;
  try {
    const html = await fetchText(`${session.url}panel`, { fields: { more: 1 }, quiet: true });
    if (listedAt !== head) return;
    const panel = document.getElementById("panel-operations");
    keepPlace(() => morphChildren(panel, parseHtml(html)));
    feed.dispatchEvent(new CustomEvent("thread:changed"));
  } catch {
    if (listedAt === head) listedAt = -1;
  }
}

/**
 * Older operations were listed: update them as after a change, and focus them, as the button is
 * gone.
 */
function onOlder({ detail: { target } }) {
  if (target.id !== "panel-operations") return;
  listedAt = session.head;
  feed?.dispatchEvent(new CustomEvent("thread:changed"));
  target.focus({ preventScroll: true });
}

let shown = "all";

/** Filter by all, on or off. The choice survives swaps. */
function filter() {
  const choice = drawer.querySelector(`input[name=show][value=${shown}]`);
  if (choice) choice.checked = true;
  for (const one of drawer.querySelectorAll(".ops > li")) {
    one.hidden = shown !== "all" && (shown === "off") !== one.classList.contains("is-off");
  }
}

function sayHowMany() {
  const all = [...drawer.querySelectorAll(".ops > li")];
  const listed = all.filter((one) => !one.hidden).length;
  announce(`${listed.toLocaleString("en")} of ${all.length.toLocaleString("en")} operations listed`);
}

const segments = () => [...document.querySelectorAll(".segments .segment")];

/** Open another view at the row being read here. */
function keepPlaceIn(link) {
  const row = currentRow();
  if (!row) return;
  const address = new URL(link.href);
  address.searchParams.set("at", row.dataset.key);
  address.hash = row.id;
  link.href = address;
}

function nextView() {
  const views = segments();
  const here = views.findIndex((one) => one.matches("[aria-current]"));
  views[(here + 1) % views.length].click();
}

export function watchDrawer() {
  if (!drawer) return;
  reopenTab();
  drawer.addEventListener("keydown", onTabKey);
  drawer.addEventListener("change", (event) => {
    if (event.target.name === "show") shown = event.target.value;
    filter();
    if (event.target.name === "show") sayHowMany();
  });
  drawer.addEventListener("htmx:afterSwap", onOlder);
  feed?.addEventListener("thread:changed", filter);
  feed?.addEventListener("thread:changed", readLogAgain);
  feed?.addEventListener("thread:told", readLogAgain); // a snapshot changes nothing of the thread
  feed?.addEventListener("thread:changed", listOlderAgain);
  for (const link of segments()) link.addEventListener("click", () => keepPlaceIn(link));
  defineActions({
    tab: ({ pressed }) => showTab(pressed),
    drawer: toDrawer,
    outline: toOutline,
    view: nextView,
    meter: toMeter,
    export: toExports,
  });
}
