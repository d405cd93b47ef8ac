import assert from "node:assert/strict";
import { test } from "node:test";

import { COMMANDS, filterCommands } from "../../static/js/base/commands.js";
import { formatKeys, matchStrokes, strokeOf } from "../../static/js/base/strokes.js";

const pressed = (key, held = {}) => strokeOf({ key, ...held });

test("shift is part of a letter and named beside other keys", () => {
  assert.equal(pressed("J", { shiftKey: true }), "J");
  assert.equal(pressed("ArrowUp", { altKey: true, shiftKey: true }), "Alt+Shift+ArrowUp");
  assert.equal(pressed("Z", { ctrlKey: true, shiftKey: true }), "Mod+Shift+z");
  assert.equal(pressed("k", { metaKey: true }), "Mod+k");
});

test("a modifier alone is no stroke", () => {
  assert.equal(pressed("Shift", { shiftKey: true }), "");
  assert.equal(pressed("AltGraph"), "");
});

test("a sequence waits for its second stroke and is forgotten with another", () => {
  const first = matchStrokes(COMMANDS, "", "g");
  assert.deepEqual(first, { command: undefined, typed: "g" });
  assert.equal(matchStrokes(COMMANDS, first.typed, "g").command.action, "first");
  assert.equal(matchStrokes(COMMANDS, first.typed, "c").command.action, "to-context");
  assert.deepEqual(matchStrokes(COMMANDS, first.typed, "q"), { command: undefined, typed: "" });
});

test("no two commands of one place share a key", () => {
  const places = COMMANDS.filter(({ action }) => !["import", "insert-below"].includes(action));
  const keys = places.flatMap((command) => command.keys);
  assert.equal(new Set(keys).size, keys.length);
});

test("every key of the table is a stroke that a keyboard makes", () => {
  for (const { keys } of COMMANDS) {
    for (const stroke of keys.flatMap((key) => key.split(" "))) {
      const parts = stroke === "+" ? ["+"] : stroke.split("+");
      const key = parts.at(-1);
      const held = { ctrlKey: parts.includes("Mod"), altKey: parts.includes("Alt") };
      assert.equal(pressed(key, { ...held, shiftKey: parts.includes("Shift") }), stroke);
    }
  }
});

test("key caps are printed in words", () => {
  assert.equal(formatKeys("Mod+Shift+z"), "Ctrl Shift Z");
  assert.equal(formatKeys("g g"), "g g");
  assert.equal(formatKeys("Alt+ArrowUp"), "Alt ↑");
  assert.equal(formatKeys("Escape"), "Esc");
});

test("the palette finds commands by the beginnings of their words, in any order", () => {
  const found = filterCommands(COMMANDS, "match ne").map(({ action }) => action);
  assert.deepEqual(found, ["find-next"]);
  assert.deepEqual(filterCommands(COMMANDS, "xyzzy"), []);
  assert.equal(filterCommands(COMMANDS, "").length, COMMANDS.length);
});
