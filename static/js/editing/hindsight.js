/**
 * What a fold left out and was needed later is shown on its marker, and listed in the drawer. The
 * server reads the whole thread for it, so it is requested a moment after the last change, and only
 * if there is a marker. The lines are kept for rows loaded later by scrolling.
 */
import { parseHtml } from "../base/fragment.js";
import { fetchText } from "../base/requests.js";
import { feed, session } from "../thread/session.js";

const DELAY = 1400;
const PLACES = ["needed", "lost"];
let lines = parseHtml("");
let askedAt = -1;
let timer = 0;

/** Request the lines; `fields` may say that the user asked for them, in a long thread. */
export async function showHindsight(fields = {}) {
  const { head } = session;
  if (!document.querySelector("[data-needed]") || (head === askedAt && !fields.asked)) return;
  askedAt = head;
  try {
    lines = parseHtml(await fetchText(`${session.url}hindsight`, { fields, quiet: true }));
    place();
  } catch {
    askedAt = -1;
  }
}

function place() {
  for (const name of PLACES) {
    for (const at of document.querySelectorAll(`[data-${name}]`)) {
      const found = lines.querySelector(`[data-${name}="${at.dataset[name]}"]`);
      if (found || at.hasChildNodes()) at.replaceChildren(...found?.cloneNode(true).childNodes ?? []);
    }
  }
}

function soon() {
  place();
  clearTimeout(timer);
  timer = setTimeout(showHindsight, DELAY);
}

export function watchHindsight() {
  if (!feed) return;
  for (const event of ["thread:changed", "thread:loaded", "thread:drawn", "thread:back"]) feed.addEventListener(event, soon);
  soon();
}
