/** Copying to the clipboard, which browsers have only on pages that came over HTTPS or from their own computer. */
import { say } from "../base/announce.js";
import { toast } from "../base/toast.js";

/** Copy a text and say so; `what` names one that stands nowhere on the page: "Link". */
export async function copyText(text, what = "") {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const instead = what ? `${what}: ${text}` : "Select the text and copy it by hand.";
    toast(`The browser doesn't allow copying here. ${instead}`, "error");
    return;
  }
  say(what ? `${what} copied` : "Copied");
}
