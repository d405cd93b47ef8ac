/** What the words of a dialog would cost: the server counts them whenever somebody stops typing. */
import { element } from "../base/fragment.js";
import { send } from "../base/requests.js";
import { session } from "../thread/session.js";

const RESTS_MS = 300;
const dialog = document.getElementById("dialog");
let timer = 0;
let asked = 0;

/** The line below a field that says its tokens. */
function lineOf(field) {
  const known = field.parentElement.querySelector(".token-count");
  if (known) return known;
  field.after(element("p", { class: "hint token-count" }));
  return field.nextElementSibling;
}

async function count(field) {
  const request = asked += 1;
  const options = { method: "POST", fields: { text: field.value }, quiet: true };
  const { tokens } = await (await send(`${session.url}tokens`, options)).json();
  if (request === asked && field.isConnected) lineOf(field).textContent = `${tokens.toLocaleString("en")} token${tokens === 1 ? "" : "s"}`;
}

/** A count that can't be had is left out: it must not get in the way of who writes. */
function later({ target: field }) {
  if (!field.matches("textarea[data-count-tokens]")) return;
  clearTimeout(timer);
  timer = setTimeout(() => count(field).catch(() => lineOf(field).replaceChildren()), RESTS_MS);
}

/** Begin: also what a dialog opens with is counted, once it has the focus. */
export function watchTokenCount() {
  dialog?.addEventListener("input", later);
  dialog?.addEventListener("focusin", later);
}
