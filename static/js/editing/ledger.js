/**
 * What each operation costs once and saves per turn, shown in the drawer. Estimating needs a
 * context, so it is requested only while the drawer is visible, a moment after the last change. For
 * a long thread the server answers with a button, and estimates when it is pressed.
 */
import { parseHtml } from "../base/fragment.js";
import { fetchText } from "../base/requests.js";
import { feed, session } from "../thread/session.js";
import { showHindsight } from "./hindsight.js";
import { defineActions } from "../base/actions.js";

const DELAY = 1200;
const panel = document.getElementById("panel-operations");
let isSeen = false;
let estimatedAt = -1;
let asked = 0;
let timer = 0;

async function load() {
  const { head } = session;
  const isKnown = head === estimatedAt && !panel.querySelector("[data-awaited]");
  if (!isSeen || isKnown || !panel.querySelector("[data-late]")) return;
  estimatedAt = head;
  await show({});
}

/**
 * Request the lines and show them. Answers to requests that are no longer the latest are ignored.
 */
async function show(fields) {
  asked += 1;
  const mine = asked;
  try {
    const found = parseHtml(await fetchText(`${session.url}ledger`, { fields, quiet: true }));
    if (mine !== asked) return;
    for (const line of panel.querySelectorAll("[data-late]")) {
      line.removeAttribute("data-awaited");
      line.replaceChildren(...found.querySelector(`[data-late="${line.dataset.late}"]`)?.childNodes ?? []);
    }
  } catch {
    if (mine === asked) estimatedAt = -1;
  }
}

function soon() {
  clearTimeout(timer);
  timer = setTimeout(load, DELAY);
}

export function watchLedger() {
  if (!panel || !feed) return;
  defineActions({
    estimate: () => {
      show({ asked: 1 });
      showHindsight({ asked: 1 });
    },
  });
  new IntersectionObserver((seen) => {
    isSeen = seen.at(-1).isIntersecting;
    if (isSeen) soon();
  }).observe(panel);
  for (const event of ["thread:changed", "thread:back"]) feed.addEventListener(event, soon);
}
