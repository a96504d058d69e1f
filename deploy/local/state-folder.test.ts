import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { isProcessRunning, readProcessIdentity } from "./process-cleanup.mjs";
import { lockStateFolder, prepareLocalStateFolder } from "./state-folder.ts";
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

it("never advises to remove a folder of PRAGMA_HOME that has other contents, and keeps its permissions", () => {
  const folder = createTestScratchFolder();
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, "letter.txt"), "");
  vi.stubEnv("PRAGMA_HOME", folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(() => prepareLocalStateFolder(folder)).toThrow(/contains files, but no data of this program. Set PRAGMA_HOME/);
  expect(statSync(folder).mode & 0o777).toBe(0o755);
});

/** Returns the error of preparing a folder as the user `nobody`, in another process. */
function prepareAsOtherUser(folder: string): string {
  const program = `import(${JSON.stringify(join(import.meta.dirname, "state-folder.ts"))})
    .then(({ prepareLocalStateFolder }) => prepareLocalStateFolder(process.argv[1]))
    .then(() => console.log("prepared"), (error) => console.log(error.constructor.name + ": " + error.message));`;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["--import", import.meta.resolve("tsx"), "--eval", program, folder],
    { uid: 65_534, gid: 65_534, cwd: "/", encoding: "utf8", env: { PATH: process.env.PATH, TSX_DISABLE_CACHE: "1" } },
  );
  return stdout + stderr;
}

// These tests need root, which can start a process of another user and mount a file system.
describe.skipIf(process.getuid?.() !== 0)("a folder that this user cannot write", () => {
  it("is rejected with the name of the user to whom it belongs", () => {
    const parent = createTestScratchFolder();
    chmodSync(parent, 0o755);
    const folder = join(parent, ".pragma");
    mkdirSync(folder, { mode: 0o777 });
    chmodSync(folder, 0o777);
    const advice = "Run this program as that user, or set PRAGMA_HOME to a folder of your own.";
    expect(prepareAsOtherUser(folder)).toBe(`LocalCommandUserError: ${folder} belongs to the user root. ${advice}\n`);
  });

  it("is rejected if its parent belongs to another user", () => {
    const parent = createTestScratchFolder();
    chmodSync(parent, 0o755);
    const folder = join(parent, ".pragma");
    expect(prepareAsOtherUser(folder)).toContain(`LocalCommandUserError: You are not allowed to write to ${folder}.`);
    expect(existsSync(folder)).toBe(false);
  });

  it("is rejected if its file system is read-only", (context) => {
    const parent = createTestScratchFolder();
    const mount = spawnSync("mount", ["-t", "tmpfs", "-o", "ro", "tmpfs", parent]);
    // Containers are not allowed to mount. `/sys` is read-only in them.
    const folder = mount.status === 0 ? join(parent, ".pragma") : "/sys/pragma";
    if (mount.status === 0) onTestFinished(() => void spawnSync("umount", [parent]));
    else if (!/ \/sys sysfs ro/.test(readFileSync("/proc/mounts", "utf8"))) context.skip();
    expect(() => prepareLocalStateFolder(folder)).toThrow(`${folder} is on a read-only file system.`);
  });
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
  await expect(lockStateFolder(folder)).rejects.toThrow(`process ${process.pid}.`);
});

it("ends processes that an earlier start left running, but no unrelated process with a reused process id", async () => {
  const leftOver = spawn("sleep", ["60"], { stdio: "ignore" });
  const unrelated = spawn("sleep", ["60"], { stdio: "ignore", detached: true });
  onTestFinished(() => void unrelated.kill());
  const ended = once(leftOver, "exit");
  const folder = createTestScratchFolder();
  writeRunningRecord(folder, endedOwner, readProcessIdentity(leftOver.pid ?? 0));
  await lockStateFolder(folder);
  await ended;

  const other = createTestScratchFolder();
  writeRunningRecord(other, endedOwner, { pid: unrelated.pid ?? 0, startedAt: "before" });
  await lockStateFolder(other);
  expect(isProcessRunning(readProcessIdentity(unrelated.pid ?? 0))).toBe(true);
});

it("waits for the end of a process that has just been killed, and of its cleanup process", async () => {
  const folder = createTestScratchFolder();
  const [owner, cleanupProcess] = [0.3, 0.6].map((seconds) => {
    const { pid = 0 } = spawn("sleep", [String(seconds)], { stdio: "ignore" });
    return readProcessIdentity(pid);
  });
  writeFileSync(join(folder, "running.json"), JSON.stringify({ owner, cleanupProcess, resources: [] }));
  await lockStateFolder(folder);
  for (const identity of [owner, cleanupProcess]) expect(identity && isProcessRunning(identity)).toBe(false);
});

it("ignores a truncated record", async () => {
  const folder = createTestScratchFolder();
  writeFileSync(join(folder, "running.json"), '{"resources":[{"ki');
  await lockStateFolder(folder);
});
