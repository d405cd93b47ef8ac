/** Going to a message wherever it is: loaded or not, on the sheet or inside closed folds. */
import { loadRow } from "./chunks.js";
import { openFold } from "./folds.js";
import { keyOfHash } from "./positions.js";
import { allRows, currentRow, firstVisibleRow, focusRow, makeCurrent, neighbour, queryOwn, rowAt } from "./rows.js";
import { adjacentSection, countOf, isLoaded, locate, startOf } from "./sections.js";
import { extendBy, selectRange, selectedKeys } from "./selection.js";
import { feed, rowOf, session } from "./session.js";
import { defineActions } from "../base/actions.js";
import { toast } from "../base/toast.js";

const frame = () => new Promise(requestAnimationFrame);

/** Scroll the row or note of `key` into view and focus it, unless the user is typing. */
export async function jumpTo(key, { block = "start", focus = true } = {}) {
  const at = spotOf(key) ? null : await bringKey({ key });
  const spot = spotOf(key) ?? (at && (rowOf(at.key) ?? at.row));
  if (spot) await settleOn(spot, block, focus);
  else toast("It is not in this view.");
}

/** The element for a key: its row or marker, or the note of an operation that has neither. */
function spotOf(key) {
  const name = CSS.escape(key);
  const note = feed?.querySelector(`:is(.flat, .marker-note)[data-operation="${name}"]`);
  const head = note?.previousElementSibling;
  return rowOf(key) ?? (head?.matches(".flat--bundle") ? head : note);
}

/** Go to the message with this number. */
export async function jumpToNumber(number) {
  const at = Number(number) < session.messages ? await bringKey({ number }) : null;
  if (!at) toast(`There is no message #${number} in this view.`);
  const row = at && (rowOf(at.key) ?? at.row);
  if (row) await settleOn(row, "start");
}

async function bringKey(fields) {
  let at;
  try {
    at = await locate(fields);
  } catch {
    return null;
  }
  if (!at) return null;
  const row = await loadRow(at.position);
  for (const [turn, fold] of (at.folds ?? []).entries()) {
    if (rowOf(at.key)) break;
    await openFold(fold, at.within[turn]);
  }
  return { ...at, row };
}

/**
 * Rows above get their real height as they are drawn: scroll again until the position is stable.
 */
async function standStill(spot, scroll) {
  let last = NaN;
  let moved = false;
  const stop = () => { moved = true; };
  addEventListener("wheel", stop, { once: true, passive: true });
  for (let round = 0; round < 5 && !moved && spot.isConnected; round += 1) {
    scroll();
    await frame();
    const { top } = spot.getBoundingClientRect();
    if (Math.abs(top - last) < 1) break;
    last = top;
  }
  removeEventListener("wheel", stop);
}

async function settleOn(spot, block, focus = true) {
  if (focus) focusRow(rowAt(spot), { block });
  else makeCurrent(rowAt(spot));
  await standStill(spot, () => spot.scrollIntoView({ block }));
  spot.classList.add("is-found");
  setTimeout(() => spot.classList.remove("is-found"), 4000);
}

/** The kinds of rows to step to, with their name and test. Closed folds can hold failures too. */
const KINDS = {
  user: { name: "user message", fits: (row) => row.matches(".row--user") },
  marker: {
    name: "marker",
    fits: (row) => row.matches(".marker, .inserted, .is-moved") || queryOwn(row, ".flat, .marker-note"),
  },
  failure: { name: "failed tool result" },
};

/** The next or previous row of a kind, also beyond what is loaded. */
async function step(kind, direction) {
  const { name, fits } = KINDS[kind];
  const from = rowAt(document.activeElement);
  const near = from && fits ? neighbour(from, direction, fits) : null;
  if (near && isNextTo(from, near, direction)) return focusRow(near, { block: "nearest" });
  const key = (from ?? allRows()[0])?.dataset.key;
  const at = key && (await locate({ key, [direction > 0 ? "next" : "previous"]: kind }).catch(() => null));
  if (at) return jumpTo(at.key, { block: "center" });
  if (near) return focusRow(near);
  return toast(`No ${direction > 0 ? "next" : "previous"} ${name}.`);
}

/** Whether no unloaded section lies between two rows. */
function isNextTo(from, to, direction) {
  let section = from.closest(".chunk");
  while (section && section !== to.closest(".chunk")) {
    section = adjacentSection(section, direction);
    if (section && !isLoaded(section)) return false;
  }
  return true;
}

async function walk(direction) {
  const from = rowAt(document.activeElement);
  if (!from) return focusRow(currentRow());
  const next = neighbour(from, direction);
  if (next && isNextTo(from, next, direction)) return focusRow(next);
  const section = from.closest(".chunk");
  const beyond = startOf(section) + (direction > 0 ? countOf(section) : -1);
  if (beyond < 0 || beyond >= session.total) return undefined;
  return focusRow(await loadRow(beyond));
}

async function toEnd(position, block) {
  const row = session.total ? await loadRow(position) : null;
  if (row) await settleOn(row, block);
}

defineActions({
  jump: ({ pressed }) => {
    pressed.closest("[popover]")?.hidePopover?.();
    jumpTo(pressed.dataset.to);
    history.replaceState(null, "", pressed.getAttribute("href"));
  },
  next: () => walk(1),
  previous: () => walk(-1),
  "next-user": () => (selectedKeys().length ? extendBy(1) : step("user", 1)),
  "previous-user": () => (selectedKeys().length ? extendBy(-1) : step("user", -1)),
  "next-marker": () => step("marker", 1),
  "previous-marker": () => step("marker", -1),
  "next-failure": () => step("failure", 1),
  "previous-failure": () => step("failure", -1),
  first: () => toEnd(0, "start"),
  last: () => toEnd(session.total - 1, "end"),
});

/**
 * Follow the URL: #n-m12, #m12 or #12 leads to that message, also when typed on this page, and with
 * `to` everything between the two is selected. A page that is shown again returns to where it was
 * left.
 */
export function followAddress() {
  addEventListener("pagehide", leavePlace);
  addEventListener("hashchange", () => {
    const named = keyOfHash(location.hash);
    const isThere = document.getElementById(location.hash.slice(1));  // the browser goes there by itself
    if (named && !isThere) jumpTo(named);
  });
  const [{ type }] = performance.getEntriesByType("navigation");
  const place = JSON.parse(sessionStorage.getItem(placeName) ?? "null");
  const key = keyOfHash(location.hash);
  const last = new URLSearchParams(location.search).get("to");
  if (type !== "navigate" && place) returnTo(place);
  else if (key) jumpTo(key).then(() => last && selectRange(key, last));
}

const placeName = `place:${session.id}:${session.view}`;

/**
 * Remember the row in view. The browser would restore a pixel offset, which no longer fits once the
 * rows above have their real height.
 */
function leavePlace() {
  const row = firstVisibleRow();
  if (!row) return;
  const { top } = row.getBoundingClientRect();
  sessionStorage.setItem(placeName, JSON.stringify({ key: row.dataset.key, top }));
}

async function returnTo({ key, top }) {
  history.scrollRestoration = "manual";
  const at = rowOf(key) ? null : await bringKey({ key });
  const row = rowOf(key) ?? at?.row;
  if (row) await standStill(row, () => scrollBy({ top: row.getBoundingClientRect().top - top, behavior: "instant" }));
}
