import { setTimeout as sleep } from "node:timers/promises";
import { type DedicatedServers, startDedicatedServers } from "@pragma/runtime/testing/dedicated-servers";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ProductUnderTest, startProductUnderTest } from "./harness/product-under-test.ts";
import { createTestLocation } from "./harness/test-location.ts";
import { type LoggedDelivery, readDeliveryLog } from "./webhooks/delivery-log.ts";
import { sendPaidOrders } from "./webhooks/send-paid-orders.ts";
import {
  type EndpointBehavior,
  startWebhookSubscribers,
  type WebhookSubscriber,
} from "./webhooks/webhook-subscribers.ts";

/** One short round; with WEBHOOK_ROUNDS so many long ones. */
const longRounds = Number(process.env.WEBHOOK_ROUNDS ?? 0);
const isLong = longRounds > 0;
const runSize = isLong
  ? { orders: 2_000, perSecond: 100, slowness: 3_000, spell: 4_000, outage: 3_000, timeout: "5" }
  : { orders: 240, perSecond: 40, slowness: 1_000, spell: 1_200, outage: 800, timeout: "2" };
const subscriberCounts: Record<EndpointBehavior, number> = {
  healthy: 14,
  slow: 2,
  flapping: 2,
  refusing: 1,
  silent: 1,
};
const eventuallyOptions = { timeoutSeconds: isLong ? 240 : 40 };

let servers: DedicatedServers;
let environment: TestEnvironment;
let product: ProductUnderTest;
let sql: postgres.Sql;

beforeAll(async () => {
  servers = await startDedicatedServers();
  environment = await createTestEnvironment({
    ...{ DATABASE_URL: servers.postgres.url, NATS_URL: servers.nats.url, REDIS_URL: servers.redis.url },
    ...{ RATE_LIMIT_PER_SECOND: "10000", RATE_LIMIT_BURST: "10000" },
    ...{ WEBHOOK_SCHEDULE: "1s,1s,1s,2s,2s,2s,3s,3s,3s", WEBHOOK_TIMEOUT_SECONDS: runSize.timeout },
    WEBHOOK_ENDPOINT_CONCURRENCY: "100",
    ...{ WEBHOOKS_PER_LOCATION: "1000", WEBHOOK_HOST_RATE: "100000", WEBHOOK_HOST_BURST: "100000" },
  });
  product = await startProductUnderTest(environment.variables, { split: ["accounts", "order-live", "webhooks"] });
  sql = postgres(servers.postgres.url, { max: 2, onnotice: () => {} });
}, 120_000);
afterAll(async () => {
  await sql?.end();
  await product?.stop();
  await servers?.stop();
});

/** Kills what deliveries depend on, one after the other, and starts it again; empties Redis once. */
async function restartDependencies(): Promise<void> {
  const webhooks = product.process("webhooks");
  const { outage } = runSize;
  await sleep(outage);
  await webhooks.kill();
  await sleep(outage);
  await webhooks.start();
  await servers.flushRedis();
  await sleep(outage);
  await servers.restart("redis", outage);
  await sleep(outage);
  await servers.restart("nats", outage);
  if (!isLong) return;
  await sleep(outage);
  await Promise.all([webhooks.kill(), servers.kill("redis")]);
  await sleep(outage);
  await Promise.all([webhooks.start(), servers.start("redis")]);
}

/** The ids of the orders that a subscriber has not answered with a success. */
function findMissingOrders({ receivedMessages }: WebhookSubscriber, orderIds: readonly string[]): string[] {
  const taken = new Set(receivedMessages.filter(({ status }) => status === 200).map(({ orderId }) => orderId));
  return orderIds.filter((id) => !taken.has(id));
}

describe("twenty subscribers, of which two are dead, two slow and two flapping", () => {
  it.each(Array.from({ length: Math.max(1, longRounds) }, (_, round) => round + 1))(
    "get every paid order, while webhooks, Redis and NATS are killed and Redis is emptied (round %i)",
    async () => {
      const shop = await createTestLocation(product, { scopes: ["orders:write", "webhooks:write"] });
      const since = new Date().toISOString();
      const { subscribers, close } = await startWebhookSubscribers(shop, subscriberCounts, runSize);
      try {
        const [orderIds] = await Promise.all([
          sendPaidOrders(shop, { ...runSize, atATime: 10 }),
          restartDependencies(),
        ]);
        const of = (...kinds: EndpointBehavior[]) => subscribers.filter(({ kind }) => kinds.includes(kind));

        await eventually(
          "every order to be with every healthy and slow one",
          () => of("healthy", "slow").every((subscriber) => findMissingOrders(subscriber, orderIds).length === 0),
          eventuallyOptions,
        );
        for (const flapping of of("flapping")) {
          flapping.recover();
          const path = { id: flapping.webhookId };
          await shop.api.POST("/v1/webhooks/{id}/recover", { params: { path }, body: { since } });
        }
        await eventually(
          "every order to be with the flapping ones, now that they are up",
          () => of("flapping").every((subscriber) => findMissingOrders(subscriber, orderIds).length === 0),
          eventuallyOptions,
        );
        // Those that never answer are sent to without end: what they saw and what is logged is compared at a standstill.
        for (const { webhookId } of of("refusing", "silent")) {
          await shop.api.POST("/v1/webhooks/{id}/pause", { params: { path: { id: webhookId } } });
        }
        const log = await eventually(
          "the log to be settled",
          async () => {
            const read = await readDeliveryLog(sql, environment.namespace);
            const answering = new Set(of("healthy", "slow", "flapping").map(({ webhookId }) => webhookId));
            const isSettled = ({ webhookId, state }: LoggedDelivery) =>
              answering.has(webhookId) ? state === "succeeded" : state !== "sending";
            return read.every(isSettled) && read;
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

it("gets every paid order while Redis is stopped", async () => {
  const shop = await createTestLocation(product, { scopes: ["orders:write", "webhooks:write"] });
  const only = { healthy: 1, slow: 0, flapping: 0, refusing: 0, silent: 0 };
  const { subscribers, close } = await startWebhookSubscribers(shop, only, runSize);
  await servers.kill("redis");
  try {
    const orderIds = await sendPaidOrders(shop, { orders: 40, perSecond: 40, atATime: 10 });
    await eventually(
      "every order",
      () => subscribers.every((each) => findMissingOrders(each, orderIds).length === 0),
      eventuallyOptions,
    );
  } finally {
    close();
    await servers.start("redis");
  }
}, 60_000);

/** Whoever gets an order, and however often, gets it as one message. */
function expectOneMessagePerOrder(subscribers: WebhookSubscriber[], orderIds: string[]): void {
  const messages = new Map<string, Set<string>>();
  for (const { orderId, messageId } of subscribers.flatMap(({ receivedMessages }) => receivedMessages)) {
    messages.set(orderId, (messages.get(orderId) ?? new Set()).add(messageId));
  }
  expect([...messages.keys()].sort()).toEqual([...orderIds].sort());
  expect([...messages.values()].filter((ids) => ids.size !== 1)).toEqual([]);
  expect(new Set([...messages.values()].flatMap((ids) => [...ids])).size).toBe(orderIds.length);
}

/** The log says what the subscriber saw; it saw nothing twice but where an answer of it was lost, or a failure. */
function expectDeliveryLog(
  { kind, webhookId, receivedMessages }: WebhookSubscriber,
  log: LoggedDelivery[],
  orderIds: string[],
): void {
  const logged = log.filter((each) => each.webhookId === webhookId);
  expect(logged).toHaveLength(orderIds.length);
  for (const { messageId, statuses, unanswered, state } of logged) {
    const seen = receivedMessages.filter((arrival) => arrival.messageId === messageId);
    const told = `${kind} ${messageId}: saw ${JSON.stringify(seen)}, logged ${statuses} and ${unanswered} unanswered`;
    const answered = seen.flatMap(({ status }) => status ?? []);
    for (const status of [200, 503]) {
      const logs = statuses.filter((each) => each === status).length;
      const sights = answered.filter((each) => each === status).length;
      expect(sights, told).toBeGreaterThanOrEqual(logs);
      expect(sights, told).toBeLessThanOrEqual(logs + unanswered);
    }
    expect(seen.length, told).toBeLessThanOrEqual(statuses.length + unanswered);
    if (kind === "refusing" || kind === "silent") {
      expect(state, told).not.toBe("succeeded");
      expect(statuses, told).toEqual([]);
    } else expect(statuses.at(-1), told).toBe(200);
    if (kind === "healthy" || kind === "slow") expect(statuses, told).toEqual([200]);
  }
}
