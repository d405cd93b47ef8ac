/**
 * The dialog of the thread page: fetched from /dialogs/<type> and posted by htmx, queued with the
 * other writes. What is typed is kept as a draft until it is saved or discarded.
 */
import { isErrorForm, sentenceOf, tellGone } from "../base/failures.js";
import { createElement, parseHtml } from "../base/fragment.js";
import { holdKeys } from "../base/keys.js";
import { toast } from "../base/toast.js";
import { applyPatch, isPatch } from "../thread/patch.js";
import { currentRow } from "../thread/rows.js";
import { rememberFocus } from "../thread/scroll_anchor.js";
import { enqueue, query } from "../base/requests.js";
import { clearIfActedOn } from "../thread/selection.js";
import { pageState, session } from "../thread/session.js";
import { defineActions } from "../base/actions.js";

const dialog = document.getElementById("dialog");
let draft = "";
let about = null;
let opener = null;
let given = "";
let again = null;
const leftName = `dialog:${session.id}`;

const texts = () => [...dialog.querySelectorAll("textarea, input[type=text]")];
const written = () => JSON.stringify(texts().map((field) => field.value));
const isChanged = () => written() !== given;

/** Where the focus returns to: if it is on nothing, to the row that keys act on. */
function rememberOpener() {
  const here = document.activeElement;
  opener = rememberFocus(here === document.body ? currentRow() ?? here : here);
}

/** Open the dialog `type`; `fields` say what it applies to. */
export async function openDialog(type, fields = {}) {
  rememberOpener();
  about = type === "tag" ? null : fields.targets;
  const letGo = holdKeys();
  try {
    const response = await query(`${session.url}dialogs/${type}`, { view: session.view, ...fields });
    show(await response.text());
    open(type, fields);
    again = { type, fields };
  } finally {
    letGo();
  }
}

/** A write was refused with a dialog that says why and offers alternatives. */
function openAsked({ detail }) {
  rememberOpener();
  about = again = null;
  show(detail);
  open("asked", {});
}

/**
 * A short name for a text that may be long, such as the keys of a large selection: its beginning
 * and a checksum.
 */
function inShort(text) {
  if (text.length <= 80) return text;
  let sum = 0;
  for (let place = 0; place < text.length; place += 1) sum = (Math.imul(sum, 31) + text.charCodeAt(place)) | 0;
  return `${text.slice(0, 80)}…${text.length}.${sum}`;
}

/** Use the shown content as the dialog for these fields, restoring the draft if there is one. */
function open(type, fields) {
  const subject = fields.operation ?? fields.after ?? fields.targets ?? fields.start;
  draft = ["draft", session.id, type, subject && inShort(subject)].join(":");
  const kept = JSON.parse(localStorage.getItem(draft) ?? "null");
  if (kept) texts().forEach((field, place) => { if (kept[place] !== undefined) field.value = kept[place]; });
  if (!dialog.open) dialog.showModal();
  const first = dialog.querySelector("button[autofocus]") ?? dialog.querySelector("textarea") ?? dialog.querySelector("input:not([type=hidden], [type=checkbox], [type=radio]), select")
    ?? dialog.querySelector("[autofocus]");
  first?.focus();
  if (first?.matches("textarea")) goToEnd(first);
}

/** Put the caret after the text, where people go on writing; browsers put it before. */
function goToEnd(field) {
  field.setSelectionRange(field.value.length, field.value.length);
  field.scrollTop = field.scrollHeight;
}

/** While staging is on, whatever submits the form stages it: one button is left, and says so. */
function nameButtons() {
  const stage = dialog.querySelector("[name=stage]");
  if (!session.stages || !stage) return;
  dialog.querySelector(".dialog-foot .button--main").firstChild.data = stage.textContent;
  stage.remove();
}

function show(html) {
  dialog.replaceChildren(parseHtml(html));
  nameButtons();
  given = written();
  htmx.process(dialog);
}

function close() {
  dialog.close();
  dialog.replaceChildren();
  opener?.restore();
}

/** Ask before discarding typed text. Leaving a second time means staying. */
function leave() {
  const asked = dialog.querySelector(".dialog-discard");
  if (asked) keep(asked);
  else if (isChanged()) askToDiscard();
  else discard();
}

function askToDiscard() {
  const button = (action, name, kind) => createElement("button",
    { class: `button button--small ${kind}`, type: "button", "data-action": action }, name);
  const question = createElement("div", { class: "dialog-discard", role: "alert" },
    createElement("p", {}, "Discard what you wrote?"),
    button("discard-draft", "Discard", ""), button("keep-draft", "Keep editing", "button--quiet"));
  dialog.querySelector(".dialog-foot").after(question);
  question.querySelector("button").focus();
}

function keep(question) {
  question.remove();
  texts()[0]?.focus();
}

/** Close the dialog without asking, when its purpose continues elsewhere. */
export function closeDialog() {
  if (dialog.open) discard();
}

function discard() {
  localStorage.removeItem(draft);
  close();
}

/**
 * A form of the dialog waits for earlier writes, and sends the page's state with it. When it is
 * submitted twice, it is gone by its second turn, where htmx wouldn't fire any event.
 */
function onConfirm(event) {
  const { elt, verb, issueRequest } = event.detail;
  if (verb !== "post" || !elt.matches("form")) return;
  event.preventDefault();
  enqueue(() => new Promise((over) => {
    if (!elt.isConnected) {
      over();
      return;
    }
    // The form's estimate is a request too, and its event bubbles up to here: it mustn't end the
    // turn.
    const end = ({ detail }) => {
      if (detail.elt !== elt) return;
      elt.removeEventListener("htmx:afterRequest", end);
      over();
    };
    elt.addEventListener("htmx:afterRequest", end);
    setTimeout(over, 30000);
    issueRequest(true);
  }));
}

/**
 * The answer to a form that was left is shown outside the dialog, which may be in use again by now.
 */
function answerLeft(xhr) {
  if (isPatch(xhr.responseText)) applyPatch(xhr.responseText);
  else if (isErrorForm(xhr)) {
    const why = parseHtml(xhr.responseText).querySelector(".toast p, .refusal, .wrong");
    toast(why?.textContent.trim() || sentenceOf(xhr.status, xhr.responseText), "error");
  }
}

function onAnswer(event) {
  const { xhr, serverResponse, requestConfig, target } = event.detail;
  if (target === dialog && !dialog.contains(requestConfig.elt)) {
    event.detail.shouldSwap = false;
    answerLeft(xhr);
    return;
  }
  if (xhr.status >= 400 || !isPatch(serverResponse)) return;
  event.detail.shouldSwap = false;
  localStorage.removeItem(draft);
  dialog.close();
  dialog.replaceChildren();
  applyPatch(serverResponse);
  clearIfActedOn(about);
  opener?.restore();
}

/**
 * Escape leaves the dialog. It is handled as a key, because browsers fire `cancel` only once
 * without other input in between: the next time, they would close the dialog and its question.
 */
function onEscape(event) {
  if (event.key !== "Escape" || event.isComposing || event.defaultPrevented) return;
  event.preventDefault();
  if (!event.repeat) leave();
}

/** Don't keep waiting for an estimate that failed. */
function stopEstimating({ detail }) {
  if (detail.elt.matches(".estimate")) detail.elt.replaceChildren();
}

/** Focus the first thing that needs correcting. */
function onRefused({ detail }) {
  if (detail.target !== dialog) return;
  nameButtons();
  const wrong = dialog.querySelector("[aria-invalid=true]") ?? dialog.querySelector(".refusal")
    ?? dialog.querySelector("[autofocus]");
  if (wrong && !wrong.matches("input, textarea, select")) wrong.tabIndex = -1;
  wrong?.focus();
}

/** After signing in again, the dialog is reopened with the text that was in it. */
function keepOpen() {
  if (dialog.open && again && isChanged() && localStorage.getItem(draft)) {
    sessionStorage.setItem(leftName, JSON.stringify(again));
  }
}

function reopen() {
  const left = JSON.parse(sessionStorage.getItem(leftName) ?? "null");
  sessionStorage.removeItem(leftName);
  if (left) openDialog(left.type, left.fields);
}

const reload = () => location.reload();

/** A page whose session is gone stays while the dialog holds a text that would be lost. */
function stayOpen(event) {
  if (!dialog.open || !isChanged()) return;
  event.preventDefault();
  tellGone();
  dialog.addEventListener("close", reload, { once: true });
}

export function watchDialogs() {
  if (!dialog) return;
  document.addEventListener("session-gone", stayOpen);
  document.addEventListener("signed-out", keepOpen);
  reopen();
  dialog.addEventListener("keydown", onEscape);
  dialog.addEventListener("cancel", (event) => {
    event.preventDefault();
    leave();
  });
  dialog.addEventListener("input", () => {
    if (texts().some((field) => field.matches("textarea"))) localStorage.setItem(draft, written());
  });
  dialog.addEventListener("htmx:confirm", onConfirm);
  dialog.addEventListener("htmx:configRequest", (event) => {
    for (const [name, value] of Object.entries(pageState())) event.detail.parameters[name] = value;
    if (session.stages) event.detail.parameters.stage = "1";
  });
  for (const failure of ["htmx:sendError", "htmx:responseError"]) dialog.addEventListener(failure, stopEstimating);
  document.addEventListener("thread:asked", openAsked);
  dialog.addEventListener("htmx:beforeSwap", onAnswer);
  dialog.addEventListener("htmx:afterSwap", onRefused);
}

const openOne = (pressed) => pressed.closest("dialog") ?? document.querySelector("dialog[open]");

/** Tick all matches that can be changed, or none of them. */
function tickMatches(isTicked) {
  for (const box of dialog.querySelectorAll('[name="span"]:enabled')) box.checked = isTicked;
}

defineActions({
  "select-matches": () => tickMatches(true),
  "clear-matches": () => tickMatches(false),
  "discard-draft": discard,
  "keep-draft": () => keep(dialog.querySelector(".dialog-discard")),
  close: ({ pressed }) => {
    const shown = openOne(pressed);
    if (shown === dialog) leave();
    else shown?.close();
  },
});
