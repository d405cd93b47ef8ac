/** Copying to the clipboard, which browsers allow only on pages from HTTPS or localhost. */
import { announce } from "../base/announce.js";
import { toast } from "../base/toast.js";

/** Copy a text and announce it. `what` names a text that the page doesn't show, such as "Link". */
export async function copyText(text, what = "") {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const instead = what ? `${what}: ${text}` : "Select the text and copy it by hand.";
    toast(`The browser doesn't allow copying here. ${instead}`, "error");
    return;
  }
  announce(what ? `${what} copied` : "Copied");
}
