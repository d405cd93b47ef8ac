/** One menu for rows and one for markers, opened next to the element they are for. */
import { hasCutRows } from "./move.js";
import { openState } from "../thread/folds.js";
import { currentRow, rowAt } from "../thread/rows.js";
import { canExtendTo, isSelected, selectedKeys } from "../thread/selection.js";
import { feed, rowOf } from "../thread/session.js";
import { defineActions, setSourceResolver } from "../base/actions.js";
import { placeBeside } from "../base/placing.js";

const menus = ["row-menu", "marker-menu"].map((id) => document.getElementById(id)).filter(Boolean);
let opener = null;
let subject = null;

/** What `element` stands for: within a menu, what the menu was opened on. */
function subjectOf(element) {
  return menus.some((menu) => menu.contains(element)) ? subject ?? element : element;
}

/** The kinds that decide which items a menu shows. */
function kindsOf(holder) {
  if (holder.matches(".flat--off")) return ["off"];
  const word = [...holder.classList].find((name) => name.startsWith("op-"))?.slice(3);
  return [holder.matches(".inserted") ? "inserted" : word ?? "message"];
}

function fits({ dataset }, kinds) {
  if (dataset.action === "paste-here" && !hasCutRows()) return false;
  return !("for" in dataset) || dataset.for.split(" ").some((kind) => kinds.includes(kind));
}

/** The state an item's wording depends on, by action: true, false, or undefined without one. */
const states = {
  select: (holder) => isSelected(holder.dataset.key),
  "select-to-here": (holder) => canExtendTo(holder.dataset.key) || undefined,
  open: openState,
  unfold: openState,
  toggle: switchState,
};

function switchState({ dataset }) {
  const found = feed.querySelector(`.toggle[data-operation="${CSS.escape(dataset.operation ?? "")}"]`);
  return found ? found.getAttribute("aria-pressed") === "true" : undefined;
}

/** Show an item if it fits what the menu was opened on, worded for the current state. */
function present(item, holder, kinds) {
  const state = states[item.dataset.action]?.(holder);
  const words = [...item.querySelectorAll("[data-state]")];
  for (const word of words) word.hidden = word.dataset.state !== String(state);
  item.hidden = !fits(item, kinds) || (words.length > 0 && state === undefined);
}

function items(menu) {
  return [...menu.querySelectorAll("[role=menuitem]")].filter((item) => !item.hidden && item.offsetParent);
}

/** Whether a separator has a visible item above it. */
function isParting(line, shown) {
  return shown.some((item) => item.compareDocumentPosition(line) & Node.DOCUMENT_POSITION_FOLLOWING);
}

function open(button) {
  const flat = button.closest(".flat, .moved-tab");
  const row = rowAt(button) ?? currentRow();
  const isOperation = flat || (row?.matches(".marker") && feed.contains(button));
  const menu = document.getElementById(isOperation ? "marker-menu" : "row-menu");
  if (!menu || !row) return;
  opener = button;
  const selected = button.closest("#selection") && rowOf(selectedKeys()[0] ?? "");
  subject = flat ?? selected ?? row;
  for (const item of menu.querySelectorAll("[role=menuitem]")) present(item, subject, kindsOf(subject));
  menu.showPopover();
  for (const line of menu.querySelectorAll("hr")) line.hidden = !isParting(line, items(menu));
  placeBeside(menu, button.getBoundingClientRect());
  items(menu)[0]?.focus({ preventScroll: true });
}

function close(menu) {
  menu.hidePopover();
  opener?.focus({ preventScroll: true });
}

function onKey(event) {
  const menu = event.currentTarget;
  const all = items(menu);
  const here = all.indexOf(document.activeElement);
  const moves = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: -1 };
  if (event.key in moves) all.at(moves[event.key] % all.length)?.focus();
  else if (event.key === "Tab" || event.key === "Escape") close(menu);
  else if (event.key.length === 1) {
    const found = [...all.slice(here + 1), ...all].find(
      (item) => item.textContent.trim().toLowerCase().startsWith(event.key.toLowerCase()));
    found?.focus();
    if (!found) return;
  } else return;
  event.preventDefault();
}

export function watchMenus() {
  setSourceResolver(subjectOf);
  for (const menu of menus) {
    menu.addEventListener("keydown", onKey);
    menu.addEventListener("click", (event) => {
      if (event.target.closest("[role=menuitem]")) close(menu);
    }, true);
  }
  const closeAll = () => menus.forEach((menu) => menu.matches(":popover-open") && menu.hidePopover());
  addEventListener("scroll", closeAll, { passive: true });
  defineActions({
    menu: ({ pressed }) => open(pressed),
    drag: ({ pressed }) => open(pressed),
  });
}
