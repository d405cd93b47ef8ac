/**
 * The one table of what the keyboard can do. The dispatcher, the key sheet and the palette read it;
 * a command is live where some module of the page has given its verb a meaning.
 *
 * keys: alternatives, each a sequence of strokes ("g g"); a stroke is the key as typed, after
 * "Mod+" (Control or Command) and "Alt+" · once: a held key doesn't repeat it · edits: needs a thread
 * that may be edited.
 */
export const COMMANDS = [
  { group: "Moving", verb: "next", name: "Next message", keys: ["j"] },
  { group: "Moving", verb: "previous", name: "Previous message", keys: ["k"] },
  { group: "Moving", verb: "next-user", name: "Next user message; with a selection, extend it", keys: ["J"] },
  { group: "Moving", verb: "previous-user", name: "Previous user message; with a selection, extend it", keys: ["K"] },
  { group: "Moving", verb: "first", name: "First message", keys: ["g g"] },
  { group: "Moving", verb: "last", name: "Last message", keys: ["G"] },
  { group: "Moving", verb: "go-to", name: "Go to message number…", keys: ["Mod+g", ":"] },
  { group: "Moving", verb: "next-marker", name: "Next marker or change", keys: ["n"] },
  { group: "Moving", verb: "previous-marker", name: "Previous marker or change", keys: ["p"] },
  { group: "Seeing", verb: "find", name: "Find…", keys: ["/", "Mod+f"], once: true },
  { group: "Seeing", verb: "find-next", name: "Next match", keys: ["F3"] },
  { group: "Seeing", verb: "find-previous", name: "Previous match", keys: ["Shift+F3"] },
  { group: "Seeing", verb: "open", name: "Open or close", keys: ["o", "Enter"] },
  { group: "Seeing", verb: "open-level", name: "Open or close all at this level", keys: ["O"] },
  { group: "Seeing", verb: "view", name: "Next view: annotated, effective, original", keys: ["v"], once: true },
  { group: "Seeing", verb: "drawer", name: "Operations", keys: ["h"], once: true },
  { group: "Seeing", verb: "outline", name: "Outline", keys: [], once: true },
  { group: "Seeing", verb: "meter", name: "Token meter", keys: ["w"], once: true },
  { group: "Seeing", verb: "export", name: "Export…", keys: [] },
  { group: "Seeing", verb: "theme", name: "Colours: system, light or dark", keys: [] },
  { group: "Selecting", verb: "select", name: "Select or not", keys: ["x"], once: true },
  { group: "Selecting", verb: "select-next", name: "Extend downwards", keys: ["Shift+ArrowDown"] },
  { group: "Selecting", verb: "select-previous", name: "Extend upwards", keys: ["Shift+ArrowUp"] },
  { group: "Selecting", verb: "mark", name: "Set a mark", keys: ["m"], once: true },
  { group: "Selecting", verb: "select-from-mark", name: "Select from the mark to here", keys: ["'"], once: true },
  { group: "Selecting", verb: "escape", name: "Clear the selection, cancel", keys: ["Escape"], once: true },
  { group: "Operations", verb: "digest", name: "Digest…", keys: ["d"], once: true, edits: true },
  { group: "Operations", verb: "snip", name: "Snip", keys: ["s"], once: true, edits: true },
  { group: "Operations", verb: "revise", name: "Revise…", keys: ["e"], once: true, edits: true },
  { group: "Operations", verb: "insert-below", name: "Insert below…", keys: ["i"], once: true, edits: true },
  { group: "Operations", verb: "insert-above", name: "Insert above…", keys: ["I"], once: true, edits: true },
  { group: "Operations", verb: "tag", name: "Tag…", keys: ["t"], once: true, edits: true },
  { group: "Operations", verb: "texts", name: "Replace and redact…", keys: ["r"], once: true, edits: true },
  { group: "Operations", verb: "toggle", name: "Switch the operation on or off", keys: ["."], once: true, edits: true },
  { group: "Operations", verb: "accept", name: "Accept the proposal", keys: ["a"], once: true, edits: true },
  { group: "Operations", verb: "reject", name: "Reject the proposal", keys: ["A"], once: true, edits: true },
  { group: "Operations", verb: "staging", name: "Stage what I do, to commit it together, or not", keys: ["S"], once: true, edits: true },
  { group: "Operations", verb: "commit", name: "Commit what is staged", keys: [], once: true, edits: true },
  { group: "Operations", verb: "discard", name: "Discard what is staged", keys: [], once: true, edits: true },
  { group: "Operations", verb: "activate", name: "Active tags…", keys: [], edits: true },
  { group: "Operations", verb: "undo", name: "Undo my last operation", keys: ["Mod+z"], once: true, edits: true },
  { group: "Operations", verb: "redo", name: "Redo", keys: ["Mod+Shift+z", "Mod+y"], once: true, edits: true },
  { group: "Arranging", verb: "move-up", name: "Move one step up", keys: ["Alt+ArrowUp"], edits: true },
  { group: "Arranging", verb: "move-down", name: "Move one step down", keys: ["Alt+ArrowDown"], edits: true },
  { group: "Arranging", verb: "move-up-far", name: "Move before the previous user message", keys: ["Alt+Shift+ArrowUp"], once: true, edits: true },
  { group: "Arranging", verb: "move-down-far", name: "Move behind the next user message", keys: ["Alt+Shift+ArrowDown"], once: true, edits: true },
  { group: "Arranging", verb: "move", name: "Move to…", keys: [], edits: true },
  { group: "Arranging", verb: "cut", name: "Cut, to be moved", keys: ["Mod+x"], once: true, edits: true },
  { group: "Arranging", verb: "paste-here", name: "Move what was cut behind this", keys: ["Mod+v"], once: true, edits: true },
  { group: "This session", verb: "to-thread", name: "Go to the thread", keys: ["g t"] },
  { group: "This session", verb: "to-context", name: "Go to what the model sees", keys: ["g c"] },
  { group: "This session", verb: "to-policy", name: "Go to the policy", keys: ["g p"] },
  { group: "This session", verb: "to-notes", name: "Go to objective, STATE and scratchpad", keys: ["g n"] },
  { group: "This session", verb: "to-memos", name: "Go to memos and recall", keys: ["g m"] },
  { group: "Everywhere", verb: "import", name: "Import a file…", keys: ["i"] },
  { group: "Everywhere", verb: "import-folder", name: "Import a folder…", keys: [] },
  { group: "Everywhere", verb: "paste", name: "Paste a transcript…", keys: [] },
  { group: "Everywhere", verb: "palette", name: "Run a command", keys: ["Mod+k"], once: true },
  { group: "Everywhere", verb: "save", name: "Save what is being written", keys: ["Mod+Enter"], once: true },
  { group: "Everywhere", verb: "keys", name: "Keyboard", keys: ["?"], once: true },
];

const SIGNS = {
  ArrowUp: "↑", ArrowDown: "↓", Enter: "↵", Escape: "Esc", Mod: navigator.platform.startsWith("Mac") ? "⌘" : "Ctrl",
};

/** A sequence of strokes as it is printed upon key caps: "Mod+Shift+z" → "Ctrl Shift Z". */
export const printed = (sequence) => sequence.split(" ").map((stroke) => {
  const parts = stroke.split("+");
  return parts.map((part) => SIGNS[part] ?? (parts.length > 1 && part.length === 1 ? part.toUpperCase() : part)).join(" ");
}).join(" ");
