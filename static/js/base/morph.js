/**
 * Morph an element into a new version from the server, touching only what differs. Unchanged parts
 * aren't restyled or laid out again, and keep their focus and open state.
 */

const isAlike = (one, other) => one?.nodeName === other.nodeName && !one.id && !other.id;
/** Content loaded later keeps its current state until something newer arrives. */
const comesLater = (fresh) => fresh.matches?.("[data-late]:empty");
const isOurs = (element, name) => name === "open" && element.matches("details");

/** Make `target` equal to `fresh`, which is consumed. */
export function morph(target, fresh) {
  if (target.isEqualNode(fresh) || comesLater(fresh)) return;
  if (target.nodeName !== fresh.nodeName) target.replaceWith(fresh);
  else if (target.nodeType !== Node.ELEMENT_NODE) target.data = fresh.data;
  else {
    morphAttributes(target, fresh);
    morphChildren(target, fresh);
  }
}

function morphAttributes(target, fresh) {
  for (const { name } of [...target.attributes]) {
    if (!fresh.hasAttribute(name) && !isOurs(target, name)) target.removeAttribute(name);
  }
  for (const { name, value } of fresh.attributes) {
    if (target.getAttribute(name) !== value) target.setAttribute(name, value);
  }
}

/** Morph the children of `target`: those with ids are matched by id, the others by order. */
export function morphChildren(target, fresh) {
  const known = new Map([...target.children].filter(({ id }) => id).map((child) => [child.id, child]));
  const staying = new Set([...fresh.children].map(({ id }) => id));
  let here = target.firstChild;
  const leave = () => {
    const gone = here;
    here = here.nextSibling;
    gone.remove();
  };
  for (const child of [...fresh.childNodes]) {
    while (here?.id && !staying.has(here.id)) leave();
    const same = child.id ? known.get(child.id) : isAlike(here, child) && here;
    if (same === here && same) here = here.nextSibling;
    else target.insertBefore(same || child, here);
    if (same) morph(same, child);
  }
  while (here) leave();
}
