import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Dispatcher, Pool } from "undici";
import { percentile } from "../spread.ts";
import { ask } from "./ask.ts";
import type { Following, FollowingAnswer } from "./jobs.ts";

/** How long readers may be in hearing of the last change before the run is given up, in milliseconds. */
const patience = 30_000;
/** Upserts that are on their way at once at most. */
const connections = 16;

/** Sends changes of orders at a fixed rate while readers listen. Rejects when one of them missed a change. */
export async function follow(job: Following): Promise<FollowingAnswer> {
  const { origin, headers, paths, perSecond, seconds, readers } = job;
  const streams = new Pool(origin, { connections: readers, pipelining: 1, bodyTimeout: 0 });
  const upserts = new Pool(origin, { connections, pipelining: 1 });
  const arrivals = new Map<string, number[]>();
  const repliedAt = new Map<string, number>();
  const took: number[] = [];
  try {
    const heard = (hash: string) => arrivals.get(hash)?.push(performance.now());
    await Promise.all(Array.from({ length: readers }, () => listen(streams, { path: paths.stream, headers, heard })));

    const change = createChanges(job);
    const type = { ...headers, "content-type": "application/json" };
    const send = async () => {
      const { hash, body } = change();
      arrivals.set(hash, []);
      const since = performance.now();
      const { status } = await ask(upserts, { path: paths.orders, method: "POST", headers: type, body });
      if (status !== 200) throw new Error(`POST ${paths.orders} answered ${status}.`);
      repliedAt.set(hash, performance.now());
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
    await untilHeard(arrivals, readers);
    const delays = [...arrivals].flatMap(([hash, times]) =>
      times.map((at) => Math.max(0, at - (repliedAt.get(hash) ?? at))),
    );
    return {
      upserts: took.length,
      answered: { p50: percentile(took, 0.5), p99: percentile(took, 0.99) },
      heard: { p50: percentile(delays, 0.5), p99: percentile(delays, 0.99) },
    };
  } finally {
    await Promise.all([streams.destroy(), upserts.close()]);
  }
}

/** Changes of so many orders in turn, each with a revision hash of its own. */
function createChanges({ template, orders }: Following): () => { hash: string; body: string } {
  const { id, revisionHash } = JSON.parse(template) as { id: string; revisionHash: string };
  const parts = template.split(new RegExp(`(${id}|${revisionHash})`));
  const ids = Array.from({ length: orders }, () => randomUUID() as string);
  let count = 0;
  return () => {
    const hash = randomUUID();
    const own = ids[count++ % orders] as string;
    const order = parts.map((part) => (part === id ? own : part === revisionHash ? hash : part)).join("");
    return { hash, body: `[${order}]` };
  };
}

interface Listening {
  path: string;
  headers: Record<string, string>;
  heard(hash: string): void;
}

const mark = '"revisionHash":"';
const hashLength = 36;

/** Resolves once the stream says that it is ready; `heard` is told of each event with the hash in it. */
function listen(pool: Pool, { path, headers, heard }: Listening): Promise<void> {
  return new Promise((resolve, reject) => {
    let rest = "";
    const handler: Dispatcher.DispatchHandler = {
      onResponseStart(_controller, status) {
        if (status !== 200) reject(new Error(`GET ${path} answered ${status}.`));
      },
      onResponseData(_controller, chunk) {
        const events = (rest + chunk.toString("latin1")).split("\n\n");
        rest = events.pop() ?? "";
        for (const event of events) {
          if (event.includes("event: ready")) resolve();
          const at = event.indexOf(mark);
          if (at !== -1) heard(event.slice(at + mark.length, at + mark.length + hashLength));
        }
      },
      onResponseEnd: () => reject(new Error("A stream ended.")),
      onResponseError: (_controller, error) => reject(error),
      onRequestStart() {},
    };
    pool.dispatch({ path, method: "GET", headers }, handler);
  });
}

async function untilHeard(arrivals: Map<string, number[]>, readers: number): Promise<void> {
  const deadline = performance.now() + patience;
  const missing = () => [...arrivals.values()].filter((times) => times.length !== readers).length;
  while (missing() > 0) {
    if (performance.now() > deadline) throw new Error(`${missing()} changes were not heard by every reader once.`);
    await sleep(50);
  }
}
