/** Notices: appended to #toasts by the server, or created by scripts. Errors stay until closed. */
import { announce, announceError } from "./announce.js";
import { createElement } from "./fragment.js";
import { defineActions } from "./actions.js";

const STAYS_MS = 8000;
const MAX_ERRORS = 3;
const box = document.getElementById("toasts");
const pattern = document.getElementById("toast-pattern");
let came = null;

/**
 * Show a one-sentence notice; `level` is "", "warning" or "error". `choices` maps button labels to
 * functions; a notice with choices stays until one is chosen.
 */
export function toast(sentence, level = "", choices = {}) {
  if (!box) return;
  const notice = pattern.content.firstElementChild.cloneNode(true);
  const buttons = Object.entries(choices).map(([name, act]) => {
    const button = createElement("button", { class: "button button--small", type: "button" }, name);
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

/** Where the focus was before it moved to the notices, or the current row if that is gone. */
function wayBack() {
  const places = [came, document.getElementById(came?.id), document.querySelector("#main [tabindex='0']")];
  return places.find((place) => place?.isConnected);
}

/** Remove a notice. If it had the focus, it moves to the `next` notice or back. */
function takeAway(notice, next) {
  const had = notice.contains(document.activeElement);
  notice.remove();
  if (had) (next?.querySelector("button") ?? wayBack())?.focus({ preventScroll: true });
}

/**
 * A new notice replaces the previous one, whose Undo would now undo something else. A repeated
 * error replaces its earlier copy, and only the newest few errors are kept.
 */
function makeRoom(notice) {
  const others = [...box.children].filter((one) => one !== notice);
  const [again, errors] = [true, false].map((same) => others.filter((one) =>
    one.matches(".toast--error") && (one.textContent === notice.textContent) === same));
  again.forEach((one) => takeAway(one, notice));
  const old = notice.matches(".toast--error") ? [] : others.filter((one) => !errors.includes(one));
  for (const one of [...old, ...errors.slice(0, -MAX_ERRORS + 1)]) takeAway(one, notice);
}

/** Outside an open dialog everything is inert, so errors are shown inside it, above its buttons. */
function tellInDialog(notice) {
  const foot = document.querySelector("dialog:modal .dialog-foot");
  if (!foot) return false;
  for (const old of foot.parentElement.querySelectorAll(".toast")) old.remove();
  notice.setAttribute("role", "alert");
  foot.before(notice);
  notice.scrollIntoView({ block: "nearest" });
  return true;
}

/** Remove notices that offer to undo or redo something that is no longer the latest change. */
export function removeUndoNotices() {
  for (const step of box.querySelectorAll("[data-action=undo], [data-action=redo]")) takeAway(step.closest(".toast"));
}

/** Announce a notice and remove it later, unless it is an error or has the user's attention. */
function tend(notice) {
  const isError = notice.matches(".toast--error");
  if (isError && tellInDialog(notice)) return;
  makeRoom(notice);
  (isError ? announceError : announce)(notice.querySelector("p")?.textContent);
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

defineActions({ dismiss: ({ source }) => takeAway(source.closest(".toast")) });
