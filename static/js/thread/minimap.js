/** The minimap: a frame shows what part of the thread is seen, a press goes there. */
import { bring } from "./chunks.js";
import { minimapFrame, minimapPosition } from "./positions.js";
import { focusRow } from "./rows.js";
import { allSections, countOf, firstBelow, startOf } from "./sections.js";
import { feed, session } from "./session.js";

/** The position in the thread, with fractions, at a height of the viewport. */
function positionAt(height) {
  const section = allSections()[firstBelow(height)];
  if (!section) return session.total;
  const { top, bottom } = section.getBoundingClientRect();
  const part = Math.max(0, Math.min(1, (height - top) / Math.max(1, bottom - top)));
  return startOf(section) + part * countOf(section);
}

function show() {
  const view = document.getElementById("minimap-view");
  if (!view) return;
  const { y, height } = minimapFrame(positionAt(100), positionAt(innerHeight), session.total);
  view.setAttribute("y", y.toFixed(1));
  view.setAttribute("height", height.toFixed(1));
}

/** The minimap is swapped after every change, so that the page listens for it. */
async function press(event) {
  const minimap = event.target.closest("#minimap");
  if (!minimap) return;
  const { top, height } = minimap.getBoundingClientRect();
  const position = minimapPosition(event.clientY - top, height, session.total);
  focusRow(await bring(position), { block: "start" });
}

export function watchMinimap() {
  if (!feed) return;
  // Scrolling is told once a frame, before anything is written in it: to measure then costs nothing.
  addEventListener("scroll", show, { passive: true });
  feed.addEventListener("thread:drawn", () => requestAnimationFrame(show));
  document.addEventListener("click", press);
  show();
}
