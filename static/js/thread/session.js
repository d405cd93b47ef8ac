/** What the page of one session knows: its address, its view, and the head it shows. */
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
  /** Whether edits are staged rather than applied: see staging.js. */
  stages: false,
  /** Whether what applies may be switched: who may only propose may not. */
  mayEdit: feed?.dataset.mayEdit !== undefined,
  readOnly: !feed || feed.matches(".is-read-only"),
};

let loadedRanges = () => "";

/** Who knows which rows are in the page: answers "0-100,300-400". */
export function knowsLoaded(ranges) {
  loadedRanges = ranges;
}

/** Whether the drawer lists older operations, for which it was asked. */
export const listsOlder = () => Boolean(document.querySelector("[data-lists-older]"));

/** What tells the title that the page shows from another. */
export const titleMark = () => Number(document.getElementById("thread-title")?.dataset.mark ?? 0);

/** What every write and every catching up says about this page. */
export const stamp = () => ({
  head: session.head,
  messages: session.messages,
  title_mark: titleMark(),
  view: session.view,
  loaded: loadedRanges(),
  ...(listsOlder() && { lists_older: "1" }),
});

/** The row or marker with this key, when it is in the page. */
export const rowOf = (key) => document.getElementById(nodeId(key));
