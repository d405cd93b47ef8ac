/**
 * Keeping the reader's place: what is in view stays there while something changes above it, and the
 * focus is never lost to a swap.
 */
import { queryOwn, rowAt } from "./rows.js";
import { allSections, firstSectionBelow } from "./sections.js";
import { feed, rowOf } from "./session.js";

const NEAR_ROWS = 40;
/** When undo is no longer possible, redo is focused instead, and the other way round. */
const TURNING_BACK = { undo: "redo", redo: "undo" };

/** Rows in the viewport from the top, the focused one first. */
function seen() {
  const rows = [];
  const focused = rowAt(document.activeElement);
  for (const section of allSections().slice(firstSectionBelow(0))) {
    if (section.getBoundingClientRect().top > innerHeight) break;
    for (const row of section.querySelectorAll("article[data-key]")) {
      const { top, bottom } = row.getBoundingClientRect();
      if (top > innerHeight) break;
      if (bottom > 120) rows.push({ id: row.id, top });
    }
  }
  const place = rows.findIndex(({ id }) => id === focused?.id);
  if (place > 0) rows.unshift(...rows.splice(place, 1));
  return rows;
}

/**
 * Run `change`, then scroll so that the first row that survives it stays where it was, or what took
 * the focus of a row that didn't: whoever presses a switch goes on seeing it.
 */
export function keepPlace(change) {
  const rows = seen();
  const element = document.activeElement;
  const isFocusSeen = rows.length > 0 && rowAt(element)?.id === rows[0].id;
  const focusTop = element.getBoundingClientRect().top;
  const focus = rememberFocus();
  const result = change();
  focus.restore();
  if (isFocusSeen && !document.getElementById(rows[0].id) && rowAt(document.activeElement)) {
    holdAt(document.activeElement, focusTop);
    return result;
  }
  const kept = rows.find(({ id }) => document.getElementById(id));
  if (kept) holdAt(document.getElementById(kept.id), kept.top);
  return result;
}

function holdAt(element, top) {
  const moved = element.getBoundingClientRect().top - top;
  if (Math.abs(moved) >= 1) scrollBy({ top: moved, behavior: "instant" });
}

/** Describe where the focus is, in terms that survive a swap. */
export function rememberFocus(element = document.activeElement) {
  const row = rowAt(element);
  const holder = element?.closest?.("[id]");
  const action = element?.dataset?.action;
  const named = element?.closest?.("[data-operation]");
  const operation = !row || row.contains(named) ? named?.dataset.operation : undefined;
  const also = TURNING_BACK[action] ?? action;
  const control = action && `:is([data-action="${action}"], [data-action="${also}"]):not([disabled])`;
  const instead = row ? takingThePlaceOf(row) : nextToDecide(element);
  const panelId = element?.closest?.("[role=tabpanel]")?.id ?? "";

  function restore() {
    const here = document.activeElement;
    // Browsers take the focus from a disabled element only later.
    if (here && here !== document.body && here.isConnected && !here.disabled) return;
    if (!element || element === document.body) return;
    const panel = document.getElementById(panelId);
    (again() ?? instead?.() ?? panel)?.focus({ preventScroll: true });
  }

  function again() {
    const place = document.getElementById((row ?? holder)?.id ?? "");
    if (!row) return (place && control && place.querySelector(control)) ?? place;
    return (place && control && queryOwn(place, ofOperation(control))) ?? elsewhere() ?? place;
  }

  /** The same control of the same operation: a row can carry notes of several. */
  function ofOperation(selector) {
    const same = `[data-operation="${operation}"]`;
    return operation ? `:is(${same} ${selector}, ${same}${selector})` : selector;
  }

  /** A switched operation is shown elsewhere: as a marker, or as a note on a row. */
  function elsewhere() {
    if (!operation) return null;
    const note = feed.querySelector(`.flat[data-operation="${operation}"]`);
    const marker = note ? null : rowOf(operation);
    return (control && (note?.querySelector(control) ?? (marker && queryOwn(marker, control)))) ?? marker;
  }

  return { restore };
}

/**
 * Returns a function that finds, after a swap, the next decision in the drawer if `element` was in
 * one: the entry rather than its button, so that a held key doesn't decide it as well.
 */
function nextToDecide(element) {
  const at = element?.closest?.(".decision");
  if (!at) return null;
  const ids = [...document.querySelectorAll("#drawer .decision")].map(({ id }) => id);
  const place = ids.indexOf(at.id);
  const near = [...ids.slice(place + 1), ...ids.slice(0, place).reverse()];
  return () => near.map((id) => document.getElementById(id)).find((one) => one?.offsetParent) ?? null;
}

/** Returns a function that finds, after a swap, the row in place of `row`: after the one before. */
function takingThePlaceOf(row) {
  const idsOf = (direction) => {
    const ids = [];
    for (let one = row[direction]; one && ids.length < NEAR_ROWS; one = one[direction]) ids.push(one.id);
    return ids;
  };
  const before = idsOf("previousElementSibling");
  const behind = idsOf("nextElementSibling");
  const section = row.closest(".chunk");
  const outer = rowAt(row.parentElement)?.id;
  const first = (ids) => ids.map((id) => id && document.getElementById(id)).find(Boolean);
  return () => {
    const previous = first(before);
    if (previous) return rowAt(previous.nextElementSibling) ?? previous;
    return (outer && document.getElementById(outer)) || rowAt(section?.firstElementChild) || first(behind);
  };
}
