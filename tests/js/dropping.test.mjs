import assert from "node:assert/strict";
import { test } from "node:test";

import { changesNothing, edgeSpeed } from "../../static/js/editing/dropping.js";

const WINDOW = { top: 80, bottom: 800 };

test("behind itself, or behind the one before it, a row stays where it is", () => {
  const moved = { key: "m5", position: 5 };
  assert.equal(changesNothing(["m5"], { key: "m5", position: 5 }, moved), true);
  assert.equal(changesNothing(["m5"], { key: "m4", position: 4 }, moved), true);
  assert.equal(changesNothing(["m5"], { key: "m6", position: 6 }, moved), false);
  assert.equal(changesNothing(["m5"], { key: "m3", position: 3 }, moved), false);
});

test("the first row stays at the top, every other one moves there", () => {
  assert.equal(changesNothing(["m0"], null, { key: "m0", position: 0 }), true);
  assert.equal(changesNothing(["m5"], null, { key: "m5", position: 5 }), false);
});

test("several rows move wherever none of them stands", () => {
  assert.equal(changesNothing(["m5", "m9"], { key: "m9", position: 9 }, null), true);
  assert.equal(changesNothing(["m5", "m9"], { key: "m4", position: 4 }, null), false);
  assert.equal(changesNothing(["m5", "m9"], null, null), false);
});

test("the thread scrolls only near an edge, towards it", () => {
  assert.equal(edgeSpeed(400, WINDOW, 1000), 0);
  assert.ok(edgeSpeed(100, WINDOW, 1000) < 0);
  assert.ok(edgeSpeed(780, WINDOW, 1000) > 0);
});

test("it scrolls faster the nearer and the longer, up to a limit", () => {
  assert.ok(edgeSpeed(790, WINDOW, 0) > edgeSpeed(750, WINDOW, 0));
  assert.ok(edgeSpeed(790, WINDOW, 1000) > edgeSpeed(790, WINDOW, 0));
  assert.equal(edgeSpeed(5000, WINDOW, 60_000), 46);
  assert.equal(edgeSpeed(-5000, WINDOW, 60_000), -46);
});
