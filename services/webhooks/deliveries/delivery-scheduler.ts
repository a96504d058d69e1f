import { type ClaimLoop, startClaimLoop } from "@pragma/runtime/database/claim-loop";
import type { Logger } from "@pragma/runtime/observability/logger";
import type { WebhookDeliveryClaim, WebhookDeliveryClaimRequest } from "../queries/claims.ts";
import { type BreakerResult, type SharedQueueOptions, WebhookEndpointQueue } from "./endpoint-queue.ts";
import { FairWebhookEndpointSemaphore } from "./fair-semaphore.ts";

interface DeliverySchedulerOptions extends SharedQueueOptions {
  log: Logger;
  findEndpoint(webhookId: string): Promise<{ locationId: string; url: URL } | undefined>;
  claimDue(claimRequests: WebhookDeliveryClaimRequest[]): Promise<WebhookDeliveryClaim[]>;
  attemptDelivery(claim: WebhookDeliveryClaim): Promise<BreakerResult>;
  /** Number of messages in flight to all endpoints. Beyond this number, each endpoint gets only its fair share. */
  maxActiveMessages: number;
  pollMs: number;
}

/** Maximum share of all permits that messages to one origin hold. The maximum is at least `maxConcurrency` permits. */
const maxOriginShare = 0.25;
const maxWebhooksPerClaim = 50;
const idleCleanupMs = 60_000;

interface ClaimedDelivery {
  claim: WebhookDeliveryClaim;
  queue: WebhookEndpointQueue;
}

/**
 * Claims due deliveries and starts their attempts. Serves the endpoints in rotation, each up to its free capacity, so
 * that a slow endpoint does not block endpoints on other hosts. Due deliveries beyond the free capacity wait in the
 * database, not in memory.
 */
export class WebhookDeliveryScheduler {
  readonly #options: DeliverySchedulerOptions;
  readonly #semaphore: FairWebhookEndpointSemaphore;
  readonly #queues = new Map<string, WebhookEndpointQueue>();
  /** IDs of the webhooks that may have due deliveries, in the sequence in which they are served. */
  readonly #readyWebhookIds = new Set<string>();
  readonly #loop: ClaimLoop<ClaimedDelivery>;
  readonly #idleCleanupTimer: NodeJS.Timeout;

  constructor(options: DeliverySchedulerOptions) {
    const { maxActiveMessages, limits, log, pollMs } = options;
    this.#options = options;
    const maxPermitsPerOrigin = Math.max(limits.maxConcurrency, Math.ceil(maxActiveMessages * maxOriginShare));
    this.#semaphore = new FairWebhookEndpointSemaphore({ maxPermits: maxActiveMessages, maxPermitsPerOrigin });
    this.#loop = startClaimLoop({
      ...{ name: "deliveries", log, pollMs },
      claim: () => this.#claimDue(),
      processItem: (delivery) => this.#attempt(delivery),
      // The loop itself has no limit, because the semaphore limits the attempts in flight.
      concurrency: Number.POSITIVE_INFINITY,
    });
    this.#idleCleanupTimer = setInterval(() => {
      for (const [webhookId, queue] of this.#queues) if (queue.isIdle) this.#queues.delete(webhookId);
    }, idleCleanupMs).unref();
  }

  /** Makes the scheduler claim and attempt all due deliveries of these webhooks. */
  poll(webhookIds: Iterable<string>): void {
    for (const webhookId of webhookIds) this.#readyWebhookIds.add(webhookId);
    this.#loop.poll();
  }

  /**
   * Reserves capacity for one message. Returns undefined if the endpoint has no queue yet or no free capacity, or if
   * earlier messages to the endpoint may be waiting.
   */
  reserve(webhookId: string) {
    const queue = this.#queues.get(webhookId);
    if (!queue || queue.hasPendingDeliveries || this.#readyWebhookIds.has(webhookId) || queue.acquireSlots(1) === 0)
      return undefined;
    return {
      /** Starts the attempt of a delivery that was inserted as already claimed. */
      startAttempt: (claim: WebhookDeliveryClaim) => this.#loop.startItem({ claim, queue }),
      cancel: () => queue.releaseUnused(1),
    };
  }

  /** Discards the queue of a webhook whose endpoint has changed, so that a new queue sends to the new endpoint. */
  resetEndpoint(webhookId: string): void {
    this.#queues.delete(webhookId);
    this.poll([webhookId]);
  }

  /** Number of messages that are in flight or for which capacity is reserved. */
  get activeCount(): number {
    return this.#semaphore.activePermits;
  }

  get openCircuitCount(): number {
    return [...this.#queues.values()].filter(({ isCircuitOpen }) => isCircuitOpen).length;
  }

  /** Starts no more attempts. Resolves when all attempts in flight have ended. */
  async close(): Promise<void> {
    clearInterval(this.#idleCleanupTimer);
    await this.#loop.close();
  }

  async #claimDue(): Promise<ClaimedDelivery[]> {
    await this.#createMissingQueues();
    const claimRequests = this.#acquireClaimRequests();
    if (claimRequests.length === 0) return [];
    const claimed = new Map(claimRequests.map(({ webhookId }): [string, WebhookDeliveryClaim[]] => [webhookId, []]));
    try {
      const requests = claimRequests.map(({ webhookId, queue: { locationId }, max }) => {
        return { locationId, webhookId, max };
      });
      for (const claim of await this.#options.claimDue(requests)) claimed.get(claim.webhookId)?.push(claim);
    } catch (error) {
      for (const { webhookId, queue, max } of claimRequests) {
        queue.releaseUnused(max);
        this.#readyWebhookIds.add(webhookId);
      }
      throw error;
    }
    const deliveries = claimRequests.flatMap(({ webhookId, queue, max }) => {
      const claims = claimed.get(webhookId) ?? [];
      queue.recordClaimed({ acquired: max, claimed: claims.length });
      if (claims.length === max) this.#readyWebhookIds.add(webhookId);
      return claims.map((claim) => ({ claim, queue }));
    });
    if (this.#readyWebhookIds.size > 0) this.#loop.poll();
    return deliveries;
  }

  /**
   * Reserves capacity for the next endpoints, and returns a claim request for each of them. Removes these endpoints
   * from the rotation. Also removes endpoints without free capacity, until their queues are ready. An endpoint that
   * lacks only a semaphore permit stays in the rotation.
   */
  #acquireClaimRequests() {
    const claimRequests: { webhookId: string; max: number; queue: WebhookEndpointQueue }[] = [];
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
    const { findEndpoint, limits, hostTokenBuckets, nowMs } = this.#options;
    const sharedOptions = { limits, semaphore: this.#semaphore, hostTokenBuckets, nowMs };
    const missing = [...this.#readyWebhookIds]
      .filter((webhookId) => !this.#queues.has(webhookId))
      .slice(0, maxWebhooksPerClaim);
    const creations = missing.map(async (webhookId) => {
      const endpoint = await findEndpoint(webhookId);
      const onReady = () => this.poll([webhookId]);
      if (endpoint) this.#queues.set(webhookId, new WebhookEndpointQueue({ ...endpoint, ...sharedOptions, onReady }));
      // Removes a webhook whose endpoint could not be loaded. The periodic task finds its due deliveries later.
      else this.#readyWebhookIds.delete(webhookId);
    });
    await Promise.all(creations);
  }

  async #attempt({ claim, queue }: ClaimedDelivery): Promise<void> {
    queue.recordResult(await this.#options.attemptDelivery(claim));
    // Another endpoint may be waiting for the permit that this attempt has released.
    if (this.#readyWebhookIds.size > 0) this.#loop.poll();
  }
}
