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
});
