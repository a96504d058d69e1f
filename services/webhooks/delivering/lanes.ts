import type { AttemptName } from "../queries/claims.ts";
import type { HostRates } from "./host-rates.ts";
import { Lane, type LaneLimits, type LaneWork } from "./lane.ts";
import { SharedPlaces } from "./shared-places.ts";

interface LanesOptions {
  work: LaneWork;
  /** Where a webhook's endpoint is; undefined when there is no such webhook any more. */
  destinationOf(webhookId: string): Promise<{ origin: string; host: string } | undefined>;
  limits: LaneLimits;
  hostRates: HostRates;
  /** Messages under way at once, to all endpoints. */
  concurrency: number;
  /** Milliseconds. */
  now: () => number;
}

/** No origin takes more than this share of all places. */
const originShare = 0.25;

/** The lanes to all endpoints that this process sends to at the moment. */
export class Lanes {
  readonly #options: LanesOptions;
  readonly #places: SharedPlaces;
  readonly #lanes = new Map<string, Lane>();
  readonly #opening = new Map<string, Promise<void>>();
  readonly #closing = new Set<Promise<void>>();
  #isClosed = false;

  constructor(options: LanesOptions) {
    const { concurrency, limits } = options;
    this.#options = options;
    this.#places = new SharedPlaces({
      total: concurrency,
      perOrigin: Math.max(limits.concurrency, Math.ceil(concurrency * originShare)),
    });
  }

  /** Has an attempt made that is due, as soon as its endpoint's lane has room for it. */
  offer(webhookId: string, name: AttemptName): void {
    const lane = this.#lanes.get(webhookId);
    if (lane) lane.offer(name);
    else this.#open(webhookId);
  }

  /** Has everything sent that is due of a webhook. */
  wake(webhookId: string): void {
    const lane = this.#lanes.get(webhookId);
    if (lane) lane.wake();
    else this.#open(webhookId);
  }

  /** Whether a webhook's lane finds what is due by itself. */
  isBehind(webhookId: string): boolean {
    return this.#lanes.get(webhookId)?.isBehind ?? false;
  }

  /** Another lane from now on, because the endpoint is another: what is known of the old one does not count. */
  renew(webhookId: string): void {
    const lane = this.#lanes.get(webhookId);
    if (!lane) return;
    this.#lanes.delete(webhookId);
    const closing = lane.close().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
    this.#open(webhookId);
  }

  forgetIdle(): void {
    for (const [webhookId, lane] of this.#lanes) {
      if (!lane.isForgettable) continue;
      this.#lanes.delete(webhookId);
      void lane.close();
    }
    this.#options.hostRates.forgetFull();
  }

  /** Messages under way. */
  get underWay(): number {
    return this.#places.taken;
  }

  /** Endpoints that are spared, because they only fail. */
  get spared(): number {
    let count = 0;
    for (const lane of this.#lanes.values()) if (lane.isSparing) count += 1;
    return count;
  }

  /** Begins nothing new; resolves when nothing is under way. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#opening.values());
    await Promise.all([...this.#closing, ...[...this.#lanes.values()].map((lane) => lane.close())]);
  }

  /** Opens a lane, which begins with fetching what is due. */
  #open(webhookId: string): void {
    if (this.#isClosed || this.#opening.has(webhookId)) return;
    const { work, limits, now, destinationOf, hostRates } = this.#options;
    const opening = destinationOf(webhookId)
      .then((destination) => {
        if (destination === undefined || this.#isClosed) return;
        const lane = new Lane({ webhookId, ...destination, hostRates, work, limits, now, places: this.#places });
        this.#lanes.set(webhookId, lane);
        lane.wake();
      })
      // What is due stays in the database: it is found again.
      .catch(() => {})
      .finally(() => this.#opening.delete(webhookId));
    this.#opening.set(webhookId, opening);
  }
}
