import assert from "node:assert/strict";
import { test } from "node:test";

import {
  headAt, keyOfHash, minimapFrame, minimapPosition, nodeId, rangesOf, splicedCounts,
} from "../../static/js/thread/positions.js";

/** Sections of 100 nodes; those whose turns are named are loaded. */
function sections(count, ...loaded) {
  return Array.from({ length: count }, (_, turn) => ({
    start: turn * 100, count: 100, isLoaded: loaded.includes(turn),
  }));
}

test("an id leads back to its key", () => {
  for (const key of ["m0", "m150", "o7", "o7.0", "o12.34"]) {
    assert.equal(keyOfHash(`#${nodeId(key)}`), key);
  }
  assert.equal(nodeId("o7.0"), "n-o7_0");
});

test("a number that ends an address is a message's", () => {
  assert.equal(keyOfHash("#120"), "m120");
  assert.equal(keyOfHash("#m120"), "m120");
  assert.equal(keyOfHash("#007"), "m7");
});

test("other fragments of an address name no row", () => {
  assert.equal(keyOfHash(""), "");
  assert.equal(keyOfHash("#main"), "");
  assert.equal(keyOfHash("#100%"), "");
  assert.equal(keyOfHash("#12a"), "");
});

test("ranges are those of loaded sections that hold something", () => {
  const known = sections(4, 0, 2);
  known[0].count = 0;
  assert.equal(rangesOf(known), "200-300");
  assert.equal(rangesOf(sections(3, 0, 1)), "0-100,100-200");
  assert.equal(rangesOf(sections(2)), "");
});

test("what was removed is taken off every section that it lay in", () => {
  assert.deepEqual(splicedCounts(sections(3), [[90, 30, 1]]), [91, 80, 100]);
  assert.deepEqual(splicedCounts(sections(3), [[50, 200, 1]]), [51, 0, 50]);
});

test("what was added goes with the row before it, and to a loaded section first", () => {
  assert.deepEqual(splicedCounts(sections(2), [[100, 0, 5]]), [105, 100]);
  assert.deepEqual(splicedCounts(sections(2, 1), [[100, 0, 5]]), [100, 105]);
  assert.deepEqual(splicedCounts(sections(2), [[0, 0, 2]]), [102, 100]);
});

test("what is added at the end belongs to the last section", () => {
  assert.deepEqual(splicedCounts(sections(2), [[200, 0, 3]]), [100, 103]);
});

test("splices keep the sum of what they remove and add", () => {
  const splices = [[10, 5, 1], [95, 10, 0], [150, 0, 7], [299, 1, 2]];
  const sum = splicedCounts(sections(3), splices).reduce((all, one) => all + one, 0);
  assert.equal(sum, 300 - 16 + 10);
});

test("the minimap's frame is as long as what is seen, and never too thin", () => {
  assert.deepEqual(minimapFrame(50, 100, 200), { y: 250, height: 250 });
  assert.equal(minimapFrame(0, 1, 100_000).height, 4);
  assert.deepEqual(minimapFrame(0, 0, 0), { y: 0, height: 4 });
});

test("a press on the minimap means a position that there is", () => {
  assert.equal(minimapPosition(0, 500, 200), 0);
  assert.equal(minimapPosition(250, 500, 200), 100);
  assert.equal(minimapPosition(500, 500, 200), 199);
  assert.equal(minimapPosition(-3, 500, 200), 0);
});

test("a message is in the group with the last head up to it", () => {
  const heads = [0, 4, 9];
  assert.deepEqual([0, 3, 4, 8, 9, 50].map((index) => headAt(heads, index)), [0, 0, 1, 1, 2, 2]);
  assert.equal(headAt([9, 0, 4], 5), 2);
  assert.equal(headAt([4], 2), -1);
  assert.equal(headAt([NaN, 1], 3), 1);
  assert.equal(headAt([], 3), -1);
});
