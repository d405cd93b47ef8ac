/**
 * The selection: keys in thread order, including rows that aren't loaded. The server says which
 * rows lie between two, and how many messages and tokens that is.
 */
import { query } from "../base/requests.js";
import { allRows, currentRow, focusRow, neighbour, queryOwn, rowAt } from "./rows.js";
import { feed, rowOf, session } from "./session.js";
import { announce } from "../base/announce.js";
import { defineActions } from "../base/actions.js";
import { toast } from "../base/toast.js";

let keys = new Set();
let anchor = "";
let mark = "";
let asked = 0;
let pending = Promise.resolve();
let halves = [];

const bar = document.getElementById("selection");
const notices = document.getElementById("toasts");
export const selectedKeys = () => [...keys];
export const isSelected = (key) => keys.has(key);
/** Whether the selection can be extended to `key`. */
export const canExtendTo = (key) => keys.size > 0 && !keys.has(key);

/** Resolves when the server has said what the selection contains; actions on it wait for that. */
export const whenSettled = () => pending;

/** What an action applies to: the selection, or the row if it isn't part of it. */
export function targetsFor(row, { preferRow = false } = {}) {
  const key = row?.dataset.key;
  if (keys.size && (!preferRow || !key || keys.has(key))) return selectedKeys();
  return key ? [key] : [];
}

export function clearSelection() {
  if (!keys.size) return false;
  keys = new Set();
  asked += 1;
  show();
  announce("Selection cleared");
  return true;
}

/** Clear the selection after it has been acted on. */
export function clearIfActedOn(targets) {
  if (keys.size && targets === selectedKeys().join(" ")) clearSelection();
}

/** Show the selection on the rows in the page; repeated after every swap. */
function show() {
  for (const row of allRows()) {
    const picked = keys.has(row.dataset.key);
    if (picked !== row.classList.contains("is-picked")) row.classList.toggle("is-picked", picked);
    const box = queryOwn(row, ".pick");
    if (box && box.checked !== picked) box.checked = picked;
  }
  if (!bar) return;
  const goes = !keys.size && bar.contains(document.activeElement);
  bar.hidden = !keys.size;
  notices.classList.toggle("is-above-selection", keys.size > 0);
  if (goes) currentRow()?.focus({ preventScroll: true });
}

function settle(fields) {
  pending = look(fields).catch(show);
  return pending;
}

/** Ask the server for the order, count and tokens of the selection. */
async function look(fields) {
  const request = asked += 1;
  const response = await query(`${session.url}selection`, { view: session.view, ...fields });
  const answer = await response.json();
  if (request !== asked) return;
  keys = new Set(answer.keys);
  sayParted(answer.parted);
  show();
  if (!bar) return;
  const messages = answer.count === 1 ? "1 message" : `${answer.count.toLocaleString("en")} messages`;
  document.getElementById("selection-count").textContent = messages;
  const link = document.getElementById("copy-selection-link");
  if (link) link.hidden = !answer.is_run;
  document.getElementById("selection-tokens").textContent =
    [answer.label, `${answer.tokens.toLocaleString("en")} tok`].filter(Boolean).join(", ");
}

/** Warn that calls would be separated from their results, and offer to add what is missing. */
function sayParted({ sentence, keys: missing }) {
  const line = document.getElementById("selection-parted");
  if (!line) return;
  halves = missing;
  line.hidden = !missing.length;
  if (line.querySelector("span").textContent !== sentence && sentence) announce(`${sentence}.`);
  line.querySelector("span").textContent = sentence;
}

/** What `chosen` would separate, according to the server: {sentence, keys}. */
export async function findSeparated(chosen) {
  const response = await query(`${session.url}selection`, { view: session.view, keys: chosen.join(" ") });
  return (await response.json()).parted;
}

function put(key, picked) {
  if (picked) keys.add(key);
  else keys.delete(key);
  anchor = key;
  show();
  if (keys.size) settle({ keys: selectedKeys().join(" ") });
  else asked += 1;
}

/** Select everything from the anchor to `key`, whether it is loaded or not. */
function extendTo(key) {
  if (!anchor || anchor === key) return put(key, true);
  return settle({ from: anchor, to: key });
}

/** Toggle a row, or with Shift select everything up to it, after pending answers. */
async function choose(row, withShift) {
  await whenSettled();
  if (withShift) extendTo(row.dataset.key);
  else put(row.dataset.key, !keys.has(row.dataset.key));
}

/** Extend the selection by one row away from the anchor, or shrink it by one. */
export function extendBy(step) {
  const row = currentRow();
  if (!keys.size) {
    anchor = row.dataset.key;
    keys.add(anchor);
  }
  const next = neighbour(row, step, (one) => one.parentElement.matches(".chunk, .inner"));
  if (!next) return;
  focusRow(next);
  extendTo(next.dataset.key);
}

/** Select everything between two rows, for a link to a range of messages. */
export function selectRange(first, last) {
  anchor = first;
  return settle({ from: first, to: last });
}

/** Select the messages of an operation, by its range. */
function pick(operation) {
  settle({ operation }).then(() => { [anchor] = keys; });
}

/** Without the selection bar there is nothing to do with a selection. */
const selects = (action) => (about) => (bar ? action(about) : toast("You can select in the Annotated view."));

defineActions({
  "add-halves": () => settle({ keys: [...keys, ...halves].join(" ") }),
  select: selects(({ source, event }) => {
    const row = rowAt(source) ?? currentRow();
    if (row) choose(row, event?.shiftKey);
  }),
  "select-to-here": ({ source }) => choose(rowAt(source), true),
  "select-next": selects(() => extendBy(1)),
  "select-previous": selects(() => extendBy(-1)),
  "pick-range": selects(({ source }) => {
    const holder = source.closest("[data-operation]") ?? rowAt(source);
    if (holder) pick(holder.dataset.operation);
  }),
  mark: selects(() => {
    mark = currentRow()?.dataset.key ?? "";
    toast("Mark set. Go to the other end and press the apostrophe key.");
  }),
  "select-from-mark": selects(() => {
    if (!mark) return toast("No mark is set. Press m to set one.");
    anchor = mark;
    return extendTo(currentRow().dataset.key);
  }),
  clear: () => { clearSelection(); },
});

/** A click on the head of a row selects it; with Shift, everything from the last one. */
function clickOnHead(event) {
  const head = event.target.closest(".row-head, .marker-head");
  if (!head || event.target.closest("a, button, input, label") || !bar) return;
  if (String(getSelection())) return;
  const row = rowAt(head);
  focusRow(row);
  choose(row, event.shiftKey);
}

export function watchSelection() {
  if (!feed) return;
  feed.addEventListener("click", clickOnHead);
  feed.addEventListener("mousedown", (event) => {
    if (event.shiftKey && event.target.closest(".row-head, .marker-head")) event.preventDefault();
  });
  feed.addEventListener("thread:loaded", show);
  feed.addEventListener("thread:changed", () => {
    show();
    if (selectedKeys().some((key) => !rowOf(key))) settle({ keys: selectedKeys().join(" ") }).catch(show);
  });
}
