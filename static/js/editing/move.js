/** Moving without a drag: step by step, to the next user message, or by cut and paste. */
import { announce } from "../base/announce.js";
import { toast } from "../base/toast.js";
import { loadRow } from "../thread/chunks.js";
import { currentRow, focusRow, isTopLevel, nameOf, rowAt } from "../thread/rows.js";
import { locate, positionOf } from "../thread/sections.js";
import { isSelected, targetsFor } from "../thread/selection.js";
import { rowOf, session } from "../thread/session.js";
import { defineActions } from "../base/actions.js";
import { recordEdit } from "../thread/patch.js";

let cutKeys = [];

/** What is being moved, in words: "#12", "#61–#96" or "3 messages". */
function wordsFor(keys) {
  const only = keys.length === 1 && rowOf(keys[0]);
  if (only) return nameOf(only);
  return keys.length === 1 ? "1 message" : `${keys.length} messages`;
}

/**
 * Move `keys` after `behind` ("" for the top). With `stays` they remain selected, for more steps.
 */
export async function moveAfter(keys, behind, name, { stays = false } = {}) {
  if (!keys.length || keys.includes(behind)) return false;
  const what = wordsFor(keys);
  const done = await recordEdit("resequence", { moved: keys.join(" "), behind }, { stays });
  if (done) {
    if (rowOf(keys[0])) focusRow(rowOf(keys[0]));
    // A staged or proposed move changes nothing yet; its notice says that it is waiting.
    if (session.mayEdit && !session.stages) announce(`Moved ${what} ${name ? `after ${name}` : "to the top"}. Undo with Control Z.`);
  }
  return done;
}

/** Siblings inside an opened fold, or top-level rows across sections. */
async function sibling(row, step) {
  const direction = step < 0 ? "previousElementSibling" : "nextElementSibling";
  if (!isTopLevel(row)) {
    let next = row;
    for (let left = Math.abs(step); left && next; left -= 1) next = next[direction];
    return next?.dataset?.key ? next : null;
  }
  const position = positionOf(row) + step;
  return position >= 0 && position < session.total ? loadRow(position) : null;
}

/** What moves with `row`, and its first and last row. */
function travellers(row) {
  const keys = targetsFor(row, { preferRow: true });
  const rows = keys.map(rowOf).filter(Boolean);
  return { keys, first: rows[0] ?? row, last: rows.at(-1) ?? row };
}

/**
 * The key after which a staged or proposed move of the user's own puts these rows ("" for the top);
 * until it applies they stay where they were. Undefined if there is no such move.
 */
function waitingBehind(keys) {
  if (session.mayEdit && !session.stages) return undefined;
  const moves = [...document.querySelectorAll(`${session.stages ? ".staged" : ".decisions"} [data-moved]`)];
  return moves.find(({ dataset }) => dataset.moved === keys.join(" "))?.dataset.behind;
}

async function rowWith(key) {
  return rowOf(key) ?? loadRow((await locate({ key })).position);
}

/** Move on from where the waiting move leads. Back at the original place, it is dropped. */
async function moveWaiting({ keys, last }, behind, step) {
  const from = behind && await rowWith(behind);
  if (step < 0 && !from) return toast("Already at the top.");
  let next = from ? await sibling(from, step) : await loadRow(0);
  const passes = (row) => keys.includes(row.dataset.key)
    || (step > 0 && row.matches(".inserted") && !last.matches(".inserted"));
  while (next && passes(next)) next = await sibling(next, step);
  if (!next && step > 0) return toast("Already at the end.");
  return moveAfter(keys, next?.dataset.key ?? "", next && nameOf(next), { stays: true });
}

async function moveStep(row, step) {
  const travelling = travellers(row);
  const { keys, first, last } = travelling;
  const waiting = isTopLevel(first) ? waitingBehind(keys) : undefined;
  if (waiting !== undefined) return moveWaiting(travelling, waiting, step);
  let next = await sibling(step < 0 ? first : last, step);
  // Inserts attached to the moved rows go with them.
  while (step > 0 && next?.matches(".inserted") && !last.matches(".inserted")) next = await sibling(next, 1);
  if (!next) return toast(step < 0 ? "Already at the top." : "Already at the end.");
  const behind = step < 0 ? await sibling(first, -2) : next;
  if (!behind && !isTopLevel(first)) return toast("Use Move to… to reach the top of a fold.");
  return moveAfter(keys, behind?.dataset.key ?? "", behind && nameOf(behind), { stays: true });
}

async function moveFar(row, direction) {
  const { keys, first, last } = travellers(row);
  const from = (direction === "previous" ? first : last).dataset.key;
  const at = await locate({ key: from, [direction]: "user" }).catch(() => null);
  if (!at) return toast(`No ${direction} user message.`);
  const target = await loadRow(direction === "previous" ? at.position - 1 : at.position);
  return moveAfter(keys, target?.dataset.key ?? "", target && nameOf(target), { stays: true });
}

function cut(row) {
  clearCut();
  cutKeys = targetsFor(row, { preferRow: !isSelected(row?.dataset.key) });
  for (const key of cutKeys) rowOf(key)?.classList.add("is-dragged");
  announce(`Cut ${wordsFor(cutKeys)}. Go to the new position and paste with Control V.`);
}

async function paste(row) {
  if (!cutKeys.length) return toast("There is nothing to paste.");
  const keys = cutKeys;
  clearCut();
  return moveAfter(keys, row.dataset.key, nameOf(row));
}

export const hasCutRows = () => cutKeys.length > 0;

/** Clear the cut rows; true if there were any. */
export function clearCut() {
  const had = cutKeys.length > 0;
  for (const key of cutKeys) rowOf(key)?.classList.remove("is-dragged");
  cutKeys = [];
  return had;
}

const rowFor = (source) => rowAt(source) ?? currentRow();
let steps = Promise.resolve();

/** Each step starts from where the previous one led, however quickly they follow each other. */
const inStep = (step) => ({ source }) => {
  const { key } = rowFor(source).dataset;
  steps = steps.catch(() => {}).then(() => step(rowOf(key) ?? rowFor(source)));
  return steps;
};

defineActions({
  "move-up": inStep((row) => moveStep(row, -1)),
  "move-down": inStep((row) => moveStep(row, 1)),
  "move-up-far": inStep((row) => moveFar(row, "previous")),
  "move-down-far": inStep((row) => moveFar(row, "next")),
  cut: ({ source }) => cut(rowFor(source)),
  "paste-here": ({ source }) => paste(rowFor(source)),
});
