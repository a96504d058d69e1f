import { percentile } from "../spread.ts";
import { askGood, poolOf } from "./ask.ts";
import type { Alternation, AlternationAnswer, LoadAnswer, SaturatingLoad, SteadyLoad } from "./jobs.ts";

/** How often the requests that are due are sent, in milliseconds. */
const beat = 1;

export async function steady(load: SteadyLoad): Promise<LoadAnswer> {
  const pool = poolOf(load.origin, load.connections);
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
      askGood(pool, load).then(
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
  const latencies: number[] = [];
  const started = performance.now();
  const end = started + load.seconds * 1000;
  const client = async () => {
    for (let since = started; since < end; ) {
      since = performance.now();
      await askGood(pool, load);
      latencies.push(performance.now() - since);
    }
  };
  await Promise.all(Array.from({ length: load.connections }, client));
  return answerOf(latencies, started);
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
  const end = performance.now() + seconds * 1000;
  for (let round = 0; round < rounds && (round < 3 || performance.now() < end); round += 1) {
    for (const [place, page] of pages.entries()) {
      const since = performance.now();
      await askGood(pool, page);
      latencies[place]?.push(performance.now() - since);
    }
  }
  return { medians: latencies.map((of) => percentile(of, 0.5)) };
}
