import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { epochMilliseconds } from "../arrival.ts";
import { percentile } from "../spread.ts";
import { ask, poolOf } from "./ask.ts";
import type { Payments, PaymentsAnswer } from "./jobs.ts";

/** Requests that are on their way at once at most. */
const connections = 16;

/** Has orders paid at a fixed rate, each another one; tells when each was acknowledged. */
export async function pay({ origin, headers, path, template, perSecond, seconds }: Payments): Promise<PaymentsAnswer> {
  const pool = poolOf(origin, connections);
  const { id, revisionHash } = JSON.parse(template) as { id: string; revisionHash: string };
  const parts = template.split(new RegExp(`(${id}|${revisionHash})`));
  const type = { ...headers, "content-type": "application/json" };
  const replies: [string, number][] = [];
  const took: number[] = [];

  const send = async () => {
    const [own, hash] = [randomUUID(), randomUUID()];
    const order = parts.map((part) => (part === id ? own : part === revisionHash ? hash : part)).join("");
    const since = performance.now();
    const { status } = await ask(pool, { path, method: "POST", headers: type, body: `[${order}]` });
    if (status !== 200) throw new Error(`POST ${path} answered ${status}.`);
    replies.push([own, epochMilliseconds()]);
    took.push(performance.now() - since);
  };
  const started = performance.now();
  const sending: Promise<void>[] = [];
  for (let sent = 0; sent < perSecond * seconds; sent += 1) {
    const due = started + (sent / perSecond) * 1000;
    if (due > performance.now()) await sleep(due - performance.now());
    sending.push(send());
  }
  await Promise.all(sending);
  return {
    replies,
    answered: { p50: percentile(took, 0.5), p99: percentile(took, 0.99) },
    seconds: (performance.now() - started) / 1000,
  };
}
