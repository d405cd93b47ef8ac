/** The key sheet, built from the table of commands, and the switch for single-key shortcuts. */
import { element } from "./fragment.js";
import { liveCommands, singleKeys, switchSingleKeys } from "./keys.js";
import { define } from "./actions.js";
import { printed } from "./strokes.js";

const sheet = document.getElementById("keys");

function line({ name, keys }) {
  const caps = keys.flatMap((key) => [element("kbd", {}, printed(key)), " "]);
  return element("div", {}, element("dt", {}, ...caps), element("dd", {}, name));
}

function fill() {
  const groups = new Map();
  for (const command of liveCommands()) {
    if (command.keys.length) groups.set(command.group, [...(groups.get(command.group) ?? []), command]);
  }
  sheet.querySelector(".key-groups").replaceChildren(...[...groups].map(([title, commands]) =>
    element("section", {}, element("h3", { class: "group-title" }, title),
      element("dl", {}, ...commands.map(line)))));
  sheet.querySelector("#single-keys").checked = singleKeys();
}

if (sheet) {
  define({
    keys: () => {
      fill();
      sheet.showModal();
      // Focused here because with the autofocus attribute Chromium logs a warning on every page
      // whose URL has a fragment.
      sheet.querySelector("#keys-title").focus();
    },
    "single-keys": ({ pressed }) => switchSingleKeys(pressed.checked),
  });
}
