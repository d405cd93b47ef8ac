/**
 * What the user is told when a request fails: the server's own sentence, in whichever form it came;
 * otherwise that the server can't be reached or couldn't answer. htmx alone would show nothing.
 */
import { parseHtml } from "./fragment.js";
import { toast } from "./toast.js";

const NOT_READ = "Can't reach the server.";
/** Also used for edits that only ask for confirmation first. */
export const UNREACHABLE = `${NOT_READ} Nothing was changed.`;
/** Told where a session is gone while a text on its page isn't saved. */
export const GONE = "This session was deleted, or you may no longer see it. Copy what you wrote: it can't be saved here.";
let isGone = false;

/**
 * Tell once that a page stays though its session is gone. From then on it is also what the user is
 * told of each request that doesn't find the session.
 */
export function tellGone() {
  if (!isGone) toast(GONE, "error");
  isGone = true;
}

const isFromGone = (status) => isGone && status === 404;

const isPage = (answer) => /^\s*<(!doctype|html)/i.test(answer);

/**
 * The sentence of a refusal. `answer` is a notice, a REST problem document, or an unrelated page.
 */
export function sentenceOf(status, answer) {
  const told = answer.trimStart().startsWith("{") ? problemIn(answer) : noticeIn(answer).textContent.trim();
  return told || (status < 500 ? `The server refused the request (${status}).` : `The server couldn't answer (${status}).`);
}

function problemIn(answer) {
  try {
    return JSON.parse(answer).detail;
  } catch {
    return "";
  }
}

/** The elements of an answer; empty for a whole page. */
export const noticeIn = (answer) => parseHtml(isPage(answer) ? "" : answer);

/** Show a refusal. The server's own notice is shown as it is, since it may offer an alternative. */
export function showRefusal(status, answer) {
  const notice = noticeIn(answer).querySelector(".toast");
  if (isFromGone(status)) toast(GONE, "error");
  else if (notice) document.getElementById("toasts")?.append(notice);
  else toast(sentenceOf(status, answer), "error");
}

/** Sign in again, then return here. On the "signed-out" event, modules save unsent text. */
export function signInAgain() {
  document.dispatchEvent(new Event("signed-out"));
  const here = location.pathname + location.search + location.hash;
  location.assign(`/sign-in?next=${encodeURIComponent(here)}`);
}

/** Whether the user waits for the answer. Requests the page makes by itself are repeated anyway. */
const isAwaited = ({ requestConfig }) => requestConfig.triggeringEvent?.isTrusted === true;

/** Whether a refusal is a fragment of a page that explains the error itself. */
export const isErrorForm = (xhr) => xhr.status >= 400 && xhr.status < 500
  && xhr.getResponseHeader("Content-Type")?.startsWith("text/html") && !isPage(xhr.responseText);

function onAnswer({ detail }) {
  const { xhr } = detail;
  if (xhr.status < 400 || (isErrorForm(xhr) && !isFromGone(xhr.status))) return;
  detail.shouldSwap = false;
  if (xhr.status === 401) signInAgain();
  else if (isAwaited(detail)) showRefusal(xhr.status, xhr.responseText);
}

document.addEventListener("htmx:beforeSwap", onAnswer);
document.addEventListener("htmx:sendError", ({ detail }) => {
  if (isAwaited(detail)) toast(detail.requestConfig.verb === "get" ? NOT_READ : UNREACHABLE, "error");
});
