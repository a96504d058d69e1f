import type { TokenBucket } from "@pragma/runtime/limits/token-bucket";
import { CircuitBreaker, type CircuitBreakerOptions } from "./circuit-breaker.ts";
import type { FairSemaphore } from "./fair-semaphore.ts";
import type { HostTokenBuckets } from "./host-token-buckets.ts";

/** Whether an attempt shows that the endpoint works; `unknown` when nothing was sent, or when a test message failed. */
export type WebhookEndpointAttemptResult = "succeeded" | "failed" | "unknown";

export interface WebhookEndpointLimits {
  /** Maximum number of messages in flight to one endpoint. */
  maxConcurrency: number;
  circuitBreaker: CircuitBreakerOptions;
}

interface EndpointQueueOptions {
  url: URL;
  limits: WebhookEndpointLimits;
  semaphore: FairSemaphore;
  hostTokenBuckets: HostTokenBuckets;
  /** Returns the current time in milliseconds, for the circuit breaker. */
  nowMs(): number;
  /** Called when the queue no longer waits. */
  onReady(): void;
}

/** Returns milliseconds to add to the wait for a token, so that the endpoints of a host do not all retry at once. */
const createJitterMs = () => 50 + Math.random() * 100;

/**
 * Limits the messages in flight to one endpoint. Due deliveries wait in the database until the endpoint has capacity.
 */
export class WebhookEndpointQueue {
  readonly #options: EndpointQueueOptions;
  readonly #circuitBreaker: CircuitBreaker;
  readonly #origin: string;
  #activeCount = 0;
  /** Whether the last claim used all acquired slots, so that more due deliveries may be in the database. */
  #hasBacklog = false;
  #isWaiting = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: EndpointQueueOptions) {
    this.#options = options;
    this.#origin = options.url.origin;
    this.#circuitBreaker = new CircuitBreaker(options.limits.circuitBreaker);
  }

  /** Whether the queue waits for the end of an attempt, for its host's token bucket, or for the circuit breaker. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /** Whether deliveries of the endpoint may be waiting in the database. */
  get hasPendingDeliveries(): boolean {
    return this.#hasBacklog || this.#isWaiting;
  }

  /** Whether the circuit breaker is open, so that the endpoint receives only probes. */
  get isCircuitOpen(): boolean {
    return !this.#circuitBreaker.isClosed;
  }

  /** Whether the queue can be discarded without losing state. */
  get isIdle(): boolean {
    return this.#activeCount === 0 && !this.#isWaiting && this.#circuitBreaker.isExpired(this.#options.nowMs());
  }

  /**
   * Acquires slots for up to `requested` messages in flight, and returns the number of acquired slots. When it returns
   * 0, the queue waits until it is ready, unless only the semaphore had no permit.
   */
  acquireSlots(requested: number): number {
    const { limits, semaphore, nowMs } = this.#options;
    const freeSlots = this.#hasFreeSlots
      ? Math.min(limits.maxConcurrency, this.#circuitBreaker.maxConcurrentAt(nowMs())) - this.#activeCount
      : 0;
    if (freeSlots <= 0) return this.#waitFor(this.#circuitBreaker.remainingOpenMs(nowMs()));
    const hostBucket = this.#hostTokenBucket;
    const at = performance.now();
    const permitted = Math.min(requested, freeSlots, Math.floor(hostBucket.getAvailable(at)));
    if (permitted === 0) return this.#waitFor(hostBucket.getWaitMs(at) + createJitterMs());
    this.#stopWaiting();
    const acquired = semaphore.acquire(this.#origin, { held: this.#activeCount, requested: permitted });
    this.#activeCount += acquired;
    hostBucket.take(at, acquired);
    return acquired;
  }

  /** Records how many deliveries were claimed for the acquired slots, and releases the other slots. */
  recordClaimed({ acquired, claimed }: { acquired: number; claimed: number }): void {
    this.#hasBacklog = claimed === acquired;
    this.releaseUnused(acquired - claimed);
  }

  /** Releases unused slots, and returns their tokens to the host's bucket. */
  releaseUnused(unused: number): void {
    this.#hostTokenBucket.refund(performance.now(), unused);
    this.#releaseSlots(unused);
  }

  /** Records the result of an attempt, and releases its slot. */
  recordResult(result: WebhookEndpointAttemptResult): void {
    if (result === "succeeded") this.#circuitBreaker.recordSuccess();
    else if (result === "failed") this.#circuitBreaker.recordFailure(this.#options.nowMs());
    this.#releaseSlots(1);
  }

  get #hostTokenBucket(): TokenBucket {
    return this.#options.hostTokenBuckets(this.#options.url);
  }

  /**
   * Whether slots are free. During a backlog, slots are free only when at least half of them are unused, because one
   * claim statement per message would cost too much.
   */
  get #hasFreeSlots(): boolean {
    const { maxConcurrency } = this.#options.limits;
    return !this.#hasBacklog || this.#activeCount === 0 || maxConcurrency - this.#activeCount >= maxConcurrency / 2;
  }

  #releaseSlots(count: number): void {
    this.#activeCount -= count;
    this.#options.semaphore.release(this.#origin, { held: this.#activeCount, released: count });
    if (this.#isWaiting && !this.#timer && this.#hasFreeSlots) this.#markReady();
  }

  /** Waits for the given time; when it is 0, waits until an attempt ends. */
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
