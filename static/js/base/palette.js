/** The command palette: all commands of the page by name, and "#210" to go to a message. */
import { filterCommands } from "./commands.js";
import { createElement } from "./fragment.js";
import { availableCommands } from "./keys.js";
import { defineActions, hasAction, runAction } from "./actions.js";
import { formatKeys } from "./strokes.js";

const HIDDEN = ["palette", "escape", "save"];
const GROUPS = ["Operations", "This session", "View", "Moving", "General", "Selection", "Navigation"];
const dialog = document.getElementById("palette");
const input = document.getElementById("palette-input");
const list = document.getElementById("palette-list");
const none = document.getElementById("palette-none");
let opener = null;

function item({ name, keys, action, number }, place) {
  const made = createElement("li", {
    class: "menu-item", role: "option", id: `command-${place}`, "aria-selected": "false", "data-command": action,
  }, name);
  if (number) made.dataset.number = number;
  if (keys?.length) made.append(createElement("kbd", {}, formatKeys(keys[0])));
  return made;
}

/**
 * The suggestions for the typed text: for a number, the message with that number, else commands.
 * Those that people repeat, and so run by their keys, come last.
 */
function offered(typed) {
  const number = typed.match(/^[#:]?\s*(\d+)$/)?.[1];
  if (number && hasAction("go-to-number")) return [{ name: `Go to #${number}`, action: "go-to-number", number }];
  const found = filterCommands(availableCommands().filter(({ action }) => !HIDDEN.includes(action)), typed);
  return found.sort((one, other) => GROUPS.indexOf(one.group) - GROUPS.indexOf(other.group));
}

function refill() {
  const commands = offered(input.value.trim());
  list.replaceChildren(...commands.map(item));
  none.hidden = commands.length > 0;
  none.textContent = input.value.trim() === "#" ? "Type the number of a message." : "No command matches.";
  choose(0);
}

function choose(place) {
  const items = [...list.children];
  const chosen = items.at(place % (items.length || 1));
  for (const one of items) one.setAttribute("aria-selected", String(one === chosen));
  input.setAttribute("aria-activedescendant", chosen?.id ?? "");
  chosen?.scrollIntoView({ block: "nearest" });
}

const chosen = () => list.querySelector("[aria-selected=true]");

function take(one) {
  if (!one) return;
  dialog.close();
  opener?.focus?.({ preventScroll: true });
  runAction(one.dataset.command, opener?.isConnected ? opener : document.body, { number: one.dataset.number });
}

function open(text) {
  opener = document.activeElement;
  input.value = text;
  refill();
  dialog.showModal();
  input.focus();
  input.setSelectionRange(text.length, text.length);
}

if (dialog) {
  input.addEventListener("input", refill);
  input.addEventListener("keydown", (event) => {
    const place = [...list.children].indexOf(chosen());
    if (event.key === "ArrowDown") choose(place + 1);
    else if (event.key === "ArrowUp") choose(place - 1);
    else if (event.key === "Enter") take(chosen());
    else return;
    event.preventDefault();
  });
  list.addEventListener("click", (event) => take(event.target.closest("[data-command]")));
  defineActions({ palette: () => { if (dialog.open) dialog.close(); else open(""); } });
}

/** Let the palette accept message numbers: `go(number)` goes to one. */
export function setNumberHandler(go) {
  defineActions({ "go-to": () => open("#"), "go-to-number": ({ event }) => go(event.number) });
}
