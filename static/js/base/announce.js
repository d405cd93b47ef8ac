/** Announcements for screen readers: a polite region and an alert region. */
import { createElement } from "./fragment.js";

let timer = 0;

/**
 * While a modal dialog is open, everything outside it is inert and its live regions are silent, so
 * each dialog gets regions of its own.
 */
function region(name, role) {
  const dialog = document.querySelector("dialog:modal");
  if (!dialog) return document.getElementById(name);
  return dialog.querySelector(`:scope > [role=${role}]`) ?? dialog.appendChild(createElement("p", { class: "vh", role }));
}

/** Announce one sentence. Another call within a moment replaces it. */
export function announce(text) {
  const said = region("said", "status");
  if (!said || !text) return;
  clearTimeout(timer);
  said.textContent = "";
  timer = setTimeout(() => { said.textContent = text; }, 60);
}

/** Announce an error immediately. */
export function announceError(text) {
  const alarmed = region("alarm", "alert");
  if (alarmed && text) alarmed.textContent = text;
}
