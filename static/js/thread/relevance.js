/** How relevant each message is to the objective; rows show it while a cookie asks for it. */
import { announce } from "../base/announce.js";
import { defineActions } from "../base/actions.js";
import { reload } from "./chunks.js";

const YEAR_S = 31536000;
const button = document.querySelector("[data-action=relevance]");

async function turn() {
  const shown = button.getAttribute("aria-pressed") !== "true";
  document.cookie = `relevance=shown; path=/; max-age=${shown ? YEAR_S : 0}; samesite=lax`;
  button.setAttribute("aria-pressed", String(shown));
  button.closest("[popover]").hidePopover();
  await reload();
  announce(shown ? "Relevance to the objective is shown" : "Relevance is hidden");
}

/** Define the action if the page has a button for it. */
export function watchRelevance() {
  if (button) defineActions({ relevance: turn });
}
