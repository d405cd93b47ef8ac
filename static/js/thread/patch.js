/**
 * Writes and their answers. An answer is a patch: pieces with htmx's out-of-band attributes, and
 * facts about the thread. A write posts the page's state and gets back what has changed.
 */
import { applySplices, loadRow, reload } from "./chunks.js";
import { parseHtml } from "../base/fragment.js";
import { keepPlace } from "./scroll_anchor.js";
import { morph, morphChildren } from "../base/morph.js";
import { Refused, enqueue, fetchText } from "../base/requests.js";
import { focusRow, isTopLevel, rowAt, updateTabOrder } from "./rows.js";
import { locate, numberRows } from "./sections.js";
import { clearIfActedOn } from "./selection.js";
import { feed, pageState, rowOf, session, titleMark } from "./session.js";

const INSERTING = { afterend: "after", beforebegin: "before", afterbegin: "prepend", beforeend: "append" };

/** Whether an answer is a patch. */
export const isPatch = (html) => html.includes('id="thread-facts"');

const DRAWN_AT_ONCE = 20;

/**
 * Lay out new rows once, so that their heights count when keeping the reader's place. Those out of
 * sight are skipped a few frames later.
 */
function drawNow(rows) {
  const fresh = rows.filter((one) => one.matches?.(".row")).slice(0, DRAWN_AT_ONCE);
  for (const row of fresh) row.classList.add("is-fresh");
  const later = () => fresh.forEach((row) => row.classList.remove("is-fresh"));
  if (fresh.length) requestAnimationFrame(() => requestAnimationFrame(later));
}

/**
 * Put every piece in its place: rows replace rows, anything else is morphed. htmx's own swap would
 * search each new row for attributes that rows never have.
 */
function putPieces(pieces) {
  for (const piece of pieces) {
    const [how, where] = piece.getAttribute("hx-swap-oob").split(/:(.*)/s);
    const target = where ? document.querySelector(where) : document.getElementById(piece.id);
    piece.removeAttribute("hx-swap-oob");
    if (!target) continue;
    drawNow(how in INSERTING ? [...piece.children] : [piece]);
    if (how === "delete") target.remove();
    else if (how in INSERTING) target[INSERTING[how]](...piece.childNodes);
    else if (how === "innerHTML") morphChildren(target, piece);
    else if (piece.matches("article")) target.replaceWith(piece);
    else morph(target, piece);
    const swapped = piece.isConnected ? piece : target;
    if (swapped.isConnected && swapped.querySelector("[hx-get], [hx-post]")) htmx.process(swapped);
  }
}

/** The minimap is drawn in the frame after the rows, because it costs as much as they do. */
function drawMinimap(pieces) {
  const draw = () => {
    putPieces(pieces);
    feed.dispatchEvent(new CustomEvent("thread:drawn"));
  };
  if (document.hidden) draw();
  else requestAnimationFrame(() => setTimeout(draw));
}

/** Bring the page to the head of the answer. */
export function applyPatch(html) {
  const answer = parseHtml(html);
  const facts = answer.querySelector("#thread-facts");
  if (!facts) return;
  const { head, total, messageCount, splices, focus } = facts.dataset;
  const isStale = Number(head) < session.head;
  if (isStale) return;
  if (!feed || Number(total) === 0) {
    const isRenamed = Number(answer.querySelector("#thread-title")?.dataset.mark) !== titleMark();
    if (isRenamed || Number(total) !== session.total || Number(head) !== session.head) location.reload();
    return;
  }
  const pieces = [...answer.querySelectorAll("[hx-swap-oob]")];
  const reader = rowAt(document.activeElement)?.dataset.key;
  const isMinimap = ({ id }) => id === "minimap";
  keepPlace(() => {
    putPieces(pieces.filter((piece) => !isMinimap(piece)));
    Object.assign(session, { head: Number(head), total: Number(total) });
    session.messages = Number(messageCount ?? session.messages);
    applySplices(JSON.parse(splices || "[]"));
    updateTabOrder(feed);
  });
  document.title = `${document.getElementById("thread-title").title} · ContextStudio`;
  feed.dispatchEvent(new CustomEvent("thread:changed"));
  drawMinimap(pieces.filter(isMinimap));
  const settled = facts.dataset.reload ? reload() : Promise.resolve();
  settled.then(() => (focus && !rowOf(focus) && reader && !rowOf(reader) ? bringRow(focus) : null))
    .then(() => { if (focus && rowOf(focus)) focusRow(rowOf(focus)); });
}

/** The row that absorbed the reader's row may begin in a section that isn't loaded. */
async function bringRow(key) {
  const at = await locate({ key }).catch(() => null);
  if (at) await loadRow(at.position);
}

/** Replace one row with its new version. */
export function replaceRow(row, html) {
  keepPlace(() => {
    const fresh = parseHtml(html).querySelector("article");
    row.replaceWith(fresh);
    if (isTopLevel(fresh)) numberRows(fresh.parentElement);
    updateTabOrder(fresh.parentElement);
  });
  feed.dispatchEvent(new CustomEvent("thread:changed"));
  drawMinimap([]);
}

/** Post to a URL below the session's; the answer is a patch. True if it was accepted. */
export function postChange(path, fields = {}) {
  return enqueue(async () => {
    const answer = await fetchText(session.url + path, { method: "POST", fields: { ...fields, ...pageState() } });
    applyPatch(answer);
    return true;
  }).catch((error) => {
    if (!(error instanceof Refused)) throw error;
    if (error.dialog) document.dispatchEvent(new CustomEvent("thread:asked", { detail: error.dialog }));
    return false;
  });
}

/**
 * Record an edit of the kind `type`; keys are joined by spaces in one field. Clears the selection
 * it applied to, unless it `stays` for the next step.
 */
export async function recordEdit(type, fields, { stays = false } = {}) {
  const stage = session.stages ? { stage: "1" } : {};
  const done = await postChange("operations", { type, ...stage, ...fields });
  if (done && !stays) clearIfActedOn(fields.targets ?? fields.moved);
  return done;
}
