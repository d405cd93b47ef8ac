/** Placement of floating elements: next to what opened them, and always inside the window. */

const GAP_PX = 4;

/** Place an open menu below `box`, or above it if there is more room, inside the window. */
export function placeBeside(menu, box) {
  const { width, height } = menu.getBoundingClientRect();
  const below = box.bottom + GAP_PX;
  const above = box.top - height - GAP_PX;
  const lowest = innerHeight - height - GAP_PX;
  const top = below <= lowest ? below : above >= GAP_PX ? above : lowest;
  menu.style.left = `${Math.max(GAP_PX, Math.min(box.right - width, innerWidth - width - GAP_PX))}px`;
  menu.style.top = `${Math.max(GAP_PX, top)}px`;
}
