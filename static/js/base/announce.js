/** What screen readers hear: one polite region, one for alarms. */

let timer = 0;

/** Say one sentence; what follows within a moment replaces it. */
export function say(text) {
  const region = document.getElementById("said");
  if (!region || !text) return;
  clearTimeout(timer);
  region.textContent = "";
  timer = setTimeout(() => { region.textContent = text; }, 60);
}

/** Say what went wrong, at once. */
export function alarm(text) {
  const region = document.getElementById("alarm");
  if (region && text) region.textContent = text;
}
