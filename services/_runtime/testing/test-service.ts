import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { Principal } from "@pragma/contracts/principal";
import { type Problem, problemSchema } from "@pragma/contracts/problem";
import { expect } from "vitest";
import type { z } from "zod";
import { commonServiceConfigSchema, readConfigFromEnvironment } from "../config/runtime-config.ts";
import { createDatabasePool, type Database } from "../database/postgres.ts";
import { createEventBus } from "../messaging/event-bus.ts";
import { createLogger } from "../observability/logger.ts";
import { createPrometheusMetrics, type PrometheusMetrics } from "../observability/metrics.ts";
import type { AnyServiceDefinition } from "../service/define-service.ts";
import { buildServiceSchemaName, type RunningService, startService } from "../service/start-service.ts";
import { createServiceRegistry, type ServiceRegistry } from "../service-calls/service-registry.ts";
import { eventually } from "./eventually.ts";
import { buildTestIncomingRequest } from "./incoming-request.ts";
import {
  assertStatementsUseOnePartition,
  createStatementRecorder,
  type StatementRecorder,
} from "./statement-recorder.ts";
import type { IsolatedTestEnvironment } from "./test-environment.ts";

/** A real service that runs in this process. Tests send requests to it in the same way as the gateway. */
export interface TestService {
  running: RunningService;
  /** A connection pool for the database schema of the service. */
  db: Database;
  registry: ServiceRegistry;
  metrics: PrometheusMetrics;
  statements: StatementRecorder;
  request(method: string, path: string, options?: TestRequestOptions): Promise<Response>;
  /** Sends a request, expects the given status, and returns the response body, parsed with the given schema. */
  sendJson<Schema extends z.ZodType>(
    request: TestRequest,
    expected: ExpectedResponse<Schema>,
  ): Promise<z.output<Schema>>;
  /** Sends a GET request, expects status 200, and returns the response body, parsed with the schema. */
  getJson<Schema extends z.ZodType>(path: string, schema: Schema, principal?: Principal): Promise<z.output<Schema>>;
  /** Sends a request that must fail, and returns the problem details of the response. */
  requestProblem(request: TestRequest): Promise<Problem>;
  /** Resolves when all events in the outbox have been sent. */
  waitForEmptyOutbox(): Promise<void>;
  /** Stops the service. @throws `Error` when one of its statements used several partitions of a table. */
  stop(): Promise<void>;
}

interface TestRequestOptions {
  principal?: Principal;
  /** The body of the request. Strings and bytes are sent unchanged. Other values are sent as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
  /** The node:http response object that the service receives with the request. */
  outgoing?: ServerResponse;
}

export interface TestRequest extends TestRequestOptions {
  method: string;
  path: string;
}

interface ExpectedResponse<Schema> {
  status: number;
  schema: Schema;
}

/** Returns the principal of an API key that has the most common scopes and a new location. */
export function buildTestPrincipal(overrides: Partial<Principal> = {}): Principal {
  return {
    keyId: randomUUID(),
    consumer: "test",
    scopes: ["tills:write", "tills:read", "reports:read", "orders:read"],
    location: { id: randomUUID(), application: "POPINA", legacyId: null, timeZone: "Europe/Paris" },
    ...overrides,
  };
}

export async function startTestService(
  definition: AnyServiceDefinition,
  { variables }: IsolatedTestEnvironment,
  registry = createServiceRegistry(variables),
): Promise<TestService> {
  const config = readConfigFromEnvironment(commonServiceConfigSchema, variables);
  const log = createLogger({ name: definition.name, level: variables.LOG_LEVEL ?? "info" });
  const statements = createStatementRecorder(definition);
  const metrics = createPrometheusMetrics();
  let isStopped = false;
  const running = await startService(statements.definition, {
    environment: variables,
    log,
    metrics,
    registry,
  });
  registry.registerLocalService(definition.name, running.fetch);
  const db = createDatabasePool(config, { schema: buildServiceSchemaName(config.NAMESPACE, definition.name), log });
  // Notifies the service of events that the test publishes, as another instance of the service would.
  const bus = createEventBus(config, { name: `${definition.name}-test`, log });
  const notifier = bus.createInstanceNotifier(`${definition.name}-outbox`);
  db.onEventsPublished = (kind) => notifier.publish("all", kind);

  const request: TestService["request"] = async (
    method,
    path,
    { principal = buildTestPrincipal(), body, headers = {}, outgoing } = {},
  ) => {
    const isRaw = typeof body === "string" || body instanceof Uint8Array;
    const header = (name: string) => Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
    const caller = {
      principal,
      requestId: header("x-request-id") ?? randomUUID(),
      traceparent: header("traceparent"),
      origin: `${header("x-forwarded-proto") ?? "http"}://${header("x-forwarded-host") ?? "pragma.test"}`,
    };
    const incoming = buildTestIncomingRequest({
      method,
      headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
      ...(body !== undefined && { body: [Buffer.from(isRaw ? body : JSON.stringify(body))] }),
    });
    const fetchRequest = new Request(`http://pragma.test${path}`, { method });
    return running.fetch(fetchRequest, { incoming, requestIdentity: caller, ...(outgoing && { outgoing }) });
  };

  const sendJson: TestService["sendJson"] = async ({ method, path, ...options }, { status, schema }) => {
    const response = await request(method, path, options);
    const text = await response.text();
    expect(response.status, text).toBe(status);
    return schema.parse(JSON.parse(text)) as z.output<typeof schema>;
  };

  return {
    running,
    db,
    registry,
    metrics,
    statements,
    request,
    sendJson,
    getJson: (path, schema, principal) =>
      sendJson({ method: "GET", path, ...(principal && { principal }) }, { status: 200, schema }),
    async requestProblem({ method, path, ...options }) {
      const response = await request(method, path, options);
      const text = await response.text();
      expect(response.headers.get("content-type"), text).toBe("application/problem+json");
      const problem = problemSchema.parse(JSON.parse(text));
      expect(problem.status).toBe(response.status);
      return problem;
    },
    async waitForEmptyOutbox() {
      await eventually("the outbox to be empty", async () => (await db.sql`select 1 from outbox`).length === 0);
    },
    async stop() {
      await running.stop();
      await bus.close();
      // Some tests stop a service twice.
      if (isStopped) return;
      isStopped = true;
      try {
        await assertStatementsUseOnePartition(db, statements);
      } finally {
        await db.close();
      }
    },
  };
}
