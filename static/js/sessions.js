/** The list of sessions. */
import "./page.js";
import { watchImports } from "./sessions/imports.js";
import { watchListing } from "./sessions/listing.js";
import { watchSessionMenu } from "./sessions/session_menu.js";
import { defineActions } from "./base/actions.js";

defineActions({
  next: () => walk(1),
  previous: () => walk(-1),
});

const search = document.getElementById("q");
if (search) defineActions({ find: () => search.select() });

/** Focus the next or previous session of the list. */
function walk(step) {
  const links = [...document.querySelectorAll("#sessions a.session-title")];
  const here = links.indexOf(document.activeElement);
  links[here < 0 ? 0 : Math.max(0, Math.min(links.length - 1, here + step))]?.focus();
}

watchImports();
watchListing();
watchSessionMenu();
