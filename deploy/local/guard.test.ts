import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { expect, it } from "vitest";
import { endProcess, isRunning, knownProcess } from "./process-identity.mjs";

/** Starts a process that guards a sleeping one, a group whose leader has ended, and a temporary folder; tells which. */
async function startOwner(how: string) {
  const modules = JSON.stringify(new URL(".", import.meta.url).href);
  const program = `
    import { spawn } from "node:child_process";
    import { once } from "node:events";
    const { guardGroup, guardProcess } = await import(${modules} + "guarded.mjs");
    const { knownProcess } = await import(${modules} + "process-identity.mjs");
    const { temporaryDataFolder } = await import(${modules} + "data-folder.mjs");
    const sleeper = spawn("sleep", ["60"], { detached: true, stdio: "ignore" });
    guardProcess(knownProcess(sleeper.pid), "SIGTERM");
    const leader = spawn("sh", ["-c", "sleep 60 & echo $!"], { detached: true, stdio: ["ignore", "pipe", "ignore"] });
    guardGroup(knownProcess(leader.pid), "SIGTERM");
    const [member] = await once(leader.stdout, "data");
    console.log(JSON.stringify({ pids: [sleeper.pid, Number(member)], folder: temporaryDataFolder("guard-test") }));
    ${how}`;
  const owner = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [line] = await once(createInterface({ input: owner.stdout }), "line");
  const { pids, folder } = JSON.parse(line) as { pids: number[]; folder: string };
  return { owner, started: pids.map(knownProcess), folder };
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
  await expect.poll(() => started.some(isRunning) || existsSync(folder), { timeout: 10_000 }).toBe(false);
});

it("kills a process that does not end when asked", async () => {
  const stubborn = spawn(process.execPath, [
    "-e",
    'process.on("SIGTERM", () => {}); console.log(); setInterval(() => {}, 1000)',
  ]);
  await once(stubborn.stdout, "data");
  const known = knownProcess(stubborn.pid ?? 0);
  await endProcess(known, "SIGTERM", 200);
  expect(isRunning(known)).toBe(false);
});
