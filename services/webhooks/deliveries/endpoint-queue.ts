import { TokenBucket, type TokenBucketRate } from "@pragma/runtime/admission/token-bucket";
import { LRUCache } from "lru-cache";
import { CircuitBreaker, type CircuitBreakerOptions } from "./circuit-breaker.ts";
import type { FairWebhookEndpointSemaphore } from "./fair-semaphore.ts";

/**
 * Returns a function that returns the token bucket of a URL's host. The bucket limits the messages that this process sends
 * to the host. All endpoints on the host share the bucket, including endpoints of different locations.
 */
export function createHostTokenBuckets(rate: TokenBucketRate): (url: URL) => TokenBucket {
  const memoMethod = () => new TokenBucket(rate, performance.now());
  const buckets = new LRUCache<string, TokenBucket>({ max: 20_000, memoMethod });
  return ({ hostname }) => buckets.memo(hostname.replace(/\.$/, ""));
}

/** Whether an attempt shows that the endpoint works; `unknown` if the attempt was skipped or a test message failed. */
export type BreakerResult = "succeeded" | "failed" | "unknown";

/** What the queues of all endpoints share. */
export interface SharedQueueOptions {
  limits: {
    maxConcurrency: number;
    circuitBreaker: CircuitBreakerOptions;
  };
  hostTokenBuckets: ReturnType<typeof createHostTokenBuckets>;
  /** Returns the current time in milliseconds, for the circuit breaker. */
  nowMs(): number;
}

interface EndpointQueueOptions extends SharedQueueOptions {
  locationId: string;
  url: URL;
  semaphore: FairWebhookEndpointSemaphore;
  /** Called when the queue stops waiting, so that due deliveries can be claimed again. */
  onReady(): void;
}

/**
 * Limits the messages in flight to one endpoint. Due deliveries wait in the database until the endpoint has capacity.
 */
export class WebhookEndpointQueue {
  readonly locationId: string;
  readonly #options: EndpointQueueOptions;
  readonly #circuitBreaker: CircuitBreaker;
  readonly #origin: string;
  #activeCount = 0;
  /** Whether the last claim returned as many deliveries as requested, so that more due deliveries may exist. */
  #hasBacklog = false;
  /** Whether the queue waits for the end of an attempt, for its host's token bucket, or for the circuit breaker. */
  isWaiting = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: EndpointQueueOptions) {
    this.locationId = options.locationId;
    this.#options = options;
    this.#origin = options.url.origin;
    this.#circuitBreaker = new CircuitBreaker(options.limits.circuitBreaker);
  }

  /** Whether deliveries of the endpoint may be waiting in the database. */
  get hasPendingDeliveries(): boolean {
    return this.#hasBacklog || this.isWaiting;
  }

  /** Whether the circuit breaker is open, so that the endpoint receives only probes. */
  get isCircuitOpen(): boolean {
    return !this.#circuitBreaker.isClosed;
  }

  /** Whether the queue can be discarded without losing state. */
  get isIdle(): boolean {
    return this.#activeCount === 0 && !this.isWaiting && this.#circuitBreaker.isExpired(this.#options.nowMs());
  }

  /**
   * Reserves capacity for up to `requested` messages, and returns the number of messages for which it reserved
   * capacity. The result is 0 in two cases. If the endpoint or its host has no capacity, `isWaiting` becomes true, and
   * `onReady` is called as soon as there is capacity. If only a permit of the semaphore is missing, `isWaiting` stays
   * false, and the caller must try again.
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
    // With a random addition, so that a host's endpoints do not all retry at once.
    if (permitted === 0) return this.#waitFor(hostBucket.getWaitMs(at) + 50 + Math.random() * 100);
    this.#stopWaiting();
    const acquired = semaphore.acquire(this.#origin, { held: this.#activeCount, requested: permitted });
    this.#activeCount += acquired;
    hostBucket.take(at, acquired);
    return acquired;
  }

  /** Records how many deliveries were claimed with the reserved capacity, and releases the unused capacity. */
  recordClaimed({ acquired, claimed }: { acquired: number; claimed: number }): void {
    this.#hasBacklog = claimed === acquired;
    this.releaseUnused(acquired - claimed);
  }

  /** Releases reserved capacity that was not used, and returns its tokens to the host's token bucket. */
  releaseUnused(unused: number): void {
    this.#hostTokenBucket.refund(performance.now(), unused);
    this.#releaseSlots(unused);
  }

  /** Records the result of an attempt, and releases the attempt's capacity. */
  recordResult(result: BreakerResult): void {
    if (result === "succeeded") this.#circuitBreaker.recordSuccess();
    else if (result === "failed") this.#circuitBreaker.recordFailure(this.#options.nowMs());
    this.#releaseSlots(1);
  }

  get #hostTokenBucket(): TokenBucket {
    return this.#options.hostTokenBuckets(this.#options.url);
  }

  /**
   * Whether enough capacity is unused for another claim. During a backlog, at least half of the capacity must be
   * unused, because a separate claim statement for each message would cost too much.
   */
  get #hasFreeSlots(): boolean {
    const { maxConcurrency } = this.#options.limits;
    return !this.#hasBacklog || this.#activeCount === 0 || maxConcurrency - this.#activeCount >= maxConcurrency / 2;
  }

  #releaseSlots(count: number): void {
    this.#activeCount -= count;
    this.#options.semaphore.release(this.#origin, { held: this.#activeCount, released: count });
    if (this.isWaiting && !this.#timer && this.#hasFreeSlots) this.#markReady();
  }

  /** Makes the queue wait for the given time. If the time is 0, the queue waits until ended attempts free capacity. */
  #waitFor(milliseconds: number): 0 {
    this.#stopWaiting();
    this.isWaiting = true;
    if (milliseconds > 0) this.#timer = setTimeout(() => this.#markReady(), milliseconds).unref();
    return 0;
  }

  #stopWaiting(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.isWaiting = false;
  }

  #markReady(): void {
    this.#stopWaiting();
    this.#options.onReady();
  }
}
