/** The one listener for keys. It finds the command of a stroke and runs its action. */
import { COMMANDS } from "./commands.js";
import { knows, run } from "./actions.js";
import { match, strokeOf } from "./strokes.js";

const SWITCH = "single-keys";
const SEQUENCE_MS = 900;
const TAKES_TEXT = "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable=true],"
  + " [role=listbox], [role=option], [role=combobox]";

let typed = "";
let timer = 0;
let held = 0;
let context = () => ({ mayEdit: false, isRow: false });

/** A page with a thread says of an element whether it stands in a row, and whether one may edit. */
export function setContext(ask) {
  context = ask;
}

/** Let no single key do anything until the answer is called: what is typed early is no command. */
export function holdKeys() {
  held += 1;
  return () => { held -= 1; };
}

/** Single keys can be switched off (WCAG 2.1.4); those with Control or Alt stay. */
export const singleKeys = () => localStorage.getItem(SWITCH) !== "off";
export const switchSingleKeys = (on) => localStorage.setItem(SWITCH, on ? "on" : "off");

/** The commands that do something on this page, for this person. */
export const liveCommands = () => COMMANDS.filter(
  ({ action, edits, shown }) => knows(action) && (!edits || context(document.body).mayEdit)
    && (!shown || document.querySelector(`[data-action="${action}"]`)),
);

/** The command of what was typed; none while more strokes may follow. */
function commandOf(stroke) {
  const found = match(liveCommands(), typed, stroke);
  typed = found.typed;
  clearTimeout(timer);
  if (typed) timer = setTimeout(() => { typed = ""; }, SEQUENCE_MS);
  return found.command;
}

const dialogIsOpen = () => Boolean(document.querySelector("dialog[open]"));
const menuIsOpen = () => Boolean(document.querySelector("[role=menu]:popover-open"));

/** Whether a key belongs to what has the focus: a field, a dialog, a menu, a button's own Enter. */
function isTaken(event, stroke) {
  const target = event.target;
  if (event.defaultPrevented || event.isComposing || event.getModifierState("AltGraph")) return true;
  if (stroke === "Mod+Enter" || stroke === "Mod+k") return false;
  if (dialogIsOpen() || menuIsOpen() || target.matches(TAKES_TEXT)) return true;
  if (stroke === "Escape") return Boolean(document.querySelector(":popover-open"));
  if (stroke === "Enter") return !target.matches("article");
  if (stroke.startsWith("Shift+Arrow")) return !context(target).isRow;
  const isText = stroke === "Mod+x" || stroke === "Mod+v";
  return isText && Boolean(String(getSelection()));
}

function onKey(event) {
  const stroke = strokeOf(event);
  if (!stroke) return;
  const isSingle = !event.ctrlKey && !event.metaKey && !event.altKey && event.key.length === 1;
  if (isTaken(event, stroke) || ((isSingle || stroke === "Enter") && held)) return;
  if (isSingle && !singleKeys() && stroke !== "?") return;
  const command = commandOf(stroke);
  if (!command) return;
  event.preventDefault();
  if (event.repeat && command.once) return;
  run(command.action, document.activeElement);
}

document.addEventListener("keydown", onKey);
