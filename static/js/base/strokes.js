/** Strokes of the keyboard as the table of commands writes them, and what is printed on key caps. */

const MODIFIERS = ["Shift", "Control", "Alt", "Meta", "AltGraph", "CapsLock"];
const isMac = globalThis.navigator?.platform?.startsWith("Mac");
const SIGNS = { ArrowUp: "↑", ArrowDown: "↓", Enter: "↵", Escape: "Esc", Mod: isMac ? "⌘" : "Ctrl" };

/** A stroke: shift is part of a letter, and named beside other keys. Empty for a modifier alone. */
export function strokeOf({ key, ctrlKey, metaKey, altKey, shiftKey }) {
  if (MODIFIERS.includes(key)) return "";
  const named = key.length > 1;
  const control = ctrlKey || metaKey;
  const letter = control && !named ? key.toLowerCase() : key;
  return [control && "Mod", altKey && "Alt", shiftKey && (named || control) && "Shift", letter]
    .filter(Boolean).join("+");
}

/** The command that `stroke` completes after what was `typed`; else what may still become one. */
export function match(commands, typed, stroke) {
  const sequence = typed ? `${typed} ${stroke}` : stroke;
  const command = commands.find(({ keys }) => keys.includes(sequence));
  const begins = commands.some(({ keys }) => keys.some((key) => key.startsWith(`${sequence} `)));
  return { command, typed: !command && begins ? sequence : "" };
}

/** A sequence of strokes as it is printed upon key caps: "Mod+Shift+z" → "Ctrl Shift Z". */
export const printed = (sequence) => sequence.split(" ").map((stroke) => {
  const parts = stroke.split("+");
  return parts.map((part) => SIGNS[part] ?? (parts.length > 1 && part.length === 1 ? part.toUpperCase() : part)).join(" ");
}).join(" ");
