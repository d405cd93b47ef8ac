/**
 * Staging: while it is on, edits are collected instead of applied, and a commit applies them
 * together. It is switched on per session and browser tab.
 */
import { announce } from "../base/announce.js";
import { feed, session } from "../thread/session.js";
import { defineActions } from "../base/actions.js";
import { postChange } from "../thread/patch.js";

const kept = `staging:${session.id}`;

function print() {
  for (const button of document.querySelectorAll("[data-action=staging]")) {
    button.setAttribute("aria-pressed", String(session.stages));
  }
}

function turn() {
  session.stages = !session.stages;
  sessionStorage.setItem(kept, session.stages ? "1" : "");
  print();
  announce(session.stages ? "Staging is on: edits wait until you commit them." : "Staging is off: edits apply immediately.");
}

export function watchStaging() {
  session.stages = sessionStorage.getItem(kept) === "1";
  print();
  feed?.addEventListener("thread:changed", print);
}

defineActions({
  staging: turn,
  commit: () => postChange("staged/commit"),
  discard: () => postChange("staged/discard"),
});
