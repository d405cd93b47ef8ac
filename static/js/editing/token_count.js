/** The token count of the text in a dialog. The server counts whenever typing pauses. */
import { createElement } from "../base/fragment.js";
import { send } from "../base/requests.js";
import { session } from "../thread/session.js";

const RESTS_MS = 300;
const dialog = document.getElementById("dialog");
let timer = 0;
let asked = 0;

/** The line below a field that shows its token count. */
function lineOf(field) {
  const known = field.parentElement.querySelector(".token-count");
  if (known) return known;
  field.after(createElement("p", { class: "hint token-count" }));
  return field.nextElementSibling;
}

async function count(field) {
  const request = asked += 1;
  const options = { method: "POST", fields: { text: field.value }, quiet: true };
  const { tokens } = await (await send(`${session.url}tokens`, options)).json();
  if (request === asked && field.isConnected) lineOf(field).textContent = `${tokens.toLocaleString("en")} token${tokens === 1 ? "" : "s"}`;
}

/** If the count isn't available it is left out; it must not get in the way of typing. */
function later({ target: field }) {
  if (!field.matches("textarea[data-count-tokens]")) return;
  clearTimeout(timer);
  timer = setTimeout(() => count(field).catch(() => lineOf(field).replaceChildren()), RESTS_MS);
}

/** Start. Text that a dialog opens with is counted too, once it has the focus. */
export function watchTokenCount() {
  dialog?.addEventListener("input", later);
  dialog?.addEventListener("focusin", later);
}
