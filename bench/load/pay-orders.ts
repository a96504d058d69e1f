import { randomUUID } from "node:crypto";
import { epochMilliseconds } from "../arrival.ts";
import { percentile } from "../spread.ts";
import { ask, poolOf } from "./ask.ts";
import type { Payments, PaymentsAnswer } from "./jobs.ts";
import { orderCopies } from "./order-copies.ts";
import { sendAtRate } from "./send-at-rate.ts";

/** Requests that are on their way at once at most. */
const connections = 16;

/** Has orders paid at a fixed rate, each another one; tells when each was acknowledged. */
export async function pay({ origin, headers, path, template, perSecond, seconds }: Payments): Promise<PaymentsAnswer> {
  const pool = poolOf(origin, connections);
  const copyOf = orderCopies(template);
  const type = { ...headers, "content-type": "application/json" };
  const replies: [string, number][] = [];
  const took: number[] = [];

  const send = async () => {
    const id = randomUUID();
    const body = copyOf({ id, revisionHash: randomUUID() });
    const since = performance.now();
    const { status } = await ask(pool, { path, method: "POST", headers: type, body });
    if (status !== 200) throw new Error(`POST ${path} answered ${status}.`);
    replies.push([id, epochMilliseconds()]);
    took.push(performance.now() - since);
  };
  const started = performance.now();
  await sendAtRate(send, { perSecond, seconds });
  return {
    replies,
    answered: { p50: percentile(took, 0.5), p99: percentile(took, 0.99) },
    seconds: (performance.now() - started) / 1000,
  };
}
