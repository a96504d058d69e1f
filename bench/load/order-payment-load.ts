import { randomUUID } from "node:crypto";
import { percentile } from "../measurement-spread.ts";
import { preciseEpochMs } from "../webhook-arrival.ts";
import type { OrderPaymentLoad, OrderPaymentLoadResult } from "./load-jobs.ts";
import { createOrderCopier } from "./order-copier.ts";
import { sendAtRate } from "./send-at-rate.ts";
import { getConnectionPool, sendLoadRequest } from "./send-load-request.ts";

/** Requests that are on their way at once at most. */
const maxConcurrentPayments = 16;

/** Has orders paid at a fixed rate, each another one; tells when each was acknowledged. */
export async function runOrderPaymentLoad({
  origin,
  headers,
  path,
  template,
  perSecond,
  seconds,
}: OrderPaymentLoad): Promise<OrderPaymentLoadResult> {
  const pool = getConnectionPool(origin, maxConcurrentPayments);
  const copyOf = createOrderCopier(template);
  const type = { ...headers, "content-type": "application/json" };
  const replies: [string, number][] = [];
  const took: number[] = [];

  const send = async () => {
    const id = randomUUID();
    const body = copyOf({ id, revisionHash: randomUUID() });
    const since = performance.now();
    const { status } = await sendLoadRequest(pool, { path, method: "POST", headers: type, body });
    if (status !== 200) throw new Error(`POST ${path} answered ${status}.`);
    replies.push([id, preciseEpochMs()]);
    took.push(performance.now() - since);
  };
  const started = performance.now();
  await sendAtRate(send, { perSecond, seconds });
  return {
    responseTimesByOrderId: replies,
    responseTimeMs: { p50: percentile(took, 0.5), p99: percentile(took, 0.99) },
    seconds: (performance.now() - started) / 1000,
  };
}
