/** What every page has: notices, theme, key sheet, palette, closing and copying. */
import "./base/theme.js";
import { toast } from "./base/toast.js";
import { GONE, UNREACHABLE } from "./base/failures.js";
import { send } from "./base/requests.js";
import "./base/keys.js";
import "./base/key_sheet.js";
import "./base/palette.js";
import "./live/following.js";
import "./sessions/recall.js";
import { copyText } from "./editing/copying.js";
import { defineActions } from "./base/actions.js";

/** Submit the form of the open dialog or, without one, of the focused field, as Enter does. */
function save(pressed) {
  const shown = pressed.closest("dialog") ?? document.querySelector("dialog[open]");
  if (shown) shown.querySelector("form")?.requestSubmit();
  else if (pressed.matches("input, select, textarea")) {
    pressed.form?.requestSubmit(pressed.form.querySelector("button:not([type=button])"));
  }
}

const STOPPED_MS = 10000;
let sent = null;
let stopped = 0;
let asking = false;

/** Remember the form being sent, until the answer arrives or, if loading was stopped, a timeout. */
function keepSent(form) {
  sent = form;
  clearTimeout(stopped);
  if (form) stopped = setTimeout(keepSent, STOPPED_MS, null);
}

let answered = null;

/**
 * Send a form with a text only to a server that answers: the browser would show a page of its own
 * instead, and the text would be out of sight.
 */
async function sendOnceAnswered(form, submitter) {
  if (asking) return;
  asking = true;
  const isSent = await isAnswered().finally(() => { asking = false; });
  if (!isSent || !form.isConnected) return;
  answered = form;
  form.requestSubmit(submitter);
  answered = null;
}

async function isAnswered() {
  try {
    await send(location.pathname, { method: "HEAD", quiet: true });
  } catch ({ status, message }) {
    // The address of a form that was refused may take nothing but a form.
    if (status === 405) return true;
    if (status !== 401) toast(status === 404 ? GONE : status ? message : UNREACHABLE, "error");
    return false;
  }
  return true;
}

addEventListener("submit", (event) => {
  if (event.defaultPrevented) return;
  const form = event.target;
  // A second press would repeat the action, and only the second answer would be shown.
  if (sent === form && form.method === "post") event.preventDefault();
  else if (form.method === "post" && form.querySelector("textarea") && answered !== form) {
    event.preventDefault();
    sendOnceAnswered(form, event.submitter);
  } else keepSent(form);
});
addEventListener("pageshow", () => keepSent(null));

/** Unsent text in a text area outside dialogs, where no draft is kept. */
const isUnsent = ({ value, defaultValue }) => value !== defaultValue;
addEventListener("beforeunload", (event) => {
  const typed = [...document.querySelectorAll("form:not(dialog form) textarea")];
  if (!sent && typed.some(isUnsent)) event.preventDefault();
});

const FOCUSABLE = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]";
let held = null;

/** Remember the focused element if it is about to be swapped out. */
function rememberFocus({ detail }) {
  held = detail.target.contains(document.activeElement) ? document.activeElement : null;
}

/**
 * Then move the focus to the first focusable element of the new content, unless htmx or the page
 * already moved it.
 */
function keepFocus({ target }) {
  if (!held || held.isConnected || document.activeElement !== document.body) return;
  const isPlace = (one) => one.matches(FOCUSABLE) && one.checkVisibility();
  const place = [target, ...target.querySelectorAll(FOCUSABLE)].find(isPlace) ?? target;
  if (!place.matches(FOCUSABLE)) place.tabIndex = -1;
  place.focus({ preventScroll: true });
}

document.addEventListener("htmx:beforeSwap", rememberFocus);
// After settling, because by then parts of the page may have moved the focus.
document.addEventListener("htmx:afterSettle", keepFocus);

/** Refuse files dropped where nothing accepts them: browsers would leave the page to open them. */
function refuseFiles(event) {
  if (event.defaultPrevented || !event.dataTransfer?.types.includes("Files")) return;
  event.preventDefault();
  event.dataTransfer.dropEffect = "none";
}

// On the window, so that it runs last: the sessions page accepts files.
for (const type of ["dragover", "drop"]) addEventListener(type, refuseFiles);

// The pages of a session: each link with data-place is a command too.
for (const link of document.querySelectorAll("a[data-place]")) {
  defineActions({ [link.dataset.place]: () => location.assign(link.href) });
}

// What a form was answered with may be far from it on a long page: scroll to what was refused, or to
// the secret that is shown this once, and focus it.
const answer = document.querySelector("main [aria-invalid=true]")
  ?? document.querySelector("main .refusal")
  ?? document.getElementById("made-title");
answer?.scrollIntoView({ block: "center" });
answer?.focus({ preventScroll: true });

// In a narrow window the places scroll horizontally: show the current one.
document.querySelector(".places [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

defineActions({
  close: ({ pressed }) => pressed.closest("dialog")?.close(),
  save: ({ pressed }) => save(pressed),
  copy: ({ pressed }) => copyText(document.getElementById(pressed.dataset.copy).textContent),
});
