/** What every page has: notices, colours, the sheet of keys, the palette, closing and copying. */
import "./base/theme.js";
import "./base/toast.js";
import "./base/failures.js";
import "./base/keys.js";
import "./base/key_sheet.js";
import "./base/palette.js";
import "./live/following.js";
import "./sessions/recall.js";
import { copyText } from "./editing/copying.js";
import { define } from "./base/actions.js";

/** Send the form of the dialog that is open, or that of the field with the focus, as Enter in a line would. */
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

/** The form that is on its way, until its answer is there, or the browser was stopped. */
function keepSent(form) {
  sent = form;
  clearTimeout(stopped);
  if (form) stopped = setTimeout(keepSent, STOPPED_MS, null);
}

addEventListener("submit", (event) => {
  if (event.defaultPrevented) return;
  // Pressed twice, what it asks for would be done twice, and only the second answer shown.
  if (sent === event.target && sent.method === "post") event.preventDefault();
  else keepSent(event.target);
});
addEventListener("pageshow", () => keepSent(null));

/** Words of many lines that were typed outside a dialog, where no draft is kept, and not sent. */
const isUnsent = ({ value, defaultValue }) => value !== defaultValue;
addEventListener("beforeunload", (event) => {
  const typed = [...document.querySelectorAll("form:not(dialog form) textarea")];
  if (!sent && typed.some(isUnsent)) event.preventDefault();
});

const FOCUSABLE = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]";
let held = null;

/** What has the focus may be swapped away with what holds it. */
function rememberFocus({ detail }) {
  held = detail.target.contains(document.activeElement) ? document.activeElement : null;
}

/** Then the focus goes on at the first of what came, unless htmx or the page has a better place for it. */
function keepFocus({ target }) {
  if (!held || held.isConnected || document.activeElement !== document.body) return;
  const isPlace = (one) => one.matches(FOCUSABLE) && one.checkVisibility();
  const place = [target, ...target.querySelectorAll(FOCUSABLE)].find(isPlace) ?? target;
  if (!place.matches(FOCUSABLE)) place.tabIndex = -1;
  place.focus({ preventScroll: true });
}

document.addEventListener("htmx:beforeSwap", rememberFocus);
// Not before it has settled: by then parts of the page have led the focus on.
document.addEventListener("htmx:afterSettle", keepFocus);

/** A file that falls where nothing takes it: browsers would open it, and leave the page for that. */
function refuseFiles(event) {
  if (event.defaultPrevented || !event.dataTransfer?.types.includes("Files")) return;
  event.preventDefault();
  event.dataTransfer.dropEffect = "none";
}

// Asked last: the page of sessions takes files.
for (const type of ["dragover", "drop"]) addEventListener(type, refuseFiles);

// The pages of a session: each link that names its place is a command too.
for (const link of document.querySelectorAll("a[data-place]")) {
  define({ [link.dataset.place]: () => location.assign(link.href) });
}

// What was refused may stand far down on a long page: it is shown, and its field has the focus.
const wrong = document.querySelector("main [aria-invalid=true]") ?? document.querySelector("main .refusal");
wrong?.scrollIntoView({ block: "center" });
wrong?.focus({ preventScroll: true });

// In a narrow window they stand in a row that scrolls: show the one that is open.
document.querySelector(".places [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

define({
  close: ({ pressed }) => pressed.closest("dialog")?.close(),
  save: ({ pressed }) => save(pressed),
  copy: ({ pressed }) => copyText(document.getElementById(pressed.dataset.copy).textContent),
});
