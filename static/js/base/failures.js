/**
 * What a person is told where a request fails: the server's own sentence, whatever form it has; else that
 * it can't be reached, or what stands before it answered. htmx by itself would say nothing of it.
 */
import { fragment } from "./fragment.js";
import { toast } from "./toast.js";

const NOT_READ = "Can't reach the server.";
/** Of an edit too that only asks something first. */
export const UNREACHABLE = `${NOT_READ} Nothing was changed.`;

const isPage = (answer) => /^\s*<(!doctype|html)/i.test(answer);

/** The sentence of a refusal; `answer` is a notice, a problem as REST tells it, or somebody else's page. */
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

/** The elements of an answer; none of a whole page. */
export const noticeIn = (answer) => fragment(isPage(answer) ? "" : answer);

/** Show a refusal: the server's own notice as it is, for it may offer what would work. */
export function showRefusal(status, answer) {
  const notice = noticeIn(answer).querySelector(".toast");
  if (notice) document.getElementById("toasts")?.append(notice);
  else toast(sentenceOf(status, answer), "error");
}

/** To the sign-in page, and from there back to where one is. "signed-out" tells who has words to keep. */
export function signInAgain() {
  document.dispatchEvent(new Event("signed-out"));
  const here = location.pathname + location.search + location.hash;
  location.assign(`/sign-in?next=${encodeURIComponent(here)}`);
}

/** Whether somebody waits for the answer: what a page asks by itself, it asks again. */
const isAwaited = ({ requestConfig }) => requestConfig.triggeringEvent?.isTrusted === true;

/** Whether a refusal is a part of a page that says why by itself. */
export const isForm = (xhr) => xhr.status >= 400 && xhr.status < 500
  && xhr.getResponseHeader("Content-Type")?.startsWith("text/html") && !isPage(xhr.responseText);

function onAnswer({ detail }) {
  const { xhr } = detail;
  if (xhr.status < 400 || isForm(xhr)) return;
  detail.shouldSwap = false;
  if (xhr.status === 401) signInAgain();
  else if (isAwaited(detail)) showRefusal(xhr.status, xhr.responseText);
}

document.addEventListener("htmx:beforeSwap", onAnswer);
document.addEventListener("htmx:sendError", ({ detail }) => {
  if (isAwaited(detail)) toast(detail.requestConfig.verb === "get" ? NOT_READ : UNREACHABLE, "error");
});
