import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openStateFolder } from "./state-folder.mjs";
import { scratchFolder } from "./testing/scratch-folder.ts";

it("makes a folder that the next start accepts", () => {
  const folder = join(scratchFolder(), ".pragma");
  openStateFolder(folder);
  openStateFolder(folder);
  expect(readFileSync(join(folder, "version"), "utf8")).toMatch(/^\d+\n$/);
});

it("lets no other user into the folder, also not into one that an earlier version made", () => {
  const folder = join(scratchFolder(), ".pragma");
  const mode = () => statSync(folder).mode & 0o777;
  openStateFolder(folder);
  expect(mode()).toBe(0o700);
  chmodSync(folder, 0o755);
  openStateFolder(folder);
  expect(mode()).toBe(0o700);
});

it.each([
  ["an older layout", "0", /older version of this code \(layout 0, wanted \d+\).*rm -rf/],
  ["a newer layout", "999", /newer version of this code \(layout 999, wanted \d+\).*rm -rf/],
  ["no layout that can be read", "x\0", /is broken.*rm -rf/],
])("refuses a folder of %s", (_, version, message) => {
  const folder = scratchFolder();
  writeFileSync(join(folder, "version"), version);
  expect(() => openStateFolder(folder)).toThrow(message);
});

it("refuses a folder that holds things and tells no layout", () => {
  const folder = scratchFolder();
  mkdirSync(join(folder, "postgres"));
  expect(() => openStateFolder(folder)).toThrow(/is broken.*rm -rf/);
});

it("refuses a file in the folder's place", () => {
  const file = join(scratchFolder(), ".pragma");
  writeFileSync(file, "");
  expect(() => openStateFolder(file)).toThrow("is not a folder");
});
