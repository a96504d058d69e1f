import { setTimeout as sleep } from "node:timers/promises";
import { reportIdOfTill } from "@pragma/reporting/calculation/report-id";
import type { TillPushLoad, TillPushLoadResult } from "./load-jobs.ts";
import { getConnectionPool, sendLoadRequest } from "./send-load-request.ts";
import { createTillCopier, type TillCopy } from "./till-copier.ts";

/** How long a report may be in coming before the run is given up, in milliseconds. */
const reportTimeoutMs = 60_000;

/** Pushes tills and asks for their reports until they are there. */
export async function runTillPushLoad({
  origin,
  headers,
  template,
  tills,
  pushers,
  askEvery,
}: TillPushLoad): Promise<TillPushLoadResult> {
  const pool = getConnectionPool(origin, pushers);
  const copy = createTillCopier(template);
  const waiting = Array.from({ length: tills }, copy);
  const answered: number[] = [];
  const readable: number[] = [];

  async function pushTillAndAwaitReport({ id, body }: TillCopy): Promise<void> {
    const since = performance.now();
    const type = { "content-type": "application/json" };
    const { status } = await sendLoadRequest(pool, {
      path: "/v2/tills/",
      method: "POST",
      headers: { ...headers, ...type },
      body,
    });
    if (status !== 201) throw new Error(`POST /v2/tills/ answered ${status}.`);
    const repliedAt = performance.now();
    answered.push(repliedAt - since);
    await waitUntilReadable(`/v2/reports/${reportIdOfTill(id)}`, repliedAt);
    readable.push(performance.now() - repliedAt);
  }

  async function waitUntilReadable(path: string, since: number): Promise<void> {
    for (;;) {
      const { status } = await sendLoadRequest(pool, { path, headers });
      if (status === 200) return;
      if (status !== 404) throw new Error(`GET ${path} answered ${status}.`);
      if (performance.now() - since > reportTimeoutMs)
        throw new Error(`GET ${path} still answers 404 after ${reportTimeoutMs} ms.`);
      await sleep(askEvery);
    }
  }

  const started = performance.now();
  const pusher = async () => {
    for (let till = waiting.pop(); till; till = waiting.pop()) await pushTillAndAwaitReport(till);
  };
  await Promise.all(Array.from({ length: pushers }, pusher));
  return { responseTimesMs: answered, reportDelaysMs: readable, seconds: (performance.now() - started) / 1000 };
}
