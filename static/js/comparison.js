/** The pages comparing two requests: stepping from change to change, also across pages. */
import "./page.js";
import { defineActions } from "./base/actions.js";
import { announce } from "./base/announce.js";
import { toast } from "./base/toast.js";

/** The change that last had the focus. */
let current = null;

/** Whether any part of a change is in view. Changes that have been swapped out are not. */
function isSeen(change) {
  const { top, bottom } = change.getBoundingClientRect();
  return change.isConnected && bottom > 0 && top < innerHeight;
}

/** The change next to the current one or, if that is out of view, next to the top of the window. */
function neighbour(direction) {
  const changes = [...document.querySelectorAll(".pair")];
  if (current && isSeen(current)) return changes[changes.indexOf(current) + direction];
  const line = document.querySelector(".pair-bar").getBoundingClientRect().bottom;
  const isBelow = (change) => change.getBoundingClientRect().top >= line;
  return direction > 0 ? changes.find(isBelow) : changes.findLast((change) => !isBelow(change));
}

function step(direction, name) {
  const button = document.querySelector(`.pair-steps [data-action="${name}-marker"]`);
  const change = button && neighbour(direction);
  if (change) {
    change.focus({ preventScroll: true });
    change.scrollIntoView();
  } else if (button?.dataset.href) location.assign(button.dataset.href);
  else toast(`No ${name} change.`);
}

/** Track the focused change, and show its number next to the buttons. */
function follow() {
  const change = document.activeElement.closest(".pair");
  if (!change) return;
  current = change;
  const count = document.getElementById("changes");
  count.textContent = `${change.dataset.number} ${count.dataset.of}`;
}

/**
 * Announce the figures after another provider, model or request is chosen: they are displayed
 * elsewhere on the page.
 */
function sayFigures({ target }) {
  if (!target.matches(".context-body")) return;
  const figures = [...target.querySelector(".figures").children];
  announce(figures.map((one) => [...one.children].map(({ textContent }) => textContent).join(" ")).join(", "));
}

document.addEventListener("htmx:afterSwap", sayFigures);
document.addEventListener("focusin", follow);
follow();

defineActions({
  "next-marker": () => step(1, "next"),
  "previous-marker": () => step(-1, "previous"),
});
