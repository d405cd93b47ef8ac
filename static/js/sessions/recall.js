/** References in shown text: what they refer to unfolds below them, and folds again. */
import { parseHtml } from "../base/fragment.js";
import { fetchText } from "../base/requests.js";
import { announce } from "../base/announce.js";

const BLOCK = "p, pre, li, td, div";

/** Show what a reference refers to below its block, or hide it again. */
async function unfold(link) {
  const block = link.closest(BLOCK) ?? link;
  const below = () => {
    const next = block.nextElementSibling;
    return next?.matches(".recalled") && next.dataset.of === link.href ? next : null;
  };
  if (below()) {
    below().remove();
    link.setAttribute("aria-expanded", "false");
    return;
  }
  const made = parseHtml(await fetchText(link.href)).firstElementChild;
  if (below()) return;  // asked for twice
  made.dataset.of = link.href;
  block.after(made);
  htmx.process(made);
  link.setAttribute("aria-expanded", "true");
  announce("Recalled text shown");
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a.recall");
  if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  unfold(link);
});
