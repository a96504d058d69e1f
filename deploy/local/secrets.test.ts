import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readOrCreateLocalSecrets } from "./secrets.ts";
import { createTestScratchFolder } from "./testing/scratch-folder.ts";

it("creates secrets once, readable by their owner only", async () => {
  const folder = createTestScratchFolder();
  const first = await readOrCreateLocalSecrets(folder);
  expect(first.dataKeys).toMatch(/^local:[0-9a-f]{64}$/);
  expect(first.opsToken).toMatch(/^[0-9a-f]{48}$/);
  expect(first.adminKey).toMatch(/^pragma_[0-9A-Za-z]{49}$/);
  expect(await readOrCreateLocalSecrets(folder)).toEqual(first);
  expect(statSync(join(folder, "secrets.json")).mode & 0o777).toBe(0o600);
});

it.each(["", "{", '{"adminKey":1}', "null"])("does not replace a broken file: %j", async (content) => {
  const folder = createTestScratchFolder();
  writeFileSync(join(folder, "secrets.json"), content);
  await expect(readOrCreateLocalSecrets(folder)).rejects.toThrow("secrets.json is broken");
});
