import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { getCompiledFile } from "../process/package-folder.ts";

/** A process that runs a service of a test. */
export interface TestServiceProcess {
  child: ChildProcess;
  /** The URL of its ops port. */
  opsUrl: string;
  /** Resolves when the process has ended. */
  exited: Promise<{ code: number | null; errorOutput: string }>;
}

const moduleUrl = (path: string) => JSON.stringify(pathToFileURL(getCompiledFile(new URL(path, import.meta.url))).href);

/**
 * Starts a process with the service of `defineTestLocationEventService`. `beforeEffect` is the code of its function.
 * Resolves when the service has started.
 */
export async function startTestLocationEventProcess(
  beforeEffect: string,
  variables: Record<string, string>,
): Promise<TestServiceProcess> {
  const program = `
    import { runProcessUntilSignal } from ${moduleUrl("../process/run-process.ts")};
    import { startService } from ${moduleUrl("../service/start-service.ts")};
    import { createServiceRegistry } from ${moduleUrl("../service-calls/service-registry.ts")};
    import { defineTestLocationEventService } from ${moduleUrl("./location-event-service.ts")};
    await runProcessUntilSignal("test", async (base, onStarted) => {
      const registry = createServiceRegistry(base.environment);
      const definition = defineTestLocationEventService(${beforeEffect});
      onStarted(await startService(definition, { ...base, registry }));
    });`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    env: { PATH: process.env.PATH, ...variables, OPS_PORT: "0", LOG_LEVEL: "info" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = Promise.all([text(child.stderr as Readable), once(child, "exit")]).then(([errorOutput, [code]]) => ({
    code: code as number | null,
    errorOutput,
  }));
  const opsPort = await new Promise<number>((resolve, reject) => {
    createInterface({ input: child.stdout as Readable }).on("line", (line) => {
      const { msg, opsPort } = JSON.parse(line) as { msg: string; opsPort?: number };
      if (msg === "started" && opsPort !== undefined) resolve(opsPort);
    });
    void exited.then(({ errorOutput }) => reject(new Error(`The process ended: ${errorOutput}`)));
  });
  return { child, opsUrl: `http://127.0.0.1:${opsPort}`, exited };
}
