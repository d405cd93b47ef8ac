/** The one listener for keys. It finds the command of a stroke and runs its action. */
import { COMMANDS } from "./commands.js";
import { rowAt } from "../thread/rows.js";
import { session } from "../thread/session.js";
import { knows, run } from "./actions.js";

const SWITCH = "single-keys";
const SEQUENCE_MS = 900;
const TAKES_TEXT = "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable=true],"
  + " [role=listbox], [role=option], [role=combobox]";
const MODIFIERS = ["Shift", "Control", "Alt", "Meta", "AltGraph", "CapsLock"];

let typed = "";
let timer = 0;
let held = 0;

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
  (command) => knows(command.action) && !(command.edits && session.readOnly),
);

/** A stroke as the table writes it: shift is part of a letter, and named beside other keys. */
function strokeOf(event) {
  const named = event.key.length > 1;
  const control = event.ctrlKey || event.metaKey;
  const letter = control && !named ? event.key.toLowerCase() : event.key;
  return [control && "Mod", event.altKey && "Alt", event.shiftKey && (named || control) && "Shift", letter]
    .filter(Boolean).join("+");
}

/** The command of what was typed; undefined for none, null while more strokes may follow. */
function commandOf(stroke) {
  const sequence = typed ? `${typed} ${stroke}` : stroke;
  const live = liveCommands();
  const found = live.find(({ keys }) => keys.includes(sequence));
  const begins = live.some(({ keys }) => keys.some((key) => key.startsWith(`${sequence} `)));
  typed = !found && begins ? sequence : "";
  clearTimeout(timer);
  if (typed) timer = setTimeout(() => { typed = ""; }, SEQUENCE_MS);
  return found ?? (typed ? null : undefined);
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
  if (stroke.startsWith("Shift+Arrow")) return !rowAt(target);
  const isText = stroke === "Mod+x" || stroke === "Mod+v";
  return isText && Boolean(String(getSelection()));
}

function onKey(event) {
  if (MODIFIERS.includes(event.key)) return;
  const stroke = strokeOf(event);
  const isSingle = !event.ctrlKey && !event.metaKey && !event.altKey && event.key.length === 1;
  if (isTaken(event, stroke) || (isSingle && held)) return;
  if (isSingle && !singleKeys() && stroke !== "?") return;
  const command = commandOf(stroke);
  if (!command) return;
  event.preventDefault();
  if (event.repeat && command.once) return;
  run(command.action, document.activeElement);
}

document.addEventListener("keydown", onKey);
