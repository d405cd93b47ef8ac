/** The only place where HTML is parsed into elements. It always comes from our own server. */

/** Parse HTML from the server into a DocumentFragment. */
export function parseHtml(html) {
  const range = document.createRange();
  range.selectNodeContents(document.body);
  return range.createContextualFragment(html);
}

/** Create an element. String children are inserted as text, never as HTML. */
export function createElement(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  made.append(...children);
  return made;
}
