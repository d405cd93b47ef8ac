/** The one keyboard listener: it finds the command for a stroke and runs its action. */
import { COMMANDS } from "./commands.js";
import { hasAction, runAction } from "./actions.js";
import { matchStrokes, strokeOf } from "./strokes.js";
import { toast } from "./toast.js";

const SWITCH = "single-keys";
const SEQUENCE_MS = 900;
const TAKES_TEXT = "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable=true],"
  + " [role=listbox], [role=option], [role=combobox]";

let typed = "";
let timer = 0;
let held = 0;
let context = () => ({ mayEdit: false, isRow: false });

/**
 * Set by the thread page: `ask(element)` says whether it is in a row, whether the user may edit
 * and, as a function, why not.
 */
export function setKeyContext(ask) {
  context = ask;
}

/** Ignore single keys until the returned function is called: early typing is no command. */
export function holdKeys() {
  held += 1;
  return () => { held -= 1; };
}

/** Single-key shortcuts can be switched off (WCAG 2.1.4); those with Control or Alt stay. */
export const areSingleKeysOn = () => localStorage.getItem(SWITCH) !== "off";
export const setSingleKeys = (on) => localStorage.setItem(SWITCH, on ? "on" : "off");

/** The commands that this page has, for whoever may use them. */
const definedCommands = () => COMMANDS.filter(
  ({ action, shown }) => hasAction(action) && (!shown || document.querySelector(`[data-action="${action}"]`)),
);

const isRefused = ({ edits }) => edits && !context(document.body).mayEdit;

/** The commands that work on this page for this user. */
export const availableCommands = () => definedCommands().filter((command) => !isRefused(command));

/** The command that was typed; undefined while more strokes may follow. */
function commandOf(stroke) {
  const found = matchStrokes(definedCommands(), typed, stroke);
  typed = found.typed;
  clearTimeout(timer);
  if (typed) timer = setTimeout(() => { typed = ""; }, SEQUENCE_MS);
  return found.command;
}

const dialogIsOpen = () => Boolean(document.querySelector("dialog[open]"));
const menuIsOpen = () => Boolean(document.querySelector("[role=menu]:popover-open"));

/** Whether AltGr types a character. In Firefox on a Mac Option is AltGraph too, with any key. */
const isTypedByAltGr = (event) => event.key.length === 1 && event.getModifierState("AltGraph");

/** Whether the focused element handles the key: a field, a dialog, a menu, or Enter on a button. */
function isTaken(event, stroke) {
  const target = event.target;
  if (event.defaultPrevented || event.isComposing || isTypedByAltGr(event)) return true;
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
  if (isSingle && !areSingleKeysOn() && stroke !== "?") return;
  const command = commandOf(stroke);
  if (!command) return;
  event.preventDefault();
  if (event.repeat && command.once) return;
  if (isRefused(command)) toast(context(document.body).whyReadOnly());
  else runAction(command.action, document.activeElement);
}

document.addEventListener("keydown", onKey);
