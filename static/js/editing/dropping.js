/** Rules for dragging: which drops change nothing, and how fast the thread scrolls at an edge. */

const EDGE_PX = 90;
const FASTEST_PX = 46;

/**
 * Whether a drop changes nothing: after a row that is moved itself, or after the one before it.
 * `behind` and `moved` are {key, position}; `behind` is null for the top, and `moved` if several
 * rows move or theirs isn't loaded.
 */
export function changesNothing(keys, behind, moved) {
  if (behind && keys.includes(behind.key)) return true;
  return Boolean(moved) && moved.position === (behind ? behind.position : -1) + 1;
}

/**
 * Pixels to scroll per frame with the pointer at `y`, held near an edge for `held` ms; 0 elsewhere.
 */
export function edgeSpeed(y, { top, bottom }, held) {
  const above = Math.min(0, y - top - EDGE_PX);
  const depth = above || Math.max(0, y - bottom + EDGE_PX);
  const patience = Math.min(1, 0.25 + held / 2500);
  return Math.max(-1, Math.min(1, depth / EDGE_PX)) * FASTEST_PX * patience;
}
