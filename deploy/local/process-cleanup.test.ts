import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { isProcessRunning, readProcessIdentity, terminateProcess } from "./process-cleanup.mjs";

/**
 * Starts an owner, which registers a sleeping process, a process group and a folder for cleanup. Returns the owner, the
 * identities of the sleeping process and of one process of the group, and the path of the folder.
 */
async function startOwner(ending: string) {
  const modules = JSON.stringify(new URL("./", import.meta.url).href);
  const program = `
    import { once } from "node:events";
    const { spawnProcessWithExitCleanup } = await import(${modules} + "process-cleanup.mjs");
    const { createTemporaryDataFolder } = await import(${modules} + "data-folder.mjs");
    const sleeper = spawnProcessWithExitCleanup("sleep", ["60"], { stdio: "ignore" });
    const leader = spawnProcessWithExitCleanup("sh", ["-c", "sleep 60 & echo $!; sleep 60"], { stdio: ["ignore", "pipe", "ignore"] });
    const [member] = await once(leader.stdout, "data");
    console.log(JSON.stringify({ pids: [sleeper.pid, Number(member)], folder: createTemporaryDataFolder("cleanup-test") }));
    ${ending}`;
  const owner = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [line] = await once(createInterface({ input: owner.stdout }), "line");
  const { pids, folder } = JSON.parse(line) as { pids: number[]; folder: string };
  return { owner, started: pids.map(readProcessIdentity), folder };
}

it.each([
  ["is killed", "setInterval(() => {}, 1000)", (pid: number) => process.kill(pid, "SIGKILL")],
  ["gets SIGTERM", "setInterval(() => {}, 1000)", (pid: number) => process.kill(pid, "SIGTERM")],
  ["throws", 'setTimeout(() => { throw new Error("bug"); }, 50)', () => {}],
  ["exits", "process.exit(0)", () => {}],
])("cleans up the resources of its owner when the owner %s", async (_, ending, end) => {
  const { owner, started, folder } = await startOwner(ending);
  const ended = owner.exitCode === null && owner.signalCode === null ? once(owner, "exit") : undefined;
  end(owner.pid ?? 0);
  await ended;
  await expect.poll(() => started.some(isProcessRunning) || existsSync(folder), { timeout: 20_000 }).toBe(false);
});

it.skipIf(process.platform !== "linux")("cleans up even after its first cleanup process was killed", async () => {
  const { owner, started, folder } = await startOwner("setInterval(() => {}, 1000)");
  const findCleanupProcesses = () =>
    readFileSync(`/proc/${owner.pid}/task/${owner.pid}/children`, "utf8")
      .split(" ")
      .filter((pid) => pid !== "" && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("cleanup-process.mjs"));
  const [first = ""] = findCleanupProcesses();
  process.kill(Number(first), "SIGKILL");
  await expect.poll(() => findCleanupProcesses().some((pid) => pid !== first)).toBe(true);
  // Gives the owner time to send the list of resources.
  await sleep(500);
  owner.kill("SIGKILL");
  await expect.poll(() => started.some(isProcessRunning) || existsSync(folder), { timeout: 20_000 }).toBe(false);
});

it("kills a process that ignores the signal", async () => {
  const stubborn = spawn(process.execPath, [
    "-e",
    'process.on("SIGTERM", () => {}); console.log(); setInterval(() => {}, 1000)',
  ]);
  await once(stubborn.stdout, "data");
  const identity = readProcessIdentity(stubborn.pid ?? 0);
  await terminateProcess(identity, "SIGTERM", 200);
  expect(isProcessRunning(identity)).toBe(false);
});
