import { getConnInfo } from "@hono/node-server/conninfo";
import type { Queue } from "bullmq";
import { type Context, Hono, type MiddlewareHandler } from "hono";
import { auth } from "hono/utils/basic-auth";
import { timingSafeEqual } from "hono/utils/buffer";
import { z } from "zod";
import { type HttpServer, startHttpServer } from "../http/http-server.ts";
import type { DeadLetter } from "../messaging/dead-letters.ts";
import type { Metrics } from "../observability/metrics.ts";

interface OpsOptions {
  port: number;
  /** What operators show for everything but health and metrics; without it they ask from this machine. */
  token: string | undefined;
  metrics: Metrics;
  parts: () => OpsComponent[];
}

/** What operators ask a process on its own port: is it alive, is it ready, how is it doing, what is parked. */
export async function startOpsServer({ port, token, metrics, parts }: OpsOptions): Promise<HttpServer> {
  const app = new Hono();
  app.get("/live", (context) => context.json({ status: "live" }));
  app.get("/ready", async (context) => {
    const report = await buildReadinessReport(parts());
    return context.json(report, report.status === "ready" ? 200 : 503);
  });
  app.get("/metrics", async (context) =>
    context.text(await metrics.toPrometheusText(), 200, { "content-type": "text/plain; version=0.0.4" }),
  );
  app.use(requireOperator(token));
  app.get("/parked", async (context) => {
    const lists = parts().map(async ({ name: service, deadLetters }) =>
      ((await deadLetters?.list()) ?? []).map((message) => ({ service, ...message })),
    );
    return context.json((await Promise.all(lists)).flat());
  });
  app.post("/parked/:eventId/retry", async (context) => {
    const eventId = context.req.param("eventId");
    if (!z.guid().safeParse(eventId).success) return context.json({ error: "no event id" }, 400);
    const outcomes = await Promise.all(parts().map(({ deadLetters }) => deadLetters?.retry(eventId) ?? []));
    return context.json(outcomes.flat());
  });
  app.all("/:part/*", async (context, next) => {
    const part = parts().find(({ name }) => name === context.req.param("part"));
    return part?.operations ? new Hono().route(`/${part.name}`, part.operations).fetch(context.req.raw) : next();
  });
  if (token !== undefined) {
    const { createQueueBoard } = await import("./queue-board.ts");
    app.route(
      "/queues",
      createQueueBoard("/queues", () => parts().flatMap((part) => part.queues?.() ?? [])),
    );
  }
  return startHttpServer(async (request, bindings) => app.fetch(request, bindings as Record<string, unknown>), {
    port,
  });
}

const loopbackPattern = /^(?:127\.|::1$|::ffff:127\.)/;

/**
 * Lets operators in: with the token, as a bearer token or as the password of a browser's log-in. Where no token is set,
 * only whoever asks from this machine. A page of another origin may ask for nothing, whoever looks at it.
 */
function requireOperator(token: string | undefined): MiddlewareHandler {
  return async (context, next) => {
    const origin = context.req.header("origin");
    if (origin !== undefined && origin.replace(/^.*:\/\//, "") !== context.req.header("host")) {
      return context.json({ error: "not from another origin" }, 403);
    }
    if (token === undefined) {
      if (!loopbackPattern.test(getConnInfo(context).remote.address ?? ""))
        return context.json({ error: "set OPS_TOKEN to ask from elsewhere" }, 403);
    } else if (!(await timingSafeEqual(readCredential(context), token))) {
      return context.json({ error: "the token is missing or wrong" }, 401, { "www-authenticate": 'Basic realm="ops"' });
    }
    return next();
  };
}

/** What a caller shows: a bearer token, or the password of a log-in. */
function readCredential({ req }: Context): string {
  const [scheme = "", value = ""] = req.header("authorization")?.split(" ") ?? [];
  return scheme.toLowerCase() === "bearer" ? value : (auth(req.raw)?.password ?? "");
}

/** A part of the process that can tell whether it is ready: a service, or the gateway. */
export interface OpsComponent {
  name: string;
  /** What it cannot serve without, each answering or rejecting with why not: without it the process is not ready. */
  checks: Record<string, () => Promise<void>>;
  /** What it can do without for a while: shown, and no reason to send it no requests. */
  optionalChecks?: Record<string, () => Promise<void>>;
  deadLetters?: {
    list(): Promise<DeadLetter[]>;
    /** Tries a parked message again now; what succeeds is parked no longer. */
    retry(eventId: string): Promise<{ subscription: string; done: boolean; reason?: string }[]>;
  };
  /** The queues that it knows, to be looked at. */
  queues?: () => Queue[];
  /** What else operators may ask of it on the ops port, under its name: for what is no part of the API. */
  operations?: Hono;
}

const checkTimeoutMs = 2_000;

async function buildReadinessReport(parts: OpsComponent[]) {
  let isReady = parts.length > 0;
  const states = await Promise.all(
    parts.map(async ({ name, checks, optionalChecks = {} }) => {
      const found = await Promise.all(Object.entries({ ...checks, ...optionalChecks }).map(runCheck));
      if (found.some(([check, state]) => check in checks && state !== "ok")) isReady = false;
      return [name, Object.fromEntries(found)];
    }),
  );
  return { status: isReady ? "ready" : "not ready", parts: Object.fromEntries(states) };
}

async function runCheck([name, check]: [string, () => Promise<void>]): Promise<[string, string]> {
  try {
    await Promise.race([
      check(),
      new Promise((_, reject) =>
        setTimeout(reject, checkTimeoutMs, new Error(`no answer within ${checkTimeoutMs} ms`)).unref(),
      ),
    ]);
    return [name, "ok"];
  } catch (error) {
    return [name, error instanceof Error ? error.message || error.name : String(error)];
  }
}
