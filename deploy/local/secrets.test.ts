import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { secretsIn } from "./secrets.mjs";
import { scratchFolder } from "./testing/scratch-folder.ts";

it("makes secrets once, for their owner's eyes only", () => {
  const folder = scratchFolder();
  const first = secretsIn(folder);
  expect(first.dataKeys).toMatch(/^local:[0-9a-f]{64}$/);
  expect(secretsIn(folder)).toEqual(first);
  expect(statSync(join(folder, "secrets.json")).mode & 0o777).toBe(0o600);
});

it.each(["", "{", '{"adminKey":1}', "null"])("does not replace a broken file: %j", (content) => {
  const folder = scratchFolder();
  writeFileSync(join(folder, "secrets.json"), content);
  expect(() => secretsIn(folder)).toThrow("secrets.json is broken");
});
