/** What screen readers hear: one polite region, one for alarms. */
import { element } from "./fragment.js";

let timer = 0;

/** What is beside an open dialog is inert, and its regions silent: each dialog has its own. */
function region(name, role) {
  const dialog = document.querySelector("dialog:modal");
  if (!dialog) return document.getElementById(name);
  return dialog.querySelector(`:scope > [role=${role}]`) ?? dialog.appendChild(element("p", { class: "vh", role }));
}

/** Say one sentence; what follows within a moment replaces it. */
export function say(text) {
  const said = region("said", "status");
  if (!said || !text) return;
  clearTimeout(timer);
  said.textContent = "";
  timer = setTimeout(() => { said.textContent = text; }, 60);
}

/** Say what went wrong, at once. */
export function alarm(text) {
  const alarmed = region("alarm", "alert");
  if (alarmed && text) alarmed.textContent = text;
}
