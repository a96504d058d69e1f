import { isIP } from "node:net";
import { getConnInfo } from "@hono/node-server/conninfo";
import type { Queue } from "bullmq";
import { type Context, Hono, type MiddlewareHandler } from "hono";
import { auth } from "hono/utils/basic-auth";
import { timingSafeEqual } from "hono/utils/buffer";
import { z } from "zod";
import { integerEnvSchema } from "../config/runtime-config.ts";
import { type HttpServer, startHttpServer } from "../http/http-server.ts";
import type { InFlightEvent } from "../messaging/consumer-progress.ts";
import type { DeadLetter } from "../messaging/dead-letters.ts";
import type { PrometheusMetrics } from "../observability/metrics.ts";
import { type ComponentDependencies, createReadinessReporter } from "./dependency-checks.ts";
import { productVersion } from "./product-version.ts";
import { readSystemTimeZoneDataVersion, timeZoneDataVersion } from "./time-zone-data.ts";

export const opsConfigSchema = z.object({
  PRAGMA_COMMIT: z.string().default("unknown"),
  /** The port for operators: health, readiness, metrics and operator routes. */
  OPS_PORT: integerEnvSchema(0, 65_535).default(4090),
  /** The address on which this port listens. By default, only programs of the same machine reach it. */
  OPS_HOST: z.union([z.ipv4(), z.ipv6()], { error: "must be an IP address, such as 0.0.0.0" }).default("127.0.0.1"),
  /** Comma-separated host names of this port. IP addresses and `localhost` need not be in the list. */
  OPS_ALLOWED_HOSTS: z
    .string()
    .transform((text) => text.split(",").map((host) => host.trim().toLowerCase()))
    .pipe(z.array(z.string().regex(/^[a-z\d]([\w.-]*[a-z\d])?$/, "must be host names, separated by commas")))
    .default([]),
  /** The token for operator routes. Without a token, these routes allow only requests from the same machine. */
  OPS_TOKEN: z.string().min(16, "must have at least 16 characters").optional(),
});

/** Enough for probes, Prometheus and operators. Without a maximum, open connections could exhaust the file descriptors. */
const maxConnections = 100;

export async function startOpsServer(
  config: z.output<typeof opsConfigSchema>,
  { metrics, components }: { metrics: PrometheusMetrics; components: () => ComponentOpsInterface[] },
): Promise<HttpServer> {
  const { OPS_TOKEN: token, PRAGMA_COMMIT: commit } = config;
  const readiness = createReadinessReporter(components);
  readiness.registerMetrics(metrics);
  const renderMetrics = shareResult(async () => Buffer.from(await metrics.toPrometheusText()));
  const app = new Hono({ strict: false });
  app.get("/live", (context) => context.json({ status: "live" }));
  app.get("/ready", async (context) => {
    const report = await readiness.report();
    return context.json(report, report.status === "ready" ? 200 : 503);
  });
  // Load balancers may send any host to the two paths above.
  app.use(requireOwnHost(config.OPS_ALLOWED_HOSTS));
  app.get("/metrics", async (context) =>
    context.body(await renderMetrics(), 200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" }),
  );
  app.use(requireOperator(token));
  app.get("/version", async (context) =>
    context.json({
      ...{ version: productVersion, commit, node: process.version, timeZoneData: timeZoneDataVersion },
      systemTimeZoneData: await readSystemTimeZoneDataVersion(),
    }),
  );
  app.get("/dead-letters", async (context) => {
    const lists = components().map(async ({ name: service, deadLetters }) =>
      ((await deadLetters?.list()) ?? []).map((deadLetter) => ({ service, ...deadLetter })),
    );
    return context.json((await Promise.all(lists)).flat());
  });
  app.get("/events-in-flight", (context) =>
    context.json(
      components().flatMap(({ name: service, listInFlightEvents }) =>
        (listInFlightEvents?.() ?? []).map((event) => ({ service, ...event })),
      ),
    ),
  );
  app.post("/dead-letters/:eventId/retry", async (context) => {
    const eventId = context.req.param("eventId");
    if (!z.guid().safeParse(eventId).success) return context.json({ error: "the event id is not a UUID" }, 400);
    const outcomes = await Promise.all(components().map(({ deadLetters }) => deadLetters?.retry(eventId) ?? []));
    return context.json(outcomes.flat());
  });
  app.all("/:component/*", async (context, next) => {
    const component = components().find(({ name }) => name === context.req.param("component"));
    if (!component?.opsRoutes) return next();
    return new Hono().route(`/${component.name}`, component.opsRoutes).fetch(context.req.raw);
  });
  if (token !== undefined) {
    const { createQueueDashboard } = await import("./queue-board.ts");
    app.route(
      "/queues",
      createQueueDashboard("/queues", () => components().flatMap((component) => component.queues?.() ?? [])),
    );
  }
  return startHttpServer(async (request, bindings) => app.fetch(request, bindings as Record<string, unknown>), {
    port: config.OPS_PORT,
    host: config.OPS_HOST,
    configure(server) {
      server.maxConnections = maxConnections;
    },
  });
}

/** Shares a result for a second, or three times its duration, so that calls take at most a quarter of the time. */
function shareResult<Result>(compute: () => Promise<Result>): () => Promise<Result> {
  let shared: Promise<Result> | undefined;
  return () => {
    const startedAt = performance.now();
    shared ??= compute().finally(() => {
      const lifetimeMs = Math.max(1_000, 3 * (performance.now() - startedAt));
      setTimeout(() => {
        shared = undefined;
      }, lifetimeMs).unref();
    });
    return shared;
  };
}

/** Rejects other hosts. A web page could point its host name here, as the same origin (DNS rebinding). */
function requireOwnHost(allowedHosts: readonly string[]): MiddlewareHandler {
  const names = new Set(["localhost", ...allowedHosts]);
  return async (context, next) => {
    const host = new URL(context.req.url).hostname.replace(/\.$/, "");
    if (names.has(host) || isIP(host.replace(/^\[(.*)\]$/, "$1"))) return next();
    return context.json({ error: `${host} is not a host of this port: add it to OPS_ALLOWED_HOSTS` }, 403);
  };
}

const loopbackPattern = /^(?:127\.|::1$|::ffff:127\.)/;

/** Accepts a bearer token or the password of Basic authentication, or without a token, only this machine. */
function requireOperator(token: string | undefined): MiddlewareHandler {
  return async (context, next) => {
    const origin = context.req.header("origin");
    if (origin !== undefined && origin.replace(/^.*:\/\//, "") !== context.req.header("host")) {
      return context.json({ error: "cross-origin requests are not allowed" }, 403);
    }
    if (token === undefined) {
      if (!loopbackPattern.test(getConnInfo(context).remote.address ?? ""))
        return context.json({ error: "set OPS_TOKEN to allow remote requests" }, 403);
    } else if (!(await timingSafeEqual(readCredential(context), token))) {
      return context.json({ error: "the token is missing or wrong" }, 401, { "www-authenticate": 'Basic realm="ops"' });
    }
    return next();
  };
}

/** Returns the bearer token or the password of Basic authentication, or an empty string if both are missing. */
function readCredential({ req }: Context): string {
  const [scheme = "", value = ""] = req.header("authorization")?.split(" ") ?? [];
  return scheme.toLowerCase() === "bearer" ? value : (auth(req.raw)?.password ?? "");
}

export interface ComponentOpsInterface extends ComponentDependencies {
  deadLetters?: {
    list(): Promise<DeadLetter[]>;
    /** Retries the dead letters of an event now, and deletes each dead letter whose retry succeeds. */
    retry(eventId: string): Promise<{ subscription: string; done: boolean; reason?: string }[]>;
  };
  listInFlightEvents?(): InFlightEvent[];
  queues?: () => Queue[];
  /** Additional routes for operators. The server prepends a slash and the component's name to their paths. */
  opsRoutes?: Hono;
}
