/**
 * The sections of the thread and the positions each holds. A section that isn't loaded has
 * data-height. Starts and counts are positions of top-level nodes at this page's head. They are
 * read once and kept here, because an edit shifts up to a thousand sections of a long thread.
 */
import { createElement } from "../base/fragment.js";
import { send } from "../base/requests.js";
import { rowAt } from "./rows.js";
import { rangesOf, splicedCounts } from "./positions.js";
import { feed, session } from "./session.js";

const SIZE = 100;
const SECTIONS_A_STRETCH = 32;
const GUESSED_ROW_PX = 110;

let sections = [];
const places = new WeakMap();

export const allSections = () => sections;
export const startOf = (section) => places.get(section).start;
export const countOf = (section) => places.get(section).count;
export const isLoaded = (section) => !section.hasAttribute("data-height");
const described = () => sections.map((section) => ({ ...places.get(section), isLoaded: isLoaded(section) }));

/** Read the sections as rendered by the server. */
export function readSections() {
  sections = [...feed.querySelectorAll(".chunk")];
  for (const section of sections) {
    const { start, count } = section.dataset;
    places.set(section, { start: Number(start), count: Number(count) });
  }
}

/** The ranges of the loaded sections: "0-100,300-400". */
export const loadedRanges = () => rangesOf(described());

/** The total number of nodes in all sections. */
export const totalCount = () => sections.reduce((sum, section) => sum + countOf(section), 0);

/** The section that holds a position; the last one for positions beyond the end. */
export const sectionAt = (position) =>
  sections.findLast((section) => startOf(section) <= position && countOf(section)) ?? sections[0];

/** The index of the first section that ends at or below this height of the viewport. */
export function firstSectionBelow(height) {
  let [low, high] = [0, sections.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sections[middle].getBoundingClientRect().bottom < height) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The section before (-1) or after (1) another; undefined beyond the ends. */
export const adjacentSection = (section, step) => sections[sections.indexOf(section) + step];

/** The row at a position, if its section is loaded. */
export function rowAtPosition(position) {
  const section = sectionAt(position);
  return isLoaded(section) ? section.children[position - startOf(section)] ?? null : null;
}

/** The position of a row in the page, or of the top-level row that contains it; else -1. */
export function positionOf(row) {
  let top = row;
  while (top && !top.parentElement.matches(".chunk")) top = rowAt(top.parentElement);
  return top ? startOf(top.parentElement) + [...top.parentElement.children].indexOf(top) : -1;
}

/** Number the rows for assistive technology, which can't count rows that aren't loaded. */
export function numberRows(section) {
  let position = startOf(section);
  for (const row of section.children) {
    position += 1;
    write(row, "aria-posinset", position);
    write(row, "aria-setsize", session.total);
  }
}

/** Set an attribute only if it differs: setting the same value costs as much as a change. */
function write(row, name, value) {
  if (row.getAttribute(name) !== String(value)) row.setAttribute(name, value);
}

/**
 * Where a message is: {position, key, folds, within}, or null if there is none. `fields` is a key
 * or a number; with next or previous and a kind ("user", "marker", "failure"), the nearest of that
 * kind.
 */
export async function locate(fields) {
  const options = { fields: { view: session.view, ...fields }, quiet: true };
  const response = await send(`${session.url}locate`, options);
  return response.status === 204 ? null : response.json();
}

/**
 * Apply `splices`. Loaded sections were patched row by row and are counted; the others are
 * computed.
 */
export function spliceSections(splices) {
  const counts = splicedCounts(described(), splices);
  let start = 0;
  for (const [turn, section] of sections.entries()) {
    const count = isLoaded(section) ? section.children.length : counts[turn];
    Object.assign(places.get(section), { start, count });
    if (!count && !isLoaded(section)) section.style.height = "0px";
    start += count;
  }
}

/** Replace all sections with empty ones for `total` nodes. */
export function resetSections(total) {
  const rowHeight = feed.offsetHeight / totalCount() || GUESSED_ROW_PX;
  sections = Array.from({ length: Math.ceil(total / SIZE) }, (_, place) => {
    const count = Math.min(SIZE, total - place * SIZE);
    const section = createElement("section", { class: "chunk", "data-height": Math.round(count * rowHeight) });
    places.set(section, { start: place * SIZE, count });
    return section;
  });
  const stretches = Array.from({ length: Math.ceil(sections.length / SECTIONS_A_STRETCH) }, (_, place) => {
    const stretch = createElement("div", { class: "stretch" });
    stretch.append(...sections.slice(place * SECTIONS_A_STRETCH, (place + 1) * SECTIONS_A_STRETCH));
    return stretch;
  });
  feed.replaceChildren(...stretches);
}
