/** Moving without a drag: step by step, to the next user message, or cut here and put there. */
import { say } from "../base/announce.js";
import { toast } from "../base/toast.js";
import { bring } from "../thread/chunks.js";
import { currentRow, focusRow, isTop, nameOf, rowAt } from "../thread/rows.js";
import { locate, positionOf } from "../thread/sections.js";
import { isSelected, targetsFor } from "../thread/selection.js";
import { rowOf, session } from "../thread/session.js";
import { define } from "../base/actions.js";
import { edit } from "../thread/patch.js";

let cutKeys = [];

/** What travels, in words: "#12", "#61–#96" or "3 messages". */
function wordsFor(keys) {
  const only = keys.length === 1 && rowOf(keys[0]);
  if (only) return nameOf(only);
  return keys.length === 1 ? "1 message" : `${keys.length} messages`;
}

/** Record that `keys` stand behind `behind` ("": at the top). */
export async function moveBehind(keys, behind, name) {
  if (!keys.length || keys.includes(behind)) return false;
  const what = wordsFor(keys);
  const done = await edit("resequence", { moved: keys.join(" "), behind });
  if (done) {
    if (rowOf(keys[0])) focusRow(rowOf(keys[0]));
    // What is staged or proposed stands where it did: the notice says that it waits.
    if (session.mayEdit && !session.stages) say(`Moved ${what} ${name ? `after ${name}` : "to the top"}. Undo with Control Z.`);
  }
  return done;
}

/** Siblings inside an opened fold, or top-level rows across sections. */
async function sibling(row, step) {
  const direction = step < 0 ? "previousElementSibling" : "nextElementSibling";
  if (!isTop(row)) {
    let next = row;
    for (let left = Math.abs(step); left && next; left -= 1) next = next[direction];
    return next?.dataset?.key ? next : null;
  }
  const position = positionOf(row) + step;
  return position >= 0 && position < session.total ? bring(position) : null;
}

/** What moves with `row`, from its first to its last. */
function travellers(row) {
  const keys = targetsFor(row, { preferRow: true });
  const rows = keys.map(rowOf).filter(Boolean);
  return { keys, first: rows[0] ?? row, last: rows.at(-1) ?? row };
}

async function moveStep(row, step) {
  const { keys, first, last } = travellers(row);
  let next = await sibling(step < 0 ? first : last, step);
  // Inserts that hang on what moves go with it.
  while (step > 0 && next?.matches(".inserted") && !last.matches(".inserted")) next = await sibling(next, 1);
  if (!next) return toast(step < 0 ? "Already at the top." : "Already at the end.");
  const behind = step < 0 ? await sibling(first, -2) : next;
  if (!behind && !isTop(first)) return toast("Use Move to… to reach the top of a fold.");
  return moveBehind(keys, behind?.dataset.key ?? "", behind && nameOf(behind));
}

async function moveFar(row, direction) {
  const { keys, first, last } = travellers(row);
  const from = (direction === "previous" ? first : last).dataset.key;
  const at = await locate({ key: from, [direction]: "user" }).catch(() => null);
  if (!at) return toast(`No ${direction} user message.`);
  const target = await bring(direction === "previous" ? at.position - 1 : at.position);
  return moveBehind(keys, target?.dataset.key ?? "", target && nameOf(target));
}

function cut(row) {
  clearCut();
  cutKeys = targetsFor(row, { preferRow: !isSelected(row?.dataset.key) });
  for (const key of cutKeys) rowOf(key)?.classList.add("is-dragged");
  say(`Cut ${wordsFor(cutKeys)}. Go to the new position and paste with Control V.`);
}

async function paste(row) {
  if (!cutKeys.length) return toast("There is nothing to paste.");
  const keys = cutKeys;
  clearCut();
  return moveBehind(keys, row.dataset.key, nameOf(row));
}

export const somethingIsCut = () => cutKeys.length > 0;

/** Forget what was cut; true when there was something. */
export function clearCut() {
  const had = cutKeys.length > 0;
  for (const key of cutKeys) rowOf(key)?.classList.remove("is-dragged");
  cutKeys = [];
  return had;
}

const rowFor = (source) => rowAt(source) ?? currentRow();
define({
  "move-up": ({ source }) => moveStep(rowFor(source), -1),
  "move-down": ({ source }) => moveStep(rowFor(source), 1),
  "move-up-far": ({ source }) => moveFar(rowFor(source), "previous"),
  "move-down-far": ({ source }) => moveFar(rowFor(source), "next"),
  cut: ({ source }) => cut(rowFor(source)),
  "paste-here": ({ source }) => paste(rowFor(source)),
});
