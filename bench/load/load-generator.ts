import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { compiled } from "../compiled.ts";
import type { JobName, Jobs } from "./jobs.ts";

/** The load generator, seen from the process that tells it what to do. */
export interface LoadGenerator {
  pid: number;
  /** One job at a time. Rejects when a request failed. */
  run<Name extends JobName>(name: Name, job: Jobs[Name]["job"]): Promise<Jobs[Name]["answer"]>;
  stop(): Promise<void>;
}

type Message = { answer: unknown } | { error: string };

export function startLoadGenerator(): LoadGenerator {
  const child = fork(compiled("load/generator"), { execArgv: [] });
  return {
    pid: child.pid ?? 0,
    async run(name, job) {
      child.send({ name, job });
      const message = await nextMessage(child);
      if ("error" in message) throw new Error(`The load was not served: ${message.error}`);
      return message.answer as Jobs[typeof name]["answer"];
    },
    async stop() {
      if (child.exitCode !== null) return;
      const ended = once(child, "exit");
      child.disconnect();
      await ended;
    },
  };
}

function nextMessage(child: ChildProcess): Promise<Message> {
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error("The load generator ended by itself."));
    child.once("exit", ended);
    child.once("message", (message) => {
      child.off("exit", ended);
      resolve(message as Message);
    });
  });
}
