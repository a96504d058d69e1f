import { type ClaimLoop, startClaimLoop } from "@pragma/runtime/claim-loop";
import type { Logger } from "@pragma/runtime/logger";
import { TokenBucket } from "@pragma/runtime/token-bucket";
import type { Claim, Pull } from "../queries/claims.ts";
import { type EndpointLimits, EndpointQueue } from "./endpoint-queue.ts";
import { FairSemaphore } from "./fair-semaphore.ts";
import type { HostRates } from "./host-rates.ts";

interface SchedulerOptions {
  log: Logger;
  /** Where a webhook's endpoint is; undefined when there is no such webhook any more. */
  findUrl(webhookId: string): Promise<URL | undefined>;
  /** Claims what is due of these webhooks. */
  claimDue(pulls: Pull[]): Promise<Claim[]>;
  /** Makes the attempt, and tells how the endpoint did; `spared` when it was not asked. Never rejects. */
  deliver(claim: Claim): Promise<"succeeded" | "failed" | "spared">;
  limits: EndpointLimits;
  /** Messages a second to one endpoint. */
  endpointRate: number;
  hostRates: HostRates;
  /** Messages under way at once, to all endpoints. */
  concurrency: number;
  /** Milliseconds. */
  now(): number;
  pollMs: number;
}

/** No origin takes more than this share of all places. */
const originShare = 0.25;
/** How many webhooks are claimed for in one statement. */
const maxPulls = 50;
const forgetEveryMs = 60_000;

interface Delivery {
  claim: Claim;
  queue: EndpointQueue;
}

/** Room for one message to an endpoint. */
export interface Reservation {
  /** Makes the attempt, whose delivery was claimed as it was written. */
  begin(claim: Claim): void;
  cancel(): void;
}

/**
 * Claims what is due and has it delivered. Endpoints take turns, each for as many messages as it has room for: nothing
 * waits in memory, and no endpoint waits for another.
 */
export class Scheduler {
  readonly #options: SchedulerOptions;
  readonly #semaphore: FairSemaphore;
  readonly #queues = new Map<string, EndpointQueue>();
  /** The webhooks that deliveries may be due of, the one that was served last at the end. */
  readonly #ready = new Set<string>();
  readonly #loop: ClaimLoop<Delivery>;
  readonly #forgetting: NodeJS.Timeout;

  constructor(options: SchedulerOptions) {
    const { concurrency, limits, log, pollMs } = options;
    this.#options = options;
    const perOrigin = Math.max(limits.concurrency, Math.ceil(concurrency * originShare));
    this.#semaphore = new FairSemaphore({ total: concurrency, perOrigin });
    this.#loop = startClaimLoop({
      name: "deliveries",
      log,
      claim: () => this.#claim(),
      work: (delivery) => this.#deliver(delivery),
      // The semaphore says how many.
      concurrency: Number.POSITIVE_INFINITY,
      pollMs,
    });
    this.#forgetting = setInterval(() => this.#forgetIdle(), forgetEveryMs).unref();
  }

  /** Has everything sent that is due of these webhooks. */
  wake(webhookIds: Iterable<string>): void {
    for (const webhookId of webhookIds) this.#ready.add(webhookId);
    this.#loop.wake();
  }

  /** Takes room for one message, unless its endpoint has none, or earlier messages wait for it. */
  reserve(webhookId: string): Reservation | undefined {
    const queue = this.#queues.get(webhookId);
    if (!queue || queue.isBehind || this.#ready.has(webhookId) || queue.acquire(1) === 0) return undefined;
    return {
      begin: (claim) => this.#loop.begin({ claim, queue }),
      cancel: () => queue.cancel(1),
    };
  }

  /** What is known of a webhook's endpoint does not count any more: it is another. */
  forget(webhookId: string): void {
    this.#queues.delete(webhookId);
    this.wake([webhookId]);
  }

  /** Messages under way. */
  get active(): number {
    return this.#semaphore.active;
  }

  /** Endpoints that are spared, because they only fail. */
  get spared(): number {
    return [...this.#queues.values()].filter(({ isSpared }) => isSpared).length;
  }

  /** Begins nothing new; resolves when nothing is under way. */
  async close(): Promise<void> {
    clearInterval(this.#forgetting);
    await this.#loop.close();
  }

  async #claim(): Promise<Delivery[]> {
    await this.#openQueues();
    const pulls = this.#takePulls();
    if (pulls.length === 0) return [];
    const deliveries: Delivery[] = [];
    const counts = new Map<string, number>();
    try {
      const queues = new Map(pulls.map(({ webhookId, queue }) => [webhookId, queue]));
      for (const claim of await this.#options.claimDue(pulls)) {
        const queue = queues.get(claim.webhookId);
        if (queue) deliveries.push({ claim, queue });
        counts.set(claim.webhookId, (counts.get(claim.webhookId) ?? 0) + 1);
      }
    } catch (error) {
      for (const { webhookId } of pulls) this.#ready.add(webhookId);
      throw error;
    } finally {
      for (const { webhookId, queue, limit } of pulls) {
        const count = counts.get(webhookId) ?? 0;
        queue.claimed({ acquired: limit, count });
        if (count === limit) this.#ready.add(webhookId);
      }
    }
    if (this.#ready.size > 0) this.#loop.wake();
    return deliveries;
  }

  /** Takes room for the next endpoints. Those that have none are left out until they have; those without a place stay. */
  #takePulls(): (Pull & { queue: EndpointQueue })[] {
    const pulls: (Pull & { queue: EndpointQueue })[] = [];
    for (const webhookId of this.#ready) {
      const queue = this.#queues.get(webhookId);
      if (!queue) continue;
      const limit = queue.acquire(this.#options.limits.concurrency);
      if (limit > 0) pulls.push({ webhookId, limit, queue });
      if (limit > 0 || queue.isWaiting) this.#ready.delete(webhookId);
      if (pulls.length === maxPulls) break;
    }
    return pulls;
  }

  async #openQueues(): Promise<void> {
    const missing: string[] = [];
    for (const webhookId of this.#ready) {
      if (!this.#queues.has(webhookId)) missing.push(webhookId);
      if (missing.length === maxPulls) break;
    }
    await Promise.all(missing.map((webhookId) => this.#openQueue(webhookId)));
  }

  async #openQueue(webhookId: string): Promise<void> {
    const { log, findUrl, limits, endpointRate, hostRates, now } = this.#options;
    try {
      const url = await findUrl(webhookId);
      if (!url) this.#ready.delete(webhookId);
      else {
        const rate = { perSecond: endpointRate, burst: endpointRate };
        const queue = new EndpointQueue({
          origin: url.origin,
          limits,
          semaphore: this.#semaphore,
          endpointRate: new TokenBucket(rate, performance.now()),
          hostRate: () => hostRates.bucketOf(url),
          now,
          onReady: () => this.wake([webhookId]),
        });
        this.#queues.set(webhookId, queue);
      }
    } catch (error) {
      // What is due stays in the database: it is found again.
      this.#ready.delete(webhookId);
      log.warn({ err: error, webhookId }, "endpoint not read");
    }
  }

  async #deliver({ claim, queue }: Delivery): Promise<void> {
    queue.ended(await this.#options.deliver(claim));
    // Another may have waited for the place.
    if (this.#ready.size > 0) this.#loop.wake();
  }

  #forgetIdle(): void {
    for (const [webhookId, queue] of this.#queues) if (queue.isIdle) this.#queues.delete(webhookId);
  }
}
