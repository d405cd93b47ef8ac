/**
 * What each operation costs once and saves each turn stands in the drawer. It takes a context to
 * reckon, so that it is asked for only while the drawer is seen, and a moment after the last change;
 * of a long thread the server answers a button, and reckons when that is pressed.
 */
import { fragment } from "../base/fragment.js";
import { text } from "../base/requests.js";
import { feed, session } from "../thread/session.js";
import { define } from "../base/actions.js";

const DELAY = 1200;
const panel = document.getElementById("panel-operations");
let isSeen = false;
let reckoned = -1;
let timer = 0;

async function load() {
  const { head } = session;
  if (!isSeen || head === reckoned || !panel.querySelector("[data-late]")) return;
  reckoned = head;
  await show({});
}

async function show(fields) {
  try {
    const found = fragment(await text(`${session.url}ledger`, { fields, quiet: true }));
    for (const line of panel.querySelectorAll("[data-late]")) {
      line.replaceChildren(...found.querySelector(`[data-late="${line.dataset.late}"]`)?.childNodes ?? []);
    }
  } catch {
    reckoned = -1;
  }
}

function soon() {
  clearTimeout(timer);
  timer = setTimeout(load, DELAY);
}

export function watchLedger() {
  if (!panel || !feed) return;
  define({ reckon: () => show({ asked: 1 }) });
  new IntersectionObserver((seen) => {
    isSeen = seen.at(-1).isIntersecting;
    if (isSeen) soon();
  }).observe(panel);
  feed.addEventListener("thread:changed", soon);
}
