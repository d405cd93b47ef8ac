/**
 * Keeps the pages beside a thread in step with its session: the marked parts are requested again
 * when the session changes. A form that is in use stays as it is, and so does what scripts have
 * added.
 */
import { announce } from "../base/announce.js";
import { tellGone } from "../base/failures.js";
import { parseHtml } from "../base/fragment.js";
import { morph } from "../base/morph.js";
import { enqueue, fetchText } from "../base/requests.js";
import { POLL_MS, followSession } from "./socket.js";

const FOLLOWS = "[data-follows]";
/** The content of the parts as it last came, by their ids. */
const known = new Map();
let isDue = false;
let isFollowing = false;

/** The content of a part, without what differs from answer to answer. */
function contentOf(part) {
  const copy = part.cloneNode(true);
  for (const one of copy.querySelectorAll("time, [name=csrfmiddlewaretoken]")) one.remove();
  return copy.innerHTML;
}

const isChanged = ({ value, defaultValue }) => value !== defaultValue;
/** Whether something is in use: for a form, when it is open or contains typed text. */
const isHeld = (one) => !one.matches("details") || one.open
  || [...one.querySelectorAll("input, textarea")].some(isChanged);

/** Morph a part into its new version, except for what is in use in it. */
function renew(part, fresh) {
  for (const one of part.querySelectorAll("[data-held]")) {
    if (isHeld(one)) fresh.querySelector(`#${one.id}`)?.replaceWith(one.cloneNode(true));
  }
  morph(part, fresh);
  htmx.process(part);
}

/** The session is gone, and the page with it, unless a text in it would be lost. */
function goToo() {
  if (![...document.querySelectorAll("form textarea")].some(isChanged)) location.reload();
  else tellGone();
}

const currentUrl = () => location.href.split("#")[0];

async function ask() {
  isDue = false;
  const url = currentUrl();
  let came;
  try {
    came = parseHtml(await fetchText(url, { quiet: true }));
  } catch (error) {
    if (error.status === 404) goToo();
    else if (!(error.status < 500)) setTimeout(askSoon, POLL_MS);
    return;
  }
  if (url === currentUrl()) show(came);
  else askSoon(); // by now something else was chosen on this page
}

/** Renew the parts that changed. An open list of choices stays as it is until the next change. */
function show(came) {
  let changed = false;
  for (const part of document.querySelectorAll(FOLLOWS)) {
    const fresh = came.getElementById(part.id);
    if (!fresh?.matches(FOLLOWS) || known.get(part.id) === contentOf(fresh)) continue;
    if (part.matches("select:focus")) continue;
    known.set(part.id, contentOf(fresh));
    renew(part, fresh);
    changed = true;
  }
  if (!changed) return;
  document.body.dispatchEvent(new Event("session-changed"));
  announce("The page was updated");
}

/** Make one request for all changes until then. A background page asks when it is shown again. */
function askSoon() {
  if (isDue || document.hidden) return;
  isDue = true;
  enqueue(ask);
}

/** Remember the parts as they came, and follow their session from the first ones on. */
function follow() {
  const parts = document.querySelectorAll(FOLLOWS);
  for (const part of parts) known.set(part.id, contentOf(part));
  if (!parts.length || isFollowing) return;
  isFollowing = true;
  followSession(parts[0].dataset.follows, { hear: ({ job }) => { if (!job) askSoon(); }, ask: askSoon });
}

follow();
document.addEventListener("htmx:afterSwap", ({ target }) => { if (target.matches(FOLLOWS)) follow(); });
