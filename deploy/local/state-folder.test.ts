import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { isProcessRunning, readProcessIdentity } from "./process-cleanup.mjs";
import { lockStateFolderAndCleanUpProcesses, prepareLocalStateFolder } from "./state-folder.ts";
import { createTestScratchFolder } from "./testing/scratch-folder.ts";

it("creates a folder that the next start accepts", () => {
  const folder = join(createTestScratchFolder(), ".pragma");
  prepareLocalStateFolder(folder);
  prepareLocalStateFolder(folder);
  expect(readFileSync(join(folder, "version"), "utf8")).toMatch(/^\d+\n$/);
});

it("denies other users access to the folder, even to a folder that an earlier version created", () => {
  const folder = join(createTestScratchFolder(), ".pragma");
  const mode = () => statSync(folder).mode & 0o777;
  prepareLocalStateFolder(folder);
  expect(mode()).toBe(0o700);
  chmodSync(folder, 0o755);
  prepareLocalStateFolder(folder);
  expect(mode()).toBe(0o700);
});

it.each([
  ["an older layout", "0", /older version of this code \(layout 0, expected \d+\).*rm -rf/],
  ["a newer layout", "999", /newer version of this code \(layout 999, expected \d+\).*rm -rf/],
  ["an unreadable layout", "x\0", /is broken.*rm -rf/],
])("rejects a folder with %s", (_, version, message) => {
  const folder = createTestScratchFolder();
  writeFileSync(join(folder, "version"), version);
  expect(() => prepareLocalStateFolder(folder)).toThrow(message);
});

it("rejects a folder that has contents but no layout version", () => {
  const folder = createTestScratchFolder();
  mkdirSync(join(folder, "postgres"));
  expect(() => prepareLocalStateFolder(folder)).toThrow(/is broken.*rm -rf/);
});

it("rejects a file in place of the folder", () => {
  const file = join(createTestScratchFolder(), ".pragma");
  writeFileSync(file, "");
  expect(() => prepareLocalStateFolder(file)).toThrow("is not a folder");
});

/** Writes the record of an earlier start: its owner, and a process that this owner started. */
function writeRunningRecord(folder: string, owner: object, identity = { pid: 1, startedAt: "before" }) {
  const resources = [{ kind: "process", id: identity.pid, identity, signal: "SIGTERM", timeoutMs: 1_000 }];
  writeFileSync(join(folder, "running.json"), JSON.stringify({ owner, resources }));
}
const endedOwner = { pid: process.pid, startedAt: "before" };

it("rejects a folder that another running process uses", async () => {
  const folder = createTestScratchFolder();
  writeRunningRecord(folder, readProcessIdentity(process.pid));
  await expect(lockStateFolderAndCleanUpProcesses(folder)).rejects.toThrow(`process ${process.pid}.`);
});

it("ends processes that an earlier start left running, but no unrelated process with a reused process id", async () => {
  const leftOver = spawn("sleep", ["60"], { stdio: "ignore" });
  const unrelated = spawn("sleep", ["60"], { stdio: "ignore", detached: true });
  onTestFinished(() => void unrelated.kill());
  const ended = once(leftOver, "exit");
  const folder = createTestScratchFolder();
  writeRunningRecord(folder, endedOwner, readProcessIdentity(leftOver.pid ?? 0));
  await lockStateFolderAndCleanUpProcesses(folder);
  await ended;

  const other = createTestScratchFolder();
  writeRunningRecord(other, endedOwner, { pid: unrelated.pid ?? 0, startedAt: "before" });
  await lockStateFolderAndCleanUpProcesses(other);
  expect(isProcessRunning(readProcessIdentity(unrelated.pid ?? 0))).toBe(true);
});

it("ignores a truncated record", async () => {
  const folder = createTestScratchFolder();
  writeFileSync(join(folder, "running.json"), '{"resources":[{"ki');
  await lockStateFolderAndCleanUpProcesses(folder);
});
