import { setTimeout as sleep } from "node:timers/promises";
import { reportIdOf } from "@pragma/reporting/calculate/report-id";
import { ask, poolOf } from "./ask.ts";
import type { Pushes, PushesAnswer } from "./jobs.ts";
import { createTillCopier, type TillCopy } from "./till-copies.ts";

/** How long a report may be in coming before the run is given up, in milliseconds. */
const patience = 60_000;

/** Pushes tills and asks for their reports until they are there. */
export async function push({ origin, headers, template, tills, pushers, askEvery }: Pushes): Promise<PushesAnswer> {
  const pool = poolOf(origin, pushers);
  const copy = createTillCopier(template);
  const waiting = Array.from({ length: tills }, copy);
  const answered: number[] = [];
  const readable: number[] = [];

  async function bring({ id, body }: TillCopy): Promise<void> {
    const since = performance.now();
    const type = { "content-type": "application/json" };
    const { status } = await ask(pool, { path: "/v2/tills/", method: "POST", headers: { ...headers, ...type }, body });
    if (status !== 201) throw new Error(`POST /v2/tills/ answered ${status}.`);
    const repliedAt = performance.now();
    answered.push(repliedAt - since);
    await untilThere(`/v2/reports/${reportIdOf(id)}`, repliedAt);
    readable.push(performance.now() - repliedAt);
  }

  async function untilThere(path: string, since: number): Promise<void> {
    for (;;) {
      const { status } = await ask(pool, { path, headers });
      if (status === 200) return;
      if (status !== 404) throw new Error(`GET ${path} answered ${status}.`);
      if (performance.now() - since > patience) throw new Error(`GET ${path} still answers 404 after ${patience} ms.`);
      await sleep(askEvery);
    }
  }

  const started = performance.now();
  const pusher = async () => {
    for (let till = waiting.pop(); till; till = waiting.pop()) await bring(till);
  };
  await Promise.all(Array.from({ length: pushers }, pusher));
  return { answered, readable, seconds: (performance.now() - started) / 1000 };
}
