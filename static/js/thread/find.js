/**
 * Finding text in the thread: the server says which messages contain it, including those in folds
 * or not loaded. This module steps through them and opens what hides the match; closing it folds
 * that again.
 */
import { announce } from "../base/announce.js";
import { closeFold, openFold, openFolds } from "./folds.js";
import { jumpTo } from "./jump.js";
import { send } from "../base/requests.js";
import { BARS_PX, firstVisibleRow, focusRow, rowAt } from "./rows.js";
import { feed, rowOf, session } from "./session.js";
import { defineActions } from "../base/actions.js";

const WAIT_MS = 250;
const frame = () => new Promise(requestAnimationFrame);
const bar = document.getElementById("find");
const input = document.getElementById("find-words");
const meaning = document.getElementById("find-meaning");
const count = document.getElementById("find-count");
const opened = new Set();

let found = { words: "", isNear: false, head: -1, messages: -1, keys: [], first: 0 };
let place = -1;
let begun = "";
let timer = 0;
let came = null;
let asking = null;

function show(words) {
  count.textContent = words;
}

function open() {
  if (bar.hidden) {
    came = document.activeElement;
    begun = firstVisibleRow()?.dataset.key ?? "";
    found.head = place = -1;
  }
  bar.hidden = false;
  input.focus();
  input.select();
}

/** Close the find bar. The focus goes to the current match or what contains it, else back. */
async function close() {
  if (bar.hidden) return;
  bar.hidden = true;
  asking?.abort();
  clearTimeout(timer);
  CSS.highlights?.delete("found");
  const holders = [];
  for (let row = rowOf(found.keys[place] ?? ""); row; row = rowAt(row.parentElement)) holders.push(row.dataset.key);
  if (came?.isConnected) came.focus({ preventScroll: true });
  await foldBack();
  focusRow(holders.map(rowOf).find(Boolean));
}

async function foldBack() {
  for (const key of opened) await closeFold(key);
  opened.clear();
}

/**
 * Find the matches, by words or by meaning; asked again when the query or the thread has changed.
 * By meaning, an empty query searches for the objective.
 */
async function ask() {
  const { head, messages } = session;
  const words = input.value;
  const isNear = Boolean(meaning?.checked);
  const isSame = found.words === words && found.isNear === isNear;
  if (isSame && found.head === head && found.messages === messages) return;
  asking?.abort();
  asking = new AbortController();
  const before = found.keys[place];
  const fields = { q: words, view: session.view, at: before ?? begun, ...isNear ? { meaning: "on" } : {} };
  const answer = words || isNear
    ? await (await send(`${session.url}find`, { fields, signal: asking.signal, quiet: true })).json()
    : { keys: [], first: 0 };
  found = { words, isNear, head, messages, ...answer };
  place = isSame && before ? found.keys.indexOf(before) : -1;
}

/**
 * Go to the next (1) or previous (-1) match, wrapping around; 0 or a new query goes to the first
 * from here.
 */
async function go(step) {
  try {
    await ask();
  } catch (error) {
    if (error.name !== "AbortError") show("Search failed");
    return;
  }
  const { keys, words, isNear, near } = found;
  CSS.highlights?.delete("found");
  if (!keys.length) {
    show(words || isNear ? "No matches" : "");
    if (words || isNear) announce("No matches.");
    return;
  }
  place = place < 0 ? found.first + Math.min(step, 0) : place + step;
  place = (place + keys.length) % keys.length;
  show(`${place + 1} of ${keys.length}${isNear ? ` · ${near[place].toFixed(2)}` : ""}`);
  const typing = document.activeElement === input;
  const before = openFolds();
  await jumpTo(keys[place], { block: "center", focus: !typing });
  for (const key of openFolds()) if (!before.has(key)) opened.add(key);
  if (!bar.hidden && !isNear) await uncover(keys[place], words);
  if (bar.hidden) {
    await foldBack();
    return;
  }
  announce(`${place + 1} of ${keys.length}`);
}

/** Show the match itself: in a brief row, behind "Show more", or far down a long one. */
async function uncover(key, words) {
  let ranges = paint(rowOf(key), words);
  if (rowOf(key)?.matches(".is-brief") && !ranges.some(isInLine)) {
    await openFold(key);
    opened.add(key);
    if (bar.hidden) return;
    ranges = paint(rowOf(key), words);
  }
  const holder = ranges[0]?.startContainer.parentElement;
  for (let one = holder; one && one !== feed; one = one.parentElement) {
    if (one.matches("details:not([open])") && !one.firstElementChild.contains(holder)) one.open = true;
  }
  if (ranges.length) await settleOnWords(ranges[0]);
}

/** Whether a match is visible in the line of a brief row, which is cut off at its end. */
function isInLine(range) {
  const { right, bottom } = range.getBoundingClientRect();
  const line = range.startContainer.parentElement.closest(".brief")?.getBoundingClientRect();
  return !line || (right <= line.right && bottom <= line.bottom);
}

/** Opened rows get their height as they are drawn: keep scrolling until the match stays in view. */
async function settleOnWords(range) {
  for (let still = 0, round = 0; still < 4 && round < 30; round += 1) {
    const { top, bottom } = range.getBoundingClientRect();
    const isSeen = top > BARS_PX && bottom < innerHeight;
    if (!isSeen) scrollBy({ top: top - innerHeight / 2, behavior: "instant" });
    still = isSeen ? still + 1 : 0;
    await frame();
  }
}

/** Highlight the words where they are rendered; the server has said which messages contain them. */
function paint(row, words) {
  if (!row) return [];
  const wanted = words.toLowerCase();
  const ranges = [];
  const texts = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode.data.toLowerCase();
    if (text.length !== texts.currentNode.data.length) continue;
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
      const range = new Range();
      range.setStart(texts.currentNode, at);
      range.setEnd(texts.currentNode, at + wanted.length);
      ranges.push(range);
    }
  }
  if (window.Highlight) CSS.highlights.set("found", new window.Highlight(...ranges));
  return ranges;
}

function onKey(event) {
  if (event.isComposing) return;
  const back = event.shiftKey;
  if (event.key === "Escape") close();
  else if (event.key === "Enter" && event.target === input) go(back ? -1 : 1);
  else if (event.key === "F3") go(back ? -1 : 1);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** Start, if the page has a thread. */
export function watchFind() {
  if (!feed) return;
  bar.addEventListener("keydown", onKey);
  bar.addEventListener("submit", (event) => event.preventDefault());
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => go(0), WAIT_MS);
  });
  meaning?.addEventListener("change", () => go(0));
  defineActions({
    find: open,
    "find-next": () => (bar.hidden ? open() : go(1)),
    "find-previous": () => (bar.hidden ? open() : go(-1)),
    "find-close": close,
  });
}
