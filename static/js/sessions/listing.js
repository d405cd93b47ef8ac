/**
 * Keeps the list of sessions current, because agents change sessions while it is open: it is
 * requested again every few seconds, and when the page is shown again.
 */
import { parseHtml } from "../base/fragment.js";
import { morph } from "../base/morph.js";
import { fetchText } from "../base/requests.js";

const POLL_MS = 15000;
const REST_MS = 3000;
let moved = -REST_MS;

/** Whether somebody is about to press something in the list: its rows must not move then. */
function isInUse(list) {
  return performance.now() - moved < REST_MS || list.matches(":focus-within")
    || document.querySelector("dialog[open], :popover-open") !== null;
}

/** Request the list again at its current URL, without losing what was typed. */
export async function refreshListing({ waits = false } = {}) {
  const list = document.getElementById("listing");
  if (!list) {
    location.reload();
    return;
  }
  const page = parseHtml(await fetchText(location.href.split("#")[0], { quiet: true }));
  const fresh = page.querySelector("#listing");
  if (!fresh || (waits && isInUse(list))) return;
  if (!document.querySelector(".list-search")) list.before(...page.querySelectorAll(".list-search"));
  morph(list, fresh);
}

async function keepCurrent() {
  const list = document.getElementById("listing");
  const isSearch = document.querySelector(".found") !== null; // what was found stays
  if (document.hidden || !list || isSearch || isInUse(list)) return;
  try {
    await refreshListing({ waits: true });
  } catch {
    // The server doesn't answer now; the next request comes soon.
  }
}

export function watchListing() {
  document.addEventListener("pointermove", () => { moved = performance.now(); }, { passive: true });
  document.addEventListener("visibilitychange", keepCurrent);
  addEventListener("pageshow", (event) => { if (event.persisted) keepCurrent(); });
  setInterval(keepCurrent, POLL_MS);
}
