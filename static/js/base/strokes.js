/** Key strokes as written in the table of commands, and as printed on key caps. */

const MODIFIERS = ["Shift", "Control", "Alt", "Meta", "AltGraph", "CapsLock"];
const isMac = globalThis.navigator?.platform?.startsWith("Mac");
const SIGNS = { ArrowUp: "↑", ArrowDown: "↓", Enter: "↵", Escape: "Esc", Mod: isMac ? "⌘" : "Ctrl" };

/**
 * The stroke of a key event. Shift is part of letters but named with other keys. Empty for a
 * modifier.
 */
export function strokeOf({ key, ctrlKey, metaKey, altKey, shiftKey }) {
  if (MODIFIERS.includes(key)) return "";
  const named = key.length > 1;
  const control = ctrlKey || metaKey;
  const letter = control && !named ? key.toLowerCase() : key;
  return [control && "Mod", altKey && "Alt", shiftKey && (named || control) && "Shift", letter]
    .filter(Boolean).join("+");
}

/**
 * The command that `stroke` completes after `typed`, or else the beginning of a longer sequence.
 */
export function matchStrokes(commands, typed, stroke) {
  const sequence = typed ? `${typed} ${stroke}` : stroke;
  const command = commands.find(({ keys }) => keys.includes(sequence));
  const begins = commands.some(({ keys }) => keys.some((key) => key.startsWith(`${sequence} `)));
  return { command, typed: !command && begins ? sequence : "" };
}

/** A sequence of strokes as printed on key caps: "Mod+Shift+z" becomes "Ctrl Shift Z". */
export const formatKeys = (sequence) => sequence.split(" ").map((stroke) => {
  const parts = stroke.split("+");
  return parts.map((part) => SIGNS[part] ?? (parts.length > 1 && part.length === 1 ? part.toUpperCase() : part)).join(" ");
}).join(" ");
