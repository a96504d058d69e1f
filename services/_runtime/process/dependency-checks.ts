import type { ServiceHealth } from "@pragma/contracts/service-health";
import { runWithDeadline } from "../concurrency/run-with-deadline.ts";
import type { PrometheusMetrics } from "../observability/metrics.ts";

type DependencyCheck = () => Promise<void>;

/** The dependencies of a component of the process, such as a service or the gateway. A check rejects during an outage. */
export interface ComponentDependencies {
  name: string;
  /** The checks of required dependencies. While a check rejects, the process is not ready. */
  checks: Record<string, DependencyCheck>;
  /** Required only until each was reached once, because its outage would make all instances unready at once. */
  startupChecks?: Record<string, DependencyCheck>;
  /** The checks of optional dependencies. Failures are reported but do not affect readiness. */
  optionalChecks?: Record<string, DependencyCheck>;
}

interface ReadinessReport {
  status: "ready" | "not ready";
  /** The state of each dependency by component: `ok`, or the error. */
  parts: Record<string, Record<string, string>>;
}

const requiredTimeoutMs = 2_000;
/** The maximum wait for a dependency that does not affect readiness. Short, so that a probe does not time out. */
const observedTimeoutMs = 500;

/** Creates a reporter of the states of all dependencies. It remembers which dependencies were reached. */
export function createReadinessReporter(components: () => readonly ComponentDependencies[]) {
  const reached = new WeakSet<DependencyCheck>();
  /** The checks in progress. Shared by all probes, so that probes of a dependency that hangs do not accumulate. */
  const running = new Map<DependencyCheck, Promise<string>>();

  function startOrJoin(check: DependencyCheck): Promise<string> {
    const onError = (error: unknown) => (error instanceof Error ? error.message || error.name : String(error));
    const onSuccess = () => {
      reached.add(check);
      return "ok";
    };
    const result =
      running.get(check) ??
      check()
        .then(onSuccess, onError)
        .finally(() => running.delete(check));
    running.set(check, result);
    return result;
  }

  const readState = (check: DependencyCheck, timeoutMs: number): Promise<string> =>
    runWithDeadline(() => startOrJoin(check), {
      timeoutMs,
      createError: () => new Error(`timed out after ${timeoutMs} ms`),
    }).catch((error: Error) => error.message);

  return {
    async report({ optionalTimeoutMs = observedTimeoutMs } = {}): Promise<ReadinessReport> {
      const current = components();
      let isReady = current.length > 0;
      const parts = current.map(async ({ name, checks, startupChecks = {}, optionalChecks = {} }) => {
        const states = Object.entries({ ...checks, ...startupChecks, ...optionalChecks }).map(
          async ([dependency, check]) => {
            const isRequired = dependency in checks || (dependency in startupChecks && !reached.has(check));
            const state = await readState(check, isRequired ? requiredTimeoutMs : optionalTimeoutMs);
            if (isRequired && state !== "ok") isReady = false;
            return [dependency, state] as const;
          },
        );
        return [name, Object.fromEntries(await Promise.all(states))] as const;
      });
      const states = Object.fromEntries(await Promise.all(parts));
      return { status: isReady ? "ready" : "not ready", parts: states };
    },
    /** Returns the health of the only component, for operators who have only an API key. */
    async describeHealth(name: ServiceHealth["name"]): Promise<ServiceHealth> {
      const { status, parts } = await this.report({ optionalTimeoutMs: requiredTimeoutMs });
      const checks = Object.entries(parts[name] ?? {}).map(([dependency, state]) => ({
        name: dependency,
        error: state === "ok" ? null : state,
      }));
      if (status !== "ready") return { name, state: "failing", checks };
      return { name, state: checks.some(({ error }) => error !== null) ? "degraded" : "ok", checks };
    },
    registerMetrics(metrics: PrometheusMetrics): void {
      metrics.observeGauges("dependency_up", "1 while a dependency of a service or of the gateway responds", () =>
        Promise.all(
          components().flatMap(({ name: service, checks, startupChecks, optionalChecks }) =>
            Object.entries({ ...checks, ...startupChecks, ...optionalChecks }).map(async ([dependency, check]) => ({
              value: Number((await readState(check, observedTimeoutMs)) === "ok"),
              labels: { service, dependency },
            })),
          ),
        ),
      );
    },
  };
}

/** The maximum milliseconds of a check that is not limited by the timeout of a probe. */
const probeTimeoutMs = 10_000;

/** Returns a function that returns the names of the dependencies whose checks fail, or do not end within 10 seconds. */
export function createDependencyProbe(checks: Record<string, () => Promise<unknown>>): () => Promise<string[]> {
  return async () => {
    const states = await Promise.all(
      Object.entries(checks).map(([name, check]) =>
        runWithDeadline(check, { timeoutMs: probeTimeoutMs, createError: () => new Error("no response") }).then(
          () => [],
          () => [name],
        ),
      ),
    );
    return states.flat();
  };
}
