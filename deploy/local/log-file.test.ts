import { appendFileSync, existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { describeLogEnd, rotateLogFile } from "./run-server.ts";
import { createScratchFolder } from "./testing/scratch-folder.ts";

test("a log that has grown large while it is written is begun anew, and its last part is kept", () => {
  const file = join(createScratchFolder(), "server.log");
  expect(rotateLogFile(file, 1_000)).toBe(0);
  appendFileSync(file, "small\n");
  expect(rotateLogFile(file, 1_000)).toBe(6);
  expect(existsSync(`${file}.1`)).toBe(false);
  appendFileSync(file, "x".repeat(1_000));
  expect(rotateLogFile(file, 1_000)).toBe(0);
  expect(statSync(file).size).toBe(0);
  expect(readFileSync(`${file}.1`, "utf8")).toBe(`small\n${"x".repeat(1_000)}`);
  appendFileSync(file, "after\n");
  expect(describeLogEnd(file, 500)).toContain("after");
});
