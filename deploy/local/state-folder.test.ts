import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { isRunning, knownProcess } from "./guarded.mjs";
import { lockStateFolder, openStateFolder } from "./state-folder.ts";
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

/** What an earlier start has left on file: by whom, and what it left running. */
function leaveRecord(folder: string, owner: object, known = { pid: 1, startedAt: "before" }) {
  const guarded = [{ kind: "process", id: known.pid, known, signal: "SIGTERM", timeoutMs: 1_000 }];
  writeFileSync(join(folder, "running.json"), JSON.stringify({ owner, guarded }));
}
const gone = { pid: process.pid, startedAt: "before" };

it("refuses a folder from which another start still runs", async () => {
  const folder = scratchFolder();
  leaveRecord(folder, knownProcess(process.pid));
  await expect(lockStateFolder(folder)).rejects.toThrow(`process ${process.pid} `);
});

it("ends what an earlier start left running, and nothing that has its number by now", async () => {
  const leftOver = spawn("sleep", ["60"], { stdio: "ignore" });
  const stranger = spawn("sleep", ["60"], { stdio: "ignore", detached: true });
  onTestFinished(() => void stranger.kill());
  const ended = once(leftOver, "exit");
  const folder = scratchFolder();
  leaveRecord(folder, gone, knownProcess(leftOver.pid ?? 0));
  await lockStateFolder(folder);
  await ended;

  const other = scratchFolder();
  leaveRecord(other, gone, { pid: stranger.pid ?? 0, startedAt: "before" });
  await lockStateFolder(other);
  expect(isRunning(knownProcess(stranger.pid ?? 0))).toBe(true);
});

it("starts over a record that was cut short", async () => {
  const folder = scratchFolder();
  writeFileSync(join(folder, "running.json"), '{"guarded":[{"ki');
  await lockStateFolder(folder);
});
