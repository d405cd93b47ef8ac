/** Arithmetic of the thread's positions: row ids, ranges of sections, the minimap's frame. */

const UNITS = 1000;

/** The id of the row with a key: "o7.0" becomes "n-o7_0". */
export const nodeId = (key) => `n-${key.replace(".", "_")}`;

/** The key in a URL's hash: that of a row's id, or of a message number ("#120" or "#m120"). */
export function keyOfHash(hash) {
  const [, number] = hash.match(/^#m?(\d{1,9})$/) ?? [];
  if (number) return `m${Number(number)}`;
  return hash.startsWith("#n-") ? hash.slice(3).replace("_", ".") : "";
}

/** The loaded ranges: "0-100,300-400". `sections` are {start, count, isLoaded}. */
export const rangesOf = (sections) => sections.filter(({ count, isLoaded }) => isLoaded && count)
  .map(({ start, count }) => `${start}-${start + count}`).join(",");

/**
 * How many nodes each section holds after `splices` ([position, removed, added], ascending, in the
 * old positions). Removed nodes are subtracted where they were; added ones are counted in the
 * section that holds the row before them, or the position itself, preferring a loaded one.
 */
export function splicedCounts(sections, splices) {
  const counts = sections.map(({ count }) => count);
  const endOf = ({ start, count }) => start + count;
  const holder = (spot) => sections.findIndex((section) => section.start <= spot && spot < endOf(section));
  for (const [position, removed, added] of splices) {
    for (const [turn, section] of sections.entries()) {
      const cut = Math.min(endOf(section), position + removed) - Math.max(section.start, position);
      if (cut > 0) counts[turn] -= cut;
    }
    const near = [holder(position - 1), holder(position)].filter((turn) => turn >= 0);
    const owner = near.find((turn) => sections[turn].isLoaded) ?? near[0];
    if (owner !== undefined) counts[owner] += added;
  }
  return counts;
}

/** The frame of the visible part on the minimap, in its units; `first` and `last` are positions. */
export function minimapFrame(first, last, total) {
  const scale = UNITS / Math.max(1, total);
  return { y: first * scale, height: Math.max(4, (last - first) * scale) };
}

/** The position for a press on the minimap, `offset` pixels below its top. */
export const minimapPosition = (offset, height, total) =>
  Math.max(0, Math.min(total - 1, Math.floor((offset / height) * total)));

/** The index of a message's group: the last of `heads` (message indexes) not after it; else -1. */
export const headAt = (heads, index) =>
  heads.reduce((found, head, place) => (head <= index && !(heads[found] > head) ? place : found), -1);
