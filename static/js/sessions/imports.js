/** The three ways to import (files dropped or chosen, and pasted text) and the jobs they start. */
import { announce, announceError } from "../base/announce.js";
import { parseHtml } from "../base/fragment.js";
import { enqueue, send } from "../base/requests.js";
import { toast } from "../base/toast.js";
import { defineActions } from "../base/actions.js";
import { refreshListing } from "./listing.js";

const POLL_MS = 1000;
const MAX_POLL_MS = 5000;
const form = document.getElementById("import");
const zone = document.getElementById("dropzone");
const paste = document.getElementById("paste");
const rates = new Map();

/**
 * Post files or text. A refusal is shown where the import was started, until the next try, and
 * scrolled into view: files may have been dropped far away from it.
 */
async function post(fields, refusedBox) {
  refusedBox.hidden = true;
  zone.setAttribute("aria-busy", "true");
  try {
    const response = await send(form.action, { method: "POST", fields, quiet: true });
    if (!response.headers.get("HX-Redirect")) await show(await response.text(), { started: true });
    return true;
  } catch (error) {
    const unreachable = "Can't reach the server. Nothing was imported.";
    refusedBox.textContent = error.status ? error.message : unreachable;
    refusedBox.hidden = false;
    refusedBox.scrollIntoView({ block: "center" });
    announceError(refusedBox.textContent);
    return false;
  } finally {
    zone.removeAttribute("aria-busy");
  }
}

/** Send files as one import. `found` are files with their paths within the dropped folder. */
function upload(found) {
  if (!found.length) return;
  const fields = new FormData();
  for (const { file } of found) fields.append("file", file);
  fields.append("paths", JSON.stringify(found.map(({ path }) => path)));
  if (form.elements.project) fields.append("project", form.elements.project.value);
  announce(found.length === 1 ? `Importing ${found[0].path}` : `Importing ${found.length} files`);
  // When dropped on the dialog, the box behind it wouldn't be visible.
  const refusedBox = document.getElementById(paste?.open ? "paste-refused" : "import-refused");
  enqueue(() => post(fields, refusedBox)).then(() => {
    for (const input of form.querySelectorAll("[type=file]")) input.value = "";
  });
}

const chosen = (input) => [...input.files].map((file) => ({ file, path: file.webkitRelativePath || file.name }));

/** The dropped files, including those of dropped folders. Entries must be read synchronously. */
async function dropped(data) {
  const entries = [...data.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.some((entry) => entry.isDirectory)) return [...data.files].map((file) => ({ file, path: file.name }));
  const found = [];
  for (const entry of entries) await walk(entry, found);
  return found;
}

async function walk(entry, found) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => { entry.file(resolve, reject); });
    found.push({ file, path: entry.fullPath.replace(/^\//, "") });
    return;
  }
  const reader = entry.createReader();
  const some = () => new Promise((resolve, reject) => { reader.readEntries(resolve, reject); });
  for (let batch = await some(); batch.length; batch = await some()) {
    for (const child of batch) await walk(child, found);
  }
}

async function uploadText(event) {
  event.preventDefault();
  const fields = new FormData(event.target);
  if (await post(fields, document.getElementById("paste-refused"))) {
    event.target.reset();
    paste.close();
  }
}

/** Show the current jobs. When one has ended, the list is refreshed to show the result. */
async function show(html, { started = false } = {}) {
  const list = document.getElementById("jobs");
  const jobs = parseHtml(html).querySelectorAll(".job");
  const before = [...list.children].filter((row) => !running().includes(row)).map(({ id }) => id);
  const ran = running().length || started;
  const focus = document.activeElement?.closest("[data-job]")?.dataset.job;
  list.replaceChildren(...jobs);
  jobs.forEach(addRate);
  if (focus) list.querySelector(`button[data-job="${focus}"]`)?.focus();
  const left = running().length;
  if (left) schedule();
  if (!ran || left >= ran) return;
  await refreshListing();
  const states = [...list.children].filter(({ id }) => !before.includes(id)).map(({ dataset }) => dataset.status);
  announce(`Import ${["failed", "cancelled"].find((state) => states.includes(state)) ?? "finished"}.`);
}

/** The imports this page has seen running, which it still shows when they are done. */
const watched = () => ({
  watched: [...document.querySelectorAll("#jobs > :is(.job--queued, .job--running, .job--done)")].map(({ dataset }) => dataset.job).join(","),
});
const running = () => [...document.querySelectorAll("#jobs > :is(.job--queued, .job--running)")];

/** Show the speed of a job once it has run for a few seconds. */
function addRate(row) {
  const progress = row.querySelector("progress[value]");
  if (!progress) return;
  const now = performance.now() / 1000;
  const began = rates.get(row.id) ?? { at: now, value: progress.value };
  rates.set(row.id, began);
  const rate = (progress.value - began.value) / (now - began.at);
  if (now - began.at < 5 || !(rate > 0)) return;
  const left = Math.ceil((progress.max - progress.value) / rate);
  row.querySelector(".job-why").append(`, ${Math.round(rate).toLocaleString("en")}/s, ${left} s left`);
}

let wait = POLL_MS;
let timer = 0;
function schedule() {
  clearTimeout(timer);
  timer = setTimeout(async () => {
    try {
      await show(await (await send("/jobs/", { fields: watched(), quiet: true })).text());
      wait = POLL_MS;
    } catch {
      wait = Math.min(wait * 2, MAX_POLL_MS);
      schedule();
    }
  }, wait);
}

async function onJob(job, act) {
  const response = await send(`/jobs/${job}/${act}`, { method: "POST", fields: watched() });
  show(await response.text());
  if (act === "cancel") toast("The import will stop after the current step.");
}

function watchDrop() {
  const hasFiles = (event) => [...event.dataTransfer.types].includes("Files");
  document.addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    zone.classList.add("is-over");
  });
  document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) zone.classList.remove("is-over"); });
  document.addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    zone.classList.remove("is-over");
    dropped(event.dataTransfer).then(upload, () => {
      announceError("Can't read the folder. Nothing was imported.");
    });
  });
}

export function watchImports() {
  if (form) {
    watchDrop();
    const file = document.getElementById("file");
    const folder = document.getElementById("folder");
    for (const input of [file, folder]) input.addEventListener("change", () => upload(chosen(input)));
    paste?.querySelector("form").addEventListener("submit", uploadText);
    defineActions({ import: () => file.click(), "import-folder": () => folder.click(), paste: () => paste.showModal() });
  }
  if (running().length) schedule();
  defineActions({
    cancel: ({ source }) => onJob(source.dataset.job, "cancel"),
    forget: ({ source }) => onJob(source.dataset.job, "forget"),
  });
}
