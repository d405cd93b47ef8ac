/** The actions that record something: with a dialog if text is needed, else with a single post. */
import { toast } from "../base/toast.js";
import { copyText } from "./copying.js";
import { loadRow } from "../thread/chunks.js";
import { closeDialog, openDialog } from "./dialogs.js";
import { currentRow, isMarker, isTopLevel, queryOwn, rowAt } from "../thread/rows.js";
import { nodeId } from "../thread/positions.js";
import { positionOf } from "../thread/sections.js";
import { selectedKeys, targetsFor, whenSettled } from "../thread/selection.js";
import { feed, session } from "../thread/session.js";
import { defineActions } from "../base/actions.js";
import { holdKeys } from "../base/keys.js";
import { postChange, recordEdit } from "../thread/patch.js";

/** The row an action applies to, and its operation, if it has one. */
const rowFor = (source) => rowAt(source) ?? currentRow();
function operationFor(source) {
  const row = rowFor(source);
  return source.closest?.("[data-operation]")?.dataset.operation ?? row?.dataset.operation
    ?? (row && queryOwn(row, "[data-operation]"))?.dataset.operation ?? "";
}

const fromMenu = (pressed) => Boolean(pressed.closest?.("[role=menu]"));
/** What a dialog applies to. Keys typed before it opens aren't taken as commands. */
async function targets(row, pressed) {
  const preferRow = fromMenu(pressed);
  const letGo = holdKeys();
  await whenSettled().finally(letGo);
  return targetsFor(row, { preferRow }).join(" ");
}

/** Requested switch states without an answer yet; earlier answers still show the previous state. */
const asked = new Map();

/** Show switches in their new state until the answer redraws them. Focuses the row's switch. */
async function toggle(operation, row) {
  if (!operation) return toast("There is no operation here.");
  if (row?.contains(document.activeElement)) {
    queryOwn(row, `.toggle[data-operation="${operation}"]`)?.focus({ preventScroll: true });
  }
  const switches = [...document.querySelectorAll(`.toggle[data-operation="${operation}"]`)];
  const shown = switches[0] ?? document.querySelector(`[data-action=toggle][data-operation="${operation}"]`);
  const turn = { on: !(asked.get(operation)?.on ?? shown?.getAttribute("aria-pressed") === "true") };
  asked.set(operation, turn);
  const print = (state) => switches.filter((one) => one.isConnected).forEach((one) => {
    one.setAttribute("aria-pressed", String(state));
    one.querySelector(".toggle-word").textContent = state ? "On" : "Off";
  });
  print(turn.on);
  const done = await postChange(`operations/${operation}/${turn.on ? "on" : "off"}`);
  if (asked.get(operation) === turn) asked.delete(operation);
  if (!done) print(!turn.on);
  return undefined;
}

async function snip({ source, pressed }) {
  const row = rowFor(source);
  if (row?.matches(".op-snip.marker") && !selectedKeys().length) return toggle(row.dataset.operation, row);
  return openDialog("snip", { targets: await targets(row, pressed) });
}

async function revise({ source, pressed }) {
  const row = rowFor(source);
  const isWritten = row && (isMarker(row) || row.matches(".inserted")) && !selectedKeys().length;
  if (isWritten && !row.matches(".op-snip")) return openDialog("amend", { operation: row.dataset.operation });
  return openDialog("revise", { targets: await targets(row, pressed) });
}

/** The key of what precedes a row; "" at the top of the thread. */
async function before(row) {
  if (row.previousElementSibling?.dataset?.key) return row.previousElementSibling.dataset.key;
  if (!isTopLevel(row)) return null;
  const position = positionOf(row) - 1;
  return position < 0 ? "" : (await loadRow(position))?.dataset.key ?? "";
}

async function insert(row, above) {
  const after = above ? await before(row) : row?.dataset.key;
  if (after === null) toast("It is already first in its fold.");
  else await openDialog("insert", { after: after ?? "" });
}

/** The key of what a menu was opened on: an operation's note, or a row. */
const keyOf = (source) => (source.matches(".flat") ? source.dataset.operation : rowFor(source).dataset.key);
const linkTo = (row) => `${location.origin}${location.pathname}${location.search}#${row.id}`;

/** The URL that selects the same consecutive rows. */
function linkToSelection() {
  const [first, last] = [selectedKeys()[0], selectedKeys().at(-1)];
  const fields = new URLSearchParams({ at: first, to: last });
  return `${location.origin}${session.url}?${fields}#${nodeId(first)}`;
}

const withTargets = (type) => async ({ source, pressed }) =>
  openDialog(type, { targets: await targets(rowFor(source), pressed) });

function onOperation(action) {
  return ({ source }) => {
    const operation = operationFor(source);
    return operation ? postChange(`operations/${operation}/${action}`) : toast("There is no operation here.");
  };
}

/**
 * Decide a proposal: that of the pressed button, of the focused entry in the drawer, or the one
 * pending on the current row. A part of a bundle is decided together with the rest, except from the
 * drawer.
 */
function decide(action) {
  return ({ source, pressed }) => {
    const row = rowFor(source);
    const waiting = pressed.closest?.(`[data-action="${action}"], .decision--proposed`) ?? (row && queryOwn(row, ".flat--proposed"));
    const { operation, bundle } = waiting?.closest("[data-bundle], [data-operation]")?.dataset ?? {};
    if (bundle) return postChange(`bundles/${bundle}/${action}`);
    return operation ? postChange(`operations/${operation}/${action}`) : toast("There is no proposal here.");
  };
}

/** The text selected within the thread, by mouse or keyboard. */
function pickedWords() {
  const picked = getSelection();
  return feed?.contains(picked.anchorNode) ? String(picked) : "";
}

function openRaw(row) {
  open(`${session.url}messages/${row.dataset.key}/raw`, "_blank", "noopener");
}

defineActions({
  digest: withTargets("digest"),
  tag: withTargets("tag"),
  move: withTargets("move"),
  snip,
  revise,
  "insert-below": ({ source }) => insert(rowFor(source), false),
  "insert-above": ({ source }) => insert(rowFor(source), true),
  texts: () => openDialog("texts", { start: pickedWords() }),
  activate: () => openDialog("activate"),
  "use-lens": ({ pressed }) => {
    closeDialog();
    return postChange("lenses/use", { name: pressed.dataset.name });
  },
  "delete-lens": ({ pressed }) => {
    closeDialog();
    return postChange("lenses/delete", { name: pressed.dataset.name });
  },
  snapshot: () => openDialog("snapshot"),
  "restore-snapshot": ({ pressed }) => postChange("snapshots/restore", { name: pressed.dataset.name }),
  "delete-snapshot": ({ pressed }) => postChange("snapshots/delete", { name: pressed.dataset.name }),
  amend: ({ source }) => openDialog("amend", { operation: operationFor(source) }),
  versions: ({ source }) => openDialog("versions", { operation: operationFor(source) }),
  decide: ({ source }) => openDialog("decide", { operation: operationFor(source) }),
  toggle: ({ source }) => toggle(operationFor(source), rowAt(source) ?? rowAt(document.activeElement)),
  "switch-all": ({ pressed }) => postChange(`actors/${encodeURIComponent(pressed.dataset.actor)}/${pressed.dataset.to}`),
  bundle: ({ pressed }) => postChange(`bundles/${pressed.closest("[data-bundle]").dataset.bundle}/${pressed.dataset.verb}`),
  "review-all": ({ pressed }) => postChange(`proposals/${pressed.dataset.verb}`, { seen: session.head }),
  revert: onOperation("revert"),
  accept: decide("accept"),
  reject: decide("reject"),
  widen: (about) => {
    closeDialog();
    return onOperation("widen")(about);
  },
  undo: () => postChange("undo"),
  redo: () => postChange("redo"),
  retry: ({ pressed }) => {
    pressed.closest(".toast")?.remove();
    recordEdit(pressed.dataset.type, { targets: pressed.dataset.targets });
  },
  raw: ({ source }) => openRaw(rowFor(source)),
  "left-out": ({ source }) => openDialog("left-out", { operation: operationFor(source) }),
  "copy-link": ({ source }) => copyText(linkTo(rowFor(source)), "Link"),
  "copy-selection-link": () => copyText(linkToSelection(), "Link"),
  "copy-selection-keys": () => copyText(selectedKeys().join(" "), "Keys"),
  "copy-key": ({ source }) => copyText(keyOf(source), "Key"),
});
