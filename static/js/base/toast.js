/** Notices: the server appends them to #toasts, or a script makes one. Errors stay. */
import { alarm, say } from "./announce.js";
import { element } from "./fragment.js";
import { define } from "./actions.js";

const STAYS_MS = 8000;
const MOST_ERRORS = 3;
const box = document.getElementById("toasts");
const pattern = document.getElementById("toast-pattern");
let came = null;

/**
 * Show a notice of one sentence; `level` is "", "warning" or "error". `choices` are what may be done about
 * it, by the words on their buttons: such a notice stays until one is chosen.
 */
export function toast(sentence, level = "", choices = {}) {
  if (!box) return;
  const notice = pattern.content.firstElementChild.cloneNode(true);
  const buttons = Object.entries(choices).map(([name, act]) => {
    const button = element("button", { class: "button button--small", type: "button" }, name);
    button.addEventListener("click", () => {
      button.closest(".toast").remove();
      act();
    });
    return button;
  });
  const kind = buttons.length ? `${level} toast--asks` : level;
  notice.className = kind ? `toast toast--${kind}` : "toast";
  notice.querySelector("p").textContent = sentence;
  if (!level) notice.querySelector(".i").remove();
  notice.lastElementChild.before(...buttons);
  box.append(notice);
  buttons[0]?.focus();
}

/** Where the focus was before it came to the notices; if that is gone, what is current on the page. */
function wayBack() {
  const places = [came, document.getElementById(came?.id), document.querySelector("#main [tabindex='0']")];
  return places.find((place) => place?.isConnected);
}

/** Take a notice away; the focus that was in it goes to the `next` one, or back. */
function takeAway(notice, next) {
  const had = notice.contains(document.activeElement);
  notice.remove();
  if (had) (next?.querySelector("button") ?? wayBack())?.focus({ preventScroll: true });
}

/**
 * A newer notice takes the place of the one before: its Undo would mean another entry. An error that is
 * told again takes the place of itself.
 */
function makeRoom(notice) {
  const others = [...box.children].filter((one) => one !== notice);
  const [again, errors] = [true, false].map((same) => others.filter((one) =>
    one.matches(".toast--error") && (one.textContent === notice.textContent) === same));
  again.forEach((one) => takeAway(one, notice));
  const old = notice.matches(".toast--error") ? [] : others.filter((one) => !errors.includes(one));
  for (const one of [...old, ...errors.slice(0, -MOST_ERRORS + 1)]) takeAway(one, notice);
}

/** Beside an open dialog nothing can be pressed or heard: what went wrong is told above its buttons. */
function tellInDialog(notice) {
  const foot = document.querySelector("dialog:modal .dialog-foot");
  if (!foot) return false;
  for (const old of foot.parentElement.querySelectorAll(".toast")) old.remove();
  notice.setAttribute("role", "alert");
  foot.before(notice);
  notice.scrollIntoView({ block: "nearest" });
  return true;
}

/** Take away the notices that offer to undo or redo what is no longer the newest. */
export function withdrawSteps() {
  for (const step of box.querySelectorAll("[data-action=undo], [data-action=redo]")) takeAway(step.closest(".toast"));
}

/** Announce a notice, and take it away unless somebody is at it or it tells of an error. */
function tend(notice) {
  const isError = notice.matches(".toast--error");
  if (isError && tellInDialog(notice)) return;
  makeRoom(notice);
  (isError ? alarm : say)(notice.querySelector("p")?.textContent);
  if (isError || notice.matches(".toast--asks")) return;
  const leave = () => {
    if (notice.matches(":hover, :focus-within")) setTimeout(leave, STAYS_MS / 2);
    else notice.remove();
  };
  setTimeout(leave, STAYS_MS);
}

if (box) {
  box.addEventListener("focusin", ({ relatedTarget }) => {
    if (relatedTarget && !box.contains(relatedTarget)) came = relatedTarget;
  });
  for (const notice of box.children) tend(notice);
  new MutationObserver((changes) => {
    for (const { addedNodes } of changes) {
      for (const node of addedNodes) if (node.matches?.(".toast")) tend(node);
    }
  }).observe(box, { childList: true });
}

define({ dismiss: ({ source }) => takeAway(source.closest(".toast")) });
