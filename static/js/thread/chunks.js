/**
 * The thread in sections of about 100 nodes. Those near the viewport contain their rows; the others
 * are empty, with the height the server estimated or their last one. So 100,000 messages cost as
 * much as 200.
 */
import { parseHtml } from "../base/fragment.js";
import { keepPlace } from "./scroll_anchor.js";
import { send } from "../base/requests.js";
import { firstVisibleRow, rowAt, updateTabOrder } from "./rows.js";
import {
  allSections, countOf, firstSectionBelow, isLoaded, loadedRanges, locate, numberRows, positionOf, readSections,
  resetSections, rowAtPosition, sectionAt, spliceSections, startOf, totalCount,
} from "./sections.js";
import { feed, rowOf, session, setLoadedRanges } from "./session.js";

const NEAREST_PX = 3000;
const FARTHEST_PX = 8000;
const RESTS_MS = 120;
const MAX_NODES = 8000;
const TALLEST_PX = 16_000_000;
const STAYS_MS = 2000;
const RETRY_MS = 3000;
const ROWS_A_FRAME = 12;
const ROWS_A_REQUEST = 50;
const ROWS_A_LEAP = 25;
const AT_ONCE = 3;
const AHEAD_MS = 900;

let scale = 1;
let catchUp = async () => {};
const failed = new Set();
const running = new Map();
const pinned = new Set();
let near = NEAREST_PX;
let pumping = 0;
let scrolledAt = 0;
let scrolledTo = 0;
let speed = 0;
let stride = 0;

/**
 * Sections in or near the viewport without rows, looking farther ahead the faster the page scrolls.
 * Observing a thousand sections instead would cost 2 ms per frame.
 */
function nearby() {
  const found = [];
  const ahead = isFollowing() ? speed * AHEAD_MS : 0;
  const above = near + Math.max(0, -ahead);
  const below = near + Math.max(0, ahead);
  for (const section of allSections().slice(firstSectionBelow(-above))) {
    if (section.getBoundingClientRect().top > innerHeight + below) break;
    if (!isLoaded(section) && !running.has(section) && !failed.has(section)) found.push(section);
  }
  return found;
}

/** Load nearby sections, nearest first: one at a time, or a few in parallel while scrolling. */
function pump() {
  if (pumping >= (isFollowing() ? AT_ONCE : 1)) return;
  const idle = nearby();
  if (!idle.length) return;
  const next = idle.reduce((best, one) => (distanceOf(one) < distanceOf(best) ? one : best));
  pumping += 1;
  load(next).catch(() => retryLater(next)).finally(() => {
    pumping -= 1;
    pump();
  });
  if (isFollowing()) pump();
}

/** The scroll speed in pixels per millisecond, smoothed over a few frames; down is positive. */
function noteSpeed() {
  const now = performance.now();
  const spent = Math.max(now - scrolledAt, 1);
  const here = scrollY;
  stride = spent > RESTS_MS ? 0 : Math.abs(here - scrolledTo);
  speed = spent > RESTS_MS ? 0 : 0.7 * speed + 0.3 * ((here - scrolledTo) / spent);
  scrolledAt = now;
  scrolledTo = here;
}

function retryLater(section) {
  failed.add(section);
  setTimeout(() => { failed.delete(section); pump(); }, RETRY_MS);
}

/** Make sure a section has its rows. */
export function load(section) {
  if (isLoaded(section)) return Promise.resolve();
  if (!running.has(section)) {
    feed.setAttribute("aria-busy", "true");
    running.set(section, fill(section).finally(() => {
      running.delete(section);
      feed.setAttribute("aria-busy", String(running.size > 0));
    }));
  }
  return running.get(section);
}

async function fill(section, attempts = 3) {
  const [start, count] = [startOf(section), countOf(section)];
  const heads = new Set();
  const isStale = () => start !== startOf(section) || count !== countOf(section)
    || heads.size > 1 || Math.min(...heads) < session.head;
  for (let done = 0; done < count && !isStale();) {
    const most = isLeaping() ? ROWS_A_LEAP : ROWS_A_REQUEST;
    const share = Math.min(count - done, mayTakeAll(section) ? count : most);
    const fields = { view: session.view, start: start + done, count: share };
    const response = await send(`${session.url}chunk`, { fields, quiet: true });
    const rows = parseHtml(await response.text());
    const head = Number(response.headers.get("X-Head") ?? session.head);
    heads.add(head);
    if (head > session.head) await catchUp();
    if (!isStale()) await pour(section, rows, isStale);
    done += share;
  }
  if (!section.isConnected || isLoaded(section)) return;
  if (isStale() && attempts) {
    section.replaceChildren();
    await fill(section, attempts - 1);
    return;
  }
  keepPlace(() => {
    section.style.height = "";
    delete section.dataset.height;
  });
  numberRows(section);
  settle(section);
  feed.dispatchEvent(new CustomEvent("thread:loaded", { detail: section }));
}

/**
 * Once its rows are drawn, and their heights known, skip rendering those out of sight. A visible
 * row would be skipped for a frame too, and jump, so it is left alone.
 */
function settle(section) {
  const twoFrames = (then) => requestAnimationFrame(() => requestAnimationFrame(then));
  const isFar = ({ top, bottom }) => bottom < -innerHeight || top > 2 * innerHeight;
  twoFrames(() => {
    const far = [...section.children].filter((row) => isFar(row.getBoundingClientRect()));
    for (const row of far) row.classList.add("is-settled");
  });
}

const isScrolled = () => performance.now() - scrolledAt < RESTS_MS;

/**
 * Whether a frame scrolls by more than a window. Nothing is readable then; frames are kept short.
 */
const isLeaping = () => isScrolled() && stride > innerHeight;
const isFollowing = () => isScrolled() && !isLeaping();

/** Whether a whole section may be added at once: it is awaited, or nobody would notice. */
const mayTakeAll = (section) => document.hidden || pinned.has(section) || !isScrolled();

/** Add a few rows per frame to keep scrolling smooth, or all at once if they are awaited. */
async function pour(section, rows, isStale) {
  updateTabOrder(rows);
  const far = farthest(rows.querySelectorAll("*").length);
  if (far.length) keepPlace(() => far.forEach(empty));
  const waiting = [...rows.children];
  const share = () => {
    if (document.hidden || pinned.has(section)) return waiting.length;
    if (isLeaping()) return ROWS_A_FRAME;
    if (isScrolled()) {
      const away = distanceOf(section);
      if (!away) return waiting.length;  // a long frame is better than an empty one
      return away < innerHeight ? 2 * ROWS_A_FRAME : ROWS_A_FRAME;
    }
    return distanceOf(section) < innerHeight ? waiting.length : 4 * ROWS_A_FRAME;
  };
  while (waiting.length && !isStale()) {
    if (isLeaping() && !document.hidden) await new Promise(requestAnimationFrame);
    section.append(...waiting.splice(0, share()));
    if (waiting.length) await new Promise(requestAnimationFrame);
  }
}

/** The distance in pixels between a section and the middle of the viewport. */
function distanceOf(section) {
  const { top, bottom } = section.getBoundingClientRect();
  return Math.max(top - innerHeight / 2, innerHeight / 2 - bottom, 0);
}

/** The farthest unused sections to empty so that `more` nodes fit in, as [section, height]. */
function farthest(more) {
  const inUse = new Set([...pinned, ...running.keys(), rowAt(document.activeElement)?.closest(".chunk")]);
  let spare = MAX_NODES - more - feed.getElementsByTagName("*").length;
  if (spare >= 0) return [];
  const held = allSections().filter((section) => section.children.length && !inUse.has(section))
    .map((section) => ({ section, away: distanceOf(section) }))
    .filter(({ away }) => away > near + innerHeight).sort((one, other) => other.away - one.away);
  const far = [];
  for (const { section } of held) {
    if (spare >= 0) break;
    spare += section.getElementsByTagName("*").length;
    far.push([section, section.offsetHeight]);
  }
  return far;
}

/** Remove the rows and keep the height. */
function empty([section, height]) {
  section.replaceChildren();
  section.dataset.height = height;
  section.style.height = `${height * scale}px`;
}

/** Keep a section while something is dragged from it. Returns a function that releases it. */
export function keepLoaded(section) {
  pinned.add(section);
  return () => pinned.delete(section);
}

/** Apply the splices of a patch: sections have new positions and may have more or fewer rows. */
export function applySplices(splices) {
  if (splices.length) spliceSections(splices);
  allSections().filter(isLoaded).forEach(numberRows);
  if (totalCount() !== session.total) reload();
}

let reloading = null;

/**
 * Rebuild all sections and load those at the reader's row: slow but always correct. Calls made
 * before the old sections are gone share one run; otherwise rows would appear, vanish and reappear.
 */
export function reload() {
  reloading ??= whereRead().finally(() => { reloading = null; }).then(makeAnew);
  return reloading;
}

/** The row being read: its current position in the thread, and in the window. */
async function whereRead() {
  const focused = rowAt(document.activeElement);
  const row = focused ?? firstVisibleRow();
  const top = row?.getBoundingClientRect().top ?? 0;
  const before = row ? positionOf(row) : 0;
  const at = await locate({ key: row?.dataset.key ?? "" }).catch(() => null) ?? { position: before, key: "" };
  return { focused, top, at };
}

async function makeAnew({ focused, top, at }) {
  resetSections(session.total);
  start();
  const found = await loadRow(at.position);
  const again = rowOf(at.key) ?? found;
  if (again) scrollBy({ top: again.getBoundingClientRect().top - top, behavior: "instant" });
  if (focused) again?.focus({ preventScroll: true });
}

/** Load a position of the thread and return its row, which stays loaded for a while. */
export async function loadRow(position) {
  const section = sectionAt(position);
  const letGo = keepLoaded(section);
  try {
    await load(section);
  } finally {
    setTimeout(letGo, STAYS_MS);
  }
  return rowAtPosition(position);
}

/** Watch the sections; about half a section beyond the viewport is loaded ahead. */
function start() {
  const unloaded = allSections().filter((section) => !isLoaded(section));
  const heights = unloaded.reduce((sum, section) => sum + Number(section.dataset.height), 0);
  scale = Math.min(1, TALLEST_PX / Math.max(heights, 1));
  for (const section of unloaded) section.style.height = `${section.dataset.height * scale}px`;
  allSections().filter(isLoaded).forEach(numberRows);
  const middling = feed.offsetHeight / allSections().length;
  near = Math.round(Math.max(NEAREST_PX, Math.min(FARTHEST_PX, 0.6 * middling)));
  allSections().filter(isLoaded).forEach(settle);
  pump();
}

/** Start. `whenBehind` fetches missed changes when a chunk reports a newer head. */
export function watchChunks(whenBehind) {
  if (!feed) return;
  catchUp = whenBehind;
  readSections();
  setLoadedRanges(loadedRanges);
  start();
  addEventListener("scroll", () => { noteSpeed(); pump(); }, { passive: true });
  addEventListener("resize", pump);
  new ResizeObserver(pump).observe(feed);
  updateTabOrder(feed);
}
