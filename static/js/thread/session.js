/** What the page of a session knows: its URL, its view, and the head it shows. */
import { nodeId } from "./positions.js";

export const feed = document.getElementById("feed");
const shown = feed ?? document.getElementById("nothing");
const number = (name) => Number(shown?.dataset[name] ?? 0);

export const session = {
  url: location.pathname.replace(/[^/]*$/, ""),
  id: location.pathname.split("/").filter(Boolean)[1] ?? "",
  view: feed?.dataset.view ?? "annotated",
  head: number("head"),
  messages: number("messages"),
  total: number("total"),
  /** Whether edits are staged rather than applied; see staging.js. */
  stages: false,
  /** Whether the user may switch applied operations; users who may only propose may not. */
  mayEdit: feed?.dataset.mayEdit !== undefined,
  /** What the user may do here, as far as the page knows: "read", "propose" or "edit". */
  right: feed?.dataset.mayEdit !== undefined ? "edit" : feed?.dataset.mayPropose !== undefined ? "propose" : "read",
  readOnly: !feed || feed.matches(".is-read-only"),
};

/** Why nothing can be edited here, for who presses a key that would. */
export function whyReadOnly() {
  if (!feed) return "There are no messages here.";
  const mayPropose = feed.dataset.mayPropose !== undefined;
  return mayPropose ? "You can edit in the Annotated view." : "You may only read this session.";
}

let loadedRanges = () => "";

/** Set the function that returns the ranges of loaded rows, such as "0-100,300-400". */
export function setLoadedRanges(ranges) {
  loadedRanges = ranges;
}

/** Whether the drawer lists older operations, on request. */
export const listsOlderOperations = () => Boolean(document.querySelector("[data-lists-older]"));

/** The version of the title that the page shows. */
export const titleMark = () => Number(document.getElementById("thread-title")?.dataset.mark ?? 0);

/** The page's state, sent with every write and every request for changes. */
export const pageState = () => ({
  head: session.head,
  messages: session.messages,
  title_mark: titleMark(),
  view: session.view,
  loaded: loadedRanges(),
  ...(listsOlderOperations() && { lists_older: "1" }),
});

/** The row or marker with this key, if it is in the page. */
export const rowOf = (key) => document.getElementById(nodeId(key));
