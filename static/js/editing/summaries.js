/**
 * A summary in the digest dialog: once written, it is put into the dialog's text, and what it
 * dropped can be added there with a click.
 */
import { defineActions } from "../base/actions.js";
import { closeDialog } from "./dialogs.js";
import { awaitSummary } from "./pending.js";
import { announce } from "../base/announce.js";

const dialog = document.getElementById("dialog");
const field = () => dialog.querySelector("textarea[name=summary]");

function write(text) {
  field().value = text;
  field().dispatchEvent(new Event("input", { bubbles: true }));
}

/** The text with a reference added: sentences get a line each, names share one. */
function withReference(text, kind, reference) {
  const begun = text.trimEnd();
  if (kind === "imperative") return `${begun}\n- The user: ${reference}`;
  if (kind === "error") return `${begun}\n- Failed: ${reference}`;
  const last = begun.slice(begun.lastIndexOf("\n") + 1);
  return last.startsWith("Also: ") ? `${begun}, ${reference}` : `${begun}\n\nAlso: ${reference}`;
}

function keep({ pressed }) {
  const { kind, text } = pressed.dataset;
  write(withReference(field().value, kind, text));
  const item = pressed.closest("li");
  const next = (item.nextElementSibling ?? item.previousElementSibling)?.querySelector("button");
  item.remove();
  (next ?? field()).focus();
  announce("Added to the text");
}

/** A finished summary is added below what was typed in the meantime. */
function take() {
  const made = dialog.querySelector("[data-summary]");
  if (!made || !field()) return;
  const typed = field().value.trim();
  write(typed ? `${typed}\n\n${made.textContent}` : made.textContent);
  made.remove();
}

/**
 * Each answer replaces the buttons. If the focus was there, it moves to the next possible action.
 */
function leadOn() {
  let wasHere = false;
  const part = () => dialog.querySelector("#summary");
  dialog.addEventListener("htmx:beforeRequest", ({ detail }) => {
    if (detail.target === part()) wasHere = part().contains(document.activeElement);
  });
  dialog.addEventListener("htmx:afterSettle", () => {
    if (!wasHere || !part() || dialog.contains(document.activeElement)) return;
    (part().querySelector(".button") ?? field()).focus();
  });
}

export function watchSummaries() {
  document.body.addEventListener("summaryOrdered", ({ detail }) => {
    closeDialog();
    awaitSummary(detail.job);
  });
  dialog?.addEventListener("htmx:afterSettle", take);
  if (dialog) leadOn();
}

defineActions({ "keep-reference": keep });
