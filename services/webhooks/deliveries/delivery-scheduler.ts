import { type ClaimLoop, startClaimLoop } from "@pragma/runtime/database/claim-loop";
import type { Logger } from "@pragma/runtime/observability/logger";
import type { ClaimRequest, DeliveryClaim } from "../queries/claims.ts";
import {
  type EndpointAttemptResult,
  type EndpointLimits,
  EndpointQueue,
  type HostTokenBuckets,
} from "./endpoint-queue.ts";
import { FairSemaphore } from "./fair-semaphore.ts";

interface DeliverySchedulerOptions {
  log: Logger;
  /** Where a webhook's endpoint is; undefined when that is not known. Never rejects. */
  findUrl(webhookId: string): Promise<URL | undefined>;
  /** Claims what is due of these webhooks. */
  claimDue(pulls: ClaimRequest[]): Promise<DeliveryClaim[]>;
  /** Makes the attempt. Never rejects. */
  attemptDelivery(claim: DeliveryClaim): Promise<EndpointAttemptResult>;
  limits: EndpointLimits;
  hostTokenBuckets: HostTokenBuckets;
  /** Messages under way at once, to all endpoints. */
  maxActiveMessages: number;
  /** Milliseconds. */
  nowMs(): number;
  pollMs: number;
}

/** No origin takes more than this share of all places. */
const maxOriginShare = 0.25;
/** How many webhooks are claimed for in one statement. */
const maxWebhooksPerClaim = 50;
const idleCleanupMs = 60_000;

interface ClaimedDelivery {
  claim: DeliveryClaim;
  queue: EndpointQueue;
}

/** Room for one message to an endpoint. */
export interface DeliveryReservation {
  /** Makes the attempt, whose delivery was claimed as it was written. */
  startAttempt(claim: DeliveryClaim): void;
  cancel(): void;
}

/**
 * Claims what is due and has it delivered. Endpoints take turns, each for as many messages as it has room for: nothing
 * waits in memory, and no endpoint waits for another.
 */
export class DeliveryScheduler {
  readonly #options: DeliverySchedulerOptions;
  readonly #semaphore: FairSemaphore;
  readonly #queues = new Map<string, EndpointQueue>();
  /** The webhooks that deliveries may be due of, the one that was served last at the end. */
  readonly #readyWebhookIds = new Set<string>();
  readonly #loop: ClaimLoop<ClaimedDelivery>;
  readonly #idleCleanupTimer: NodeJS.Timeout;

  constructor(options: DeliverySchedulerOptions) {
    const { maxActiveMessages, limits, log, pollMs } = options;
    this.#options = options;
    const perOrigin = Math.max(limits.maxConcurrency, Math.ceil(maxActiveMessages * maxOriginShare));
    this.#semaphore = new FairSemaphore({ maxPermits: maxActiveMessages, maxPermitsPerOrigin: perOrigin });
    this.#loop = startClaimLoop({
      ...{ name: "deliveries", log, pollMs },
      claim: () => this.#claimDue(),
      processItem: (delivery) => this.#attempt(delivery),
      // The semaphore says how many.
      concurrency: Number.POSITIVE_INFINITY,
    });
    this.#idleCleanupTimer = setInterval(() => this.#removeIdleQueues(), idleCleanupMs).unref();
  }

  /** Has everything sent that is due of these webhooks. */
  poll(webhookIds: Iterable<string>): void {
    for (const webhookId of webhookIds) this.#readyWebhookIds.add(webhookId);
    this.#loop.poll();
  }

  /** Takes room for one message, unless its endpoint has none, or earlier messages wait for it. */
  reserve(webhookId: string): DeliveryReservation | undefined {
    const queue = this.#queues.get(webhookId);
    if (!queue || queue.hasPendingDeliveries || this.#readyWebhookIds.has(webhookId) || queue.acquireSlots(1) === 0)
      return undefined;
    return {
      startAttempt: (claim) => this.#loop.startItem({ claim, queue }),
      cancel: () => queue.releaseUnused(1),
    };
  }

  /** What is known of a webhook's endpoint does not count any more: it is another. */
  resetEndpoint(webhookId: string): void {
    this.#queues.delete(webhookId);
    this.poll([webhookId]);
  }

  /** Messages under way. */
  get activeCount(): number {
    return this.#semaphore.activePermits;
  }

  /** Endpoints that are spared, because they only fail. */
  get openCircuitCount(): number {
    return [...this.#queues.values()].filter(({ isCircuitOpen }) => isCircuitOpen).length;
  }

  /** Begins nothing new; resolves when nothing is under way. */
  async close(): Promise<void> {
    clearInterval(this.#idleCleanupTimer);
    await this.#loop.close();
  }

  async #claimDue(): Promise<ClaimedDelivery[]> {
    await this.#createMissingQueues();
    const claimRequests = this.#acquireClaimRequests();
    if (claimRequests.length === 0) return [];
    const claimed = new Map(claimRequests.map(({ webhookId }): [string, DeliveryClaim[]] => [webhookId, []]));
    try {
      const given = claimRequests.map(({ webhookId, max }) => ({ webhookId, max }));
      for (const claim of await this.#options.claimDue(given)) claimed.get(claim.webhookId)?.push(claim);
    } catch (error) {
      for (const { webhookId, queue, max } of claimRequests) {
        queue.releaseUnused(max);
        this.#readyWebhookIds.add(webhookId);
      }
      throw error;
    }
    const deliveries = claimRequests.flatMap(({ webhookId, queue, max }) => {
      const claims = claimed.get(webhookId) ?? [];
      queue.recordClaimed({ acquired: max, count: claims.length });
      if (claims.length === max) this.#readyWebhookIds.add(webhookId);
      return claims.map((claim) => ({ claim, queue }));
    });
    if (this.#readyWebhookIds.size > 0) this.#loop.poll();
    return deliveries;
  }

  /** Takes room for the next endpoints. Those that have none are left out until they have; those without a place stay. */
  #acquireClaimRequests(): (ClaimRequest & { queue: EndpointQueue })[] {
    const claimRequests: (ClaimRequest & { queue: EndpointQueue })[] = [];
    for (const webhookId of this.#readyWebhookIds) {
      const queue = this.#queues.get(webhookId);
      if (!queue) continue;
      const max = queue.acquireSlots(this.#options.limits.maxConcurrency);
      if (max > 0) claimRequests.push({ webhookId, max, queue });
      if (max > 0 || queue.isWaiting) this.#readyWebhookIds.delete(webhookId);
      if (claimRequests.length === maxWebhooksPerClaim) break;
    }
    return claimRequests;
  }

  async #createMissingQueues(): Promise<void> {
    const { findUrl, limits, hostTokenBuckets, nowMs } = this.#options;
    const shared = { limits, semaphore: this.#semaphore, hostTokenBuckets, nowMs };
    const missing = [...this.#readyWebhookIds]
      .filter((webhookId) => !this.#queues.has(webhookId))
      .slice(0, maxWebhooksPerClaim);
    const opening = missing.map(async (webhookId) => {
      const url = await findUrl(webhookId);
      const onReady = () => this.poll([webhookId]);
      if (url) this.#queues.set(webhookId, new EndpointQueue({ url, ...shared, onReady }));
      // What is due stays in the database: it is found again.
      else this.#readyWebhookIds.delete(webhookId);
    });
    await Promise.all(opening);
  }

  async #attempt({ claim, queue }: ClaimedDelivery): Promise<void> {
    queue.recordResult(await this.#options.attemptDelivery(claim));
    // Another may have waited for the place.
    if (this.#readyWebhookIds.size > 0) this.#loop.poll();
  }

  #removeIdleQueues(): void {
    for (const [webhookId, queue] of this.#queues) if (queue.isIdle) this.#queues.delete(webhookId);
  }
}
