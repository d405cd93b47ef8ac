/** The minimap: a frame shows what part of the thread is seen, a press goes there. */
import { bring } from "./chunks.js";
import { focusRow } from "./rows.js";
import { allSections, countOf, firstBelow, startOf } from "./sections.js";
import { feed, session } from "./session.js";

const UNITS = 1000;

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
  const scale = UNITS / Math.max(1, session.total);
  const [top, bottom] = [positionAt(100) * scale, positionAt(innerHeight) * scale];
  view.setAttribute("y", top.toFixed(1));
  view.setAttribute("height", Math.max(4, bottom - top).toFixed(1));
}

/** The minimap is swapped after every change, so that the page listens for it. */
async function press(event) {
  const minimap = event.target.closest("#minimap");
  if (!minimap) return;
  const { top, height } = minimap.getBoundingClientRect();
  const position = Math.floor(((event.clientY - top) / height) * session.total);
  focusRow(await bring(Math.max(0, position)), { block: "start" });
}

export function watchMinimap() {
  if (!feed) return;
  // Scrolling is told once a frame, before anything is written in it: to measure then costs nothing.
  addEventListener("scroll", show, { passive: true });
  feed.addEventListener("thread:drawn", () => requestAnimationFrame(show));
  document.addEventListener("click", press);
  show();
}
