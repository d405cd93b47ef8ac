/**
 * Dragging rows by the handle. The rows stay in place, a line shows where they would go, and the
 * thread scrolls and loads under the pointer. Dropping posts the new order by keys; Escape cancels.
 */
import { announce } from "../base/announce.js";
import { toast } from "../base/toast.js";
import { keepLoaded } from "../thread/chunks.js";
import { changesNothing, edgeSpeed } from "./dropping.js";
import { moveAfter } from "./move.js";
import { nameOf, rowAt } from "../thread/rows.js";
import { adjacentSection, allSections, isLoaded, positionOf } from "../thread/sections.js";
import { findSeparated, targetsFor } from "../thread/selection.js";
import { feed, rowOf, session } from "../thread/session.js";

const SLOP_PX = 6;
const PRESS_MS = 250;
const EDGE_PX = 90;
const BARS_PX = 80;

const line = document.getElementById("drop");
const preview = document.getElementById("drag-preview");
let drag = null;
let wasDragged = false;

function onDown(event) {
  const handle = event.target.closest("[data-action=drag]");
  if (!handle || event.button !== 0 || session.readOnly || drag) return;
  const row = rowAt(handle);
  wasDragged = false;
  drag = { handle, row, x: event.clientX, y: event.clientY, pointer: event.pointerId, active: false };
  if (event.pointerType === "touch") drag.timer = setTimeout(begin, PRESS_MS);
  else event.preventDefault();
  addEventListener("pointermove", onMove);
  addEventListener("pointerup", onUp);
  addEventListener("pointercancel", cancel);
  addEventListener("keydown", onKey, true);
}

function begin() {
  const keys = targetsFor(drag.row, { preferRow: true });
  drag.active = wasDragged = true;
  drag.keys = keys;
  drag.release = keepLoaded(drag.row.closest(".chunk"));
  drag.handle.focus({ preventScroll: true });
  drag.handle.setPointerCapture?.(drag.pointer);
  for (const key of keys) rowOf(key)?.classList.add("is-dragged");
  const what = keys.length === 1 ? nameOf(drag.row) : `${keys.length} messages`;
  document.getElementById("drag-preview-label").textContent = what;
  preview.hidden = false;
  announce(`Picked up ${what}. Press Escape to cancel.`);
  drag.frame = requestAnimationFrame(roll);
  follow();
  const own = drag;
  findSeparated(keys).then((parted) => {
    own.parted = parted;
    if (own === drag) follow();
  }).catch(() => {});
}

function onMove(event) {
  if (event.pointerId !== drag.pointer) return;
  const far = Math.hypot(event.clientX - drag.x, event.clientY - drag.y) >= SLOP_PX;
  if (!drag.active && far && drag.timer) return end();
  Object.assign(drag, drag.active || far ? { x: event.clientX, y: event.clientY } : {});
  if (!drag.active && far) begin();
  if (drag.active) follow();
  return undefined;
}

/** Move the preview with the pointer, and the line to the nearest border between two rows. */
function follow() {
  preview.style.transform = `translate(${drag.x + 14}px, ${drag.y - 16}px)`;
  const spot = spotAt(Math.max(BARS_PX, Math.min(drag.y, innerHeight - SLOP_PX)));
  drag.spot = spot;
  line.hidden = !spot;
  if (!spot) return;
  const base = line.offsetParent?.getBoundingClientRect().top ?? -scrollY;
  line.style.top = `${spot.y - base}px`;
  spot.fault = spot.same ? "" : faultAt(spot.row);
  line.classList.toggle("is-refused", spot.same);
  line.classList.toggle("is-illegal", Boolean(spot.fault));
  const place = spot.row ? `after ${nameOf(spot.row)}` : "at the top";
  const label = spot.same ? "current position" : [place, spot.fault].filter(Boolean).join(": ");
  if (label !== drag.label) announce(label);
  drag.label = label;
  document.getElementById("drop-label").textContent = label;
}

/** The border between top-level rows nearest to a height in the viewport. */
function spotAt(y) {
  for (const section of allSections()) {
    const box = section.getBoundingClientRect();
    const isLast = adjacentSection(section, 1) === undefined;
    if ((box.bottom < y && !isLast) || !section.children.length) continue;
    if (!isLoaded(section) || box.top > y + EDGE_PX) return null;
    const reaches = (one) => one.getBoundingClientRect().bottom >= y;
    const row = [...section.children].find(reaches) ?? section.lastElementChild;
    const { top, bottom } = row.getBoundingClientRect();
    const above = y < (top + bottom) / 2;
    const behind = above ? rowBefore(row) : row;
    if (behind === undefined) return null;
    return { row: behind, y: above ? top : bottom, same: staysBehind(behind) };
  }
  return null;
}

/** The row before another; null at the top, undefined if it isn't loaded. */
function rowBefore(row) {
  if (row.previousElementSibling) return row.previousElementSibling;
  const section = adjacentSection(row.closest(".chunk"), -1);
  if (!section) return null;
  return section.lastElementChild ?? undefined;
}

/** Why a drop after this row would separate a tool call from its result, in words; else "". */
function faultAt(behind) {
  if (drag.parted?.keys.length) return drag.parted.sentence.toLowerCase();
  return isResult(following(behind)) ? "between a tool call and its result" : "";
}

const isResult = (row) => Boolean(row?.matches(".row--tool")) && !drag?.keys.includes(row.dataset.key);

/** The next row after another that isn't being dragged, or the first row of all. */
function following(behind) {
  let next = behind ? rowAfter(behind) : document.querySelector("#feed .chunk > article");
  while (next && drag?.keys.includes(next.dataset.key)) next = rowAfter(next);
  return next;
}

function rowAfter(row) {
  return row.nextElementSibling ?? adjacentSection(row.closest(".chunk"), 1)?.firstElementChild;
}

/** Whether a drop after this row would change nothing. */
function staysBehind(behind) {
  const placed = (row) => row && { key: row.dataset.key, position: positionOf(row) };
  const only = drag.keys.length === 1 ? rowOf(drag.keys[0]) : null;
  return changesNothing(drag.keys, placed(behind), placed(only));
}

/** Scroll near the edges: faster the closer the pointer is and the longer it stays. */
function roll(now) {
  if (!drag?.active) return;
  const speed = edgeSpeed(drag.y, { top: BARS_PX, bottom: innerHeight }, now - (drag.since ?? now));
  if (speed) {
    drag.since ??= now;
    scrollBy({ top: speed, behavior: "instant" });
    follow();
  } else drag.since = undefined;
  drag.frame = requestAnimationFrame(roll);
}

function onUp(event) {
  if (event.pointerId !== drag.pointer) return;
  const { active, keys, spot, handle, parted } = drag;
  const fault = spot?.fault;
  const behindResults = fault && !parted?.keys.length ? lastResult(spot.row) : null;
  end();
  if (!active) return;
  if (!spot || spot.same) {
    announce("Not moved.");
    return;
  }
  const move = (moved, row) => moveAfter(moved, row?.dataset.key ?? "", row && nameOf(row))
    .then((done) => { if (!done) handle.focus(); });
  if (!fault) {
    move(keys, spot.row);
  } else if (behindResults) {
    toast("This is between a tool call and its result.", "warning", {
      "Move behind the result": () => move(keys, behindResults),
      "Move anyway": () => move(keys, spot.row),
    });
  } else {
    toast(`${parted.sentence}.`, "warning", {
      "Move both halves": () => move([...keys, ...parted.keys], spot.row),
      "Move anyway": () => move(keys, spot.row),
    });
  }
}

/** The last of the tool results that follow a row. */
function lastResult(behind) {
  let last = behind;
  for (let next = following(last); isResult(next); next = following(last)) last = next;
  return last;
}

function onKey(event) {
  if (event.key !== "Escape" || !drag.active) return;
  event.preventDefault();
  event.stopPropagation();
  cancel();
}

function cancel() {
  const { handle, row, active } = drag;
  end();
  if (!active) return;
  handle.focus({ preventScroll: true });
  announce(`Cancelled, back at ${nameOf(row)}.`);
}

function end() {
  clearTimeout(drag.timer);
  cancelAnimationFrame(drag.frame);
  drag.release?.();
  for (const key of drag.keys ?? []) rowOf(key)?.classList.remove("is-dragged");
  line.hidden = preview.hidden = true;
  drag = null;
  removeEventListener("pointermove", onMove);
  removeEventListener("pointerup", onUp);
  removeEventListener("pointercancel", cancel);
  removeEventListener("keydown", onKey, true);
}

export function watchDrag() {
  if (!feed || session.readOnly || !line) return;
  feed.addEventListener("pointerdown", onDown);
  // A click made by a key, whose detail is 0, opens the menu even after a drag.
  feed.addEventListener("click", (event) => {
    if (wasDragged && event.detail && event.target.closest("[data-action=drag]")) event.stopPropagation();
  }, true);
}
