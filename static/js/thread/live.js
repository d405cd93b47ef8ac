/** Keeps the page in step with the server: the socket reports the head, and changes are fetched. */
import { applyPatch } from "./patch.js";
import { announce } from "../base/announce.js";
import { removeUndoNotices, toast } from "../base/toast.js";
import { enqueue, isWriting, send } from "../base/requests.js";
import { POLL_MS, followSession } from "../live/socket.js";
import { feed, pageState, session, titleMark } from "./session.js";

const WORDS = {
  live: "Live", polling: "Reconnecting", connecting: "Connecting", offline: "Offline", left: "Out of date",
};
const MEANINGS = {
  live: "Changes by others appear at once",
  polling: "Changes by others appear within 5 seconds",
  offline: "The server can't be reached; changes by others appear once it can",
  left: "Somebody else is signed in by now; load the page again",
};
const MAY = { read: "only read this session", propose: "propose operations", edit: "edit this session" };

let followed = null;
let again = 0;
/** The elements whose requests the server did not answer. */
const unanswered = new Set();
let announced = { head: 0, messages: 0, title: titleMark() };

function show(state) {
  const dot = document.getElementById("live");
  if (!dot || dot.dataset.state === state) return;
  dot.dataset.state = state;
  dot.title = MEANINGS[state] ?? "";
  document.getElementById("live-word").textContent = WORDS[state];
  if (state === "live") askAgain();
}

/** What was requested while the server couldn't be reached is requested once it can. */
function askAgain() {
  for (const element of unanswered) htmx.trigger(element, "thread:unanswered");
  unanswered.clear();
  feed?.dispatchEvent(new CustomEvent("thread:back"));
}

const isBehind = () => announced.head > session.head || announced.messages > session.messages
  || announced.title !== titleMark();

/** Fetch and show what changed since this page's head; on failure, try again later. */
export async function catchUp() {
  try {
    const response = await send(`${session.url}changes`, {
      fields: { since: session.head, ...pageState() }, quiet: true,
    });
    if (response.status !== 204) showWhatCame(await response.text());
    show(followed?.isOpen() ? "live" : "polling");
  } catch (error) {
    if (error.status === 404) goToo();
    if (error.status === 403) {
      leave(error.message);
      return;
    }
    show("offline");
    clearTimeout(again);
    if (!followed?.isPolling()) again = setTimeout(() => enqueue(catchUp), POLL_MS);
  }
}

/** The session is gone, and the page with it, unless a module has a text that would be lost. */
function goToo() {
  if (document.dispatchEvent(new Event("session-gone", { cancelable: true }))) location.reload();
}

/** Another user signed in from another tab: the page stays as it is, marked as out of date. */
function leave(why) {
  const isNew = document.getElementById("live")?.dataset.state !== "left";
  show("left");
  if (isNew) toast(why, "error", { Reload: () => location.reload() });
}

/** What undo and redo would do, according to the drawer's buttons. */
const ownSteps = () => [...document.querySelectorAll("#drawer :is([data-action=undo], [data-action=redo])")]
  .map((button) => button.title).join();

/** The number of operations that await a decision. */
const waiting = () => Number(document.getElementById("bottom-waiting")?.dataset.waiting ?? 0);

/**
 * Show changes from elsewhere and announce them, because they may be far from what is being read.
 * For a change of the user's own from another window, old Undo notices are withdrawn: they would
 * undo that one.
 */
function showWhatCame(patch) {
  const { head, messages } = session;
  const mark = titleMark();
  const before = ownSteps();
  const waited = waiting();
  applyPatch(patch);
  const isOwn = ownSteps() !== before;
  if (isOwn) removeUndoNotices();
  const more = session.messages - messages;
  if (more > 0) announce(more === 1 ? "1 new message" : `${more.toLocaleString("en")} new messages`);
  else if (waiting() > waited) announce(waiting() === 1 ? "1 operation awaits review" : `${waiting()} operations await review`);
  else if (session.head > head) announce(isOwn ? "The thread has changed" : "The thread was changed by somebody else");
  else if (titleMark() !== mark) announce(`Renamed to "${document.getElementById("thread-title").title}"`);
}

/** Our own writes include their changes: look only after those in progress. */
function look() {
  enqueue(async () => { if (isBehind()) await catchUp(); });
}

/** The user's role has changed: what the page offers follows when it is loaded again. */
function noticeRight(right) {
  if (!feed || right === session.right) return;
  session.right = right;
  toast(`Your role has changed: you may ${MAY[right]} now.`, "warning", { Reload: () => location.reload() });
}

function hear({ head, message_count: messages, title_mark: title, right, job }) {
  if (job) {
    document.body.dispatchEvent(new Event("summary"));
    return;
  }
  if (right) noticeRight(right);
  // During an upgrade the message may come from a server of the previous version.
  announced = { head: head ?? 0, messages: messages ?? 0, title: title ?? titleMark() };
  if (isBehind() || isWriting()) look();
  else feed?.dispatchEvent(new CustomEvent("thread:told"));
}

/** Start. A page that returns from the background asks for what it may have missed. */
export function startLiveUpdates() {
  followed = followSession(session.id, {
    hear,
    ask: () => enqueue(catchUp),
    show(isOpen) {
      // Stay offline until something is answered: each failed attempt to connect ends here.
      const wasOffline = document.getElementById("live")?.dataset.state === "offline";
      if (document.getElementById("live")?.dataset.state === "left") return;
      if (isOpen) show("live");
      else show(navigator.onLine && !wasOffline ? "polling" : "offline");
    },
  });
  addEventListener("offline", () => show("offline"));
  document.addEventListener("htmx:sendError", ({ detail }) => unanswered.add(detail.elt));
  document.addEventListener("htmx:responseError", ({ detail }) => {
    if (detail.xhr.status >= 500) unanswered.add(detail.elt);
  });
}
