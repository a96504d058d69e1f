import { computePercentile } from "../measurement-spread.ts";
import { createGetSigner } from "../sign-requests.ts";
import type {
  AlternatingLoadOptions,
  AlternatingLoadResult,
  FixedRateLoadOptions,
  LoadTestResult,
  SaturatingLoadOptions,
} from "./load-jobs.ts";
import { type BenchLoadRequest, getBenchHttpConnectionPool, sendLoadRequestOrThrow } from "./send-load-request.ts";

/** Milliseconds between two checks for requests that are due. */
const sendIntervalMs = 1;

export function runFixedRateLoads(loads: FixedRateLoadOptions[]): Promise<LoadTestResult[]> {
  return Promise.all(loads.map(runFixedRateLoad));
}

async function runFixedRateLoad(load: FixedRateLoadOptions): Promise<LoadTestResult> {
  const pool = getBenchHttpConnectionPool(load.origin, load.connections);
  const createRequest = createRequestFactory(load);
  const latencies: number[] = [];
  const started = performance.now();
  const total = Math.round(load.perSecond * load.seconds);
  let sent = 0;
  await new Promise<void>((resolve, reject) => {
    const timer = setInterval(() => {
      const due = Math.min(total, Math.floor(((performance.now() - started) / 1000) * load.perSecond) + 1);
      for (; sent < due; sent += 1) send();
      if (sent === total) clearInterval(timer);
    }, sendIntervalMs);

    function send(): void {
      const since = performance.now();
      sendLoadRequestOrThrow(pool, createRequest()).then(
        () => {
          latencies.push(performance.now() - since);
          if (latencies.length === total) resolve();
        },
        (error) => {
          clearInterval(timer);
          reject(error);
        },
      );
    }
  });
  return toLoadResult(latencies, started);
}

export async function runBenchSaturatingLoad(load: SaturatingLoadOptions): Promise<LoadTestResult> {
  const pool = getBenchHttpConnectionPool(load.origin, load.connections);
  const createRequest = createRequestFactory(load);
  const latencies: number[] = [];
  const started = performance.now();
  const end = started + load.seconds * 1000;
  const client = async () => {
    for (let since = started; since < end; ) {
      since = performance.now();
      await sendLoadRequestOrThrow(pool, createRequest());
      latencies.push(performance.now() - since);
    }
  };
  await Promise.all(Array.from({ length: load.connections }, client));
  return toLoadResult(latencies, started);
}

/** Returns a function that creates the request of a load. If requests are signed, each has a new signature. */
function createRequestFactory({
  path,
  headers,
  signingOptions,
}: FixedRateLoadOptions | SaturatingLoadOptions): () => BenchLoadRequest {
  if (!signingOptions) return () => ({ path, headers });
  const sign = createGetSigner(signingOptions);
  return () => ({ path, headers: { ...headers, ...sign(path) } });
}

function toLoadResult(latencies: number[], started: number): LoadTestResult {
  return {
    requests: latencies.length,
    seconds: (performance.now() - started) / 1000,
    latency: { p50: computePercentile(latencies, 0.5), p99: computePercentile(latencies, 0.99) },
  };
}

export async function measureAlternatingLoad({
  origin,
  pages,
  rounds,
  seconds,
}: AlternatingLoadOptions): Promise<AlternatingLoadResult> {
  const pool = getBenchHttpConnectionPool(origin, 1);
  const latencies = pages.map((): number[] => []);
  const signers = pages.map(({ signingOptions }) => createGetSigner(signingOptions));
  const end = performance.now() + seconds * 1000;
  for (let round = 0; round < rounds && (round < 3 || performance.now() < end); round += 1) {
    for (const [index, { path }] of pages.entries()) {
      const headers = signers[index]?.(path) ?? {};
      const since = performance.now();
      await sendLoadRequestOrThrow(pool, { path, headers });
      latencies[index]?.push(performance.now() - since);
    }
  }
  return { medians: latencies.map((of) => computePercentile(of, 0.5)) };
}
