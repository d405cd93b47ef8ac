/**
 * The table of everything the keyboard can do. The key dispatcher, the key sheet and the palette
 * read it. A command is live when some module of the page has defined its action.
 *
 * keys: alternatives, each a sequence of strokes ("g g"); a stroke is the key as typed, after
 * "Mod+" (Control or Command) and "Alt+" · once: holding the key doesn't repeat it · edits: needs a
 * thread that may be edited · shown: works only while the page has a button for it.
 */
export const COMMANDS = [
  { group: "Navigation", action: "next", name: "Next message or session", keys: ["j"] },
  { group: "Navigation", action: "previous", name: "Previous message or session", keys: ["k"] },
  { group: "Navigation", action: "next-user", name: "Next user message, or extend the selection", keys: ["J"] },
  { group: "Navigation", action: "previous-user", name: "Previous user message, or extend the selection", keys: ["K"] },
  { group: "Navigation", action: "first", name: "First message", keys: ["g g"] },
  { group: "Navigation", action: "last", name: "Last message", keys: ["G"] },
  { group: "Navigation", action: "go-to", name: "Go to message number…", keys: ["Mod+g", ":"] },
  { group: "Navigation", action: "next-marker", name: "Next marker or change", keys: ["n"] },
  { group: "Navigation", action: "previous-marker", name: "Previous marker or change", keys: ["p"] },
  { group: "Navigation", action: "next-failure", name: "Next failed tool result", keys: ["f"] },
  { group: "Navigation", action: "previous-failure", name: "Previous failed tool result", keys: ["F"] },
  { group: "View", action: "find", name: "Find…", keys: ["/", "Mod+f"], once: true },
  { group: "View", action: "find-next", name: "Next match", keys: ["F3"] },
  { group: "View", action: "find-previous", name: "Previous match", keys: ["Shift+F3"] },
  { group: "View", action: "open", name: "Expand or collapse", keys: ["o", "Enter"] },
  { group: "View", action: "open-level", name: "Expand or collapse all at this level", keys: ["O"] },
  { group: "View", action: "view", name: "Next view: annotated, effective, original", keys: ["v"], once: true },
  { group: "View", action: "drawer", name: "Show operations", keys: ["h"], once: true },
  { group: "View", action: "outline", name: "Show or hide the outline", keys: [], once: true },
  { group: "View", action: "meter", name: "Go to the token meter", keys: ["w"], once: true },
  { group: "View", action: "export", name: "Export…", keys: [] },
  { group: "View", action: "relevance", name: "Show or hide relevance to the objective", keys: [] },
  { group: "View", action: "theme", name: "Theme: system, light or dark", keys: [] },
  { group: "Selection", action: "select", name: "Toggle selection", keys: ["x"], once: true },
  { group: "Selection", action: "select-next", name: "Extend the selection down", keys: ["Shift+ArrowDown"] },
  { group: "Selection", action: "select-previous", name: "Extend the selection up", keys: ["Shift+ArrowUp"] },
  { group: "Selection", action: "mark", name: "Set a mark", keys: ["m"], once: true },
  { group: "Selection", action: "select-from-mark", name: "Select from the mark to here", keys: ["'"], once: true },
  { group: "Selection", action: "escape", name: "Clear the selection or cancel", keys: ["Escape"], once: true },
  { group: "Operations", action: "digest", name: "Digest…", keys: ["d"], once: true, edits: true },
  { group: "Operations", action: "snip", name: "Snip…", keys: ["s"], once: true, edits: true },
  { group: "Operations", action: "revise", name: "Revise…", keys: ["e"], once: true, edits: true },
  { group: "Operations", action: "insert-below", name: "Insert below…", keys: ["i"], once: true, edits: true },
  { group: "Operations", action: "insert-above", name: "Insert above…", keys: ["I"], once: true, edits: true },
  { group: "Operations", action: "tag", name: "Tag…", keys: ["t"], once: true, edits: true },
  { group: "Operations", action: "texts", name: "Replace or redact…", keys: ["r"], once: true, edits: true },
  { group: "Operations", action: "toggle", name: "Turn the operation on or off", keys: ["."], once: true, edits: true },
  { group: "Operations", action: "accept", name: "Accept the proposal", keys: ["a"], once: true, edits: true },
  { group: "Operations", action: "reject", name: "Reject the proposal", keys: ["A"], once: true, edits: true },
  { group: "Operations", action: "staging", name: "Stage edits to commit them together, or stop", keys: ["S"], once: true, edits: true },
  { group: "Operations", action: "commit", name: "Commit staged edits", keys: [], once: true, edits: true, shown: true },
  { group: "Operations", action: "discard", name: "Discard staged edits", keys: [], once: true, edits: true, shown: true },
  { group: "Operations", action: "activate", name: "Active tags…", keys: [], edits: true },
  { group: "Operations", action: "snapshot", name: "Take a snapshot…", keys: [], edits: true },
  { group: "Operations", action: "undo", name: "Undo your last change", keys: ["Mod+z"], once: true, edits: true },
  { group: "Operations", action: "redo", name: "Redo", keys: ["Mod+Shift+z", "Mod+y"], once: true, edits: true },
  { group: "Moving", action: "move-up", name: "Move up", keys: ["Alt+ArrowUp"], edits: true },
  { group: "Moving", action: "move-down", name: "Move down", keys: ["Alt+ArrowDown"], edits: true },
  { group: "Moving", action: "move-up-far", name: "Move above the previous user message", keys: ["Alt+Shift+ArrowUp"], once: true, edits: true },
  { group: "Moving", action: "move-down-far", name: "Move below the next user message", keys: ["Alt+Shift+ArrowDown"], once: true, edits: true },
  { group: "Moving", action: "move", name: "Move to…", keys: [], edits: true },
  { group: "Moving", action: "cut", name: "Cut", keys: ["Mod+x"], once: true, edits: true },
  { group: "Moving", action: "paste-here", name: "Paste after this message", keys: ["Mod+v"], once: true, edits: true },
  { group: "This session", action: "to-thread", name: "Go to the thread", keys: ["g t"] },
  { group: "This session", action: "to-context", name: "Go to what the model sees: request, tokens, compare", keys: ["g c"] },
  { group: "This session", action: "to-policy", name: "Go to the policy", keys: ["g p"] },
  { group: "This session", action: "to-notes", name: "Go to notes: objective, STATE, scratchpad", keys: ["g n"] },
  { group: "This session", action: "to-memos", name: "Go to memos and recall", keys: ["g m"] },
  { group: "This session", action: "to-prune", name: "Go to pruning", keys: ["g x"] },
  { group: "This session", action: "to-archive", name: "Go to the archive", keys: ["g a"] },
  { group: "This session", action: "to-requests", name: "Go to the requests", keys: ["g r"] },
  { group: "This session", action: "rename-session", name: "Rename the session…", keys: [], edits: true, shown: true },
  { group: "General", action: "import", name: "Import a file…", keys: ["i"] },
  { group: "General", action: "import-folder", name: "Import a folder…", keys: [] },
  { group: "General", action: "paste", name: "Paste a transcript…", keys: [] },
  { group: "General", action: "to-help", name: "Help: first steps, guide, docs", keys: ["g h"] },
  { group: "General", action: "palette", name: "Run a command", keys: ["Mod+k"], once: true },
  { group: "General", action: "save", name: "Submit the open form", keys: ["Mod+Enter"], once: true },
  { group: "General", action: "keys", name: "Keyboard shortcuts", keys: ["?"], once: true },
];

/** Commands whose names contain words starting with each of the typed words, in any order. */
export function filterCommands(commands, typed) {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  const begins = (name, word) => name.toLowerCase().split(/[\s:,]+/).some((part) => part.startsWith(word));
  return commands.filter(({ name }) => words.every((word) => begins(name, word)));
}
