import { setTimeout as sleep } from "node:timers/promises";
import { orderLiveInputExample } from "@pragma/contracts/examples/order-live";
import type { BenchServerProcess } from "./baseline-server.ts";
import type { BenchLocation } from "./bench-location.ts";
import type { BenchPragmaDeployment } from "./bench-pragma-deployment.ts";
import type { BenchWebhookArrival } from "./webhook-arrival.ts";

/** The JSON of a paid order. Copies with other ids and revision hashes are sent as different orders. */
export const benchPaidLiveOrderJson = JSON.stringify({
  ...orderLiveInputExample,
  data: { ...orderLiveInputExample.data, isPaid: true, paidAt: "2026-05-29T10:31:12.000Z", leftToPay: 0 },
});

export const liveOrdersPath = "/v1/orders-live/";

/** Webhooks for the paid orders of a location. */
export interface BenchPaidOrderWebhookControls {
  /** Pauses all webhooks, so that messages wait. */
  pause(): Promise<void>;
  /** Resumes all webhooks, so that waiting messages are delivered. */
  resume(): Promise<void>;
  remove(): Promise<void>;
}

/** Creates a webhook for each endpoint, and subscribes each webhook to the paid orders of a location. */
export async function createBenchPaidOrderWebhooks(
  { url }: Pick<BenchPragmaDeployment, "url">,
  { headers }: BenchLocation,
  endpointUrls: string[],
): Promise<BenchPaidOrderWebhookControls> {
  const requestJson = async (method: string, path: string, body?: object): Promise<{ id: string }> => {
    const jsonHeaders = { ...headers, "content-type": "application/json" };
    const response = await fetch(url + path, {
      method,
      headers: jsonHeaders,
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path} returned ${response.status}: ${await response.text()}`);
    return response.status === 204 ? { id: "" } : ((await response.json()) as { id: string });
  };
  const { id: recipientId } = await requestJson("POST", "/v1/recipients/", { name: "Bench" });
  const ids: string[] = [];
  for (const endpointUrl of endpointUrls) {
    const { id } = await requestJson("POST", "/v1/webhooks/", { recipientId, endpointUrl, events: ["order.paid"] });
    ids.push(id);
  }
  const requestAll = async (method: string, path: string) => {
    await Promise.all(ids.map((id) => requestJson(method, `/v1/webhooks/${id}${path}`)));
  };
  return {
    pause: () => requestAll("POST", "/pause"),
    resume: () => requestAll("POST", "/resume"),
    remove: () => requestAll("DELETE", ""),
  };
}

/** Maximum time to wait for the last message, in milliseconds. */
const arrivalTimeoutMs = 60_000;

/**
 * Waits until `count` messages have arrived at the receiver's paths that begin with `/healthy`. Returns these arrivals.
 * Rejects if fewer messages arrive in time.
 */
export async function waitForBenchWebhookArrivals(
  { url }: Pick<BenchServerProcess, "url">,
  count: number,
): Promise<BenchWebhookArrival[]> {
  const deadline = performance.now() + arrivalTimeoutMs;
  const arrivals: BenchWebhookArrival[] = [];
  for (;;) {
    const latest = (await (await fetch(`${url}/arrivals`)).json()) as BenchWebhookArrival[];
    arrivals.push(...latest.filter(({ path }) => path.startsWith("/healthy")));
    if (arrivals.length >= count) return arrivals;
    if (performance.now() > deadline) throw new Error(`${arrivals.length} of ${count} messages have arrived.`);
    await sleep(100);
  }
}

/**
 * Returns the delay of each message: the milliseconds from the response to the request with the order until the arrival
 * of the message, or 0 if the message arrived before the response.
 */
export function computeBenchWebhookDelaysMs(
  responseTimesByOrderId: [string, number][],
  arrivals: BenchWebhookArrival[],
): number[] {
  const respondedAt = new Map(responseTimesByOrderId);
  return arrivals.flatMap(({ orderId, at }) => {
    const since = respondedAt.get(orderId);
    return since === undefined ? [] : Math.max(0, at - since);
  });
}
