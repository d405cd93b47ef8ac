/**
 * The one table of what the keyboard can do. The dispatcher, the key sheet and the palette read it;
 * a command is live where some module of the page has given its action a meaning.
 *
 * keys: alternatives, each a sequence of strokes ("g g"); a stroke is the key as typed, after
 * "Mod+" (Control or Command) and "Alt+" · once: a held key doesn't repeat it · edits: needs a thread
 * that may be edited.
 */
export const COMMANDS = [
  { group: "Moving", action: "next", name: "Next message", keys: ["j"] },
  { group: "Moving", action: "previous", name: "Previous message", keys: ["k"] },
  { group: "Moving", action: "next-user", name: "Next user message; with a selection, extend it", keys: ["J"] },
  { group: "Moving", action: "previous-user", name: "Previous user message; with a selection, extend it", keys: ["K"] },
  { group: "Moving", action: "first", name: "First message", keys: ["g g"] },
  { group: "Moving", action: "last", name: "Last message", keys: ["G"] },
  { group: "Moving", action: "go-to", name: "Go to message number…", keys: ["Mod+g", ":"] },
  { group: "Moving", action: "next-marker", name: "Next marker or change", keys: ["n"] },
  { group: "Moving", action: "previous-marker", name: "Previous marker or change", keys: ["p"] },
  { group: "Seeing", action: "find", name: "Find…", keys: ["/", "Mod+f"], once: true },
  { group: "Seeing", action: "find-next", name: "Next match", keys: ["F3"] },
  { group: "Seeing", action: "find-previous", name: "Previous match", keys: ["Shift+F3"] },
  { group: "Seeing", action: "open", name: "Open or close", keys: ["o", "Enter"] },
  { group: "Seeing", action: "open-level", name: "Open or close all at this level", keys: ["O"] },
  { group: "Seeing", action: "view", name: "Next view: annotated, effective, original", keys: ["v"], once: true },
  { group: "Seeing", action: "drawer", name: "Operations", keys: ["h"], once: true },
  { group: "Seeing", action: "outline", name: "Outline", keys: [], once: true },
  { group: "Seeing", action: "meter", name: "Token meter", keys: ["w"], once: true },
  { group: "Seeing", action: "export", name: "Export…", keys: [] },
  { group: "Seeing", action: "theme", name: "Colours: system, light or dark", keys: [] },
  { group: "Selecting", action: "select", name: "Select or not", keys: ["x"], once: true },
  { group: "Selecting", action: "select-next", name: "Extend downwards", keys: ["Shift+ArrowDown"] },
  { group: "Selecting", action: "select-previous", name: "Extend upwards", keys: ["Shift+ArrowUp"] },
  { group: "Selecting", action: "mark", name: "Set a mark", keys: ["m"], once: true },
  { group: "Selecting", action: "select-from-mark", name: "Select from the mark to here", keys: ["'"], once: true },
  { group: "Selecting", action: "escape", name: "Clear the selection, cancel", keys: ["Escape"], once: true },
  { group: "Operations", action: "digest", name: "Digest…", keys: ["d"], once: true, edits: true },
  { group: "Operations", action: "snip", name: "Snip", keys: ["s"], once: true, edits: true },
  { group: "Operations", action: "revise", name: "Revise…", keys: ["e"], once: true, edits: true },
  { group: "Operations", action: "insert-below", name: "Insert below…", keys: ["i"], once: true, edits: true },
  { group: "Operations", action: "insert-above", name: "Insert above…", keys: ["I"], once: true, edits: true },
  { group: "Operations", action: "tag", name: "Tag…", keys: ["t"], once: true, edits: true },
  { group: "Operations", action: "texts", name: "Replace and redact…", keys: ["r"], once: true, edits: true },
  { group: "Operations", action: "toggle", name: "Switch the operation on or off", keys: ["."], once: true, edits: true },
  { group: "Operations", action: "accept", name: "Accept the proposal", keys: ["a"], once: true, edits: true },
  { group: "Operations", action: "reject", name: "Reject the proposal", keys: ["A"], once: true, edits: true },
  { group: "Operations", action: "staging", name: "Stage what I do, to commit it together, or not", keys: ["S"], once: true, edits: true },
  { group: "Operations", action: "commit", name: "Commit what is staged", keys: [], once: true, edits: true },
  { group: "Operations", action: "discard", name: "Discard what is staged", keys: [], once: true, edits: true },
  { group: "Operations", action: "activate", name: "Active tags…", keys: [], edits: true },
  { group: "Operations", action: "undo", name: "Undo my last operation", keys: ["Mod+z"], once: true, edits: true },
  { group: "Operations", action: "redo", name: "Redo", keys: ["Mod+Shift+z", "Mod+y"], once: true, edits: true },
  { group: "Arranging", action: "move-up", name: "Move one step up", keys: ["Alt+ArrowUp"], edits: true },
  { group: "Arranging", action: "move-down", name: "Move one step down", keys: ["Alt+ArrowDown"], edits: true },
  { group: "Arranging", action: "move-up-far", name: "Move before the previous user message", keys: ["Alt+Shift+ArrowUp"], once: true, edits: true },
  { group: "Arranging", action: "move-down-far", name: "Move behind the next user message", keys: ["Alt+Shift+ArrowDown"], once: true, edits: true },
  { group: "Arranging", action: "move", name: "Move to…", keys: [], edits: true },
  { group: "Arranging", action: "cut", name: "Cut, to be moved", keys: ["Mod+x"], once: true, edits: true },
  { group: "Arranging", action: "paste-here", name: "Move what was cut behind this", keys: ["Mod+v"], once: true, edits: true },
  { group: "This session", action: "to-thread", name: "Go to the thread", keys: ["g t"] },
  { group: "This session", action: "to-context", name: "Go to what the model sees", keys: ["g c"] },
  { group: "This session", action: "to-policy", name: "Go to the policy", keys: ["g p"] },
  { group: "This session", action: "to-notes", name: "Go to objective, STATE and scratchpad", keys: ["g n"] },
  { group: "This session", action: "to-memos", name: "Go to memos and recall", keys: ["g m"] },
  { group: "Everywhere", action: "import", name: "Import a file…", keys: ["i"] },
  { group: "Everywhere", action: "import-folder", name: "Import a folder…", keys: [] },
  { group: "Everywhere", action: "paste", name: "Paste a transcript…", keys: [] },
  { group: "Everywhere", action: "palette", name: "Run a command", keys: ["Mod+k"], once: true },
  { group: "Everywhere", action: "save", name: "Save what is being written", keys: ["Mod+Enter"], once: true },
  { group: "Everywhere", action: "keys", name: "Keyboard", keys: ["?"], once: true },
];

const SIGNS = {
  ArrowUp: "↑", ArrowDown: "↓", Enter: "↵", Escape: "Esc", Mod: navigator.platform.startsWith("Mac") ? "⌘" : "Ctrl",
};

/** A sequence of strokes as it is printed upon key caps: "Mod+Shift+z" → "Ctrl Shift Z". */
export const printed = (sequence) => sequence.split(" ").map((stroke) => {
  const parts = stroke.split("+");
  return parts.map((part) => SIGNS[part] ?? (parts.length > 1 && part.length === 1 ? part.toUpperCase() : part)).join(" ");
}).join(" ");
