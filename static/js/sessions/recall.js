/** References in shown text: what they name unfolds below them, and folds again. */
import { fragment } from "../base/fragment.js";
import { say } from "../base/announce.js";

const BLOCK = "p, pre, li, td, div";

/** Show what a reference names below the block that it stands in, or take it away again. */
async function unfold(link) {
  const block = link.closest(BLOCK) ?? link;
  const open = block.nextElementSibling;
  if (open?.classList.contains("recalled") && open.dataset.of === link.href) {
    open.remove();
    link.setAttribute("aria-expanded", "false");
    return;
  }
  const answer = await fetch(link.href, { headers: { "HX-Request": "true" } });
  if (!answer.ok) {
    say("It could not be recalled");
    return;
  }
  const made = fragment(await answer.text()).firstElementChild;
  made.dataset.of = link.href;
  block.after(made);
  htmx.process(made);
  link.setAttribute("aria-expanded", "true");
  say("Recalled text shown");
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a.recall");
  if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  unfold(link);
});
