import { startTcpProxy } from "./tcp-proxy.ts";

/**
 * Simulates the death of a process for PostgreSQL and the object store. Each message that the process sends to PostgreSQL
 * through `databaseUrl`, and each call of a wrapped function, is a step. When the process dies at a step, all its
 * connections are closed, and no later step has an effect.
 */
export interface CrashSimulation {
  databaseUrl: string;
  /** Whether the process has died since the last call of `crashAt`. */
  readonly hasCrashed: boolean;
  /** The number of steps since the last call of `crashAt`. */
  readonly stepCount: number;
  /**
   * Starts a new life of the process, which ends at a step, counted from 1: before the step has an effect, or when it had
   * its effect and before the process receives the result.
   */
  crashAt(step: number, moment: CrashMoment): void;
  /** Returns an object whose functions are steps, except those that are not in `names`. */
  wrap<T extends object>(object: T, names: (keyof T)[]): T;
  close(): Promise<void>;
}

export type CrashMoment = "before" | "after";

class SimulatedCrashError extends Error {
  override readonly name = "SimulatedCrashError";
}

export async function startCrashSimulation(serverUrl: string): Promise<CrashSimulation> {
  let crashStep = Number.POSITIVE_INFINITY;
  let crashMoment: CrashMoment = "before";
  let stepCount = 0;
  let hasCrashed = false;

  function crash(): void {
    hasCrashed = true;
    proxy.destroyConnections();
  }

  /** Counts a step. Returns whether it is the last one; "never" if the process has died before it. */
  function takeStep(): "continue" | "last" | "never" {
    if (hasCrashed) return "never";
    stepCount += 1;
    if (stepCount < crashStep) return "continue";
    if (stepCount > crashStep || crashMoment === "before") {
      crash();
      return "never";
    }
    return "last";
  }

  const proxy = await startTcpProxy(serverUrl, (client, upstream) => {
    if (hasCrashed) return void client.destroy();
    let endsWithResult = false;
    client.on("data", (data) => {
      const step = takeStep();
      if (step === "never") return;
      endsWithResult = step === "last";
      upstream.write(data);
    });
    upstream.on("data", (data) => {
      if (endsWithResult) return crash();
      client.write(data);
    });
  });
  return {
    databaseUrl: proxy.url,
    get hasCrashed() {
      return hasCrashed;
    },
    get stepCount() {
      return stepCount;
    },
    crashAt(step, moment) {
      crashStep = step;
      crashMoment = moment;
      stepCount = 0;
      hasCrashed = false;
    },
    wrap(object, names) {
      const wrapped = { ...object };
      for (const name of names) {
        const call = object[name] as (...values: unknown[]) => Promise<unknown>;
        wrapped[name] = (async (...values: unknown[]) => {
          const step = takeStep();
          if (step === "never") throw new SimulatedCrashError();
          const result = await call(...values);
          if (step === "last") {
            crash();
            throw new SimulatedCrashError();
          }
          return result;
        }) as (typeof object)[typeof name];
      }
      return wrapped;
    },
    close: proxy.close,
  };
}
