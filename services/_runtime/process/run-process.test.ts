import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";

const runProcessUrl = new URL("./run-process.ts", import.meta.url).href;

let child: ChildProcess | undefined;
afterEach(() => {
  child?.kill("SIGKILL");
});

/** Starts a process, which then executes the code `work`. Returns the exit code and the standard output. */
async function runProgram(work: string): Promise<{ code: number | null; output: string }> {
  const program = `
    import { runProcessUntilSignal } from ${JSON.stringify(runProcessUrl)};
    await runProcessUntilSignal("test", async () => {});
    ${work}`;
  const options = ["--conditions=source", "--import", "tsx", "--input-type=module", "--eval", program];
  const started = spawn(process.execPath, options, {
    env: { PATH: process.env.PATH, OPS_PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  child = started;
  const [output] = await Promise.all([text(started.stdout), once(started, "exit")]);
  return { code: started.exitCode, output };
}

const rejectWith = (error: string) => `void Promise.reject(${error});`;
const rejectAsDisconnected = rejectWith('Object.assign(new Error("gone"), { code: "CONNECTION_CLOSED" })');
const stopSoon = 'setTimeout(() => process.kill(process.pid, "SIGTERM"), 200);';

describe("a process", () => {
  it("continues after an unhandled rejection with a transient error", async () => {
    const { code, output } = await runProgram(`${rejectAsDisconnected} ${stopSoon}`);
    expect(output).toContain("unhandled transient rejection");
    expect(code).toBe(0);
  });

  it("prints why it ends, even when its log is silent", async () => {
    const program = `import { runProcessUntilSignal } from ${JSON.stringify(runProcessUrl)};
      await runProcessUntilSignal("test", async () => { throw new Error("a mistake"); });`;
    const options = ["--conditions=source", "--import", "tsx", "--input-type=module", "--eval", program];
    child = spawn(process.execPath, options, {
      env: { PATH: process.env.PATH, OPS_PORT: "0", LOG_LEVEL: "silent" },
      stdio: ["ignore", "ignore", "pipe"],
    });
    expect(await text(child.stderr as Readable)).toContain("test: cannot start: Error: a mistake");
  });

  it.each([rejectWith('new TypeError("a mistake")'), 'setImmediate(() => { throw new Error("a mistake"); });'])(
    "logs an unexpected error and exits with code 1: %s",
    async (work) => {
      const { code, output } = await runProgram(`${work} ${stopSoon}`);
      expect(output).toContain("a mistake");
      expect(code).toBe(1);
    },
  );

  it("ends after SHUTDOWN_TIMEOUT_SECONDS when a part never stops, and names the part", async () => {
    const component = '{ name: "slow part", checks: {}, stop: () => new Promise(() => {}) }';
    const { code, errorOutput } = await runWithVariables(`async (base, onStarted) => onStarted(${component})`, {
      SHUTDOWN_TIMEOUT_SECONDS: "6",
    });
    expect({ code, errorOutput }).toEqual({
      code: 1,
      errorOutput: "test: the shutdown did not end in time, because of slow part\n",
    });
  }, 60_000);

  it("does not start if requests wait for it for less time than its shutdown takes", async () => {
    const { code, errorOutput } = await runWithVariables("async () => {}", { UPSTREAM_CONNECT_WAIT_SECONDS: "15" });
    expect(code).toBe(1);
    expect(errorOutput).toContain("SHUTDOWN_TIMEOUT_SECONDS: must be less than UPSTREAM_CONNECT_WAIT_SECONDS (15)");
  });
});

/** Starts a process with the code of its function `start`, and stops it after the start. */
async function runWithVariables(
  start: string,
  variables: Record<string, string>,
): Promise<{ code: number | null; errorOutput: string }> {
  const program = `import { runProcessUntilSignal } from ${JSON.stringify(runProcessUrl)};
    await runProcessUntilSignal("test", ${start}); process.kill(process.pid, "SIGTERM");`;
  const options = ["--conditions=source", "--import", "tsx", "--input-type=module", "--eval", program];
  const started = spawn(process.execPath, options, {
    env: { PATH: process.env.PATH, OPS_PORT: "0", LOG_LEVEL: "silent", ...variables },
    stdio: ["ignore", "ignore", "pipe"],
  });
  child = started;
  const [errorOutput] = await Promise.all([text(started.stderr), once(started, "exit")]);
  return { code: started.exitCode, errorOutput };
}
