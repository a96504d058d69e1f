import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { expect, it } from "vitest";
import { endProcess, isRunning, knownProcess } from "./process-identity.mjs";

/** Starts a process that guards a sleeping one and a temporary folder, and tells which. */
async function startOwner(how: string) {
  const modules = JSON.stringify(new URL(".", import.meta.url).href);
  const program = `
    import { spawn } from "node:child_process";
    const { guardProcess } = await import(${modules} + "guarded.mjs");
    const { knownProcess } = await import(${modules} + "process-identity.mjs");
    const { temporaryDataFolder } = await import(${modules} + "data-folder.mjs");
    const sleeper = spawn("sleep", ["60"], { detached: true, stdio: "ignore" });
    guardProcess(knownProcess(sleeper.pid), "SIGTERM");
    console.log(JSON.stringify({ pid: sleeper.pid, folder: temporaryDataFolder("guard-test") }));
    ${how}`;
  const owner = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [line] = await once(createInterface({ input: owner.stdout }), "line");
  const { pid, folder } = JSON.parse(line) as { pid: number; folder: string };
  return { owner, sleeper: knownProcess(pid), folder };
}

it.each([
  ["is killed", "setInterval(() => {}, 1000)", (pid: number) => process.kill(pid, "SIGKILL")],
  ["is told to stop", "setInterval(() => {}, 1000)", (pid: number) => process.kill(pid, "SIGTERM")],
  ["throws", 'setTimeout(() => { throw new Error("bug"); }, 50)', () => {}],
  ["exits", "process.exit(0)", () => {}],
])("ends what its owner started when the owner %s", async (_, how, end) => {
  const { owner, sleeper, folder } = await startOwner(how);
  const ended = owner.exitCode === null && owner.signalCode === null ? once(owner, "exit") : undefined;
  end(owner.pid ?? 0);
  await ended;
  await expect.poll(() => isRunning(sleeper) || existsSync(folder), { timeout: 10_000 }).toBe(false);
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
