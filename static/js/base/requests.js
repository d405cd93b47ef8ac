/**
 * Requests of the scripts. Writes wait for each other, so that two quick ones can't overtake;
 * a refusal is shown as a notice and thrown as `Refused`.
 */
import { UNREACHABLE, noticeIn, sentenceOf, showRefusal, signInAgain } from "./failures.js";
import { toast } from "./toast.js";

export class Refused extends Error {
  /** `dialog`: the HTML of what the server asks back, where it does; then there is no notice. */
  constructor(status, sentence, dialog = "") {
    super(sentence);
    this.status = status;
    this.dialog = dialog;
  }
}

// Whoever asked need not take it up: it has been shown.
addEventListener("unhandledrejection", (event) => { if (event.reason instanceof Refused) event.preventDefault(); });

/** What the page says with each request: its token, and whom it was drawn for. */
const ownHeaders = () => JSON.parse(document.body.getAttribute("hx-headers") ?? "{}");

const PATIENCE_MS = 700;
let waits = 0;

function count(change) {
  waits += change;
  document.documentElement.toggleAttribute("data-waits", waits > 0);
}

/** Show that the server is waited for, once that takes longer than a moment: a press has no answer yet. */
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

/** Ask the server: `fields` go into the address, or with POST into the body. */
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

export const text = async (url, options) => (await send(url, options)).text();

/** A read whose fields may be too long for an address: then it is posted. */
export function ask(url, fields) {
  const long = Object.values(fields).join(" ").length > 1500;
  return send(url, { method: long ? "POST" : "GET", fields });
}

let last = Promise.resolve();
let waiting = 0;

/** Run `work` when everything queued before it is over. */
export function inTurn(work) {
  waiting += 1;
  const turn = last.then(work).finally(() => { waiting -= 1; });
  last = turn.catch(() => {});
  return turn;
}

export const isWriting = () => waiting > 0;
