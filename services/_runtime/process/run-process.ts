import { z } from "zod";
import { sleep } from "../concurrency/sleep.ts";
import type { EnvironmentVariables } from "../config/environment-variables.ts";
import { ConfigError, integerEnvSchema, readConfigFromEnvironment } from "../config/runtime-config.ts";
import { describeErrorChain } from "../observability/describe-error.ts";
import { createLogger, type Logger } from "../observability/logger.ts";
import { createPrometheusMetrics, type PrometheusMetrics, registerProcessMetrics } from "../observability/metrics.ts";
import { startTracing } from "../observability/start-tracing.ts";
import { isTransient } from "../retries/transient-error.ts";
import { connectWaitConfigSchema } from "../service-calls/service-registry.ts";
import { type ComponentOpsInterface, opsConfigSchema, startOpsServer } from "./ops-server.ts";
import { timeZoneDataVersion, warnOfOldTimeZoneData } from "./time-zone-data.ts";
import { UnusableServerError } from "./unusable-server-error.ts";

/** A component of a process. Components start one after the other and stop in reverse sequence. */
export interface ProcessComponent extends ComponentOpsInterface {
  /** Called while requests still arrive. Closes each connection after its next response. */
  drain?(): void;
  /** Called on every component before any component is stopped. Ends endless work, such as streams to clients. */
  beforeStop?(): void;
  stop(): Promise<void>;
}

export interface ProcessContext {
  environment: EnvironmentVariables;
  log: Logger;
  metrics: PrometheusMetrics;
  /** Stops the process with exit code 1 because its work is stalled. Docker, Kubernetes or the operator restarts it. */
  endStalledProcess?(description: string): void;
}

const shutdownConfigSchema = z.object({
  /** Then the process exits. Less than `UPSTREAM_CONNECT_WAIT_SECONDS`, because it accepts no connections. */
  SHUTDOWN_TIMEOUT_SECONDS: integerEnvSchema(6, 120).default(15),
});

/** The part of a shutdown that is left to close resources after requests in progress were cut off, in seconds. */
const closeSeconds = 5;

/** Returns for how many milliseconds a stopping server waits for requests in progress. */
export function readRequestDrainTimeoutMs(environment: EnvironmentVariables): number {
  return 1000 * (readConfigFromEnvironment(shutdownConfigSchema, environment).SHUTDOWN_TIMEOUT_SECONDS - closeSeconds);
}

export const processConfigSchema = z.object({
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
  ...opsConfigSchema.shape,
  /** Time after SIGTERM in which requests are still served, so that the load balancer stops sending them. */
  SHUTDOWN_DELAY_SECONDS: integerEnvSchema(0, 120).default(0),
  ...shutdownConfigSchema.shape,
});

/** Runs a process until SIGINT or SIGTERM. Exits with code 1 if a component cannot start, or after an error. */
export async function runProcessUntilSignal(
  name: string,
  start: (dependencies: ProcessContext, onStarted: (component: ProcessComponent) => void) => Promise<void>,
): Promise<void> {
  const environment = process.env;
  const components: ProcessComponent[] = [];
  let log = createLogger({ name, level: "info" });
  let isStarted = false;
  let isStopping = false;
  let shutdownDelayMs = 0;
  let shutdownTimeoutMs = 0;

  async function drain(): Promise<void> {
    if (!isStarted || shutdownDelayMs === 0) return stop(0);
    isStarted = false;
    log.info({ milliseconds: shutdownDelayMs }, "draining before shutdown");
    for (const component of components) component.drain?.();
    await sleep(shutdownDelayMs);
    return stop(0);
  }

  /** Stops the process with exit code 1. Also prints the reason to stderr, because the log level can be `silent`. */
  async function fail(description: string, error: unknown): Promise<void> {
    if (isStopping) return;
    if (error instanceof ConfigError || error instanceof UnusableServerError) {
      process.stderr.write(`${error.message}\n`);
      return stop(1);
    }
    log.fatal({ err: error }, description);
    process.stderr.write(`${name}: ${description}: ${describeErrorChain(error)}\n`);
    return stop(1);
  }

  function endStalledProcess(description: string): void {
    log.fatal({ reason: description }, "the process ends, because its work is stalled");
    process.stderr.write(`${name}: ends, because its work is stalled: ${description}\n`);
    void stop(1, { isCausedByError: false });
  }

  async function stop(code: number, { isCausedByError = code !== 0 } = {}): Promise<void> {
    if (isStopping) return;
    isStopping = true;
    isStarted = false;
    if (isCausedByError) process.exitCode = code;
    let stoppingComponent = "";
    const timer = setTimeout(() => {
      log.error({ part: stoppingComponent }, "the shutdown did not end in time");
      process.stderr.write(`${name}: the shutdown did not end in time, because of ${stoppingComponent}\n`);
      process.exit(1);
    }, shutdownTimeoutMs);
    for (const component of components) component.beforeStop?.();
    for (const component of components.splice(0).reverse()) {
      stoppingComponent = component.name;
      await component.stop().catch((error) => log.error({ err: error, part: component.name }, "failed to stop"));
    }
    clearTimeout(timer);
    log.info("stopped");
    process.exit(code);
  }

  process.on("SIGINT", () => void stop(0));
  process.on("SIGTERM", () => void drain());
  process.on("uncaughtException", (error) => void fail("uncaught error", error));
  process.on("unhandledRejection", (reason) => {
    // Database drivers send queries themselves, and do not handle their rejections when the server disappears. The
    // caller that waits for the connection also gets the error.
    if (isTransient(reason)) log.error({ err: reason }, "unhandled transient rejection");
    else void fail("unhandled rejection", reason);
  });

  try {
    const config = readConfigFromEnvironment(processConfigSchema.extend(connectWaitConfigSchema.shape), environment);
    log = createLogger({ name, level: config.LOG_LEVEL });
    shutdownDelayMs = config.SHUTDOWN_DELAY_SECONDS * 1000;
    shutdownTimeoutMs = config.SHUTDOWN_TIMEOUT_SECONDS * 1000;
    const waitSeconds = config.UPSTREAM_CONNECT_WAIT_SECONDS;
    // A restarting process must be away for less time than requests wait for it.
    if (waitSeconds > 0 && config.SHUTDOWN_TIMEOUT_SECONDS >= waitSeconds)
      throw new ConfigError([
        `SHUTDOWN_TIMEOUT_SECONDS: must be less than UPSTREAM_CONNECT_WAIT_SECONDS (${waitSeconds}), for which requests wait for a process that restarts`,
      ]);
    const tracing = await startTracing(name, environment);
    components.push({ name: "tracing", checks: {}, stop: () => tracing.stop() });
    const metrics = createPrometheusMetrics();
    registerProcessMetrics(metrics, { commit: config.PRAGMA_COMMIT });
    const ops = await startOpsServer(config, { metrics, components: () => (isStarted ? components : []) });
    components.push({ name: "ops", checks: {}, stop: () => ops.stop() });
    await start({ environment, log, metrics, endStalledProcess }, (component) => components.push(component));
    isStarted = true;
    const parts = components.map((component) => component.name);
    log.info({ parts, opsPort: ops.port, node: process.version, timeZoneData: timeZoneDataVersion }, "started");
    await warnOfOldTimeZoneData(log);
  } catch (error) {
    await fail("cannot start", error);
  }
}
