/**
 * What can be done on a page. Buttons say it with data-verb, keys and palette by name; one
 * handler serves them all, so that rows carry no handlers of their own.
 */

const verbs = new Map();
let subjectOf = (source) => source;

/** Give a verb its meaning: `act({source, event})`, source being the element it is done upon. */
export function define(meanings) {
  for (const [verb, act] of Object.entries(meanings)) verbs.set(verb, act);
}

export const knows = (verb) => verbs.has(verb);

/** Do `verb`. `source` is what was pressed, or what has the focus when a key was. */
export function run(verb, source = document.activeElement, event = null) {
  const act = verbs.get(verb);
  if (!act) return false;
  act({ source: subjectOf(source), pressed: source, event });
  return true;
}

/** A menu stands for what it was opened upon: `find(element)` answers that element. */
export function standsFor(find) {
  subjectOf = find;
}

document.addEventListener("click", (event) => {
  const pressed = event.target.closest?.("[data-verb]");
  if (!pressed || pressed.disabled || event.defaultPrevented) return;
  const opensElsewhere = event.ctrlKey || event.metaKey || event.shiftKey;
  if (pressed.matches("a[href]") && opensElsewhere) return;
  if (!knows(pressed.dataset.verb)) return;
  if (!pressed.matches("input")) event.preventDefault();
  run(pressed.dataset.verb, pressed, event);
});
