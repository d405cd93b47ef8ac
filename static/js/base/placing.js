/** Where what floats stands: beside what opened it, and always inside the window. */

const GAP_PX = 4;

/** Put a shown menu below `box`, or above it where there is more room; its width and height fit. */
export function placeBeside(menu, box) {
  const { width, height } = menu.getBoundingClientRect();
  const below = box.bottom + GAP_PX;
  const above = box.top - height - GAP_PX;
  const lowest = innerHeight - height - GAP_PX;
  const top = below <= lowest ? below : above >= GAP_PX ? above : lowest;
  menu.style.left = `${Math.max(GAP_PX, Math.min(box.right - width, innerWidth - width - GAP_PX))}px`;
  menu.style.top = `${Math.max(GAP_PX, top)}px`;
}
