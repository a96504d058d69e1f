import { describe, expect, it } from "vitest";
import { createPrometheusMetrics } from "../observability/metrics.ts";
import { type ComponentDependencies, createReadinessReporter } from "./dependency-checks.ts";

/** Returns a component with one dependency of each kind. Tests set the errors of the dependencies. */
function createTestComponent() {
  const errors: Record<"required" | "startup" | "optional", Error | undefined> = {
    required: undefined,
    startup: undefined,
    optional: undefined,
  };
  const check = (name: keyof typeof errors) => async () => {
    if (errors[name]) throw errors[name];
  };
  const component: ComponentDependencies = {
    name: "service",
    checks: { required: check("required") },
    startupChecks: { startup: check("startup") },
    optionalChecks: { optional: check("optional") },
  };
  return { component, errors };
}

describe("readiness", () => {
  it("requires a startup dependency until it was reached once, and then only reports it", async () => {
    const { component, errors } = createTestComponent();
    const readiness = createReadinessReporter(() => [component]);
    errors.startup = new Error("not connected");
    const unreached = { required: "ok", startup: "not connected", optional: "ok" };
    expect(await readiness.report()).toEqual({ status: "not ready", parts: { service: unreached } });
    errors.startup = undefined;
    expect((await readiness.report()).status).toBe("ready");
    errors.startup = new Error("lost");
    expect(await readiness.report()).toMatchObject({ status: "ready", parts: { service: { startup: "lost" } } });
  });

  it("always requires a required dependency, and never an optional one", async () => {
    const { component, errors } = createTestComponent();
    const readiness = createReadinessReporter(() => [component]);
    errors.optional = new Error("full");
    expect(await readiness.report()).toMatchObject({ status: "ready", parts: { service: { optional: "full" } } });
    errors.required = new Error("refused");
    expect(await readiness.report()).toMatchObject({
      status: "not ready",
      parts: { service: { required: "refused" } },
    });
  });

  it("is reported within the timeout of a probe while dependencies hang, with one check of each at a time", async () => {
    let started = 0;
    const component: ComponentDependencies = {
      name: "service",
      checks: {},
      optionalChecks: {
        hanging: () => {
          started += 1;
          return new Promise(() => {});
        },
      },
    };
    const readiness = createReadinessReporter(() => [component]);
    const reports = await Promise.all([readiness.report(), readiness.report(), readiness.report()]);
    expect(await readiness.report()).toEqual(reports[0]);
    expect(reports[0]).toEqual({ status: "ready", parts: { service: { hanging: "timed out after 500 ms" } } });
    expect(started).toBe(1);
  });

  it("is false before a component has started", async () => {
    expect((await createReadinessReporter(() => []).report()).status).toBe("not ready");
  });

  it("has a metric for each dependency", async () => {
    const { component, errors } = createTestComponent();
    const metrics = createPrometheusMetrics();
    createReadinessReporter(() => [component]).registerMetrics(metrics);
    errors.startup = new Error("lost");
    const text = await metrics.toPrometheusText();
    expect(text).toMatch(/^dependency_up\{service="service",dependency="required"[^}]*\} 1$/m);
    expect(text).toMatch(/^dependency_up\{service="service",dependency="startup"[^}]*\} 0$/m);
  });
});
