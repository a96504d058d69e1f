import type { TokenBucket } from "@pragma/runtime/limits/token-bucket";
import { CircuitBreaker, type CircuitBreakerOptions } from "./circuit-breaker.ts";
import type { FairSemaphore } from "./fair-semaphore.ts";
import type { HostTokenBuckets } from "./host-token-buckets.ts";

/** How an endpoint did; `unknown` when it was not asked, or when the attempt says nothing about it. */
export type EndpointAttemptResult = "succeeded" | "failed" | "unknown";

export interface EndpointLimits {
  /** Messages under way to one endpoint at most. */
  maxConcurrency: number;
  circuitBreaker: CircuitBreakerOptions;
}

interface EndpointQueueOptions {
  url: URL;
  limits: EndpointLimits;
  semaphore: FairSemaphore;
  hostTokenBuckets: HostTokenBuckets;
  /** Milliseconds: what the pauses of an endpoint that fails go by. */
  nowMs(): number;
  /** Called when the queue waits no longer. */
  onReady(): void;
}

/** Beyond the wait for a token, random, so that the endpoints of a host that wait do not all ask at once. */
const randomPauseMs = () => 50 + Math.random() * 100;

/** How many more messages an endpoint may be sent now. What is due waits in the database until there is room for it. */
export class EndpointQueue {
  readonly #options: EndpointQueueOptions;
  readonly #circuitBreaker: CircuitBreaker;
  readonly #origin: string;
  #activeCount = 0;
  /** Whether the last claim left deliveries in the database. */
  #hasBacklog = false;
  #isWaiting = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: EndpointQueueOptions) {
    this.#options = options;
    this.#origin = options.url.origin;
    this.#circuitBreaker = new CircuitBreaker(options.limits.circuitBreaker);
  }

  /** Whether it has to wait for its own messages to end, for its host's rate, or for a pause to be over. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /** Whether messages wait for it in the database. */
  get hasPendingDeliveries(): boolean {
    return this.#hasBacklog || this.#isWaiting;
  }

  /** Whether it is sent a probe only, because it fails. */
  get isCircuitOpen(): boolean {
    return !this.#circuitBreaker.isClosed;
  }

  /** Whether there is nothing to remember. */
  get isIdle(): boolean {
    return this.#activeCount === 0 && !this.#isWaiting && this.#circuitBreaker.isExpired(this.#options.nowMs());
  }

  /** Takes room for up to so many messages. When there is none, either it waits, or the semaphore has no places. */
  acquireSlots(wanted: number): number {
    const { limits, semaphore, nowMs } = this.#options;
    const freeSlots = this.#hasFreeSlots
      ? Math.min(limits.maxConcurrency, this.#circuitBreaker.maxConcurrentAt(nowMs())) - this.#activeCount
      : 0;
    if (freeSlots <= 0) return this.#waitFor(this.#circuitBreaker.remainingOpenMs(nowMs()));
    const hostBucket = this.#hostTokenBucket;
    const at = performance.now();
    const permitted = Math.min(wanted, freeSlots, Math.floor(hostBucket.getAvailable(at)));
    if (permitted === 0) return this.#waitFor(hostBucket.getWaitMs(at) + randomPauseMs());
    this.#stopWaiting();
    const acquired = semaphore.acquire(this.#origin, { held: this.#activeCount, wanted: permitted });
    this.#activeCount += acquired;
    hostBucket.take(at, acquired);
    return acquired;
  }

  /** Says for how much of the room that was taken deliveries were due. */
  recordClaimed({ acquired, count }: { acquired: number; count: number }): void {
    this.#hasBacklog = count === acquired;
    this.releaseUnused(acquired - count);
  }

  /** Gives room back unused: it does not count for the host's rate. */
  releaseUnused(unused: number): void {
    this.#hostTokenBucket.refund(performance.now(), unused);
    this.#releaseSlots(unused);
  }

  /** A message has ended. */
  recordResult(result: EndpointAttemptResult): void {
    if (result === "succeeded") this.#circuitBreaker.recordSuccess();
    else if (result === "failed") this.#circuitBreaker.recordFailure(this.#options.nowMs());
    this.#releaseSlots(1);
  }

  get #hostTokenBucket(): TokenBucket {
    return this.#options.hostTokenBuckets(this.#options.url);
  }

  /** While there is a backlog many are claimed at a time: a claim for each would cost more than it gains. */
  get #hasFreeSlots(): boolean {
    const { maxConcurrency } = this.#options.limits;
    return !this.#hasBacklog || this.#activeCount === 0 || maxConcurrency - this.#activeCount >= maxConcurrency / 2;
  }

  #releaseSlots(count: number): void {
    this.#activeCount -= count;
    this.#options.semaphore.release(this.#origin, { held: this.#activeCount, released: count });
    if (this.#isWaiting && !this.#timer && this.#hasFreeSlots) this.#markReady();
  }

  /** Waits for so long; without a time, until a message ends. */
  #waitFor(milliseconds: number): 0 {
    this.#stopWaiting();
    this.#isWaiting = true;
    if (milliseconds > 0) this.#timer = setTimeout(() => this.#markReady(), milliseconds).unref();
    return 0;
  }

  #stopWaiting(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isWaiting = false;
  }

  #markReady(): void {
    this.#stopWaiting();
    this.#options.onReady();
  }
}
