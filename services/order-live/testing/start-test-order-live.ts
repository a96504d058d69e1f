import { randomUUID } from "node:crypto";
import { type Problem, problemSchema } from "@pragma/contracts/errors";
import type { EventData } from "@pragma/contracts/events";
import { OrderLive, type OrderLiveInput } from "@pragma/contracts/order-live";
import { paginatedSchema } from "@pragma/contracts/pagination";
import type { Principal } from "@pragma/contracts/principal";
import { publishEvent } from "@pragma/runtime/messaging/outbox";
import { createLogger } from "@pragma/runtime/observability/logger";
import { createServiceRegistry } from "@pragma/runtime/service-calls/service-registry";
import { type EventStreamReader, readEventStream } from "@pragma/runtime/testing/event-stream-reader";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createFakeAccountsService, type FakeAccountsService } from "@pragma/runtime/testing/fake-accounts-service";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { createTestPrincipal, startTestService, type TestService } from "@pragma/runtime/testing/test-service";
import { expect } from "vitest";
import { z } from "zod";
import type { OrderEventType } from "../order-state.ts";
import orderLive from "../service.ts";
import { createOrderBroadcaster, type OrderBroadcaster } from "../stream/order-broadcaster.ts";

type TestRequestArguments = Parameters<TestService["request"]>;

/** An event that was published for an order. */
export type PublishedOrderEvent = EventData<OrderEventType> & { type: OrderEventType };

/** The order-live service for one test file, with a fake accounts service. */
export interface TestOrderLiveService extends TestService {
  environment: TestEnvironment;
  accounts: FakeAccountsService;
  /** The broadcaster of a simulated second process on the same database, which receives no notifications. */
  broadcaster: OrderBroadcaster;
  /** Sends valid orders and returns the applied orders. */
  upsertOrders(principal: Principal, ...orders: OrderLiveInput[]): Promise<OrderLive[]>;
  listOrders(principal: Principal, query?: string): Promise<z.output<typeof listPage>>;
  openStream(
    principal: Principal,
    options?: { query?: string; lastEventId?: string | undefined },
  ): Promise<EventStreamReader>;
  /** Sends a request that must fail and returns the problem. */
  requestProblem(...request: TestRequestArguments): Promise<Problem>;
  /** Returns the published events of an order, oldest first. */
  publishedEvents(orderId: string): Promise<PublishedOrderEvent[]>;
  /** Publishes a till's final report, as the reporting service does, and waits until the service has handled it. */
  finishTill(
    till: Pick<EventData<"report.finalized">, "locationId" | "tillId" | "orderIds"> & { revision?: number },
    closedAt?: string,
  ): Promise<void>;
  /** Starts another instance of the service on the same servers, with additional environment variables. */
  startAnotherInstance(variables?: Record<string, string>): Promise<TestService>;
  remove(): Promise<void>;
}

const listPage = paginatedSchema(z.strictObject(OrderLive.shape));

/** Returns the principal of an API key that reads and writes the live orders of a new location. */
export function createPosPrincipal(overrides: Partial<Principal> = {}): { principal: Principal; locationId: string } {
  const principal = createTestPrincipal({ scopes: ["orders:read", "orders:write"], ...overrides });
  return { principal, locationId: principal.location?.id ?? "" };
}

export async function startTestOrderLiveService(variables: Record<string, string> = {}): Promise<TestOrderLiveService> {
  const environment = await createTestEnvironment(variables);
  const registry = createServiceRegistry(environment.variables);
  const accounts = createFakeAccountsService();
  registry.registerLocalService("accounts", accounts.fetch);
  const service = await startTestService(orderLive, environment, registry);
  const otherInstances: TestService[] = [];
  await recordOutboxEvents(service);
  const broadcaster = createOrderBroadcaster({
    sql: service.db.sql,
    notifier: { publish() {}, subscribe() {} },
    log: createLogger({ name: "test", level: "silent" }),
    heartbeatMs: 60_000,
    stallTimeoutMs: 60_000,
  });
  return {
    ...service,
    environment,
    accounts,
    broadcaster,
    upsertOrders: (principal, ...orders) => sendOrderUpsertRequest(service, principal, ...orders),
    async listOrders(principal, query = "") {
      const response = await service.request("GET", `/v1/orders-live/${query}`, { principal });
      const text = await response.text();
      expect(response.status, text).toBe(200);
      return listPage.parse(JSON.parse(text));
    },
    openStream: (principal, options) => openTestLiveOrderStream(service, principal, options),
    async requestProblem(...request) {
      const response = await service.request(...request);
      const text = await response.text();
      expect(response.headers.get("content-type"), text).toBe("application/problem+json");
      const problem = problemSchema.parse(JSON.parse(text));
      expect(problem.status).toBe(response.status);
      return problem;
    },
    async publishedEvents(orderId) {
      const rows = await service.db.sql<{ type: OrderEventType; body: string }[]>`
        select type, body from recorded_outbox where subject = ${orderId} order by position`;
      return rows.map(({ type, body }) => ({ type, ...JSON.parse(body).data }));
    },
    async finishTill({ locationId, tillId, orderIds, revision = 1 }, closedAt = new Date().toISOString()) {
      const id = randomUUID();
      const report = { reportId: randomUUID(), revision, reportVersion: 1, reportNumber: 1, totalSales: 0 };
      const times = { startedAt: "2026-05-29T08:00:00.000Z", finalizedAt: closedAt };
      await service.db.transaction((tx) =>
        publishEvent(tx, "report.finalized", {
          id,
          traceparent: undefined,
          subject: report.reportId,
          data: { ...report, ...times, locationId, tillId, orderIds },
        }),
      );
      await eventually("the till to be finished", async () => {
        const [inboxRow] = await service.db.sql`select 1 from inbox where event_id = ${id}`;
        return inboxRow;
      });
    },
    async startAnotherInstance(variables = {}) {
      const changedEnvironment = { ...environment, variables: { ...environment.variables, ...variables } };
      const other = await startTestService(orderLive, changedEnvironment, registry);
      otherInstances.push(other);
      return other;
    },
    async remove() {
      for (const other of otherInstances) await other.stop();
      await service.stop();
      await environment.remove();
    },
  };
}

export async function sendOrderUpsertRequest(
  service: TestService,
  principal: Principal,
  ...orders: OrderLiveInput[]
): Promise<OrderLive[]> {
  const response = await service.request("POST", "/v1/orders-live/", { principal, body: orders });
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return z.array(z.strictObject(OrderLive.shape)).parse(JSON.parse(text));
}

export async function openTestLiveOrderStream(
  service: TestService,
  principal: Principal,
  { query = "", lastEventId }: { query?: string; lastEventId?: string | undefined } = {},
): Promise<EventStreamReader> {
  const headers = { accept: "text/event-stream", ...(lastEventId !== undefined && { "last-event-id": lastEventId }) };
  const response = await service.request("GET", `/v1/orders-live/stream${query}`, { principal, headers });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
  return readEventStream(response);
}

/** Copies every outbox row, because the outbox relay deletes the rows that it has sent. */
async function recordOutboxEvents({ db: { sql } }: TestService): Promise<void> {
  await sql.unsafe(`
    create table recorded_outbox (like outbox, subject text);
    create index on recorded_outbox (subject);
    create function record_event() returns trigger language plpgsql as
      'begin
        insert into recorded_outbox select new.*, substring(new.body from $$"subject":"([^"]*)"$$);
        return null;
      end';
    create trigger record_event after insert on outbox for each row execute function record_event();`);
}
