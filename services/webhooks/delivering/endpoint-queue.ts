import { type Rate, TokenBucket } from "@pragma/runtime/token-bucket";
import { LRUCache } from "lru-cache";
import { Circuit, type CircuitLimits } from "./circuit.ts";
import type { FairSemaphore } from "./fair-semaphore.ts";

/** Returns the token bucket of a URL's host: what all endpoints there, whosever they are, may be sent by this process. */
export type HostRates = (url: URL) => TokenBucket;

export function openHostRates(rate: Rate): HostRates {
  const memoMethod = () => new TokenBucket(rate, performance.now());
  const buckets = new LRUCache<string, TokenBucket>({ max: 20_000, memoMethod });
  return ({ hostname }) => buckets.memo(hostname.replace(/\.$/, ""));
}

/** How an endpoint did; `unknown` when it was not asked, or when the attempt says nothing about it. */
export type EndpointResult = "succeeded" | "failed" | "unknown";

export interface EndpointLimits {
  /** Messages under way to one endpoint at most. */
  concurrency: number;
  /** Messages a second to one endpoint. */
  perSecond: number;
  circuit: CircuitLimits;
}

interface QueueOptions {
  url: URL;
  limits: EndpointLimits;
  semaphore: FairSemaphore;
  hostRates: HostRates;
  /** Milliseconds: what the pauses of an endpoint that fails go by. */
  now(): number;
  /** Called when the queue waits no longer. */
  onReady(): void;
}

/** Beyond the wait for a token, random, so that the endpoints of a host that wait do not all ask at once. */
const pauseMs = () => 50 + Math.random() * 100;

/** How many more messages an endpoint may be sent now. What is due waits in the database until there is room for it. */
export class EndpointQueue {
  readonly #options: QueueOptions;
  readonly #circuit: Circuit;
  readonly #rate: TokenBucket;
  readonly #origin: string;
  #active = 0;
  /** Whether the last claim left deliveries in the database. */
  #hasBacklog = false;
  #isWaiting = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: QueueOptions) {
    const { circuit, perSecond } = options.limits;
    this.#options = options;
    this.#origin = options.url.origin;
    this.#circuit = new Circuit(circuit);
    this.#rate = new TokenBucket({ perSecond, burst: perSecond }, performance.now());
  }

  /** Whether it has to wait for its own messages to end, for its rate, or for a pause to be over. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /** Whether messages wait for it in the database. */
  get isBehind(): boolean {
    return this.#hasBacklog || this.#isWaiting;
  }

  /** Whether it is sent a probe only, because it fails. */
  get isSpared(): boolean {
    return !this.#circuit.isClosed;
  }

  /** Whether there is nothing to remember. */
  get isIdle(): boolean {
    return this.#active === 0 && !this.#isWaiting && this.#circuit.isForgettable(this.#options.now());
  }

  /** Takes room for up to so many messages. When there is none, either it waits, or the semaphore has no places. */
  acquire(wanted: number): number {
    const { limits, semaphore, now } = this.#options;
    const room = this.#hasRoom ? Math.min(limits.concurrency, this.#circuit.allows(now())) - this.#active : 0;
    if (room <= 0) return this.#wait(this.#circuit.wait(now()));
    const rates = this.#rates;
    const at = performance.now();
    const permitted = Math.min(wanted, room, ...rates.map((rate) => Math.floor(rate.left(at))));
    if (permitted === 0) return this.#wait(Math.max(...rates.map((rate) => rate.wait(at))) + pauseMs());
    this.#endWait();
    const acquired = semaphore.acquire(this.#origin, { held: this.#active, wanted: permitted });
    this.#active += acquired;
    for (const rate of rates) rate.take(at, acquired);
    return acquired;
  }

  /** Says for how much of the room that was taken deliveries were due. */
  claimed({ acquired, count }: { acquired: number; count: number }): void {
    this.#hasBacklog = count === acquired;
    this.cancel(acquired - count);
  }

  /** Gives room back unused: it does not count for the rates. */
  cancel(unused: number): void {
    for (const rate of this.#rates) rate.refund(performance.now(), unused);
    this.#release(unused);
  }

  /** A message has ended. */
  ended(result: EndpointResult): void {
    if (result === "succeeded") this.#circuit.succeeded();
    else if (result === "failed") this.#circuit.failed(this.#options.now());
    this.#release(1);
  }

  get #rates(): TokenBucket[] {
    return [this.#rate, this.#options.hostRates(this.#options.url)];
  }

  /** While there is a backlog many are claimed at a time: a claim for each would cost more than it gains. */
  get #hasRoom(): boolean {
    const { concurrency } = this.#options.limits;
    return !this.#hasBacklog || this.#active === 0 || concurrency - this.#active >= concurrency / 2;
  }

  #release(count: number): void {
    this.#active -= count;
    this.#options.semaphore.release(this.#origin, { held: this.#active, released: count });
    if (this.#isWaiting && !this.#timer && this.#hasRoom) this.#becomeReady();
  }

  /** Waits for so long; without a time, until a message ends. */
  #wait(milliseconds: number): 0 {
    this.#endWait();
    this.#isWaiting = true;
    if (milliseconds > 0) this.#timer = setTimeout(() => this.#becomeReady(), milliseconds).unref();
    return 0;
  }

  #endWait(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isWaiting = false;
  }

  #becomeReady(): void {
    this.#endWait();
    this.#options.onReady();
  }
}
