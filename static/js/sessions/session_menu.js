/** Renaming a session from the list's menu or from the thread, in one dialog. */
import { defineActions } from "../base/actions.js";
import { placeBeside } from "../base/placing.js";

const menu = document.getElementById("session-menu");
const dialog = document.getElementById("session-rename");
let opener = null;

function open(button) {
  opener = button;
  menu.querySelector("form").action = `${button.dataset.sessionUrl}delete`;
  menu.showPopover();
  placeBeside(menu, button.getBoundingClientRect());
  menu.querySelector("[role=menuitem]").focus({ preventScroll: true });
}

/** The button that names the session: the one that was pressed or, for a command, the page's own. */
const namingButton = (pressed) => menu?.contains(pressed) ? opener
  : pressed.closest("[data-session-url]") ?? document.querySelector("[data-action=rename-session]");

function rename(pressed) {
  const { sessionUrl, sessionTitle } = namingButton(pressed).dataset;
  pressed.closest("[popover]")?.hidePopover();
  dialog.querySelector("form").action = `${sessionUrl}rename`;
  const title = dialog.querySelector("#session-title");
  title.value = decodeURIComponent(sessionTitle);
  dialog.showModal();
  title.select();
}

function onKey(event) {
  const items = [...menu.querySelectorAll("[role=menuitem]")];
  const here = items.indexOf(document.activeElement);
  const moves = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: -1 };
  if (event.key in moves) items.at(moves[event.key] % items.length).focus();
  else if (event.key === "Tab" || event.key === "Escape") {
    menu.hidePopover();
    opener.focus({ preventScroll: true });
  } else return;
  event.preventDefault();
}

export function watchSessionMenu() {
  if (dialog) defineActions({ "rename-session": ({ pressed }) => rename(pressed) });
  if (!menu) return;
  defineActions({ "session-menu": ({ pressed }) => open(pressed) });
  menu.addEventListener("keydown", onKey);
  addEventListener("scroll", () => menu.matches(":popover-open") && menu.hidePopover(), { passive: true });
}
