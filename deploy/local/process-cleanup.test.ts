import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { identifyProcess, isProcessRunning, terminateProcess } from "./process-cleanup.mjs";

/** Starts a process that guards a sleeping one, a group of two, and a temporary folder; tells which. */
async function startOwner(how: string) {
  const modules = JSON.stringify(new URL("./", import.meta.url).href);
  const program = `
    import { once } from "node:events";
    const { spawnGuarded } = await import(${modules} + "process-cleanup.mjs");
    const { temporaryDataFolder } = await import(${modules} + "data-folder.mjs");
    const sleeper = spawnGuarded("sleep", ["60"], { stdio: "ignore" });
    const leader = spawnGuarded("sh", ["-c", "sleep 60 & echo $!; sleep 60"], { stdio: ["ignore", "pipe", "ignore"] });
    const [member] = await once(leader.stdout, "data");
    console.log(JSON.stringify({ pids: [sleeper.pid, Number(member)], folder: temporaryDataFolder("guard-test") }));
    ${how}`;
  const owner = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [line] = await once(createInterface({ input: owner.stdout }), "line");
  const { pids, folder } = JSON.parse(line) as { pids: number[]; folder: string };
  return { owner, started: pids.map(identifyProcess), folder };
}

it.each([
  ["is killed", "setInterval(() => {}, 1000)", (pid: number) => process.kill(pid, "SIGKILL")],
  ["is told to stop", "setInterval(() => {}, 1000)", (pid: number) => process.kill(pid, "SIGTERM")],
  ["throws", 'setTimeout(() => { throw new Error("bug"); }, 50)', () => {}],
  ["exits", "process.exit(0)", () => {}],
])("ends what its owner started when the owner %s", async (_, how, end) => {
  const { owner, started, folder } = await startOwner(how);
  const ended = owner.exitCode === null && owner.signalCode === null ? once(owner, "exit") : undefined;
  end(owner.pid ?? 0);
  await ended;
  await expect.poll(() => started.some(isProcessRunning) || existsSync(folder), { timeout: 20_000 }).toBe(false);
});

it.skipIf(process.platform !== "linux")("ends it also when the guard was killed before", async () => {
  const { owner, started, folder } = await startOwner("setInterval(() => {}, 1000)");
  const guards = () =>
    readFileSync(`/proc/${owner.pid}/task/${owner.pid}/children`, "utf8")
      .split(" ")
      .filter((pid) => pid !== "" && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("cleanup-process.mjs"));
  const [first = ""] = guards();
  process.kill(Number(first), "SIGKILL");
  await expect.poll(() => guards().some((pid) => pid !== first)).toBe(true);
  // The owner has yet to tell it what there is.
  await sleep(500);
  owner.kill("SIGKILL");
  await expect.poll(() => started.some(isProcessRunning) || existsSync(folder), { timeout: 20_000 }).toBe(false);
});

it("kills a process that does not end when asked", async () => {
  const stubborn = spawn(process.execPath, [
    "-e",
    'process.on("SIGTERM", () => {}); console.log(); setInterval(() => {}, 1000)',
  ]);
  await once(stubborn.stdout, "data");
  const known = identifyProcess(stubborn.pid ?? 0);
  await terminateProcess(known, "SIGTERM", 200);
  expect(isProcessRunning(known)).toBe(false);
});
