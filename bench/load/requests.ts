import { createSigner } from "../sign-requests.ts";
import { percentile } from "../spread.ts";
import { askGood, poolOf, type Question } from "./ask.ts";
import type { Alternation, AlternationAnswer, LoadAnswer, SaturatingLoad, SteadyLoad } from "./jobs.ts";

/** How often the requests that are due are sent, in milliseconds. */
const beat = 1;

export function steady(loads: SteadyLoad[]): Promise<LoadAnswer[]> {
  return Promise.all(loads.map(sendSteadily));
}

async function sendSteadily(load: SteadyLoad): Promise<LoadAnswer> {
  const pool = poolOf(load.origin, load.connections);
  const question = createQuestion(load);
  const latencies: number[] = [];
  const started = performance.now();
  const total = Math.round(load.perSecond * load.seconds);
  let sent = 0;
  await new Promise<void>((resolve, reject) => {
    const timer = setInterval(() => {
      const due = Math.min(total, Math.floor(((performance.now() - started) / 1000) * load.perSecond) + 1);
      for (; sent < due; sent += 1) send();
      if (sent === total) clearInterval(timer);
    }, beat);

    function send(): void {
      const since = performance.now();
      askGood(pool, question()).then(
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
  return answerOf(latencies, started);
}

export async function saturate(load: SaturatingLoad): Promise<LoadAnswer> {
  const pool = poolOf(load.origin, load.connections);
  const question = createQuestion(load);
  const latencies: number[] = [];
  const started = performance.now();
  const end = started + load.seconds * 1000;
  const client = async () => {
    for (let since = started; since < end; ) {
      since = performance.now();
      await askGood(pool, question());
      latencies.push(performance.now() - since);
    }
  };
  await Promise.all(Array.from({ length: load.connections }, client));
  return answerOf(latencies, started);
}

/** Returns what makes the question that a load asks over and over: one that is signed is signed each time. */
function createQuestion({ path, headers, signedAs }: SteadyLoad | SaturatingLoad): () => Question {
  if (!signedAs) return () => ({ path, headers });
  const sign = createSigner(signedAs);
  return () => ({ path, headers: { ...headers, ...sign(path) } });
}

function answerOf(latencies: number[], started: number): LoadAnswer {
  return {
    requests: latencies.length,
    seconds: (performance.now() - started) / 1000,
    latency: { p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99) },
  };
}

export async function alternate({ origin, pages, rounds, seconds }: Alternation): Promise<AlternationAnswer> {
  const pool = poolOf(origin, 1);
  const latencies = pages.map((): number[] => []);
  const signers = pages.map(({ signedAs }) => createSigner(signedAs));
  const end = performance.now() + seconds * 1000;
  for (let round = 0; round < rounds && (round < 3 || performance.now() < end); round += 1) {
    for (const [place, { path }] of pages.entries()) {
      const headers = signers[place]?.(path) ?? {};
      const since = performance.now();
      await askGood(pool, { path, headers });
      latencies[place]?.push(performance.now() - since);
    }
  }
  return { medians: latencies.map((of) => percentile(of, 0.5)) };
}
