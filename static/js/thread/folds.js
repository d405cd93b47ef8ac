/** Opening and closing: folds show their originals, brief rows their text. The server remembers. */
import { announce } from "../base/announce.js";
import { parseHtml } from "../base/fragment.js";
import { postChange, replaceRow } from "./patch.js";
import { keepPlace } from "./scroll_anchor.js";
import { enqueue, fetchText } from "../base/requests.js";
import { currentRow, isMarker, isTopLevel, nameOf, queryOwn, rowAt, updateTabOrder } from "./rows.js";
import { feed, rowOf, session } from "./session.js";
import { defineActions } from "../base/actions.js";

function depthOf(row) {
  let depth = 0;
  for (let outer = rowAt(row.parentElement); outer; outer = rowAt(outer.parentElement)) depth += 1;
  return depth;
}

/** Whether a row is open; undefined if it has nothing to open. */
export function openState(row) {
  const expanded = queryOwn(row, "[aria-expanded]")?.getAttribute("aria-expanded");
  return expanded && expanded === "true";
}

const isOpen = (row) => Boolean(openState(row));

/** Open or close one row; the server returns it redrawn. */
function set(row, open) {
  const { key } = row.dataset;
  return enqueue(async () => {
    const fields = { open: open ? 1 : 0, view: session.view, depth: depthOf(row) };
    const answer = await fetchText(`${session.url}folds/${key}`, { method: "POST", fields });
    if (rowOf(key)) replaceRow(rowOf(key), answer);
    if (isMarker(row)) announce(`${open ? "Unfolded" : "Folded"} ${nameOf(row)}`);
  });
}

/**
 * Open the fold of an operation, if it is loaded and closed. `child` is the index of a node that
 * must be drawn.
 */
export async function openFold(key, child) {
  if (rowOf(key) && !isOpen(rowOf(key))) await set(rowOf(key), true);
  const gaps = rowOf(key)?.querySelectorAll(`[data-action=fill][data-operation="${CSS.escape(key)}"]`) ?? [];
  const holds = ({ dataset: { start, count } }) => child >= Number(start) && child < Number(start) + Number(count);
  const gap = [...gaps].find(holds);
  if (gap) await nodesInGap(gap, { at: child });
}

/** Close the fold of an operation, if it is loaded and open. */
export async function closeFold(key) {
  const row = rowOf(key);
  if (row && isOpen(row)) await set(row, false);
}

/** The keys of the folds that are open in the page. */
export const openFolds = () => new Set(
  [...feed.querySelectorAll(".marker")].filter(isOpen).map((row) => row.dataset.key),
);

async function turn(row) {
  if (!row || !queryOwn(row, "[aria-expanded]")) return;
  const close = isOpen(row);
  const inside = rowAt(document.activeElement) !== row && row.contains(document.activeElement);
  if (close && inside) queryOwn(row, "[aria-expanded]").focus({ preventScroll: true });
  await set(row, !close);
  const after = rowOf(row.dataset.key);
  if (close && after?.getBoundingClientRect().top < 0) after.scrollIntoView({ block: "start" });
}

/** Toggle all folds beside `row`: on the sheet, loaded or not, or in the same opened fold. */
async function turnLevel(row) {
  if (!row) return;
  const beside = isTopLevel(row) ? feed.querySelectorAll(".chunk > .marker") : row.parentElement.children;
  const folds = [...beside].filter((one) => one.matches(".marker"));
  const open = !folds.some(isOpen);
  if (isTopLevel(row)) {
    if (await postChange("folds", { open: Number(open) })) announce(`${open ? "Unfolded" : "Folded"} all`);
    return;
  }
  await Promise.all(folds.filter((one) => isOpen(one) !== open).map((one) => set(one, open)));
}

/** Draw originals that an opened fold left out because of their number; returns the first. */
async function nodesInGap(gap, more = {}) {
  const { operation, start, count } = gap.dataset;
  const row = rowAt(gap);
  const fields = { operation, start, count, view: session.view, depth: depthOf(row) + 1, ...more };
  const nodes = parseHtml(await fetchText(`${session.url}children`, { fields }));
  const first = nodes.querySelector("article");
  keepPlace(() => gap.closest(".gap").replaceWith(nodes));
  updateTabOrder(row);
  return first;
}

async function fillGap(gap) {
  const first = await nodesInGap(gap);
  first?.focus({ preventScroll: true });
}

defineActions({
  unfold: ({ source }) => turn(rowAt(source) ?? currentRow()),
  open: ({ source }) => turn(rowAt(source) ?? currentRow()),
  "open-level": ({ source }) => turnLevel(rowAt(source) ?? currentRow()),
  fill: ({ pressed }) => fillGap(pressed),
});
