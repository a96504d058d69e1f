import { Pace } from "./pace.ts";

/** Random, so that the endpoints of a host that wait do not all ask at once; in milliseconds. */
const minPollMs = 50;
const maxPollMs = 150;

/** The token buckets of hosts: what all endpoints at one host, whosever they are, may be sent by this process. */
export class HostRates {
  readonly #rate: number;
  readonly #burst: number;
  readonly #buckets = new Map<string, Pace>();

  constructor({ rate, burst }: { rate: number; burst: number }) {
    this.#rate = rate;
    this.#burst = burst;
  }

  /** Takes as many messages as may be sent to the host now, up to what is wanted. */
  take(host: string, wanted: number): number {
    return this.#bucketOf(host).take(wanted, performance.now());
  }

  giveBack(host: string, unused: number): void {
    if (unused > 0) this.#bucketOf(host).giveBack(unused);
  }

  /** Milliseconds after which to ask again. */
  wait(host: string): number {
    return this.#bucketOf(host).wait(performance.now()) + minPollMs + Math.random() * (maxPollMs - minPollMs);
  }

  /** A full bucket is like a new one. */
  forgetFull(): void {
    for (const [host, bucket] of this.#buckets) if (bucket.isFull(performance.now())) this.#buckets.delete(host);
  }

  #bucketOf(host: string): Pace {
    const bucket = this.#buckets.get(host) ?? new Pace(this.#rate, this.#burst);
    this.#buckets.set(host, bucket);
    return bucket;
  }
}

/** The host of an endpoint, by which it is counted. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/\.$/, "");
}
