import { setTimeout as sleep } from "node:timers/promises";
import { buildServiceSchemaName } from "@pragma/runtime/service/start-service";
import { type OwnTestServers, startOwnTestServers } from "@pragma/runtime/testing/dedicated-infrastructure-servers";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { createTestLocation } from "./harness/test-location.ts";
import { sendTestPaidLiveOrders } from "./webhooks/send-paid-live-orders.ts";
import {
  type SubscribedTestWebhookEndpoint,
  startSubscribedTestWebhookEndpoints,
  type TestWebhookEndpointBehavior,
} from "./webhooks/subscribed-endpoints.ts";

/** Number of long runs. If it is 0, one short run is executed. */
const longRunCount = Number(process.env.WEBHOOK_ROUNDS ?? 0);
const isLong = longRunCount > 0;
const runSize = isLong
  ? { orders: 2_000, perSecond: 100, slowResponseMs: 3_000, flapIntervalMs: 4_000, outageMs: 3_000, timeout: "5" }
  : { orders: 240, perSecond: 40, slowResponseMs: 1_000, flapIntervalMs: 1_200, outageMs: 800, timeout: "2" };
const subscriberCounts: Record<TestWebhookEndpointBehavior, number> = {
  healthy: 14,
  slow: 2,
  flapping: 2,
  refusing: 1,
  silent: 1,
};
const eventuallyOptions = { timeoutSeconds: isLong ? 240 : 120 };

let servers: OwnTestServers;
let environment: IsolatedTestEnvironment;
let product: PragmaUnderTest;
let sql: postgres.Sql;

beforeAll(async () => {
  servers = await startOwnTestServers();
  environment = await createIsolatedTestEnvironment({
    ...{ DATABASE_URL: servers.postgres.url, NATS_URL: servers.nats.url, REDIS_URL: servers.redis.url },
    ...{ RATE_LIMIT_PER_SECOND: "10000", RATE_LIMIT_BURST: "10000" },
    ...{ WEBHOOK_RETRY_SCHEDULE: "1s,1s,1s,2s,2s,2s,3s,3s,3s", WEBHOOK_TIMEOUT_SECONDS: runSize.timeout },
    WEBHOOK_ENDPOINT_MAX_CONCURRENCY: "100",
    ...{ MAX_WEBHOOKS_PER_LOCATION: "1000", WEBHOOK_HOST_RATE_PER_SECOND: "100000", WEBHOOK_HOST_BURST: "100000" },
  });
  product = await startPragmaUnderTest(environment.variables, { split: ["accounts", "order-live", "webhooks"] });
  sql = postgres(servers.postgres.url, { max: 2, onnotice: () => {} });
}, 300_000);
afterAll(async () => {
  await sql?.end();
  await product?.stop();
  await servers?.stop();
});

/**
 * Kills and restarts the webhooks process, Redis and NATS, one after the other, and deletes all data in Redis. In a
 * long run, finally kills and restarts the webhooks process and Redis at the same time.
 */
async function restartDependencies(): Promise<void> {
  const webhooks = product.process("webhooks");
  const { outageMs } = runSize;
  await sleep(outageMs);
  await webhooks.kill();
  await sleep(outageMs);
  await webhooks.start();
  await servers.flushRedis();
  await sleep(outageMs);
  await servers.restart("redis", outageMs);
  await sleep(outageMs);
  await servers.restart("nats", outageMs);
  if (!isLong) return;
  await sleep(outageMs);
  await Promise.all([webhooks.kill(), servers.kill("redis")]);
  await sleep(outageMs);
  await Promise.all([webhooks.start(), servers.start("redis")]);
}

/** Returns the ids of the orders for which a subscriber has not accepted a message. */
function findMissingOrders({ receivedMessages }: SubscribedTestWebhookEndpoint, orderIds: readonly string[]): string[] {
  const acceptedIds = new Set(receivedMessages.filter(({ status }) => status === 200).map(({ orderId }) => orderId));
  return orderIds.filter((id) => !acceptedIds.has(id));
}

describe("twenty webhook subscribers, of which two are dead, two slow and two flapping", () => {
  it.each(Array.from({ length: Math.max(1, longRunCount) }, (_, round) => round + 1))(
    "receive every paid order while webhooks, Redis and NATS are killed and Redis is flushed (run %i)",
    async () => {
      const testLocation = await createTestLocation(product, { scopes: ["orders:write", "webhooks:write"] });
      const since = new Date().toISOString();
      const { subscribers, close } = await startSubscribedTestWebhookEndpoints(testLocation, subscriberCounts, runSize);
      try {
        const [orderIds] = await Promise.all([
          sendTestPaidLiveOrders(testLocation, { ...runSize, batchSize: 10 }),
          restartDependencies(),
        ]);
        const subscribersOfKind = (...kinds: TestWebhookEndpointBehavior[]) =>
          subscribers.filter(({ behavior }) => kinds.includes(behavior));

        await eventually(
          "all orders at all healthy and slow subscribers",
          () =>
            subscribersOfKind("healthy", "slow").every(
              (subscriber) => findMissingOrders(subscriber, orderIds).length === 0,
            ),
          eventuallyOptions,
        );
        for (const flapping of subscribersOfKind("flapping")) {
          flapping.recover();
          const path = { id: flapping.webhookId };
          await testLocation.api.POST("/v1/webhooks/{id}/recover", { params: { path }, body: { since } });
        }
        await eventually(
          "all orders at the flapping subscribers after their recovery",
          () =>
            subscribersOfKind("flapping").every((subscriber) => findMissingOrders(subscriber, orderIds).length === 0),
          eventuallyOptions,
        );
        // The API repeats attempts at subscribers that never accept a message, so their webhooks are paused first. Then
        // no attempt is in progress when the log is compared.
        for (const { webhookId } of subscribersOfKind("refusing", "silent")) {
          await testLocation.api.POST("/v1/webhooks/{id}/pause", { params: { path: { id: webhookId } } });
        }
        const log = await eventually(
          "a complete delivery log",
          async () => {
            const entries = await readDeliveryLog(sql, environment.namespace);
            const respondingWebhooks = new Set(
              subscribersOfKind("healthy", "slow", "flapping").map(({ webhookId }) => webhookId),
            );
            const isSettled = ({ webhookId, state }: LoggedDelivery) =>
              respondingWebhooks.has(webhookId) ? state === "succeeded" : state !== "sending";
            return entries.every(isSettled) && entries;
          },
          eventuallyOptions,
        );
        expectOneMessagePerOrder(subscribers, orderIds);
        for (const subscriber of subscribers) expectDeliveryLog(subscriber, log, orderIds);
      } finally {
        close();
      }
    },
    isLong ? 600_000 : 120_000,
  );
});

it("a webhook subscriber receives every paid order while Redis is down", async () => {
  const testLocation = await createTestLocation(product, { scopes: ["orders:write", "webhooks:write"] });
  const oneHealthy = { healthy: 1, slow: 0, flapping: 0, refusing: 0, silent: 0 };
  const { subscribers, close } = await startSubscribedTestWebhookEndpoints(testLocation, oneHealthy, runSize);
  await servers.kill("redis");
  try {
    const orderIds = await sendTestPaidLiveOrders(testLocation, { orders: 40, perSecond: 40, batchSize: 10 });
    await eventually(
      "all orders",
      () => subscribers.every((each) => findMissingOrders(each, orderIds).length === 0),
      eventuallyOptions,
    );
  } finally {
    close();
    await servers.start("redis");
  }
}, 240_000);

/**
 * Checks that each order arrived at a subscriber, and that all attempts at all subscribers have the same message id for
 * this order. No other order may have this message id.
 */
function expectOneMessagePerOrder(subscribers: SubscribedTestWebhookEndpoint[], orderIds: string[]): void {
  const messages = new Map<string, Set<string>>();
  for (const { orderId, messageId } of subscribers.flatMap(({ receivedMessages }) => receivedMessages)) {
    messages.set(orderId, (messages.get(orderId) ?? new Set()).add(messageId));
  }
  expect([...messages.keys()].sort()).toEqual([...orderIds].sort());
  expect([...messages.values()].filter((ids) => ids.size !== 1)).toEqual([]);
  expect(new Set([...messages.values()].flatMap((ids) => [...ids])).size).toBe(orderIds.length);
}

/** Checks that the log matches the received messages, and that a message is repeated only after a failed attempt. */
function expectDeliveryLog(
  { behavior, webhookId, receivedMessages }: SubscribedTestWebhookEndpoint,
  log: LoggedDelivery[],
  orderIds: string[],
): void {
  const logged = log.filter((each) => each.webhookId === webhookId);
  expect(logged).toHaveLength(orderIds.length);
  for (const { messageId, statuses, unanswered, state } of logged) {
    const received = receivedMessages.filter((arrival) => arrival.messageId === messageId);
    const failureMessage = `${behavior} ${messageId}: received ${JSON.stringify(received)}, logged ${statuses} and ${unanswered} unanswered`;
    const statusesSent = received.flatMap(({ status }) => status ?? []);
    for (const status of [200, 503]) {
      const loggedCount = statuses.filter((each) => each === status).length;
      const receivedCount = statusesSent.filter((each) => each === status).length;
      expect(receivedCount, failureMessage).toBeGreaterThanOrEqual(loggedCount);
      expect(receivedCount, failureMessage).toBeLessThanOrEqual(loggedCount + unanswered);
    }
    expect(received.length, failureMessage).toBeLessThanOrEqual(statuses.length + unanswered);
    if (behavior === "refusing" || behavior === "silent") {
      expect(state, failureMessage).not.toBe("succeeded");
      expect(statuses, failureMessage).toEqual([]);
    } else expect(statuses.at(-1), failureMessage).toBe(200);
    if (behavior === "healthy" || behavior === "slow") expect(statuses, failureMessage).toEqual([200]);
  }
}

/** The entry of one delivery in the delivery log. */
interface LoggedDelivery {
  webhookId: string;
  messageId: string;
  state: string;
  /** The response status of each attempt that received a response. */
  statuses: number[];
  /** Number of attempts without a response. The messages of these attempts may have arrived. */
  unanswered: number;
}

/** Returns the deliveries of all messages about paid orders from the delivery log. */
async function readDeliveryLog(sql: postgres.Sql, namespace: string): Promise<LoggedDelivery[]> {
  const schema = sql(buildServiceSchemaName(namespace, "webhooks"));
  return sql<LoggedDelivery[]>`
    select
      d.webhook_id as "webhookId", d.message_id as "messageId", d.state,
      coalesce(array_agg(a.status order by a.generation, a.number) filter (where a.status is not null), '{}')
        as statuses,
      (count(a.number) filter (where a.status is null))::int as unanswered
    from ${schema}.webhook_deliveries d left join ${schema}.attempts a on a.delivery_id = d.id
    where d.event = 'order.paid'
    group by d.location_id, d.id`;
}
