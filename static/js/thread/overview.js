/**
 * Which part of the thread is being read: a frame on the minimap, where a press goes there, and a
 * mark in the outline, at the group of the first row in view. Changes swap both.
 */
import { loadRow } from "./chunks.js";
import { headAt, minimapFrame, minimapPosition } from "./positions.js";
import { firstVisibleRow, focusRow } from "./rows.js";
import { allSections, countOf, firstSectionBelow, startOf } from "./sections.js";
import { feed, session } from "./session.js";

const ORIGINAL = /^m(\d+)$/;
let markedFor = "";

/** The fractional position in the thread at a height of the viewport. */
function positionAt(height) {
  const section = allSections()[firstSectionBelow(height)];
  if (!section) return session.total;
  const { top, bottom } = section.getBoundingClientRect();
  const part = Math.max(0, Math.min(1, (height - top) / Math.max(1, bottom - top)));
  return startOf(section) + part * countOf(section);
}

function frame() {
  const view = document.getElementById("minimap-view");
  if (!view) return;
  const { y, height } = minimapFrame(positionAt(100), positionAt(innerHeight), session.total);
  view.setAttribute("y", y.toFixed(1));
  view.setAttribute("height", height.toFixed(1));
}

const indexOf = (key) => Number(ORIGINAL.exec(key ?? "")?.[1] ?? NaN);

/** The row before another, if it is loaded. */
const rowBefore = (row) =>
  row.previousElementSibling ?? row.closest(".chunk").previousElementSibling?.lastElementChild;

/**
 * The link to a row's group. A fold belongs to the group of the first message it holds, a row
 * without messages to that of the row before it, and to the first at the top. A long list omits its
 * middle, so the link before the gap can't be relied on.
 */
function linkTo(row) {
  const links = [...document.querySelectorAll("#outline-list > li > a")];
  const last = document.querySelector("#outline-list > :has(+ [data-more]) > a");
  let first = row;
  for (let one = row; one; one = rowBefore(one)) {
    first = one;
    const own = document.querySelector(`#outline-list a[data-to="${one.dataset.key}"]`);
    if (own) return links.find((link) => link.parentElement.contains(own));
    const index = indexOf(one.dataset.first ?? one.dataset.key);
    if (index >= 0) {
      const link = links[headAt(links.map((one) => indexOf(one.dataset.to)), index)];
      return link === last ? null : link;
    }
  }
  return startOf(first.closest(".chunk")) === 0 ? links[0] : null;
}

function mark() {
  const row = firstVisibleRow();
  if (!row || row.dataset.key === markedFor) return;
  markedFor = row.dataset.key;
  document.querySelector("#outline-list a[aria-current]")?.removeAttribute("aria-current");
  const link = linkTo(row);
  link?.setAttribute("aria-current", "true");
  if (link) showInOutline(link);
}

/** Scroll a long outline to a link, unless the user is in the outline. */
function showInOutline(link) {
  const outline = link.closest(".outline");
  if (outline.matches(":hover, :focus-within")) return;
  const { top, bottom } = link.getBoundingClientRect();
  const seen = outline.getBoundingClientRect();
  if (top < seen.top || bottom > seen.bottom) outline.scrollTop += top - seen.top - seen.height / 2;
}

/** The mark comes first: what the frame writes would force a layout when measuring. */
function show() {
  mark();
  frame();
}

function showAnew() {
  markedFor = "";
  show();
}

async function press(event) {
  const minimap = event.target.closest("#minimap");
  if (!minimap) return;
  const { top, height } = minimap.getBoundingClientRect();
  const position = minimapPosition(event.clientY - top, height, session.total);
  focusRow(await loadRow(position), { block: "start" });
}

export function watchOverview() {
  if (!feed) return;
  // Scroll events fire once per frame, before anything is written in it, so measuring is free.
  addEventListener("scroll", show, { passive: true });
  feed.addEventListener("thread:drawn", () => requestAnimationFrame(showAnew));
  document.addEventListener("click", press);
  show();
}
