/**
 * The rows of the thread, and which of them is current: only that row and its controls are in the
 * tab order (roving tabindex). Rows are articles; opened folds contain further ones.
 */
import { feed, session } from "./session.js";

const CONTROLS = "a[href], button, input, summary, [tabindex]";
export const BARS_PX = 96;
let currentId = "";

export const allRows = () => [...(feed?.querySelectorAll("article[data-key]") ?? [])];
export const rowAt = (element) => element?.closest?.("article[data-key]") ?? null;
export const isTopLevel = (row) => row?.parentElement?.matches(".chunk") ?? false;
export const isMarker = (row) => row.matches(".marker");

/** "#210", "insert o7" or "digest o3": the server's name for a row. */
export const nameOf = (row) => row.dataset.name ?? row.dataset.key;

/** The first match inside a row that doesn't belong to a nested row. */
export function queryOwn(row, selector) {
  for (const found of row.querySelectorAll(selector)) if (rowAt(found) === row) return found;
  return null;
}

function isSeen(row) {
  const { top, bottom } = row.getBoundingClientRect();
  return bottom > BARS_PX && top < innerHeight;
}

/** The first row on the sheet that is in view. */
export function firstVisibleRow() {
  for (const section of feed?.getElementsByClassName("chunk") ?? []) {
    const { top, bottom } = section.getBoundingClientRect();
    if (bottom < BARS_PX) continue;
    if (top > innerHeight) break;
    // The last pixels of a section may be in view without its last row.
    const seen = [...section.children].find(isSeen);
    if (seen) return seen;
  }
  return null;
}

/** The row that keys act on: the focused one, else the current or the first one in view. */
export function currentRow() {
  const current = document.getElementById(currentId);
  return rowAt(document.activeElement) ?? (current && isSeen(current) ? current : firstVisibleRow());
}

function setTabbable(row, tabbable) {
  const index = tabbable ? 0 : -1;
  row.tabIndex = index;
  for (const control of row.querySelectorAll(CONTROLS)) {
    if (rowAt(control) === row) control.tabIndex = index;
  }
}

/** Take all of `root` but the current row out of the tab order. Who may not edit can't switch. */
export function updateTabOrder(root) {
  // Rows are rendered the same for everybody.
  if (session.readOnly || !session.mayEdit) for (const one of root.querySelectorAll(".toggle")) one.disabled = true;
  const current = document.getElementById(currentId) ?? feed.querySelector("article[data-key]");
  for (const control of root.querySelectorAll(CONTROLS)) {
    if (control.tabIndex === 0 && rowAt(control) !== current) control.tabIndex = -1;
  }
  if (current) makeCurrent(current);
}

export function makeCurrent(row) {
  const before = document.getElementById(currentId);
  if (before && before !== row) setTabbable(before, false);
  currentId = row.id;
  setTabbable(row, true);
}

/** Move the focus to a row, scrolling no more than needed. */
export function focusRow(row, { block = "nearest" } = {}) {
  if (!row) return;
  makeCurrent(row);
  row.focus({ preventScroll: true });
  const tall = row.offsetHeight > innerHeight / 2;
  row.scrollIntoView({ block: tall && block === "nearest" ? "start" : block });
}

/** The nearest row after (1) or before (-1) `row` for which `fits` holds, or null. */
export function neighbour(row, step, fits = () => true) {
  const rows = allRows();
  for (let place = rows.indexOf(row) + step; rows[place]; place += step) {
    if (fits(rows[place])) return rows[place];
  }
  return null;
}

feed?.addEventListener("focusin", (event) => {
  const row = rowAt(event.target);
  if (row) makeCurrent(row);
});
