import { randomUUID } from "node:crypto";
import { computePercentile } from "../measurement-spread.ts";
import { getPreciseEpochMs } from "../webhook-arrival.ts";
import { createBenchOrderBodyGenerator } from "./bench-order-body-generator.ts";
import { callFunctionAtFixedRate } from "./call-function-at-fixed-rate.ts";
import type { PaidLiveOrderLoadOptions, PaidLiveOrderLoadResult } from "./load-jobs.ts";
import { getBenchHttpConnectionPool, sendBenchLoadRequest } from "./send-load-request.ts";

const maxConcurrentPayments = 16;

/** Sends different paid orders at a fixed rate. Returns the time at which each order was acknowledged. */
export async function runPaidLiveOrderLoad({
  origin,
  headers,
  path,
  template,
  perSecond,
  seconds,
}: PaidLiveOrderLoadOptions): Promise<PaidLiveOrderLoadResult> {
  const pool = getBenchHttpConnectionPool(origin, maxConcurrentPayments);
  const createCopy = createBenchOrderBodyGenerator(template);
  const jsonHeaders = { ...headers, "content-type": "application/json" };
  const responseTimesByOrderId: [string, number][] = [];
  const durationsMs: number[] = [];

  const payOrder = async () => {
    const id = randomUUID();
    const body = createCopy({ id, revisionHash: randomUUID() });
    const since = performance.now();
    const { status } = await sendBenchLoadRequest(pool, { path, method: "POST", headers: jsonHeaders, body });
    if (status !== 200) throw new Error(`POST ${path} returned ${status}.`);
    responseTimesByOrderId.push([id, getPreciseEpochMs()]);
    durationsMs.push(performance.now() - since);
  };
  const started = performance.now();
  await callFunctionAtFixedRate(payOrder, { perSecond, seconds });
  return {
    responseTimesByOrderId,
    responseTimeMs: { p50: computePercentile(durationsMs, 0.5), p99: computePercentile(durationsMs, 0.99) },
    seconds: (performance.now() - started) / 1000,
  };
}
