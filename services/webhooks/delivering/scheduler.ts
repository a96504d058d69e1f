import { type ClaimLoop, startClaimLoop } from "@pragma/runtime/claim-loop";
import type { Logger } from "@pragma/runtime/logger";
import type { Claim, Pull } from "../queries/claims.ts";
import { type EndpointLimits, EndpointQueue, type EndpointResult, type HostRates } from "./endpoint-queue.ts";
import { FairSemaphore } from "./fair-semaphore.ts";

interface SchedulerOptions {
  log: Logger;
  /** Where a webhook's endpoint is; undefined when that is not known. Never rejects. */
  findUrl(webhookId: string): Promise<URL | undefined>;
  /** Claims what is due of these webhooks. */
  claimDue(pulls: Pull[]): Promise<Claim[]>;
  /** Makes the attempt. Never rejects. */
  deliver(claim: Claim): Promise<EndpointResult>;
  limits: EndpointLimits;
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
      ...{ name: "deliveries", log, pollMs },
      claim: () => this.#claim(),
      work: (delivery) => this.#deliver(delivery),
      // The semaphore says how many.
      concurrency: Number.POSITIVE_INFINITY,
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
    const claimed = new Map(pulls.map(({ webhookId }): [string, Claim[]] => [webhookId, []]));
    try {
      const given = pulls.map(({ webhookId, max }) => ({ webhookId, max }));
      for (const claim of await this.#options.claimDue(given)) claimed.get(claim.webhookId)?.push(claim);
    } catch (error) {
      for (const { webhookId, queue, max } of pulls) {
        queue.cancel(max);
        this.#ready.add(webhookId);
      }
      throw error;
    }
    const deliveries = pulls.flatMap(({ webhookId, queue, max }) => {
      const claims = claimed.get(webhookId) ?? [];
      queue.claimed({ acquired: max, count: claims.length });
      if (claims.length === max) this.#ready.add(webhookId);
      return claims.map((claim) => ({ claim, queue }));
    });
    if (this.#ready.size > 0) this.#loop.wake();
    return deliveries;
  }

  /** Takes room for the next endpoints. Those that have none are left out until they have; those without a place stay. */
  #takePulls(): (Pull & { queue: EndpointQueue })[] {
    const pulls: (Pull & { queue: EndpointQueue })[] = [];
    for (const webhookId of this.#ready) {
      const queue = this.#queues.get(webhookId);
      if (!queue) continue;
      const max = queue.acquire(this.#options.limits.concurrency);
      if (max > 0) pulls.push({ webhookId, max, queue });
      if (max > 0 || queue.isWaiting) this.#ready.delete(webhookId);
      if (pulls.length === maxPulls) break;
    }
    return pulls;
  }

  async #openQueues(): Promise<void> {
    const { findUrl, limits, hostRates, now } = this.#options;
    const shared = { limits, semaphore: this.#semaphore, hostRates, now };
    const missing = [...this.#ready].filter((webhookId) => !this.#queues.has(webhookId)).slice(0, maxPulls);
    const opening = missing.map(async (webhookId) => {
      const url = await findUrl(webhookId);
      const onReady = () => this.wake([webhookId]);
      if (url) this.#queues.set(webhookId, new EndpointQueue({ url, ...shared, onReady }));
      // What is due stays in the database: it is found again.
      else this.#ready.delete(webhookId);
    });
    await Promise.all(opening);
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
