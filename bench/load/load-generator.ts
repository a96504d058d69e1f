import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { getCompiledBenchModulePath } from "../run-bench-program.ts";
import type { LoadGeneratorJobName, LoadGeneratorJobTypesByName } from "./load-jobs.ts";

/** The interface with which the parent process controls the load generator. */
export interface LoadGeneratorProcess {
  pid: number;
  /**
   * Runs a job. Rejects if a request of the job fails. Await the job before you run another one, because a result does
   * not state to which job it belongs.
   */
  run<Name extends LoadGeneratorJobName>(
    name: Name,
    job: LoadGeneratorJobTypesByName[Name]["job"],
  ): Promise<LoadGeneratorJobTypesByName[Name]["result"]>;
  stop(): Promise<void>;
}

type LoadGeneratorMessage = { result: unknown } | { error: string };

export function startLoadGeneratorProcess(): LoadGeneratorProcess {
  const child = fork(getCompiledBenchModulePath("load/load-generator-process"), { execArgv: [] });
  return {
    pid: child.pid ?? 0,
    async run(name, job) {
      child.send({ name, job });
      const message = await nextMessage(child);
      if ("error" in message) throw new Error(`The load job failed: ${message.error}`);
      return message.result as LoadGeneratorJobTypesByName[typeof name]["result"];
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
    const ended = () => reject(new Error("The load generator exited unexpectedly."));
    child.once("exit", ended);
    child.once("message", (message) => {
      child.off("exit", ended);
      resolve(message as LoadGeneratorMessage);
    });
  });
}
