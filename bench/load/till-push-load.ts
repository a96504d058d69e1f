import { setTimeout as sleep } from "node:timers/promises";
import { computeTillReportId } from "@pragma/contracts/till-report-id";
import { type BenchTillRequest, createBenchTillRequestGenerator } from "./bench-till-request-generator.ts";
import type { BenchTillPushLoadOptions, TillPushLoadResult } from "./load-jobs.ts";
import { getBenchHttpConnectionPool, sendBenchLoadRequest } from "./send-load-request.ts";

/** Maximum time to wait for a report, in milliseconds. */
const reportTimeoutMs = 60_000;

/** Pushes tills, and requests the report of each till until the report is available. */
export async function runTillPushLoad({
  origin,
  headers,
  template,
  tills,
  pushers,
  pollIntervalMs,
}: BenchTillPushLoadOptions): Promise<TillPushLoadResult> {
  const pool = getBenchHttpConnectionPool(origin, pushers);
  const createCopy = createBenchTillRequestGenerator(template);
  const waiting = Array.from({ length: tills }, createCopy);
  const responseTimesMs: number[] = [];
  const reportDelaysMs: number[] = [];

  async function pushTillAndAwaitReport({ id, body }: BenchTillRequest): Promise<void> {
    const since = performance.now();
    const jsonHeaders = { "content-type": "application/json" };
    const { status } = await sendBenchLoadRequest(pool, {
      path: "/v2/tills/",
      method: "POST",
      headers: { ...headers, ...jsonHeaders },
      body,
    });
    if (status !== 201) throw new Error(`POST /v2/tills/ returned ${status}.`);
    const respondedAt = performance.now();
    responseTimesMs.push(respondedAt - since);
    await waitUntilReadable(`/v2/reports/${computeTillReportId(id)}`, respondedAt);
    reportDelaysMs.push(performance.now() - respondedAt);
  }

  async function waitUntilReadable(path: string, since: number): Promise<void> {
    for (;;) {
      const { status } = await sendBenchLoadRequest(pool, { path, headers });
      if (status === 200) return;
      if (status !== 404) throw new Error(`GET ${path} returned ${status}.`);
      if (performance.now() - since > reportTimeoutMs)
        throw new Error(`GET ${path} still returns 404 after ${reportTimeoutMs} ms.`);
      await sleep(pollIntervalMs);
    }
  }

  const started = performance.now();
  const pusher = async () => {
    for (let till = waiting.pop(); till; till = waiting.pop()) await pushTillAndAwaitReport(till);
  };
  await Promise.all(Array.from({ length: pushers }, pusher));
  return { responseTimesMs, reportDelaysMs, seconds: (performance.now() - started) / 1000 };
}
