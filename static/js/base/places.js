/** The pages of a session: each link that names its place is a command too. */
import { define } from "./actions.js";

for (const link of document.querySelectorAll("a[data-place]")) {
  define({ [link.dataset.place]: () => location.assign(link.href) });
}
