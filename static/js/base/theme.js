/**
 * The colour theme: system, light or dark. Kept in a cookie, so that the server knows it before the
 * first paint.
 */
import { announce } from "./announce.js";
import { defineActions } from "./actions.js";

const YEAR_S = 31536000;
const ORDER = ["system", "light", "dark"];

function turn() {
  const root = document.documentElement;
  const next = ORDER[(ORDER.indexOf(root.dataset.theme ?? "system") + 1) % ORDER.length];
  const age = next === "system" ? 0 : YEAR_S;
  document.cookie = `theme=${next}; path=/; max-age=${age}; samesite=lax`;
  if (next === "system") delete root.dataset.theme;
  else root.dataset.theme = next;
  announce(`Theme: ${next}`);
}

defineActions({ theme: turn });
