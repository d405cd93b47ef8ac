/**
 * The thread in sections of some 100 nodes. Those near the viewport hold their rows, the others
 * are empty and as tall as the server guessed or as they were: 100,000 messages cost what 200 do.
 */
import { fragment } from "../base/fragment.js";
import { keepPlace } from "./scroll_anchor.js";
import { send } from "../base/requests.js";
import { firstSeen, rowAt, tendTabOrder } from "./rows.js";
import {
  allSections, countOf, firstBelow, isLoaded, loadedRanges, locate, numberRows, positionOf, readSections,
  resetSections, rowAtPosition, sectionAt, splice, startOf, sumOfCounts,
} from "./sections.js";
import { feed, knowsLoaded, rowOf, session } from "./session.js";

const NEAREST_PX = 3000;
const FARTHEST_PX = 8000;
const RESTS_MS = 120;
const MOST_NODES = 8000;
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
 * What is in sight or near it and has no rows; the faster one scrolls, the farther ahead. To watch a
 * thousand sections costs each frame 2 ms.
 */
function nearby() {
  const found = [];
  const ahead = isFollowing() ? speed * AHEAD_MS : 0;
  const above = near + Math.max(0, -ahead);
  const below = near + Math.max(0, ahead);
  for (const section of allSections().slice(firstBelow(-above))) {
    if (section.getBoundingClientRect().top > innerHeight + below) break;
    if (!isLoaded(section) && !running.has(section) && !failed.has(section)) found.push(section);
  }
  return found;
}

/** Load what is near, what is nearest first: one after another, and a few at once while one scrolls. */
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

/** How fast one scrolls, in pixels a millisecond, smoothed over a few frames; down is positive. */
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

/** Make sure a section holds its rows. */
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
    const rows = fragment(await response.text());
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
 * Once its rows were drawn, so that their heights are known, those out of sight are skipped. One in sight
 * would be skipped for a frame too, and jump: it stays as it is.
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

/** Whether one scrolls more than a window a frame: then nothing could be read, and frames stay short. */
const isLeaping = () => isScrolled() && stride > innerHeight;
const isFollowing = () => isScrolled() && !isLeaping();

/** Whether somebody waits for a section, or nobody would see that much comes at once. */
const mayTakeAll = (section) => document.hidden || pinned.has(section) || !isScrolled();

/** A few rows a frame, so that scrolling stays even; all at once where somebody waits for them. */
async function pour(section, rows, isStale) {
  tendTabOrder(rows);
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

/** How far a section is from the middle of what is seen, in pixels. */
function distanceOf(section) {
  const { top, bottom } = section.getBoundingClientRect();
  return Math.max(top - innerHeight / 2, innerHeight / 2 - bottom, 0);
}

/** The farthest sections to be emptied so that `more` nodes fit in: [section, height], none in use. */
function farthest(more) {
  const inUse = new Set([...pinned, ...running.keys(), rowAt(document.activeElement)?.closest(".chunk")]);
  let spare = MOST_NODES - more - feed.getElementsByTagName("*").length;
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

/** The rows go, their height stays. */
function empty([section, height]) {
  section.replaceChildren();
  section.dataset.height = height;
  section.style.height = `${height * scale}px`;
}

/** While something is dragged from a section, it stays. Answers how to let it go. */
export function pin(section) {
  pinned.add(section);
  return () => pinned.delete(section);
}

/** The splices of a patch: sections hold other places, and maybe more or fewer rows, than before. */
export function applySplices(splices) {
  if (splices.length) splice(splices);
  allSections().filter(isLoaded).forEach(numberRows);
  if (sumOfCounts() !== session.total) reload();
}

let reloading = null;

/**
 * Make all sections anew and load those at the reader's row: the slow way that is always right. Who asks
 * before the sections are gone is served by the same: twice would show rows, nothing, and rows again.
 */
export function reload() {
  reloading ??= whereRead().finally(() => { reloading = null; }).then(makeAnew);
  return reloading;
}

/** The reader's row: where it stands in the thread now, and in the window. */
async function whereRead() {
  const focused = rowAt(document.activeElement);
  const row = focused ?? firstSeen();
  const top = row?.getBoundingClientRect().top ?? 0;
  const before = row ? positionOf(row) : 0;
  const at = await locate({ key: row?.dataset.key ?? "" }).catch(() => null) ?? { position: before, key: "" };
  return { focused, top, at };
}

async function makeAnew({ focused, top, at }) {
  resetSections(session.total);
  start();
  const found = await bring(at.position);
  const again = rowOf(at.key) ?? found;
  if (again) scrollBy({ top: again.getBoundingClientRect().top - top, behavior: "instant" });
  if (focused) again?.focus({ preventScroll: true });
}

/** Bring a position of the thread into the page; answers its row, which stays for a while. */
export async function bring(position) {
  const section = sectionAt(position);
  const letGo = pin(section);
  try {
    await load(section);
  } finally {
    setTimeout(letGo, STAYS_MS);
  }
  return rowAtPosition(position);
}

/** Watch the sections: about half of one beyond the viewport is loaded ahead. */
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

/** Begin. `whenBehind` fetches what was missed, when a chunk tells of a newer head. */
export function watchChunks(whenBehind) {
  if (!feed) return;
  catchUp = whenBehind;
  readSections();
  knowsLoaded(loadedRanges);
  start();
  addEventListener("scroll", () => { noteSpeed(); pump(); }, { passive: true });
  addEventListener("resize", pump);
  new ResizeObserver(pump).observe(feed);
  tendTabOrder(feed);
}
