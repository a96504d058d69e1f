import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Dispatcher, Pool } from "undici";
import { computePercentile } from "../measurement-spread.ts";
import { createBenchOrderBodyGenerator } from "./bench-order-body-generator.ts";
import { callFunctionAtFixedRate } from "./call-function-at-fixed-rate.ts";
import type { BenchLiveOrderLoadOptions, BenchLiveOrderLoadResult } from "./load-jobs.ts";
import { sendBenchLoadRequest } from "./send-load-request.ts";

/** Maximum time to wait until the last change has arrived at all readers, in milliseconds. */
const arrivalTimeoutMs = 30_000;
const maxConcurrentUpserts = 16;

/**
 * Sends changes of orders at a fixed rate to a server with stream readers. Rejects unless every reader receives every
 * change exactly once.
 */
export async function runLiveOrderLoad(job: BenchLiveOrderLoadOptions): Promise<BenchLiveOrderLoadResult> {
  const { origin, headers, paths, readers } = job;
  const streams = new Pool(origin, { connections: readers, pipelining: 1, bodyTimeout: 0 });
  const upserts = new Pool(origin, { connections: maxConcurrentUpserts, pipelining: 1 });
  const arrivals = new Map<string, number[]>();
  const respondedAt = new Map<string, number>();
  const durationsMs: number[] = [];
  try {
    const recordArrival = (hash: string) => arrivals.get(hash)?.push(performance.now());
    await Promise.all(
      Array.from({ length: readers }, () =>
        subscribeToStream(streams, { path: paths.stream, headers, onRevision: recordArrival }),
      ),
    );

    const createCopy = createBenchOrderBodyGenerator(job.template);
    const ids = Array.from({ length: job.orders }, () => randomUUID());
    const jsonHeaders = { ...headers, "content-type": "application/json" };
    let sentCount = 0;
    const upsertOrder = async () => {
      const [id = "", hash] = [ids[sentCount++ % ids.length], randomUUID()];
      const body = createCopy({ id, revisionHash: hash });
      arrivals.set(hash, []);
      const since = performance.now();
      const { status } = await sendBenchLoadRequest(upserts, {
        path: paths.orders,
        method: "POST",
        headers: jsonHeaders,
        body,
      });
      if (status !== 200) throw new Error(`POST ${paths.orders} returned ${status}.`);
      respondedAt.set(hash, performance.now());
      durationsMs.push(performance.now() - since);
    };
    await callFunctionAtFixedRate(upsertOrder, job);
    await waitUntilReceived(arrivals, readers);
    const delays = [...arrivals].flatMap(([hash, times]) =>
      times.map((at) => Math.max(0, at - (respondedAt.get(hash) ?? at))),
    );
    return {
      upserts: durationsMs.length,
      responseTimeMs: { p50: computePercentile(durationsMs, 0.5), p99: computePercentile(durationsMs, 0.99) },
      deliveryDelayMs: { p50: computePercentile(delays, 0.5), p99: computePercentile(delays, 0.99) },
    };
  } finally {
    await Promise.all([streams.destroy(), upserts.close()]);
  }
}

interface StreamSubscription {
  path: string;
  headers: Record<string, string>;
  onRevision(hash: string): void;
}

const revisionHashPrefix = '"revisionHash":"';
const hashLength = 36;

/** Opens a stream, resolves at its ready event, and calls `onRevision` with the revision hash of each event. */
function subscribeToStream(pool: Pool, { path, headers, onRevision }: StreamSubscription): Promise<void> {
  return new Promise((resolve, reject) => {
    let rest = "";
    const handler: Dispatcher.DispatchHandler = {
      onResponseStart(_controller, status) {
        if (status !== 200) reject(new Error(`GET ${path} returned ${status}.`));
      },
      onResponseData(_controller, chunk) {
        const events = (rest + chunk.toString("latin1")).split("\n\n");
        rest = events.pop() ?? "";
        for (const event of events) {
          if (event.includes("event: ready")) resolve();
          const at = event.indexOf(revisionHashPrefix);
          if (at !== -1)
            onRevision(event.slice(at + revisionHashPrefix.length, at + revisionHashPrefix.length + hashLength));
        }
      },
      onResponseEnd: () => reject(new Error("A stream ended unexpectedly.")),
      onResponseError: (_controller, error) => reject(error),
      onRequestStart() {},
    };
    pool.dispatch({ path, method: "GET", headers }, handler);
  });
}

async function waitUntilReceived(arrivals: Map<string, number[]>, readers: number): Promise<void> {
  const deadline = performance.now() + arrivalTimeoutMs;
  const missing = () => [...arrivals.values()].filter((times) => times.length !== readers).length;
  while (missing() > 0) {
    if (performance.now() > deadline)
      throw new Error(`${missing()} changes were not received by every reader exactly once.`);
    await sleep(50);
  }
}
