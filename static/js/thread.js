/** The thread editor. */
import "./page.js";
import "./editing/edits.js";
import { watchChunks } from "./thread/chunks.js";
import { watchDialogs } from "./editing/dialogs.js";
import { watchSummaries } from "./editing/summaries.js";
import { watchDrag } from "./editing/drag.js";
import { watchDrawer } from "./editing/drawer.js";
import { watchFind } from "./thread/find.js";
import { followAddress, jumpToNumber } from "./thread/jump.js";
import { watchHindsight } from "./editing/hindsight.js";
import { watchLedger } from "./editing/ledger.js";
import { catchUp, startLiveUpdates } from "./thread/live.js";
import { watchMenus } from "./editing/menus.js";
import { clearCut } from "./editing/move.js";
import { setKeyContext } from "./base/keys.js";
import { setNumberHandler } from "./base/palette.js";
import { rowAt } from "./thread/rows.js";
import { enqueue } from "./base/requests.js";
import { session, whyReadOnly } from "./thread/session.js";
import { clearSelection, watchSelection } from "./thread/selection.js";
import { watchSessionMenu } from "./sessions/session_menu.js";
import { watchPending } from "./editing/pending.js";
import { watchStaging } from "./editing/staging.js";
import { watchRelevance } from "./thread/relevance.js";
import { watchOverview } from "./thread/overview.js";
import { watchTokenCount } from "./editing/token_count.js";
import { defineActions } from "./base/actions.js";

// Swaps are shown at once: a row that kept its old classes for a moment would flicker.
Object.assign(htmx.config, { defaultSettleDelay: 0, defaultSwapDelay: 0 });

setKeyContext((element) => ({ mayEdit: !session.readOnly, isRow: Boolean(rowAt(element)), whyReadOnly }));

defineActions({ escape: () => clearCut() || clearSelection() });

watchChunks(() => enqueue(catchUp));
watchSelection();
watchDialogs();
watchSummaries();
watchMenus();
watchDrag();
watchDrawer();
watchLedger();
watchHindsight();
watchStaging();
watchPending();
watchSessionMenu();
watchOverview();
watchTokenCount();
watchFind();
watchRelevance();
setNumberHandler(jumpToNumber);
followAddress();
startLiveUpdates();
