/** The one place where HTML becomes elements. It comes only from our own server. */

/** A DocumentFragment of what the server answered. */
export function fragment(html) {
  const range = document.createRange();
  range.selectNodeContents(document.body);
  return range.createContextualFragment(html);
}

/** An element made by script: text is always text. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  made.append(...children);
  return made;
}
