/**
 * Summaries being written into the thread: each is shown, as it grows, in the row where its digest
 * will be. The digest itself arrives with the next head, like every change.
 */
import { defineActions } from "../base/actions.js";
import { announce } from "../base/announce.js";
import { parseHtml } from "../base/fragment.js";
import { enqueue, fetchText, send } from "../base/requests.js";
import { toast } from "../base/toast.js";
import { catchUp } from "../thread/live.js";
import { updateTabOrder } from "../thread/rows.js";
import { feed, rowOf, session } from "../thread/session.js";

const AGAIN_MS = 2000;
const ENDED = ["done", "failed", "cancelled"];
const known = new Set();
const ordered = new Set();
const dismissed = new Set();
let current = [];
let timer = 0;
let asking = false;
let missed = false;

const isOver = ({ dataset }) => ENDED.includes(dataset.status);

/** Put a summary where it belongs. Unchanged parts stay, with their focus. */
function place(shown) {
  const { job, at } = shown.dataset;
  const old = feed.querySelector(`.pending[data-job="${job}"]`);
  const row = at && rowOf(at);
  if (!row) return old?.remove();
  if (old?.parentElement === row && old.outerHTML === shown.outerHTML) return undefined;
  const action = old?.contains(document.activeElement) && document.activeElement.dataset.address;
  if (old?.parentElement === row) old.replaceWith(shown);
  else {
    old?.remove();
    row.prepend(shown);
  }
  updateTabOrder(shown);
  if (action) (shown.querySelector(`[data-address="${action}"]`) ?? shown.querySelector("button") ?? row).focus();
  return undefined;
}

/** A finished summary is replaced by its digest. */
function end(shown) {
  const { job } = shown.dataset;
  known.delete(job);
  ordered.delete(job);
  feed.querySelector(`.pending[data-job="${job}"]`)?.remove();
  const words = shown.textContent.trim();
  toast(words);
  enqueue(catchUp);
}

function show(html) {
  const all = [...parseHtml(html).querySelectorAll(".pending")];
  const found = all.filter(({ dataset }) => dataset.status !== "failed" || !dismissed.has(dataset.job));
  current = found;
  const ids = new Set(found.map(({ dataset }) => dataset.job));
  for (const old of feed.querySelectorAll(".pending")) if (!ids.has(old.dataset.job)) old.remove();
  for (const shown of found) {
    if (shown.dataset.status === "done") end(shown);
    else {
      if (!known.has(shown.dataset.job)) announce(isOver(shown) ? "A summary failed" : "A summary is being written");
      if (!isOver(shown)) dismissed.delete(shown.dataset.job);
      known.add(shown.dataset.job);
      place(shown);
    }
  }
  return !found.every(isOver);
}

/** Show the summaries again in rows that were loaded or redrawn. */
function placeAgain() {
  for (const shown of current) if (!shown.isConnected && shown.dataset.status !== "done") place(shown);
}

/** Poll the summaries while there are any. */
async function lookForPending() {
  if (!feed) return;
  if (asking) { missed = true; return; }
  asking = true;
  clearTimeout(timer);
  try {
    const fields = { known: [...known, ...ordered].join(",") };
    const goesOn = show(await fetchText(`${session.url}summaries/pending`, { fields, quiet: true }));
    if (goesOn) timer = setTimeout(lookForPending, AGAIN_MS);
  } catch {
    timer = setTimeout(lookForPending, 2 * AGAIN_MS);
  } finally {
    asking = false;
    if (missed) { missed = false; lookForPending(); }
  }
}

/** Announce a summary ordered on this page when it finishes, even if it was never seen running. */
export function awaitSummary(job) {
  ordered.add(job);
  lookForPending();
}

export function watchPending() {
  document.body.addEventListener("summary", lookForPending);
  feed?.addEventListener("thread:loaded", placeAgain);
  feed?.addEventListener("thread:drawn", placeAgain);
  lookForPending();
}

defineActions({
  "summary-act": async ({ pressed }) => {
    pressed.disabled = true;
    try {
      await send(pressed.dataset.address, { method: "POST" });
    } finally {
      pressed.disabled = false;
    }
    lookForPending();
  },
  "summary-dismiss": ({ pressed }) => {
    const shown = pressed.closest(".pending");
    known.delete(shown.dataset.job);
    dismissed.add(shown.dataset.job);
    current = current.filter(({ dataset }) => dataset.job !== shown.dataset.job);
    // Without permission to dismiss it for everyone, it is removed from this page only.
    send(pressed.dataset.address, { method: "POST", quiet: true }).catch(() => {});
    const row = shown.closest("article");
    shown.remove();
    row?.focus();
  },
});
