import { setTimeout as sleep } from "node:timers/promises";
import { orderLiveInputExample } from "@pragma/contracts/examples/order-live";
import type { BaselineServer } from "./baseline-server.ts";
import type { BenchLocation } from "./bench-location.ts";
import type { ProductUnderLoad } from "./product-under-load.ts";
import type { WebhookArrival } from "./webhook-arrival.ts";

/** An order that is paid: whoever puts another id and another revision hash in makes another order of it. */
export const paidOrderJson = JSON.stringify({
  ...orderLiveInputExample,
  data: { ...orderLiveInputExample.data, isPaid: true, paidAt: "2026-05-29T10:31:12.000Z", leftToPay: 0 },
});

/** Where the product takes it. */
export const liveOrdersPath = "/v1/orders-live/";

/** Endpoints that a shop's paid orders are posted to. */
export interface BenchWebhookSubscription {
  /** Has what is to be posted wait. */
  pause(): Promise<void>;
  /** Has what waits posted. */
  resume(): Promise<void>;
  remove(): Promise<void>;
}

/** Has a shop's paid orders posted to these endpoints, until `end` is called. */
export async function subscribeToPaidOrders(
  { url }: Pick<ProductUnderLoad, "url">,
  { headers }: BenchLocation,
  endpointUrls: string[],
): Promise<BenchWebhookSubscription> {
  const ask = async (method: string, path: string, body?: object): Promise<{ id: string }> => {
    const type = { ...headers, "content-type": "application/json" };
    const reply = await fetch(url + path, { method, headers: type, ...(body && { body: JSON.stringify(body) }) });
    if (!reply.ok) throw new Error(`${method} ${path} answered ${reply.status}: ${await reply.text()}`);
    return reply.status === 204 ? { id: "" } : ((await reply.json()) as { id: string });
  };
  const { id: recipientId } = await ask("POST", "/v1/recipients/", { name: "Bench" });
  const ids: string[] = [];
  for (const endpointUrl of endpointUrls) {
    const { id } = await ask("POST", "/v1/webhooks/", { recipientId, endpointUrl, events: ["order.paid"] });
    ids.push(id);
  }
  const each = async (method: string, path: string) => {
    await Promise.all(ids.map((id) => ask(method, `/v1/webhooks/${id}${path}`)));
  };
  return {
    pause: () => each("POST", "/pause"),
    resume: () => each("POST", "/resume"),
    remove: () => each("DELETE", ""),
  };
}

/** How long the last message may take, in milliseconds. */
const arrivalTimeoutMs = 60_000;

/**
 * What has come to a receiver at the paths that begin with `/healthy`, once it is as much as this. Rejects when it does
 * not come.
 */
export async function waitForWebhookArrivals(
  { url }: Pick<BaselineServer, "url">,
  count: number,
): Promise<WebhookArrival[]> {
  const deadline = performance.now() + arrivalTimeoutMs;
  const arrivals: WebhookArrival[] = [];
  for (;;) {
    const latest = (await (await fetch(`${url}/arrivals`)).json()) as WebhookArrival[];
    arrivals.push(...latest.filter(({ path }) => path.startsWith("/healthy")));
    if (arrivals.length >= count) return arrivals;
    if (performance.now() > deadline) throw new Error(`${arrivals.length} of ${count} messages have come.`);
    await sleep(100);
  }
}

/** Milliseconds from each order's reply to each of its messages; 0 for one that came before the reply. */
export function computeDeliveryDelaysMs(replies: [string, number][], arrivals: WebhookArrival[]): number[] {
  const repliedAt = new Map(replies);
  return arrivals.flatMap(({ orderId, at }) => {
    const since = repliedAt.get(orderId);
    return since === undefined ? [] : Math.max(0, at - since);
  });
}
