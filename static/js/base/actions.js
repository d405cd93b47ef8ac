/**
 * The actions of a page. Buttons refer to them by data-action, the keyboard and the palette by
 * name. One handler serves all of them, so rows need no handlers of their own.
 */

const actions = new Map();
let subjectOf = (source) => source;

/**
 * Register actions by name: `act({source, pressed, event})`, with `source` the target of the
 * action.
 */
export function defineActions(meanings) {
  for (const [action, act] of Object.entries(meanings)) actions.set(action, act);
}

export const hasAction = (action) => actions.has(action);

/** Run `action`. `source` is the element that was pressed or, for a key, the focused element. */
export function runAction(action, source = document.activeElement, event = null) {
  const act = actions.get(action);
  if (!act) return false;
  act({ source: subjectOf(source), pressed: source, event });
  return true;
}

/** Let menus stand for the element they were opened on: `find(element)` returns that element. */
export function setSourceResolver(find) {
  subjectOf = find;
}

document.addEventListener("click", (event) => {
  const pressed = event.target.closest?.("[data-action]");
  if (!pressed || pressed.disabled || event.defaultPrevented) return;
  const opensElsewhere = event.ctrlKey || event.metaKey || event.shiftKey;
  if (pressed.matches("a[href]") && opensElsewhere) return;
  if (!hasAction(pressed.dataset.action)) return;
  if (!pressed.matches("input")) event.preventDefault();
  runAction(pressed.dataset.action, pressed, event);
});
