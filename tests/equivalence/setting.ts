import { orderLiveInputExample } from "@pragma/contracts/examples/order-live";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateTill } from "@pragma/simulator/generate-till";
import { Random } from "@pragma/simulator/random";
import { expect } from "vitest";
import { type BothWays, startBothWays, type Way } from "../harness/both-ways.ts";
import { type DocumentedOperation, documentedOperations } from "../harness/documented-operations.ts";
import { olderTill } from "../harness/older-till.ts";
import type { RawReply, RawRequest } from "../harness/raw-exchange.ts";
import { openShop, type Shop } from "../harness/shop.ts";

export const operations = documentedOperations();
export const unknownId = "00000000-0000-4000-8000-00000000dead";
export const json = { "content-type": "application/json" };

/** An installation that runs both ways, with a shop that has some of everything. */
export let both: BothWays;
export let shop: Shop;
/** The key of somebody who may do nothing that is asked here. */
export let strangersKey: string;
let environment: TestEnvironment;
/** What a path's `{id}` stands for, by how the path begins. */
let ids: Record<string, string>;
/** Deliveries that nothing becomes of by itself: one for each way of running to have its own. */
export let failedDeliveries: Record<Way, string>;

export async function start(): Promise<void> {
  environment = await createTestEnvironment({
    ...{ RATE_LIMIT_PER_SECOND: "100000", RATE_LIMIT_BURST: "100000" },
    ...{ AUTH_FAILURES_PER_SECOND: "100000", AUTH_FAILURES_BURST: "100000" },
  });
  both = await startBothWays(environment.variables);
  shop = await openShop(both.together, {
    scopes: [
      "reports:read",
      "orders:read",
      "orders:write",
      "catalog:read",
      "locations:read",
      "tills:read",
      "tills:write",
      "webhooks:write",
    ],
  });
  strangersKey = (await openShop(both.together, { scopes: ["jobs:write"] })).key;

  const till = generateTill({ seed: 1, orders: 25, day: "2026-05-29" });
  const tills = [till, generateTill({ seed: 1, orders: 3, day: "2026-05-30" })];
  for (const body of tills) await made("POST", "/v2/tills/", body);
  await made("POST", "/v1/tills/", olderTill(new Random("older till"), shop));
  const [report] = await shop.reports(3);
  await made("POST", "/v1/orders-live/", [orderLiveInputExample]);
  const reprocessing = await made("POST", "/v1/tills/reprocess?lteReportVersion=0");
  const { id: recipientId } = await made("POST", "/v1/recipients", { name: "Stock keeper" });
  const webhook = await made("POST", "/v1/webhooks", { recipientId, endpointUrl: nowhere, events: ["order.paid"] });
  const [delivery, ...others] = await Promise.all([1, 2, 3].map(() => failedDelivery(webhook.id)));
  failedDeliveries = { together: others[0] ?? "", apart: others[1] ?? "" };
  const recovery = await made("POST", `/v1/webhooks/${webhook.id}/recover`, { since: "2099-01-01T00:00:00Z" });
  const keys = await both.alike({ method: "GET", path: `/v1/auth/keys?locationId=${shop.locationId}`, ...asAdmin() });
  ids = {
    "/v1/tills/{id}": till.id,
    "/v1/tills/reprocess/": reprocessing.id,
    "/v1/reports": report?.id ?? "",
    "/v2/reports": report?.id ?? "",
    "/v1/orders/": till.orderList[0]?.id ?? "",
    "/v2/orders/": till.orderList[0]?.id ?? "",
    "/v1/orders-live/": orderLiveInputExample.id,
    "/v1/locations": shop.locationId,
    "/v1/consumers": shop.consumerId,
    "/v1/auth/keys": JSON.parse(keys.body).data[0].id,
    "/v1/recipients": recipientId,
    "/v1/webhooks/deliveries/": delivery ?? "",
    "/v1/webhooks/": webhook.id,
    "{recoveryId}": recovery.id,
  };
}

/** Nobody listens there. */
export const nowhere = "http://127.0.0.1:1024/webhooks";

/** A test message that could not be delivered. */
async function failedDelivery(webhookId: string): Promise<string> {
  const { id } = await made("POST", `/v1/webhooks/${webhookId}/test`);
  await eventually("the delivery to fail", async () => {
    const { state } = await shop.read(`/v1/webhooks/deliveries/${id}`);
    return state === "failed";
  });
  return id;
}

export async function stop(): Promise<void> {
  await both?.stop();
  await environment?.remove();
}

async function made(method: string, path: string, body?: unknown): Promise<{ id: string }> {
  const answer = await shop.ask(method, path, { body });
  expect(answer.ok, `${method} ${path}`).toBe(true);
  return (await answer.json()) as { id: string };
}

export function asAdmin(more: Record<string, string> = {}) {
  return { headers: { authorization: `Bearer ${both.together.adminKey}`, ...more } };
}

export function asShop(more: Record<string, string> = {}) {
  return { headers: { authorization: `Bearer ${shop.key}`, ...more } };
}

/** The operation's path, of what the shop has unless an id is given. */
export function pathOf({ path }: DocumentedOperation, id?: string): string {
  const known = Object.entries(ids).find(([beginning]) => path.startsWith(beginning))?.[1];
  return path.replace("{id}", id ?? known ?? unknownId).replace("{recoveryId}", ids["{recoveryId}"] ?? unknownId);
}

/** The path with the query that the operation cannot do without, and more. */
export function addressOf(operation: DocumentedOperation, more: Record<string, string> = {}, id?: string): string {
  const needed = [...operation.query].filter(([, { isRequired }]) => isRequired);
  const query = new URLSearchParams({
    ...Object.fromEntries(needed.map(([name, { example }]) => [name, String(example)])),
    ...more,
  });
  return query.size > 0 ? `${pathOf(operation, id)}?${query}` : pathOf(operation, id);
}

const seen = new Map<string, Set<number>>();

/** The statuses that an operation was seen to answer alike. */
export function seenOf({ id }: DocumentedOperation): Set<number> {
  const statuses = seen.get(id) ?? new Set();
  seen.set(id, statuses);
  return statuses;
}

/** Asks the operation both ways. */
export async function alike(operation: DocumentedOperation, request: Omit<RawRequest, "method">): Promise<RawReply> {
  const { method, isEndless } = operation;
  const reply = await both.alike({ method, headOnly: isEndless, ...request });
  seenOf(operation).add(reply.status);
  return reply;
}
