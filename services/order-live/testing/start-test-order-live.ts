import { randomUUID } from "node:crypto";
import type { BusEventData } from "@pragma/contracts/events";
import { OrderLive, type OrderLiveInput } from "@pragma/contracts/order-live";
import { paginatedSchema } from "@pragma/contracts/pagination";
import type { Principal } from "@pragma/contracts/principal";
import { writeEventToOutbox } from "@pragma/runtime/messaging/outbox";
import { createLogger } from "@pragma/runtime/observability/logger";
import { eventually } from "@pragma/runtime/testing/eventually";
import { installTestOutboxCopyTrigger, readTestOutboxEvents } from "@pragma/runtime/testing/outbox-recorder";
import {
  type ServerSentEventReader,
  startServerSentEventReader,
} from "@pragma/runtime/testing/server-sent-event-reader";
import {
  startTestServiceWithFakeAccounts,
  type TestServiceWithFakeAccounts,
} from "@pragma/runtime/testing/service-with-fake-accounts";
import { buildTestPrincipal, startTestService, type TestService } from "@pragma/runtime/testing/test-service";
import { expect } from "vitest";
import { z } from "zod";
import type { OrderEventType } from "../order-state.ts";
import orderLive from "../service.ts";
import { createLiveOrderBroadcaster, type LiveOrderBroadcaster } from "../stream/live-order-broadcaster.ts";

/** An event that was published for an order. */
export type TestPublishedOrderEvent = BusEventData<OrderEventType> & { type: OrderEventType };

/** The order-live service for one test file. */
export interface TestOrderLiveService extends TestServiceWithFakeAccounts {
  /** The broadcaster of a simulated second process on the same database, which receives no notifications. */
  broadcaster: LiveOrderBroadcaster;
  /** Sends valid orders and returns the applied orders. */
  upsertOrders(principal: Principal, ...orders: OrderLiveInput[]): Promise<OrderLive[]>;
  listOrders(principal: Principal, query?: string): Promise<z.output<typeof listPage>>;
  openStream(
    principal: Principal,
    options?: { query?: string; lastEventId?: string | undefined },
  ): Promise<ServerSentEventReader>;
  /** Returns the published events of an order, oldest first. */
  publishedEvents(orderId: string): Promise<TestPublishedOrderEvent[]>;
  /** Returns the published changes of a shift, oldest first. */
  publishedShiftEvents(tillId: string): Promise<BusEventData<"shift.changed">[]>;
  /** Publishes `report.finalized` in place of the reporting service, and waits until the event has been handled. */
  finishTill(
    till: Pick<BusEventData<"report.finalized">, "locationId" | "tillId" | "orderIds"> & { revision?: number },
    closedAt?: string,
  ): Promise<void>;
  /** Starts another instance of the service on the same servers, with additional environment variables. */
  startAnotherInstance(variables?: Record<string, string>): Promise<TestService>;
}

const listPage = paginatedSchema(z.strictObject(OrderLive.shape));

/** Returns the principal of an API key that reads and writes the live orders of a new location. */
export function buildTestPosPrincipalAndLocation(overrides: Partial<Principal> = {}): {
  principal: Principal;
  locationId: string;
} {
  const principal = buildTestPrincipal({ scopes: ["orders:read", "orders:write"], ...overrides });
  return { principal, locationId: principal.location?.id ?? "" };
}

export async function startTestOrderLiveService(variables: Record<string, string> = {}): Promise<TestOrderLiveService> {
  const service = await startTestServiceWithFakeAccounts(orderLive, variables);
  const { environment, registry } = service;
  const otherInstances: TestService[] = [];
  await installTestOutboxCopyTrigger(service.db);
  const broadcaster = createLiveOrderBroadcaster({
    sql: service.db.sql,
    notifier: { publish() {}, subscribe() {} },
    log: createLogger({ name: "test", level: "silent" }),
    heartbeatMs: 60_000,
    stallTimeoutMs: 60_000,
  });
  return {
    ...service,
    broadcaster,
    upsertOrders: (principal, ...orders) => sendTestLiveOrderUpsert(service, principal, ...orders),
    listOrders: (principal, query = "") => service.getJson(`/v1/orders-live/${query}`, listPage, principal),
    openStream: (principal, options) => openTestLiveOrderStream(service, principal, options),
    async publishedEvents(orderId) {
      const events = await readTestOutboxEvents<OrderEventType>(service.db, orderId);
      return events.map(({ type, data }) => ({ type, ...data }));
    },
    async publishedShiftEvents(tillId) {
      const events = await readTestOutboxEvents<"shift.changed">(service.db, tillId);
      return events.map(({ data }) => data);
    },
    async finishTill({ locationId, tillId, orderIds, revision = 1 }, closedAt = new Date().toISOString()) {
      const id = randomUUID();
      const report = { reportId: randomUUID(), revision, reportVersion: 1, reportNumber: 1, totalSales: 0 };
      const times = { startedAt: "2026-05-29T08:00:00.000Z", finalizedAt: closedAt };
      await service.db.transaction((tx) =>
        writeEventToOutbox(tx, "report.finalized", {
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
      await service.remove();
    },
  };
}

export function sendTestLiveOrderUpsert(
  service: TestService,
  principal: Principal,
  ...orders: OrderLiveInput[]
): Promise<OrderLive[]> {
  const request = { method: "POST", path: "/v1/orders-live/", principal, body: orders };
  return service.sendJson(request, { status: 200, schema: z.array(z.strictObject(OrderLive.shape)) });
}

export async function openTestLiveOrderStream(
  service: TestService,
  principal: Principal,
  { query = "", lastEventId }: { query?: string; lastEventId?: string | undefined } = {},
): Promise<ServerSentEventReader> {
  const headers = { accept: "text/event-stream", ...(lastEventId !== undefined && { "last-event-id": lastEventId }) };
  const response = await service.request("GET", `/v1/orders-live/stream${query}`, { principal, headers });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
  return startServerSentEventReader(response);
}
