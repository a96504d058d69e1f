import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { compiledModulePath } from "../compiled-module-path.ts";
import type { LoadJobName, LoadJobs } from "./load-jobs.ts";

/** The load generator, seen from the process that tells it what to do. */
export interface LoadGenerator {
  pid: number;
  /** One job at a time. Rejects when a request failed. */
  run<Name extends LoadJobName>(name: Name, job: LoadJobs[Name]["job"]): Promise<LoadJobs[Name]["answer"]>;
  stop(): Promise<void>;
}

type LoadGeneratorMessage = { answer: unknown } | { error: string };

export function startLoadGenerator(): LoadGenerator {
  const child = fork(compiledModulePath("load/generator"), { execArgv: [] });
  return {
    pid: child.pid ?? 0,
    async run(name, job) {
      child.send({ name, job });
      const message = await nextMessage(child);
      if ("error" in message) throw new Error(`The load was not served: ${message.error}`);
      return message.answer as LoadJobs[typeof name]["answer"];
    },
    async stop() {
      if (child.exitCode !== null) return;
      const ended = once(child, "exit");
      child.disconnect();
      await ended;
    },
  };
}

function nextMessage(child: ChildProcess): Promise<LoadGeneratorMessage> {
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error("The load generator ended by itself."));
    child.once("exit", ended);
    child.once("message", (message) => {
      child.off("exit", ended);
      resolve(message as LoadGeneratorMessage);
    });
  });
}
