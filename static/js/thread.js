/** The thread editor. */
import "./page.js";
import "./edits.js";
import { watchChunks } from "./chunks.js";
import { watchDialogs } from "./dialogs.js";
import { watchDrag } from "./drag.js";
import { watchDrawer } from "./drawer.js";
import { watchFind } from "./find.js";
import { followAddress, jumpToNumber } from "./jump.js";
import { watchLedger } from "./ledger.js";
import { catchUp, stayLive } from "./live.js";
import { watchMenus } from "./menus.js";
import { letGo } from "./move.js";
import { offerNumbers } from "./palette.js";
import { inTurn } from "./requests.js";
import { clearSelection, watchSelection } from "./selection.js";
import { watchStaging } from "./staging.js";
import { watchSpine } from "./spine.js";
import { watchTally } from "./tally.js";
import { define } from "./verbs.js";

// A swap is shown at once: a row that keeps its old classes for a moment would flicker.
Object.assign(htmx.config, { defaultSettleDelay: 0, defaultSwapDelay: 0 });

define({ escape: () => letGo() || clearSelection() });

watchChunks(() => inTurn(catchUp));
watchSelection();
watchDialogs();
watchMenus();
watchDrag();
watchDrawer();
watchLedger();
watchStaging();
watchSpine();
watchTally();
watchFind();
offerNumbers(jumpToNumber);
followAddress();
stayLive();
