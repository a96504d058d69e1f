import { z } from "zod";
import { sleep } from "../concurrency/sleep.ts";
import { ConfigError, type EnvironmentVariables, numberFromEnv, readConfig } from "../config/runtime-config.ts";
import { describeErrorChain } from "../observability/describe-error.ts";
import { createLogger, type Logger } from "../observability/logger.ts";
import { createMetrics, type Metrics, registerProcessMetrics } from "../observability/metrics.ts";
import { startTracing } from "../observability/start-tracing.ts";
import { isTransient } from "../retries/transient-error.ts";
import { type OpsComponent, startOpsServer } from "./ops-server.ts";

/** A part of a process: started in order, stopped in reverse. */
export interface ProcessComponent extends OpsComponent {
  /** Called as soon as the process is to stop, while requests still come in: keeps no connection that it need not. */
  retire?(): void;
  /** Called on every part before the first is stopped: ends what would not end by itself, and begins no more of it. */
  beforeStop?(): void;
  /** Lets what is being handled finish, then closes in reverse order of start. */
  stop(): Promise<void>;
}

export interface ProcessDependencies {
  environment: EnvironmentVariables;
  log: Logger;
  metrics: Metrics;
}

const processConfig = z.object({
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
  /** Health, readiness and metrics, for operators only. */
  OPS_PORT: numberFromEnv(0, 65_535).default(4090),
  /** What operators show to see and do more than that; without it they ask from the same machine. */
  OPS_TOKEN: z.string().min(16, "must have 16 characters or more").optional(),
  /**
   * How long requests are still served after the process was told to stop, and is not ready any more: as long as whoever
   * spreads requests over instances takes to notice.
   */
  SHUTDOWN_DELAY_SECONDS: numberFromEnv(0, 120).default(0),
});

/** How long a shutdown may take, once requests no longer come in, before the process ends anyway, in milliseconds. */
const shutdownTimeoutMs = 30_000;

/**
 * Runs a process until it is told to stop (SIGINT, SIGTERM): starts its parts one after the other, answers operators,
 * and stops everything in reverse order, letting what is in flight finish. Ends with code 1 when it cannot start.
 */
export async function runProcess(
  name: string,
  start: (base: ProcessDependencies, started: (part: ProcessComponent) => void) => Promise<void>,
): Promise<void> {
  const environment = process.env;
  const parts: ProcessComponent[] = [];
  let log = createLogger({ name, level: "info" });
  let isStarted = false;
  let isStopping = false;
  let shutdownDelayMs = 0;

  async function retire(): Promise<void> {
    if (!isStarted || shutdownDelayMs === 0) return stop(0);
    isStarted = false;
    log.info({ milliseconds: shutdownDelayMs }, "stopping once nobody sends requests here any more");
    for (const part of parts) part.retire?.();
    await sleep(shutdownDelayMs);
    return stop(0);
  }

  /** Ends the process, and says why in any case: also where the log is silent. */
  function fail(what: string, error: unknown): Promise<void> {
    log.fatal({ err: error }, what);
    process.stderr.write(`${name}: ${what}: ${describeErrorChain(error)}\n`);
    return stop(1);
  }

  async function stop(code: number): Promise<void> {
    if (isStopping) return;
    isStopping = true;
    isStarted = false;
    process.exitCode = code;
    const timer = setTimeout(() => process.exit(1), shutdownTimeoutMs);
    for (const part of parts) part.beforeStop?.();
    for (const part of parts.splice(0).reverse()) {
      await part.stop().catch((error) => log.error({ err: error, part: part.name }, "did not stop cleanly"));
    }
    clearTimeout(timer);
    log.info("stopped");
    process.exit(code);
  }

  process.on("SIGINT", () => void stop(0));
  process.on("SIGTERM", () => void retire());
  process.on("uncaughtException", (error) => {
    void fail("uncaught error", error);
  });
  process.on("unhandledRejection", (reason) => {
    // Drivers ask servers things of their own, such as PostgreSQL's for its types on every new connection, and leave
    // nobody to hear that the server went away meanwhile. Whoever waits for the connection is told, and tries again.
    if (isTransient(reason)) {
      log.error({ err: reason }, "failed unheard");
      return;
    }
    void fail("unhandled rejection", reason);
  });

  try {
    const config = readConfig(processConfig, environment);
    log = createLogger({ name, level: config.LOG_LEVEL });
    shutdownDelayMs = config.SHUTDOWN_DELAY_SECONDS * 1000;
    const tracing = await startTracing(name, environment);
    parts.push({ name: "tracing", checks: {}, stop: () => tracing.stop() });
    const metrics = createMetrics();
    registerProcessMetrics(metrics);
    const ops = await startOpsServer({
      port: config.OPS_PORT,
      token: config.OPS_TOKEN,
      metrics,
      parts: () => (isStarted ? parts : []),
    });
    parts.push({ name: "ops", checks: {}, stop: () => ops.stop() });
    await start({ environment, log, metrics }, (part) => parts.push(part));
    isStarted = true;
    log.info({ parts: parts.map((part) => part.name), opsPort: ops.port }, "started");
  } catch (error) {
    if (!(error instanceof ConfigError)) return fail("cannot start", error);
    process.stderr.write(`${error.message}\n`);
    await stop(1);
  }
}
