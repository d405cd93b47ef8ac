/** The key sheet, built from the table of commands, and the switch for single-key shortcuts. */
import { createElement } from "./fragment.js";
import { areSingleKeysOn, availableCommands, setSingleKeys } from "./keys.js";
import { defineActions } from "./actions.js";
import { formatKeys } from "./strokes.js";

const sheet = document.getElementById("keys");

function line({ name, keys }) {
  const caps = keys.flatMap((key) => [createElement("kbd", {}, formatKeys(key)), " "]);
  return createElement("div", {}, createElement("dt", {}, ...caps), createElement("dd", {}, name));
}

function fill() {
  const groups = new Map();
  for (const command of availableCommands()) {
    if (command.keys.length) groups.set(command.group, [...(groups.get(command.group) ?? []), command]);
  }
  sheet.querySelector(".key-groups").replaceChildren(...[...groups].map(([title, commands]) =>
    createElement("section", {}, createElement("h3", { class: "group-title" }, title),
      createElement("dl", {}, ...commands.map(line)))));
  sheet.querySelector("#single-keys").checked = areSingleKeysOn();
}

if (sheet) {
  defineActions({
    keys: () => {
      fill();
      sheet.showModal();
      // Focused here because with the autofocus attribute Chromium logs a warning on every page
      // whose URL has a fragment.
      sheet.querySelector("#keys-title").focus();
    },
    "single-keys": ({ pressed }) => setSingleKeys(pressed.checked),
  });
}
