/** Writes of the thread page: each posts what the page has seen and gets back what changed. */
import { applyPatch } from "./patch.js";
import { Refused, inTurn, text } from "../base/requests.js";
import { clearIfActedOn } from "./selection.js";
import { session, stamp } from "./session.js";

/** Post to an address below the session; the answer is a patch. True when it was accepted. */
export function write(path, fields = {}) {
  return inTurn(async () => {
    const answer = await text(session.url + path, { method: "POST", fields: { ...fields, ...stamp() } });
    applyPatch(answer);
    return true;
  }).catch((error) => {
    if (!(error instanceof Refused)) throw error;
    return false;
  });
}

/** Record an edit of the kind `type`; its keys stand in one field, with spaces between. */
export async function edit(type, fields) {
  const stage = session.stages ? { stage: "1" } : {};
  const done = await write("operations", { type, ...stage, ...fields });
  if (done) clearIfActedOn(fields.targets ?? fields.moved);
  return done;
}
