/**
 * What can be done on a page. Buttons say it with data-action, keys and palette by name; one
 * handler serves them all, so that rows carry no handlers of their own.
 */

const actions = new Map();
let subjectOf = (source) => source;

/** Give an action its meaning: `act({source, event})`, source being the element it is done upon. */
export function define(meanings) {
  for (const [action, act] of Object.entries(meanings)) actions.set(action, act);
}

export const knows = (action) => actions.has(action);

/** Do `action`. `source` is what was pressed, or what has the focus when a key was. */
export function run(action, source = document.activeElement, event = null) {
  const act = actions.get(action);
  if (!act) return false;
  act({ source: subjectOf(source), pressed: source, event });
  return true;
}

/** A menu stands for what it was opened upon: `find(element)` answers that element. */
export function standsFor(find) {
  subjectOf = find;
}

document.addEventListener("click", (event) => {
  const pressed = event.target.closest?.("[data-action]");
  if (!pressed || pressed.disabled || event.defaultPrevented) return;
  const opensElsewhere = event.ctrlKey || event.metaKey || event.shiftKey;
  if (pressed.matches("a[href]") && opensElsewhere) return;
  if (!knows(pressed.dataset.action)) return;
  if (!pressed.matches("input")) event.preventDefault();
  run(pressed.dataset.action, pressed, event);
});
