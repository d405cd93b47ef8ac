/** The sheet of keys, made from the table of commands, and the switch for single keys. */
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
      // By the attribute, Chromium would complain on each page whose address names a place in it.
      sheet.querySelector("#keys-title").focus();
    },
    "single-keys": ({ pressed }) => switchSingleKeys(pressed.checked),
  });
}
