/**
 * Keeps the pages beside a thread in step with its session: the marked parts are requested again
 * when the session changes. A form that is in use stays as it is, and so does what scripts have
 * added.
 */
import { announce } from "../base/announce.js";
import { GONE } from "../base/failures.js";
import { parseHtml } from "../base/fragment.js";
import { morph } from "../base/morph.js";
import { enqueue, fetchText } from "../base/requests.js";
import { toast } from "../base/toast.js";
import { POLL_MS, followSession } from "./socket.js";

const shown = [...document.querySelectorAll("[data-follows]")];
const known = new Map(shown.map((part) => [part.id, contentOf(part)]));
let isDue = false;
let isGone = false;

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
  else if (!isGone) toast(GONE, "error");
  isGone = true;
}

async function ask() {
  isDue = false;
  let came;
  try {
    came = parseHtml(await fetchText(location.href.split("#")[0], { quiet: true }));
  } catch (error) {
    if (error.status === 404) goToo();
    else if (!(error.status < 500)) setTimeout(askSoon, POLL_MS);
    return;
  }
  let changed = false;
  for (const { id } of shown) {
    const [part, fresh] = [document.getElementById(id), came.getElementById(id)];
    if (!part || !fresh || known.get(id) === contentOf(fresh)) continue;
    known.set(id, contentOf(fresh));
    renew(part, fresh);
    changed = true;
  }
  if (changed) announce("The page was updated");
}

/** Make one request for all changes until then. A background page asks when it is shown again. */
function askSoon() {
  if (isDue || document.hidden) return;
  isDue = true;
  enqueue(ask);
}

if (shown.length) {
  followSession(shown[0].dataset.follows, { hear: ({ job }) => { if (!job) askSoon(); }, ask: askSoon });
}
