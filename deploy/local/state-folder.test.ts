import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { identifyProcess, isProcessRunning } from "./process-cleanup.mjs";
import { lockLocalStateFolder, prepareLocalStateFolder } from "./state-folder.ts";
import { createScratchFolder } from "./testing/scratch-folder.ts";

it("makes a folder that the next start accepts", () => {
  const folder = join(createScratchFolder(), ".pragma");
  prepareLocalStateFolder(folder);
  prepareLocalStateFolder(folder);
  expect(readFileSync(join(folder, "version"), "utf8")).toMatch(/^\d+\n$/);
});

it("lets no other user into the folder, also not into one that an earlier version made", () => {
  const folder = join(createScratchFolder(), ".pragma");
  const mode = () => statSync(folder).mode & 0o777;
  prepareLocalStateFolder(folder);
  expect(mode()).toBe(0o700);
  chmodSync(folder, 0o755);
  prepareLocalStateFolder(folder);
  expect(mode()).toBe(0o700);
});

it.each([
  ["an older layout", "0", /older version of this code \(layout 0, wanted \d+\).*rm -rf/],
  ["a newer layout", "999", /newer version of this code \(layout 999, wanted \d+\).*rm -rf/],
  ["no layout that can be read", "x\0", /is broken.*rm -rf/],
])("refuses a folder of %s", (_, version, message) => {
  const folder = createScratchFolder();
  writeFileSync(join(folder, "version"), version);
  expect(() => prepareLocalStateFolder(folder)).toThrow(message);
});

it("refuses a folder that holds things and tells no layout", () => {
  const folder = createScratchFolder();
  mkdirSync(join(folder, "postgres"));
  expect(() => prepareLocalStateFolder(folder)).toThrow(/is broken.*rm -rf/);
});

it("refuses a file in the folder's place", () => {
  const file = join(createScratchFolder(), ".pragma");
  writeFileSync(file, "");
  expect(() => prepareLocalStateFolder(file)).toThrow("is not a folder");
});

/** What an earlier start has left on file: by whom, and what it left running. */
function writeRunningRecord(folder: string, owner: object, known = { pid: 1, startedAt: "before" }) {
  const guarded = [{ kind: "process", id: known.pid, known, signal: "SIGTERM", timeoutMs: 1_000 }];
  writeFileSync(join(folder, "running.json"), JSON.stringify({ owner, guarded }));
}
const endedOwner = { pid: process.pid, startedAt: "before" };

it("refuses a folder from which another start still runs", async () => {
  const folder = createScratchFolder();
  writeRunningRecord(folder, identifyProcess(process.pid));
  await expect(lockLocalStateFolder(folder)).rejects.toThrow(`process ${process.pid} `);
});

it("ends what an earlier start left running, and nothing that has its number by now", async () => {
  const leftOver = spawn("sleep", ["60"], { stdio: "ignore" });
  const stranger = spawn("sleep", ["60"], { stdio: "ignore", detached: true });
  onTestFinished(() => void stranger.kill());
  const ended = once(leftOver, "exit");
  const folder = createScratchFolder();
  writeRunningRecord(folder, endedOwner, identifyProcess(leftOver.pid ?? 0));
  await lockLocalStateFolder(folder);
  await ended;

  const other = createScratchFolder();
  writeRunningRecord(other, endedOwner, { pid: stranger.pid ?? 0, startedAt: "before" });
  await lockLocalStateFolder(other);
  expect(isProcessRunning(identifyProcess(stranger.pid ?? 0))).toBe(true);
});

it("starts over a record that was cut short", async () => {
  const folder = createScratchFolder();
  writeFileSync(join(folder, "running.json"), '{"guarded":[{"ki');
  await lockLocalStateFolder(folder);
});
