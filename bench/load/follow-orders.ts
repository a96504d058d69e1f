import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Dispatcher, Pool } from "undici";
import { percentile } from "../spread.ts";
import { ask } from "./ask.ts";
import type { Following, FollowingAnswer } from "./jobs.ts";
import { orderCopies } from "./order-copies.ts";
import { sendAtRate } from "./send-at-rate.ts";

/** How long readers may be in hearing of the last change before the run is given up, in milliseconds. */
const patience = 30_000;
/** Upserts that are on their way at once at most. */
const connections = 16;

/** Sends changes of orders at a fixed rate while readers listen. Rejects when one of them missed a change. */
export async function follow(job: Following): Promise<FollowingAnswer> {
  const { origin, headers, paths, readers } = job;
  const streams = new Pool(origin, { connections: readers, pipelining: 1, bodyTimeout: 0 });
  const upserts = new Pool(origin, { connections, pipelining: 1 });
  const arrivals = new Map<string, number[]>();
  const repliedAt = new Map<string, number>();
  const took: number[] = [];
  try {
    const heard = (hash: string) => arrivals.get(hash)?.push(performance.now());
    await Promise.all(Array.from({ length: readers }, () => listen(streams, { path: paths.stream, headers, heard })));

    const copyOf = orderCopies(job.template);
    const ids = Array.from({ length: job.orders }, () => randomUUID());
    const type = { ...headers, "content-type": "application/json" };
    let count = 0;
    const send = async () => {
      const [id = "", hash] = [ids[count++ % ids.length], randomUUID()];
      const body = copyOf({ id, revisionHash: hash });
      arrivals.set(hash, []);
      const since = performance.now();
      const { status } = await ask(upserts, { path: paths.orders, method: "POST", headers: type, body });
      if (status !== 200) throw new Error(`POST ${paths.orders} answered ${status}.`);
      repliedAt.set(hash, performance.now());
      took.push(performance.now() - since);
    };
    await sendAtRate(send, job);
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
