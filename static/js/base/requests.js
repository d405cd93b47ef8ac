/**
 * Requests made by scripts. Writes wait for each other, so that two quick ones can't arrive out of
 * order. A refusal is shown as a notice and thrown as `Refused`.
 */
import { UNREACHABLE, noticeIn, sentenceOf, showRefusal, signInAgain } from "./failures.js";
import { toast } from "./toast.js";

export class Refused extends Error {
  /** `dialog` is the HTML of a question the server asks back, if any; then no notice is shown. */
  constructor(status, sentence, dialog = "") {
    super(sentence);
    this.status = status;
    this.dialog = dialog;
  }
}

// The user has already been told, so callers needn't catch it.
addEventListener("unhandledrejection", (event) => { if (event.reason instanceof Refused) event.preventDefault(); });

/** The headers sent with each request: the CSRF token, and the user the page was rendered for. */
const ownHeaders = () => JSON.parse(document.body.getAttribute("hx-headers") ?? "{}");

const PATIENCE_MS = 700;
let waits = 0;

function count(change) {
  waits += change;
  document.documentElement.toggleAttribute("data-waits", waits > 0);
}

/** Show a waiting indicator once a request takes noticeably long. */
async function shownIfSlow(asked) {
  let shown = 0;
  const timer = setTimeout(() => {
    shown = 1;
    count(1);
  }, PATIENCE_MS);
  try {
    return await asked;
  } finally {
    clearTimeout(timer);
    count(-shown);
  }
}

/** Send a request. `fields` go into the query string or, for POST, the body. */
export async function send(url, { method = "GET", fields = {}, signal, quiet = false } = {}) {
  const headers = { "HX-Request": "true", ...ownHeaders() };
  const body = fields instanceof FormData ? fields : new URLSearchParams(fields);
  const options = { method, headers, signal, credentials: "same-origin" };
  if (method === "POST") options.body = body;
  else if (body.size) url += `?${body}`;
  let response;
  try {
    const asked = fetch(url, options);
    response = await (quiet ? asked : shownIfSlow(asked));
  } catch (error) {
    if (error.name === "AbortError" || quiet) throw error;
    toast(UNREACHABLE, "error");
    throw new Refused(0, "unreachable");
  }
  const elsewhere = response.headers.get("HX-Redirect");
  if (elsewhere) location.assign(elsewhere);
  if (!response.ok) throw await refusal(response, quiet || elsewhere);
  return response;
}

async function refusal(response, quiet) {
  const { status } = response;
  const answer = await response.text();
  if (noticeIn(answer).querySelector("[data-dialog]")) return new Refused(status, "asks", answer);
  if (status === 401) signInAgain();
  else if (!quiet) showRefusal(status, answer);
  return new Refused(status, sentenceOf(status, answer));
}

export const fetchText = async (url, options) => (await send(url, options)).text();

/** A read whose fields may be too long for a URL; in that case it is sent as a POST. */
export function query(url, fields) {
  const long = Object.values(fields).join(" ").length > 1500;
  return send(url, { method: long ? "POST" : "GET", fields });
}

let last = Promise.resolve();
let waiting = 0;

/** Run `work` when everything queued before it has finished. */
export function enqueue(work) {
  waiting += 1;
  const turn = last.then(work).finally(() => { waiting -= 1; });
  last = turn.catch(() => {});
  return turn;
}

export const isWriting = () => waiting > 0;
